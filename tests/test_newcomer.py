"""A newcomer's first three commands: a spreadsheet's CSV, a saved model, and what to do.

Every stumble of the first hour that had a name is gone: columns that are not known, a forgotten
text, a model file, three errors in a row for three columns.
"""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path

import pytest

from conftest import Command

GOOD = ("I loved it", "what a wonderful day", "we had a great time")
BAD = ("I hated it", "what a boring day", "we had an awful time")
REST = ("and the room was near the sea", "as my friends had told me", "though it rained a lot")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table as a spreadsheet writes it, and a model as scikit-learn saves it."""
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    draw = random.Random(0)
    texts, labels = [], []
    lines = ["sep=;", 'Nr.;"Customer Review, as written";Reply of ours;Mood of it;Date']
    for i in range(160):
        good = i % 2 == 0
        text = (
            f"{draw.choice(GOOD if good else BAD)}, {draw.choice(REST)}, {draw.choice(REST)} {i}."
        )
        texts.append(text)
        labels.append("happy" if good else "not happy")
        lines.append(f'{i};"{text}";Thanks!;{labels[-1]};2024-01-{i % 28 + 1:02}')
    (tmp_path / "export.csv").write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)
    joblib.dump(model, tmp_path / "mood.joblib")
    return "export.csv"


def test_three_commands(table: str, command: Command) -> None:
    code, _, told = command("audit", "mood.joblib", table)
    assert code == 2
    assert "columns are separated by semicolons" in told
    reading = "column Customer Review, as written is read as text_a, Mood of it as label"
    assert reading in " ".join(told.split())
    assert told.rstrip().splitlines()[-1].endswith("add --allow-pickle"), "it says what to type"

    words = ("mood.joblib", table, "--allow-pickle", "--name", "mood, v2", "--out", "run")
    code, printed, told = command("audit", *words)
    assert code == 0, told
    told = (
        "Right on 100 % of 160 texts (36 families of similar texts); with words shuffled still on "
        "100 %."
    )
    assert told in " ".join(printed.split())
    assert len(printed.splitlines()) <= 24
    steps = json.loads(Path("run/result.json").read_text(encoding="utf-8"))["next_steps"]
    assert steps
    moods = ("happy", "not happy")
    train = [{"text_a": f"a {mood} book {i}", "label": mood} for i in range(9) for mood in moods]
    Path("TRAIN.jsonl").write_text("".join(json.dumps(row) + "\n" for row in train))
    for step in steps:
        code, _, told = command(*shlex.split(step["command"])[1:])
        assert code == 0, (step, told)

    code, _, told = command("report", "run", "--examples", "look.csv")
    assert code == 0, told
    assert Path("look.csv").read_text(encoding="utf-8").startswith("example,")


def test_a_forgotten_text_is_mentioned(tmp_path: Path, command: Command) -> None:
    rows = [
        f"{random.Random(i).choice(REST)} number {i},it is said that {i} is a number,{i % 2}"
        for i in range(40)
    ]
    path = tmp_path / "claims.csv"
    path.write_text("context,claim,verdict\n" + "\n".join(rows), encoding="utf-8")
    _, _, told = command("perturb", path, "--with", "reverse")
    assert "context is read as text_a, claim as text_b, verdict as label" in told
    _, _, told = command("perturb", path, "--columns", "context=text_a", "--with", "reverse")
    assert "claim looks like a text and is not read" in told
