"""A zoo of datasets with known answers: no verdict of `disorder sanity` may be false of them."""

from __future__ import annotations

from importlib import import_module

import pytest
from made_data import ZOO

import disorder
from disorder.verbs.sanity import Sanity

pytest.importorskip("sklearn", reason="needs scikit-learn")

CHECKS = ["labels", "order", "texts", "baselines", "overlap", "words", "duplicates"]


def verdicts(found: Sanity, name: str, kind: str) -> list[str]:
    """The verdicts that are "right", "undecided" or "false" of the dataset."""
    known = ZOO[name]
    n = found.n_rows["data"]
    return [
        verdict.line
        for verdict in found.verdicts
        if known.judged(verdict.question, verdict.answer, n) == kind
    ]


@pytest.fixture(autouse=True)
def _single_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only single words are shuffled: they decide, and runs of words take time."""
    monkeypatch.setattr(import_module("disorder.verbs.sanity.checks.order"), "SIZES", (1,))


@pytest.mark.parametrize("name", ZOO)
def test_nothing_false_is_said_of_300_rows(name: str) -> None:
    found = disorder.sanity(ZOO[name].rows(300), check=CHECKS)
    assert verdicts(found, name, "false") == []


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("order only", "order"),
        ("overlap only", "baselines"),
        ("length only", "baselines"),
        ("families", "words"),
        ("88, 10, 2", "labels"),
    ],
)
def test_3000_rows_decide(name: str, check: str) -> None:
    found = disorder.sanity(ZOO[name].rows(3000), check=check)
    assert len(verdicts(found, name, "right")) == len(found.verdicts), found


def test_what_families_teach_is_no_skill() -> None:
    found = disorder.sanity(ZOO["families"].rows(3000), check="baselines")
    assert found.original is not None
    assert found.original.low <= 0.5
    assert verdicts(found, "families", "false") == []
