"""What do ours and theirs look like side by side? A picture a column: our points with intervals, the printed ones beside."""

from __future__ import annotations

from typing import Any

from disorder.report.charts import BLUE, GREY, ORANGE, svg
from disorder.report.html import visible
from disorder.study._bench import short
from disorder.study._lines import columns_of, title
from disorder.study._published import SCALES
from disorder.study._result import Cell, Picture, Study

WHOSE = ("ours", "published, same model and data", "published, another model")
MOST = 80  # points of a picture; a longer one is no picture
CAPTION = "{title}: ours with 95 % intervals{published}."
BESIDE = "; printed numbers in orange where they are about the same model and data, in grey where they are not"


def forests(study: Study) -> list[Picture]:
    """A picture for every column with two points or more; counts are read, not looked at."""
    found = []
    for column in (column for column in columns_of(study) if study.units[column] != "count"):
        points = [point for cell in study.cells if cell.column == column for point in _points(cell, study.units[column])]
        if 1 < len(points) <= MOST:
            beside = BESIDE if any(point["whose"] != WHOSE[0] for point in points) else ""
            caption = CAPTION.format(title=title(column), published=beside)
            found.append(Picture(name=column, caption=caption, svg=_forest(points, title(column), study.units[column])))
    return found


def _points(cell: Cell, unit: str) -> list[dict[str, Any]]:
    scale, about = SCALES[unit], {key: short(value) for key, value in cell.row.items()}
    name = " · ".join(about.values())
    low, high = (cell.value if bound is None else bound for bound in (cell.low, cell.high))
    points = [{"name": name, "whose": WHOSE[0], "value": cell.value / scale, "low": low / scale, "high": high / scale}]
    for each in cell.theirs:
        others = " · ".join([each.model, *(value for key, value in about.items() if key != "model")])
        place = name if each.is_same else others
        points.append({"name": place, "whose": WHOSE[1 if each.is_same else 2], "value": each.value / scale})
    return [{**point, "name": visible(point["name"]).replace("\n", " ")} for point in points]


def _forest(points: list[dict[str, Any]], name: str, unit: str) -> str:
    rows = list({(point["name"], point["whose"]): point for point in points}.values())
    y = {"field": "name", "type": "nominal", "sort": list(dict.fromkeys(row["name"] for row in rows)), "title": None,
         "axis": {"labelLimit": 320}}  # fmt: skip
    x = {"field": "value", "type": "quantitative", "title": name if unit == "share" else f"{name} ({unit})",
         "scale": {"zero": False}}  # fmt: skip
    legend = {"title": None, "orient": "top", "columns": 1, "labelLimit": 320}
    colours = {"domain": list(WHOSE), "range": [BLUE, ORANGE, GREY]}
    colour = {"field": "whose", "type": "nominal", "scale": colours, "legend": legend}
    shape = {"field": "whose", "type": "nominal", "legend": legend,
             "scale": {"domain": list(WHOSE), "range": ["circle", "diamond", "triangle-right"]}}  # fmt: skip
    span = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}}
    layers: list[dict[str, Any]] = [
        {"transform": [{"filter": "isValid(datum.low)"}], "mark": {"type": "rule", "size": 2, "color": BLUE, "aria": False},
         "encoding": span},
        {"mark": {"type": "point", "size": 60, "filled": True, "opacity": 1},
         "encoding": {"y": y, "x": x, "color": colour, "shape": shape}},
    ]  # fmt: skip
    return svg({"data": {"values": rows}, "layer": layers, "height": {"step": 20}})
