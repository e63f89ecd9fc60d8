"""How do our pictures look? Vega-Lite pieces in two colours that differ in lightness too; never
colour alone tells apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.report.charts import BLUE, FONT, GREY, ORANGE

__all__ = ["BAND", "BLUE", "FONT", "GREY", "LIGHT", "ORANGE"]

Spec = dict[str, Any]
LIGHT = "#9ecae1"
FILLS = (
    "#08519c",
    "#4292c6",
    "#9ecae1",
    "#deebf7",
    "#ffffff",
)  # an order of things, dark to light: readable in grey
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond")
MARKS: dict[str, tuple[str, Sequence[Any]]] = {
    "line": ("strokeDash", DASHES),
    "point": ("shape", SHAPES),
}
COLOURS = (BLUE, ORANGE, "#7a3b8f", "#4d4d4d")
BAND: Spec = {"opacity": 0.18, "color": BLUE, "line": False}


def domain(low: float, high: float) -> Spec:
    """A scale from low to high."""
    return {"scale": {"domain": [low, high]}}


def number(field: str, title: str | None, more: Spec | None = None) -> Spec:
    """A channel that shows numbers."""
    return {"field": field, "type": "quantitative", "title": title} | (more or {})


def name(field: str, order: Sequence[str], title: str | None = None) -> Spec:
    """A channel that shows names in a fixed order."""
    axis = {"labelLimit": 240, "labelAngle": 0}
    return {"field": field, "type": "nominal", "sort": list(order), "title": title, "axis": axis}


def colours(field: str, names: Sequence[str], *, marks: str = "") -> Spec:
    """Channels that tell series apart: colour, and dashes of `line`s or shapes of `point`s."""
    legend: Spec = {"title": None, "orient": "top"}
    scale = {"domain": list(names), "range": list(COLOURS[: len(names)])}
    found: Spec = {"color": {"field": field, "type": "nominal", "scale": scale, "legend": legend}}
    if marks in MARKS:
        channel, kinds = MARKS[marks]
        scale = {"domain": list(names), "range": list(kinds[: len(names)])}
        found[channel] = {"field": field, "type": "nominal", "scale": scale, "legend": legend}
    return found


def ruled(channel: str, value: float) -> list[Spec]:
    """A dotted line, for chance."""
    mark = {"type": "rule", "aria": False, "strokeDash": [2, 3], "color": GREY}
    return [{"data": {"values": [{}]}, "mark": mark, "encoding": {channel: {"datum": value}}}]


def reference(channel: str, value: float, text: str) -> list[Spec]:
    """A dashed line with a word on it, for what another model would do."""
    data: Spec = {"values": [{"text": text}]}
    place: Spec = {channel: {"datum": value}}
    right = {"align": "right", "baseline": "bottom", "x": "width", "dy": -3}
    beside = right if channel == "y" else {"align": "left", "y": 8, "dx": 4}
    return [
        {
            "data": data,
            "mark": {
                "type": "rule",
                "aria": False,
                "strokeDash": [6, 3],
                "color": ORANGE,
                "size": 2,
            },
            "encoding": place,
        },
        {
            "data": data,
            "mark": {"type": "text", "fontSize": 11, "color": GREY, **beside},
            "encoding": place | {"text": {"field": "text", "type": "nominal"}},
        },
    ]


def joined(x: Spec, y: Spec, more: Spec) -> Spec:
    """Lines that join the points of a series."""
    return {"mark": {"type": "line", "opacity": 0.6}, "encoding": {"x": x, "y": y, **more}}


def intervals(
    x: Spec, y: Spec, more: Spec | None = None, *, mark: Spec | None = None
) -> list[Spec]:
    """Points with their intervals, up and down; `low` and `high` are columns of the rows."""
    more = more or {}
    span = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    bar = {channel: setting for channel, setting in more.items() if channel in ("color", "xOffset")}
    plain: Spec = {} if "color" in more else {"color": BLUE}
    point: Spec = {"type": "point", "filled": True, "size": 60, "opacity": 1} | plain | (mark or {})
    rule: Spec = {"type": "rule", "size": 2} | plain
    return [
        {"mark": rule, "encoding": span | bar},
        {"mark": point, "encoding": {"x": x, "y": y} | more},
    ]
