"""Is every published number typed in as the paper prints it? Looked up in the papers' texts, where
they are at hand.
"""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from printed import LAYOUTS, SECOND_COPIES, STATED, TEXTS, cells, complaints, published

ITEMS = [(paper, name) for paper in TEXTS for name in published(paper)]
ROWS = [(paper, name) for paper, name in ITEMS if published(paper)[name].get("rows")]
UNITS = {"share", "percent", "count", "points"}


@pytest.fixture(scope="session")
def texts(shared: Path) -> dict[str, str]:
    """The papers' texts."""
    if not (shared / "papers").is_dir():
        pytest.skip(f"needs the papers' texts in {shared / 'papers'}")
    return {
        paper: (shared / "papers" / name).read_text(encoding="utf-8")
        for paper, name in TEXTS.items()
    }


@pytest.fixture(scope="session")
def second(shared: Path) -> dict[str, str]:
    """Second copies, of the papers that have one."""
    found = dict.fromkeys(TEXTS, "")
    for paper, name in SECOND_COPIES.items():
        found[paper] = (shared / "papers" / name).read_text(encoding="utf-8")
    return found


@pytest.mark.parametrize(("paper", "name"), ROWS)
def test_every_cell_is_printed_so(
    paper: str, name: str, texts: dict[str, str], second: dict[str, str]
) -> None:
    assert complaints(paper, name, published(paper)[name], texts[paper], second[paper]) == []


@pytest.mark.parametrize(("paper", "name"), ROWS)
def test_every_cell_is_looked_up(paper: str, name: str) -> None:
    """Each cell stands in a line of the table's layout or in a sentence; in no item is one left to
    trust.
    """
    stated = STATED.get(f"{paper}/{name}", {})
    for i, column, cell in cells(published(paper)[name]):
        assert (i, column) in stated or f"{paper}/{name}" in LAYOUTS, (
            f"{paper}/{name} row {i}: {column} = {cell}"
        )
        assert (i, column) in stated or i not in {row for row, _ in stated}, (
            f"{paper}/{name} row {i} is looked up in part"
        )


@pytest.mark.parametrize("paper", TEXTS)
def test_wrong_digits_are_found(paper: str, texts: dict[str, str], second: dict[str, str]) -> None:
    rng = np.random.default_rng(0)
    found = []
    for name in (name for p, name in ROWS if p == paper):
        for i, column, cell in cells(published(paper)[name]):
            wrong = copy.deepcopy(published(paper)[name])
            wrong["rows"][i]["cells"][column] = _another(cell, rng)
            found.append(bool(complaints(paper, name, wrong, texts[paper], second[paper])))
    assert np.mean(found) >= 0.99, f"{np.mean(found):.3f} of {len(found)}"


def test_swapped_cells_are_found(texts: dict[str, str], second: dict[str, str]) -> None:
    """Two numbers that trade places are both printed, but not there."""
    rng = np.random.default_rng(0)
    found = []
    for paper, name in ROWS:
        item = published(paper)[name]
        places = list(cells(item))
        for _ in range(min(len(places), 10)):
            (i, a, first), (j, b, other) = (places[k] for k in rng.integers(len(places), size=2))
            if first == other:
                continue
            wrong = copy.deepcopy(item)
            wrong["rows"][i]["cells"][a], wrong["rows"][j]["cells"][b] = other, first
            found.append(bool(complaints(paper, name, wrong, texts[paper], second[paper])))
    assert np.mean(found) >= 0.99, f"{np.mean(found):.3f} of {len(found)}"


@pytest.mark.parametrize(("paper", "name"), ITEMS)
def test_items_say_what_they_are(paper: str, name: str, texts: dict[str, str]) -> None:
    item = published(paper)[name]
    assert item["title"] not in " ".join(texts[paper].split()), "a title is in our own words"
    assert {item.get("unit", "share"), *item.get("units", {}).values()} <= UNITS
    assert set(item.get("units", {})) <= set(item.get("columns", ()))
    keys = [
        tuple(sorted((k, v) for k, v in row.items() if k != "cells"))
        for row in item.get("rows", ())
    ]
    assert len(set(keys)) == len(keys), "two rows with the same keys cannot be told apart"
    for i, column, cell in cells(item):
        assert column in item["columns"]
        float(cell.replace(",", ""))
        assert item["rows"][i]["cells"], "a row holds numbers"


def _another(cell: str, rng: np.random.Generator) -> str:
    """The same cell with one digit changed."""
    places = [i for i, char in enumerate(cell) if char.isdigit()]
    i = int(rng.choice(places))
    return cell[:i] + str((int(cell[i]) + int(rng.integers(1, 10))) % 10) + cell[i + 1 :]
