"""`disorder human` from data to scores: make, export, import, score. A user's mistake is one line
and exit code 2.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from disorder.cli import main


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as done:
        main([str(word) for word in words])
    return int(done.value.code or 0)


def test_from_data_to_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = tmp_path / "task"
    assert (
        run(
            "human",
            "make",
            "builtin",
            "--out",
            task,
            "--n",
            24,
            "--with",
            "derange",
            "--annotators",
            "ann, bob",
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "24 items for people" in said
    assert "derange 12, original 12" in said
    assert run("human", "export", task, "--what", "items", "--out", tmp_path / "items.csv") == 0
    with (tmp_path / "items.csv").open(encoding="utf-8", newline="") as file:
        items = [row["item"] for row in csv.DictReader(file)]
    rows = [
        f"{item},w{k},{'neutral' if (i + k) % 3 else 'entailment'}"
        for k in range(3)
        for i, item in enumerate(items)
    ]
    (tmp_path / "crowd.csv").write_text(
        "\n".join(["item,annotator,answer", *rows]), encoding="utf-8"
    )
    capsys.readouterr()
    assert run("human", "import", task, tmp_path / "crowd.csv") == 0
    assert "72 answers imported" in capsys.readouterr().out
    assert run("human", "import", task, tmp_path / "crowd.csv") == 0
    assert "0 answers imported, 72 were there before" in capsys.readouterr().out
    assert run("human", "export", task, "--out", "-") == 0
    assert capsys.readouterr().out.count("\n") == 73
    assert run("human", "score", task) == 0
    shown = capsys.readouterr().out
    assert "majority of 3" in shown
    assert "all perturbed" in shown
    assert "Krippendorff’s α, all 3" in shown


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["make", "nothing-here", "--out", "t"], "unknown data 'nothing-here'"),
        (["make", "builtin", "--out", "t", "--task", "rate"], "need label or valid"),
        (["make", "builtin", "--out", "t", "--with", "shufle"], "did you mean 'shuffle'?"),
        (["serve", "nowhere"], "nowhere is not a task folder"),
        (["export", "nowhere", "--out", "a.csv"], "nowhere is not a task folder"),
        (["export", "nowhere", "--out", "a.txt"], "name it .csv or .jsonl"),
        (["import", "nowhere", "a.csv"], "nowhere is not a task folder"),
        (["score", "nowhere"], "nowhere is not a task folder"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str],
    wrong: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("human", *words) == 2
    error = capsys.readouterr().err
    assert wrong in error
    assert error.count("\n") == 1
    assert not (tmp_path / "t").exists()


def test_without_a_subcommand_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("human") == 0
    assert "Commands:" in capsys.readouterr().out
