"""A zoo of datasets with known answers: no verdict of `disorder sanity` may be false of them."""

from __future__ import annotations

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


@pytest.mark.parametrize("name", ZOO)
def test_nothing_false_is_said_of_300_rows(name: str) -> None:
    found = disorder.sanity(ZOO[name].rows(300), check=CHECKS)
    assert verdicts(found, name, "false") == []


@pytest.mark.parametrize(
    "name", ["order only", "overlap only", "length only", "length, contained", "families"]
)
def test_3000_rows_decide(name: str) -> None:
    found = disorder.sanity(ZOO[name].rows(3000), check=["labels", "order", "texts", "baselines"])
    assert verdicts(found, name, "false") == []
    assert {verdict.answer for verdict in found.verdicts if verdict.answer == "undecided"} == (
        {"undecided"} if name == "families" else set()
    )
