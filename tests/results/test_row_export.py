"""No cell of a CSV file is a formula or an escape sequence, and texts come back as they were."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import disorder
from disorder.results.result import as_csv
from disorder.results.row_export import FORMULA, NUMBER, cell_text, csv_text
from disorder.safe_io import visible
from disorder.verbs.explain.result import write_csvs
from faults.laboratory import rows

FORMULAS = ["=cmd|'/C calc'!A0", "@SUM(1+1)*9", "+1+1", "-2+3", "\t=1", "'=1", "＝1+1"]


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("given", FORMULAS)
def test_a_text_that_begins_like_a_formula_is_text(given: str) -> None:
    [[header], [cell]] = cells(csv_text([given], [[given]]))
    assert header == cell == f"'{given}"
    assert cell_text(cell) == given
    assert as_csv([{given: given}]).decode() == csv_text([given], [[given]])


@pytest.mark.parametrize("given", ["-1", "-0.5e-3", "+7", -1.5, 3, None, True, "'tis", "a=b", ""])
def test_numbers_and_usual_texts_are_as_they_are(given: object) -> None:
    [_, [cell]] = cells(csv_text(["x"], [[given]]))
    assert cell == ("" if given is None else str(given))


@given(st.text(), st.booleans())
def test_texts_come_back_exactly_or_as_a_terminal_shows_them(text: str, is_exact: bool) -> None:
    [_, [cell, _]] = cells(csv_text(["x", "y"], [[text, 1]], is_exact=is_exact))
    assert not FORMULA.match(cell) or NUMBER.fullmatch(cell) or cell.startswith("'")
    assert cell_text(cell) == (text if is_exact else visible(text))


def test_files_of_every_verb_are_written_so(tmp_path: Path) -> None:
    """Labels and texts of the data stand in all of them."""
    label = "=cmd|'/C calc'!A0\x1b]52;c;aGk=\x07"
    data = [row | {"label": label if i % 2 else "@SUM(1)"} for i, row in enumerate(rows(24))]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, data)), encoding="utf-8")
    disorder.sanity(str(path), check=["labels", "duplicates"], out=tmp_path / "sanity")
    found = disorder.explain(
        "uniform", str(path), by="accepted_by_length", q=2, out=tmp_path / "explain"
    )
    write_csvs(tmp_path / "named.csv", found)
    written = sorted(tmp_path.rglob("*.csv"))
    assert len(written) > 2
    text = "".join(each.read_text(encoding="utf-8") for each in written)
    assert "cmd|" in text
    assert "\x1b" not in text
    for row in cells(text):
        for cell in row:
            assert not FORMULA.match(cell) or NUMBER.fullmatch(cell) or cell.startswith("'")
