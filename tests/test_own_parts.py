"""Parts of the user's own without a package: functions, and FILE.py:FUNCTION."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.random import Generator

import disorder
from conftest import Command
from disorder.errors import DisorderError
from disorder.metrics import Share
from disorder.registry import MetricPart, TransformationPart, unregister
from disorder.types import Outcomes

FILE = '''
import numpy as np
from disorder.metrics import Share
from disorder.registry import metric, transformation
from disorder.types import PositionRows

@transformation(keeps="words", keeps_words=True, destroys="order", deterministic=True)
def backwards(sentence, rng, count):
    """The words from the last to the first."""
    positions = np.arange(len(sentence))[::-1]
    return PositionRows(sentence, positions[None, :], is_shared=True)

@metric(better="low", of="permutations")
def steady(outcomes):
    """Share of examples whose permutations all get the same label."""
    return Share((outcomes.label == outcomes.label[:, :1]).all(axis=1))

def shout(text):
    return text.upper()

def wrong(text):
    raise ValueError("oops")

def fifth(text):
    return 5

NUMBER = 5
'''
ROWS = [
    {"text_a": f"one two three four five {i}", "label": "good" if i % 2 else "bad"}
    for i in range(24)
]


def gold(text: str) -> str:
    return "good" if int(next(filter(str.isdigit, text.split()))) % 2 else "bad"


def predict(texts: list[str]) -> list[str]:
    return list(map(gold, texts))


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "names.py").write_text("absent\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in (
        "backwards",
        "mine.py:backwards",
        "mine.py:shout",
        "mine.py:fifth",
        "mine.py:wrong",
    ):
        unregister(TransformationPart, name)
    unregister(MetricPart, "steady")


def test_a_transformation_of_a_file(mine: Path) -> None:
    for _ in range(2):  # the file is run once
        (row,) = disorder.perturb(ROWS[:1], with_="mine.py:backwards")
        assert row["text_a"].split() == ["0", "five", "four", "three", "two", "one"]
        assert row["transformation"] == "mine.py:backwards"
    (row,) = disorder.perturb(ROWS[:1], with_="mine.py:backwards+reverse")
    assert row["text_a"] == ROWS[0]["text_a"]
    (row,) = disorder.perturb(ROWS[:1], with_="mine.py:shout")
    assert row["text_a"] == "ONE TWO THREE FOUR FIVE 0"


def test_a_plus_in_the_name_of_a_folder_names_no_other_file(mine: Path) -> None:
    """The text behind it was taken for the path, and the file there was run."""
    for folder in ("dir+x", "x"):
        (mine / folder).mkdir()
    (mine / "dir+x" / "n.py").write_text(FILE)
    (mine / "x" / "n.py").write_text("raise SystemExit('another file was run')")
    settings: dict[str, Any] = {"with_": "derange", "q": 3, "cache": "off"}
    run = disorder.audit(predict, ROWS, score="dir+x/n.py:steady", **settings)
    assert run["derange", "steady"].value == 1
    with pytest.raises(DisorderError, match=r"dir\+x/n.py: a \+ stands between steps"):
        disorder.perturb(ROWS[:1], with_="dir+x/n.py:backwards")


def test_a_file_that_changed_is_run_again(mine: Path) -> None:
    disorder.perturb(ROWS[:1], with_="mine.py:shout")
    (mine / "mine.py").write_text(FILE.replace("text.upper()", "text + '!!'"))
    (row,) = disorder.perturb(ROWS[:1], with_="mine.py:shout")
    assert row["text_a"].endswith("!!")


def test_what_an_audit_records_can_be_typed_again(mine: Path, command: Command) -> None:
    (mine / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (mine / "model.py").write_text(
        "def predict(texts):\n"
        "    return ['good' if int(t.split()[-1]) % 2 else 'bad' for t in texts]\n"
    )
    words = ["--with", "mine.py:shout", "--score", "mine.py:steady", "--score", "accuracy"]
    words += ["--q", "2", "--until", "never"]
    code, _, told = command("audit", "model.py:predict", "data.jsonl", *words, "--out", "here")
    assert code == 0, told
    run = disorder.read_run("here")
    assert run.transformations == ["mine.py:shout"]
    assert run.settings["score"] == ["mine.py:steady", "accuracy"]
    assert run["mine.py:shout", "accuracy"].value == 1


def test_functions_are_transformations_and_scores() -> None:
    def doubled(text: str) -> str:
        return f"{text} {text}"

    def cut(text: str, rng: Generator) -> str:
        words = text.split()
        return " ".join(words[int(rng.integers(1, 4)) :])

    def lucky(outcomes: Outcomes) -> Share:
        return Share(outcomes.label[:, 0] == outcomes.gold)

    try:
        run = disorder.audit(
            predict, ROWS, with_=[doubled, cut], score=[lucky, "accuracy"], q=3, until="never"
        )
        assert run.transformations == ["doubled", "cut"]
        assert run["doubled", "lucky"].value == run["cut", "accuracy"].value == 1
        assert run.conclusion is None, "what they keep of a text is not known"
        texts = {row["text_a"] for row in disorder.perturb(ROWS[:1], with_=cut, q=3)}
        assert texts < {"two three four five 0", "three four five 0", "four five 0"}
    finally:
        for name in ("doubled", "cut"):
            unregister(TransformationPart, name)
        unregister(MetricPart, "lucky")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("mine.py:absent", "mine.py:absent cannot be loaded"),
        ("nowhere.py:f", "nowhere.py: no such file"),
        ("mine.py", "mine.py is a Python file: name its function, mine.py:FUNCTION"),
        ("mine.py:NUMBER", "mine.py:NUMBER is no function"),
        ("mine.py:fifth", "fifth gives a int; a transformation of a text gives a text"),
        (lambda text: text, "define it with def"),
        ("mine.py:wrong", "wrong failed with ValueError: oops"),
        ("names.py:f", "names.py:f cannot be loaded (NameError: name 'absent' is not defined)"),
        (max, "max cannot be a transformation, which is a function of a text"),
        (print, "print cannot be a transformation, which is a function of a text"),
    ],
)
def test_what_cannot_be_used_is_one_line(given: Any, told: str, mine: Path) -> None:
    with pytest.raises(DisorderError) as raised:
        disorder.perturb(ROWS[:2], with_=given)
    assert told in str(raised.value)


def test_nothing_is_run_because_a_folder_says_so(mine: Path) -> None:
    run = disorder.audit(predict, ROWS, with_="mine.py:backwards", q=2, out="here")
    unregister(TransformationPart, "mine.py:backwards")
    unregister(TransformationPart, "backwards")
    (mine / "mine.py").write_text("raise SystemExit('it ran')\n")
    again = disorder.read_run("here")
    assert again.transformations == run.transformations
    table = again.samples(texts=True)  # from the stored positions
    assert table.num_rows == again.samples().num_rows


def test_the_name_of_a_model(tmp_path: Path) -> None:
    runs = [
        disorder.audit(predict, ROWS, with_="derange", q=2, name=name, out=tmp_path / name)
        for name in ("ours", "theirs")
    ]
    assert [run.title for run in runs] == ["ours", "theirs"]
    assert "Run(ours on" in repr(runs[0])
    assert [each.name for each in disorder.compare(*runs).runs] == ["ours", "theirs"]
    assert {row["model"] for row in disorder.board(*runs).as_data()["rows"]} == {"ours", "theirs"}
    with pytest.raises(DisorderError, match="some letters"):
        disorder.audit(predict, ROWS, name=" ")


def test_examples_with_texts_and_gold(tmp_path: Path, command: Command) -> None:
    def bag(texts: list[str]) -> list[str]:  # wrong on two, and misled where "five" comes first
        return [
            "bad" if text.startswith("five") or text.endswith((" 1", " 3")) else label
            for text, label in zip(texts, map(gold, texts), strict=True)
        ]

    out = tmp_path / "run"
    run = disorder.audit(bag, ROWS, with_="derange", q=4, out=out)
    table = run.examples.to_pylist()
    assert len(table) == len(ROWS)
    assert [row["is_right"] for row in table] == [True] * 22 + [False] * 2
    for row in table:
        assert row["gold"] == gold(row["text_a"])
        assert sorted(row["variant_text_a"].split()) == sorted(row["text_a"].split())
        assert row["variant_prediction"] == bag([row["variant_text_a"]])[0]
    shares = [row["right under derange"] for row in table[:22]]
    assert shares == sorted(shares, reverse=True)
    samples = run.samples(texts=True).to_pylist()
    assert all(row["label"] == bag([row["text_a"]])[0] for row in samples)
    assert {row["gold"] for row in samples} == {"good", "bad"}
    for name in ("examples.csv", "examples.jsonl", "examples.parquet"):
        assert command("report", out, "--examples", tmp_path / name)[0] == 0
    assert pq.read_table(tmp_path / "examples.parquet").equals(run.examples)
    lines = (tmp_path / "examples.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == table
    code, _, told = command("report", out, "--examples", tmp_path / "examples.txt")
    assert code == 2
    assert "name a file that ends in .csv" in told


def test_texts_without_a_prediction_are_neither_right_nor_wrong(
    tmp_path: Path, command: Command
) -> None:
    """They counted as wrong, with NaN in JSON; one among the telling examples ended the audit."""

    class Fails:
        labels = ("bad", "good")

        def __call__(self, texts: list[str]) -> Any:
            is_good = [gold(text) == "good" for text in texts]
            found = np.array([[0.1, 0.9] if each else [0.9, 0.1] for each in is_good])
            found[[text.startswith(("four", "one two three four five 1")) for text in texts]] = nan
            return found

    out = tmp_path / "run"
    run = disorder.audit(Fails(), ROWS, with_="derange", q=4, cache="off", out=out)
    table = run.examples.to_pylist()
    failed = [row for row in table if row["prediction"] is None]
    assert 0 < len(failed) < len(ROWS)
    assert all(row["is_right"] is row["probability"] is None for row in failed)
    assert all(row["family"] for row in table)
    assert {row["right under derange"] for row in table} <= {1.0, None}
    assert all(row["is_right"] for row in table[: -len(failed)]), "failed ones come last"
    assert command("report", out, "--examples", tmp_path / "examples.jsonl")[0] == 0
    assert "NaN" not in (tmp_path / "examples.jsonl").read_text()


STOPS = """
from pathlib import Path

def predict(texts):
    if not Path("go").exists():
        raise KeyboardInterrupt
    return ["good" if text[-1] in "13579" else "bad" for text in texts]
"""


def test_a_resumed_run_is_of_one_version_of_a_file(mine: Path, command: Command) -> None:
    (mine / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (mine / "model.py").write_text(STOPS)
    own = ["--with", "mine.py:shout", "--score", "mine.py:steady"]
    words = [*own, "--score", "accuracy", "--q", "2", "--until", "never", "--out", "here"]
    _, _, told = command("audit", "model.py:predict", "data.jsonl", *words)
    assert "--with mine.py:shout --score mine.py:steady" in told
    (mine / "go").touch()
    code, _, told = command("audit", "--resume", "here", "model.py:predict")
    assert code == 2
    assert "nothing is run because a folder says so" in told
    assert "--with mine.py:shout --score mine.py:steady" in told
    (mine / "mine.py").write_text(FILE.replace("text.upper()", "text.lower()"))
    code, _, told = command("audit", "--resume", "here", "model.py:predict", *own)
    assert code == 2
    assert "the file mine.py changed since the run began" in told
    (mine / "mine.py").write_text(FILE)
    code, _, told = command("audit", "--resume", "here", "model.py:predict", *own)
    assert code == 0, told


def test_two_metrics_of_one_name_are_an_error(mine: Path) -> None:
    for name in ("a", "b"):
        (mine / f"{name}.py").write_text("def same(outcomes):\n    return None\n")
    try:
        with pytest.raises(DisorderError, match="two metrics are called same"):
            disorder.audit(predict, ROWS, with_="derange", score=["a.py:same", "b.py:same"])
    finally:
        unregister(MetricPart, "same")


def test_a_plan_takes_a_transformation_of_a_file(mine: Path) -> None:
    assert disorder.plan(predict, ROWS, with_="mine.py:shout", score="accuracy")
