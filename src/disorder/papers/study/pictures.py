"""Pictures of a study: one per column, our points with intervals and the printed ones beside."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from disorder.papers.study.naming import short_name
from disorder.papers.study.published_tables import SCALES
from disorder.papers.study.result import Study, StudyCell, StudyPicture
from disorder.papers.study.table_lines import columns_of, constants, title
from disorder.results.charts import BLUE, ORANGE
from disorder.results.drawing import GREY, svg
from disorder.visible_text import visible

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
