"""A check audits, compares with the last run, and decides rules."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import disorder
from conftest import Command

ROWS = [
    {"text": f"item{i} number{i} {'fine' if i % 2 else 'poor'} case{i} end{i}", "label": str(i % 2)}
    for i in range(120)
]


def good(texts: list[str]) -> list[str]:
    return ["1" if "fine" in text.split() else "0" for text in texts]


def worse(texts: list[str]) -> list[str]:
    """Wrong on a third of the texts."""
    found = zip(good(texts), texts, strict=True)
    return [str(1 - int(a)) if "7" in t or "3" in t or "5" in t else a for a, t in found]


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs, with one of the good model."""
    home = tmp_path_factory.mktemp("runs")
    disorder.audit(good, ROWS, with_="derange", q=2, out=home / "first")
    return home


def test_a_model_that_became_worse_fails(accepted: Path, tmp_path: Path) -> None:
    found = disorder.check(worse, ROWS, with_="derange", q=2, against=accepted / "first")
    assert found.comparison is not None
    failed = [ruling.metric for ruling in found.decision.rulings if not ruling.passed]
    assert failed == ["accuracy minus that of the last run"]
    assert not found.passed
    assert "accuracy is lower" in " ".join(found.result.lead)


def test_the_same_model_passes_and_rules_still_count(accepted: Path) -> None:
    found = disorder.check(good, ROWS, with_="derange", q=2, against=accepted / "first")
    assert found.passed
    strict = disorder.check(
        good, ROWS, with_="derange", q=2, against=accepted / "first", fail_if="skill_kept > 0.5"
    )
    assert [ruling.state for ruling in strict.decision.rulings].count("failed") == 1
    assert not strict.passed


def test_the_last_run_that_was_made_alike_is_taken(accepted: Path) -> None:
    other = disorder.audit(good, ROWS, with_="reverse", q=2, out=accepted / "other")
    assert other.data == "data"
    found = disorder.check(good, ROWS, with_="derange", q=2, against=accepted)
    assert found.comparison is not None, found.why_alone
    assert found.passed


def test_the_command_finds_the_last_run_and_writes_one_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{row['text']},{row['label']}\n" for row in ROWS)
    Path("data.csv").write_text(f"text,label\n{lines}")
    Path("looks.py").write_text(
        "def good(texts):\n    return ['1' if 'fine' in t.split() else '0' for t in texts]\n"
    )
    words = ["check", "looks.py:good", "data.csv", "--with", "derange", "--q", "2"]
    code, said, _ = command(*words)
    assert code == 0
    assert "Not compared: runs has no finished run on data.csv" in said
    rule = ["--fail-if", "skill_kept > 0.5", "--junit", "out.xml", "--markdown", "out.md"]
    code, said, _ = command(*words, *rule)
    assert code == 1
    assert "skill kept 0.00 [" in " ".join(said.split())
    assert "FAIL  derange:skill_kept > 0.5" in said
    suite = ElementTree.parse("out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert "hardly uses word order" in Path("out.md").read_text()
