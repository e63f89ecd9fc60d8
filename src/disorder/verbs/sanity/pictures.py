"""How do the pictures of an audit of data look? Vega-Lite pieces in the report's colours; never
colour alone tells apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.report.charts import BLUE, GREY, ORANGE

Spec = dict[str, Any]
SHAPES = {"corrupt-both": "circle", "corrupt-test": "square", "corrupt-train": "triangle-up"}
COLOURS = {"corrupt-both": BLUE, "corrupt-test": ORANGE, "corrupt-train": "#7a3b8f"}


def number(field: str, title: str | None, **scale: Any) -> Spec:
    """A channel that shows numbers."""
    usual = {"zero": False, "nice": True}
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": usual | scale,
        "axis": {"tickCount": 6},
    }


def name(field: str, order: Sequence[str]) -> Spec:
    """A channel that shows names in a fixed order."""
    return {
        "field": field,
        "type": "nominal",
        "sort": list(order),
        "title": None,
        "axis": {"labelLimit": 260, "labelAngle": 0},
    }


def forest(names: Sequence[str], title: str, *, lines: Sequence[float] = (0.0,)) -> Spec:
    """Numbers with their intervals, one row a name; rows need `name`, `value`, `low`, `high`."""
    x = number("value", title)
    y = name("name", names)
    span = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}}
    layers = [
        *(
            {
                "mark": {"type": "rule", "aria": False, "strokeDash": [2, 3], "color": GREY},
                "encoding": {"x": {"datum": line}},
            }
            for line in lines
        ),
        {"mark": {"type": "rule", "size": 2, "color": BLUE}, "encoding": span},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "color": BLUE, "opacity": 1},
            "encoding": {"y": y, "x": x},
        },
    ]
    return {"layer": layers, "height": {"step": 26}}


def designs(names: Sequence[str], title: str, *, margin: float) -> Spec:
    """Costs of the three designs side by side; dotted lines at no cost, dashed at the margin."""
    order = list(SHAPES)
    legend = {"title": None, "orient": "top"}
    told: Spec = {"field": "design", "type": "nominal", "legend": legend}
    colour = told | {"scale": {"domain": order, "range": list(COLOURS.values())}}
    shape = told | {"scale": {"domain": order, "range": list(SHAPES.values())}}
    x, y = number("value", title), name("name", names)
    offset = {"field": "design", "type": "nominal", "sort": order}
    span = {
        "y": y,
        "yOffset": offset,
        "x": x | {"field": "low"},
        "x2": {"field": "high"},
        "color": colour,
    }
    layers = [
        _line({"x": {"datum": 0.0}}, [2, 3]),
        _line({"x": {"datum": margin}}, [6, 3]),
        {"mark": {"type": "rule", "size": 2}, "encoding": span},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"y": y, "yOffset": offset, "x": x, "color": colour, "shape": shape},
        },
    ]
    return {"layer": layers, "height": {"step": 18}}


def scatter(x: Spec, y: Spec, *, label: str = "name") -> Spec:
    """Named points with intervals up and down."""
    span = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    text = {"field": label, "type": "nominal"}
    return {
        "layer": [
            {"mark": {"type": "rule", "size": 2, "color": BLUE, "opacity": 0.6}, "encoding": span},
            {
                "mark": {"type": "point", "filled": True, "size": 60, "color": BLUE, "opacity": 1},
                "encoding": {"x": x, "y": y},
            },
            {
                "mark": {
                    "type": "text",
                    "align": "left",
                    "dx": 7,
                    "dy": -5,
                    "fontSize": 11,
                    "color": "#1b1f24",
                },
                "encoding": {"x": x, "y": y, "text": text},
            },
        ],
        "height": 260,
    }


def curve(x: Spec, y: Spec, *, line: float) -> Spec:
    """Points with intervals, joined, and chance as a dotted line."""
    span = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    return {
        "layer": [
            _line({"y": {"datum": line}}, [2, 3]),
            {"mark": {"type": "line", "color": BLUE, "opacity": 0.5}, "encoding": {"x": x, "y": y}},
            {"mark": {"type": "rule", "size": 2, "color": BLUE}, "encoding": span},
            {
                "mark": {"type": "point", "filled": True, "size": 60, "color": BLUE, "opacity": 1},
                "encoding": {"x": x, "y": y},
            },
        ]
    }


def _line(encoding: Spec, dash: Sequence[int]) -> Spec:
    mark = {"type": "rule", "aria": False, "strokeDash": list(dash), "color": GREY}
    return {"data": {"values": [{}]}, "mark": mark, "encoding": encoding}
