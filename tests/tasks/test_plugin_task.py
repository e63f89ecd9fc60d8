"""A task of a plugin is recognised, listed and audited as a built-in one."""

from __future__ import annotations

import pytest

import disorder
from disorder.data import read_data

pytest.importorskip("disorder_stutter", reason="needs examples/disorder-stutter")
ROWS = [
    {"id": str(i), "words": ["oak", "elm", f"ship {i}", "ash"], "odd": f"ship {i}"}
    for i in range(20)
]


def test_the_odd_one_out_is_multiple_choice() -> None:
    dataset = read_data(ROWS, language="en")
    assert dataset.task.kind == "choice"
    assert {example.label for example in dataset.examples} == {"C"}
    assert "odd_one_out" in [each["name"] for each in disorder.list_parts("task")]


def test_its_options_can_be_moved() -> None:
    def ship(given: list[dict[str, list[str]]]) -> list[int]:
        return [next(i for i, w in enumerate(each["options"]) if "ship" in w) for each in given]

    run = disorder.audit(ship, ROWS, on="options", q=5, cache="off", language="en")
    assert run["shuffle_options", "accuracy"].value == 1.0
    assert run["shuffle_options", "holds_to_option"].value == pytest.approx(1.0, abs=0.05)
