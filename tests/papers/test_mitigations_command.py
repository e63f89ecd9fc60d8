"""`disorder mitigations`: one command compares them, and `disorder train` shows a collapse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import pairs
from disorder.cli import main

pytest.importorskip("torch", reason="needs torch")
SMALL = [
    word
    for setting in ("width=8", "hidden=8", "epochs=1", "min_count=1")
    for word in ("--set", setting)
]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return int(str(stopped.value.code))


def test_mitigations_from_the_command_line(
    jsonl: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = str(jsonl(pairs(40))), tmp_path / "mitigations"
    given = [
        "mitigations",
        data,
        data,
        "--model",
        "convnet",
        "--with",
        "reverse",
        "--on=sort",
        "--seeds",
        "1",
        *SMALL,
    ]
    given += ["--out", str(out)]
    assert run(*given, "--transfer", "invalid_class") == 0
    shown, told = capsys.readouterr()
    assert "--on is now written --with" in told
    for word in ("threshold", "entropic", "invalid_class", "Trained on one transformation"):
        assert word in shown
    assert (out / "transfer.svg").read_text().startswith("<svg")
    page = (out / "mitigations.md").read_text()
    assert page.count("| invalid_class |") >= 3
    assert "others − plain" in page
    kept = json.loads((out / "result.json").read_text())
    records = kept["findings"]
    assert {
        "mitigation",
        "trained_on",
        "metric",
        "texts",
        "group",
        "value",
        "low",
        "high",
        "n",
        "by_seed",
    } == set(records[0])
    assert run(*given, "--transfer", "invalid_class", "--json") == 0
    assert json.loads(capsys.readouterr().out) == kept


def test_a_mistake_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            "mitigations",
            "builtin:nli:train",
            "builtin",
            "--recipe",
            "invalid_clas",
            "--out",
            str(tmp_path / "x"),
        )
        == 2
    )
    assert "did you mean 'invalid_class'" in capsys.readouterr().err


def test_training_shows_the_predictions_on_perturbed_texts(
    jsonl: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(jsonl(pairs(40)))
    assert (
        run(
            "train", "max_entropy", data, "--model", "convnet", "--out", str(tmp_path / "m"), *SMALL
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "perturbed texts (derange): entropy" in shown
    assert "predicted: entailment" in shown
    assert "calibration.json: temperature" in shown
