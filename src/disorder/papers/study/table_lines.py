"""What a study shows: the lines of its table (ours with the interval, printed numbers below, the
difference), and one picture per column.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from disorder.papers.study.published_tables import SCALES, decimals
from disorder.papers.study.result import NEAR, PublishedNumber, Study, StudyCell, StudyPicture
from disorder.papers.study.workbench import short_name
from disorder.results.charts import BLUE, ORANGE
from disorder.results.drawing import GREY, svg
from disorder.results.markup import name_of
from disorder.results.result import Cell, Column, Grid
from disorder.results.writing import title_of
from disorder.safe_io import visible

TITLES = {"delta": "Δ"}  # columns that are not metrics; metrics have titles of their own
MINUS = re.compile(r"^-(?=[\d.])")  # of a number, as it is typed; pages have a true minus
DIGITS = {"share": 3, "count": 0}
OUTCOMES = {"within": "within", "equal": "within", "outside": "outside", "differs": "outside"}
Whose = Literal["ours", "published", "difference", "other"]
Holds = Literal["both", "ours", "theirs"]  # whose numbers a column of the table holds


@dataclass(frozen=True)
class TableLine:
    """One line of the table: what it is about, whose numbers, and one text per column."""

    about: list[str]
    whose: Whose
    cells: list[str]

    def cell(self, text: str) -> Cell:
        """One of its texts, with the interval apart, and the outcome of a difference as a mark."""
        if self.whose == "ours":
            value, _, interval = text.partition(" ")
            return Cell(value, interval, "ours")
        words = text.partition(" (")[0].rpartition(" ")[2]
        outcome = OUTCOMES.get(words, "")
        return Cell(text, mark=f"{self.whose} {outcome}".rstrip())


def keys_of(study: Study) -> list[str]:
    """What the rows say they are about."""
    return list(dict.fromkeys(key for cell in study.cells for key in cell.row))


def constants(study: Study) -> dict[str, str]:
    """What all rows have in common beside the model; not worth a column where space is short."""
    found = {}
    for key in keys_of(study)[1:]:
        values = {cell.row.get(key) for cell in study.cells}
        if len(values) == 1:
            found[key] = str(values.pop())
    return found


def columns_of(study: Study) -> list[str]:
    """The columns that have at least one cell."""
    filled = {cell.column for cell in study.cells}
    return [column for column in study.columns if column in filled]


def shown_columns(study: Study) -> list[tuple[str, Holds]]:
    """The columns as they are shown: ours and theirs apart where other numbers of permutations were
    drawn, for then they are not the same quantity.
    """
    found: list[tuple[str, Holds]] = []
    for column in columns_of(study):
        if column not in study.draws:
            found.append((column, "both"))
            continue
        found.append((column, "ours"))
        if any(cell.theirs for cell in study.cells if cell.column == column):
            found.append((column, "theirs"))
    return found


def headings(study: Study) -> list[str]:
    """What stands above each column, with the number of permutations where it matters."""
    return [
        title(column)
        + ("" if holds == "both" else f", q = {study.draws[column][holds == 'theirs']}")
        for column, holds in shown_columns(study)
    ]


def title(column: str) -> str:
    """A column's name as people write it."""
    if column in TITLES:
        return TITLES[column]
    shown = title_of(column)
    return shown if shown != column else column.replace("_", " ")


def lines(study: Study, keys: Sequence[str] | None = None) -> Iterator[TableLine]:
    """All lines, row by row of ours; what is printed of other models comes once, at the end."""
    keys = keys_of(study) if keys is None else keys
    rows = list(study.rows)
    last = {_without_model(row): number for number, (row, _) in enumerate(rows)}
    compared: set[tuple[str, ...]] = set()
    for number, (row, cells) in enumerate(rows):
        about = [short_name(row[key]) if row.get(key) else "" for key in keys]
        texts = [
            ours(cells[name], study.units[name]) if name in cells and holds != "theirs" else ""
            for name, holds in shown_columns(study)
        ]
        yield TableLine(about, "ours", texts)
        for model in _models(cells, is_same=True):
            compared.add((model, *_without_model(row)))
            yield from _same_lines(study, model, cells, keys)
        if last[_without_model(row)] == number:
            for model in _models(cells, is_same=False):
                if (model, *_without_model(row)) not in compared:
                    printed = _printed_texts(study, model, cells)
                    yield TableLine(_label(model, keys), "other", printed)


def _without_model(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(value for key, value in row.items() if key != "model")


def _models(cells: Mapping[str, StudyCell], *, is_same: bool) -> list[str]:
    """The published models that have numbers beside these cells."""
    every = [each for cell in cells.values() for each in cell.theirs if each.is_same == is_same]
    return list(dict.fromkeys(each.model for each in every))


def _same_lines(
    study: Study, model: str, cells: Mapping[str, StudyCell], keys: Sequence[str]
) -> Iterator[TableLine]:
    yield TableLine(_label(model, keys), "published", _printed_texts(study, model, cells))
    theirs = _printed(study, model, cells)
    if any(each is not None and each.difference is not None for _, each in theirs):
        texts = [difference(each, study.units[column]) if each else "" for column, each in theirs]
        yield TableLine(["difference", *[""] * (len(keys) - 1)], "difference", texts)


def _printed(
    study: Study, model: str, cells: Mapping[str, StudyCell]
) -> list[tuple[str, PublishedNumber | None]]:
    """What is printed about a model, column by column."""
    found: list[tuple[str, PublishedNumber | None]] = []
    for column, holds in shown_columns(study):
        theirs = cells[column].theirs if column in cells and holds != "ours" else []
        found.append((column, next((each for each in theirs if each.model == model), None)))
    return found


def _printed_texts(study: Study, model: str, cells: Mapping[str, StudyCell]) -> list[str]:
    texts = []
    for column, each in _printed(study, model, cells):
        text = MINUS.sub("−", each.printed) if each else ""
        is_other = each is not None and each.label not in ("", cells[column].row.get("label"))
        texts.append(f"{text} ({each.label})" if each and is_other else text)
    return texts


def _label(model: str, keys: Sequence[str]) -> list[str]:
    return [f"published: {model}" if model else "published", *[""] * (len(keys) - 1)]


def ours(cell: StudyCell, unit: str) -> str:
    """Our number with its interval, in the unit of the paper.

    >>> ours(StudyCell(row={}, column="a", value=0.8237, low=0.81, high=0.84), "percent")
    '82.4 81.0–84.0'
    >>> ours(StudyCell(row={}, column="a", value=0.021, low=-0.004, high=0.05), "points")
    '+2.1 −0.4 to +5.0'
    """
    if cell.low is None or cell.high is None:
        return shown(cell.value, unit)
    digits = 2 if unit == "share" else None
    low = shown(cell.low, unit, digits)
    high = shown(cell.high, unit, digits)
    dash = " to " if unit == "points" or "−" in low + high else "–"
    return f"{shown(cell.value, unit)} {low}{dash}{high}"


def shown(value: float, unit: str, digits: int | None = None) -> str:
    """A number in the unit of the paper."""
    sign = "+" if unit == "points" else ""
    places = DIGITS.get(unit, 1) if digits is None else digits
    text = f"{value / SCALES[unit]:{sign},.{places}f}"
    if not text.strip("+-0.,"):
        return text.lstrip("+-")
    return text.replace("-", "−")


def difference(theirs: PublishedNumber, unit: str) -> str:
    """Ours minus theirs and whether theirs lies in our interval, or that it is not compared."""
    if theirs.difference is None:
        return "not compared" if theirs.why_not else ""
    change = shown(theirs.difference, unit, max(decimals(theirs.printed), DIGITS.get(unit, 1)))
    is_signed = change.startswith(("−", "+")) or not change.strip("0.,")
    change = change if is_signed else f"+{change}"
    if theirs.is_within is None:
        return f"{change} not judged"
    if unit == "count":
        apart = f"differs (within {NEAR:.1%})".replace("%", " %") if theirs.is_near else "differs"
        return "equal" if theirs.is_within else f"{change} {apart}"
    return f"{change} {'within' if theirs.is_within else 'outside'}"


def why_not(study: Study) -> list[str]:
    """Why some published numbers are not compared or not judged, though the row is the same."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in study.cells:
        for each in cell.theirs:
            if each.why_not:
                how = "not compared" if each.difference is None else "not judged"
                reasons.setdefault((how, each.why_not), []).append(title(cell.column))
    return [
        f"{how}: {', '.join(dict.fromkeys(columns))} ({reason})"
        for (how, reason), columns in reasons.items()
    ]


def study_grid(study: Study, keys: Sequence[str] | None = None, caption: str = "") -> Grid:
    """The table of a study; a cell is marked by whose number it is, a difference by its outcome."""
    keys = keys_of(study) if keys is None else keys
    columns = [Column(key, "name") for key in keys]
    columns += [Column(heading) for heading in headings(study)]
    rows = [
        [
            *(Cell(text, mark=f"{line.whose}-row") for text in line.about),
            *map(line.cell, line.cells),
        ]
        for line in lines(study, keys)
    ]
    return Grid(columns, rows, caption)


def printed_grid(study: Study) -> Grid:
    """The whole published table, as it is printed."""
    keys = list(dict.fromkeys(key for row in study.published for key in row if key != "cells"))
    columns = [c for c in study.columns if any(c in row["cells"] for row in study.published)]
    rows = [
        [*(row.get(key, "") for key in keys), *(row["cells"].get(c, "") for c in columns)]
        for row in study.published
    ]
    return Grid.of_texts([[*keys, *map(title, columns)], *rows], "as published", len(keys))


def paper_grid(study: Study) -> Grid:
    """The table of a study for a paper, as its page has it."""
    caption = (
        f"`{study.item}`, computed again ({study.does}): ours in bold with 95 % intervals over "
        f"examples, beside the published numbers. In the paper: {study.title}."
    )
    return replace(study_grid(study), caption=caption, name=name_of(study.item))


WHOSE = ("ours", "published, same model and data", "published, another model")
MOST = 120  # points of a picture; with more of them nothing can be read
CAPTION = "{title}: ours with 95 % intervals{published}."
BESIDE = (
    "; printed numbers in orange where they are about the same model and data, "
    "in grey where they are not"
)


def forests(study: Study) -> list[StudyPicture]:
    """A picture for every column with two points or more; none for counts."""
    found = []
    left_out = constants(study)
    for column in columns_of(study):
        unit = study.units[column]
        if unit == "count":
            continue
        cells = [cell for cell in study.cells if cell.column == column]
        points = [*_ours(cells, unit, left_out), *_others(cells, unit, left_out)]
        if 1 < len(points) <= MOST:
            has_published = any(point["whose"] != WHOSE[0] for point in points)
            caption = CAPTION.format(title=title(column), published=BESIDE if has_published else "")
            drawn = _forest(points, title(column), unit)
            found.append(StudyPicture(name=column, caption=caption, svg=drawn))
    return found


def _ours(
    cells: Sequence[StudyCell], unit: str, left_out: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Our points, and the printed ones that are about the same."""
    scale = SCALES[unit]
    for cell in cells:
        name = _name([value for key, value in cell.row.items() if key not in left_out])
        low, high = cell.bounds
        yield {
            "name": name,
            "whose": WHOSE[0],
            "value": cell.value / scale,
            "low": low / scale,
            "high": high / scale,
        }
        if cell.same is not None:
            yield {"name": name, "whose": WHOSE[1], "value": cell.same.value / scale}


def _others(
    cells: Sequence[StudyCell], unit: str, left_out: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The printed points about other models, each once."""
    drawn = {(each.model, *_rest(cell)) for cell in cells for each in cell.theirs if each.is_same}
    for cell in cells:
        rest = [value for name, value in cell.row.items() if name not in ("model", *left_out)]
        for each in cell.theirs:
            key = (each.model, *_rest(cell))
            if key not in drawn:
                drawn.add(key)
                yield {
                    "name": _name([each.model, *rest]),
                    "whose": WHOSE[2],
                    "value": each.value / SCALES[unit],
                }


def _rest(cell: StudyCell) -> tuple[str, ...]:
    return tuple(value for key, value in cell.row.items() if key != "model")


def _name(words: Sequence[str]) -> str:
    return visible(" · ".join(short_name(word) for word in words)).replace("\n", " ")


def _forest(points: list[dict[str, Any]], name: str, unit: str) -> str:
    y = {
        "field": "name",
        "type": "nominal",
        "sort": list(dict.fromkeys(point["name"] for point in points)),
        "title": None,
        "axis": {"labelLimit": 320},
    }
    x = {
        "field": "value",
        "type": "quantitative",
        "title": name if unit == "share" else f"{name} ({unit})",
        "scale": {"zero": False},
    }
    drawn = [whose for whose in WHOSE if any(point["whose"] == whose for point in points)]
    legend = {"title": None, "orient": "top", "columns": 1, "labelLimit": 320, "values": drawn}
    whose = {
        "field": "whose",
        "type": "nominal",
        "legend": legend if len(drawn) > 1 else None,  # one kind of point explains itself
    }
    colour = whose | {"scale": {"domain": list(WHOSE), "range": [BLUE, ORANGE, GREY]}}
    shapes = ["circle", "diamond", "triangle-right"]
    shape = whose | {"scale": {"domain": list(WHOSE), "range": shapes}}
    span = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}}
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "size": 2, "color": BLUE, "aria": False},
            "encoding": span,
        },
        {
            "mark": {"type": "point", "size": 60, "filled": True, "opacity": 1},
            "encoding": {"y": y, "x": x, "color": colour, "shape": shape},
        },
    ]
    return svg({"data": {"values": points}, "layer": layers, "height": {"step": 20}})
