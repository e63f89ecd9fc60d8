"""Vega-Lite pieces for figures that look alike; colour alone never tells series apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.results.charts import BLUE as BLUE
from disorder.results.charts import ORANGE as ORANGE
from disorder.results.drawing import FONT as FONT
from disorder.results.drawing import GREY as GREY

VegaLite = dict[str, Any]
LIGHT = "#9ecae1"
# an order of things, dark to light: readable in grey
FILLS = ("#08519c", "#4292c6", "#9ecae1", "#deebf7", "#ffffff")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond")
MARKS: dict[str, tuple[str, Sequence[Any]]] = {
    "line": ("strokeDash", DASHES),
    "point": ("shape", SHAPES),
}
COLOURS = (BLUE, ORANGE, "#7a3b8f", "#4d4d4d")
BAND: VegaLite = {"opacity": 0.18, "color": BLUE, "line": False}


def domain(low: float, high: float) -> VegaLite:
    """A scale from low to high."""
    return {"scale": {"domain": [low, high]}}


def number(field: str, title: str | None, more: VegaLite | None = None) -> VegaLite:
    """A channel that shows numbers."""
    return {"field": field, "type": "quantitative", "title": title} | (more or {})


def name(field: str, order: Sequence[str], title: str | None = None) -> VegaLite:
    """A channel that shows names in a fixed order."""
    axis = {"labelLimit": 240, "labelAngle": 0}
    return {"field": field, "type": "nominal", "sort": list(order), "title": title, "axis": axis}


def colours(field: str, names: Sequence[str], *, marks: str = "") -> VegaLite:
    """Channels that tell series apart: colour, and dashes of `line`s or shapes of `point`s."""
    legend: VegaLite = {"title": None, "orient": "top"}
    scale = {"domain": list(names), "range": list(COLOURS[: len(names)])}
    found: VegaLite = {
        "color": {"field": field, "type": "nominal", "scale": scale, "legend": legend}
    }
    if marks in MARKS:
        channel, kinds = MARKS[marks]
        scale = {"domain": list(names), "range": list(kinds[: len(names)])}
        found[channel] = {"field": field, "type": "nominal", "scale": scale, "legend": legend}
    return found


def ruled(channel: str, value: float) -> list[VegaLite]:
    """A dotted line, for chance."""
    mark = {"type": "rule", "aria": False, "strokeDash": [2, 3], "color": GREY}
    return [{"data": {"values": [{}]}, "mark": mark, "encoding": {channel: {"datum": value}}}]


def reference(channel: str, value: float, text: str) -> list[VegaLite]:
    """A dashed line with a word on it, for what another model would do."""
    data: VegaLite = {"values": [{"text": text}]}
    place: VegaLite = {channel: {"datum": value}}
    right = {"align": "right", "baseline": "bottom", "x": "width", "dy": -3}
    beside = right if channel == "y" else {"align": "left", "y": 8, "dx": 4}
    line = {"type": "rule", "aria": False, "strokeDash": [6, 3], "color": ORANGE, "size": 2}
    word = {"type": "text", "fontSize": 11, "color": GREY, **beside}
    named = place | {"text": {"field": "text", "type": "nominal"}}
    return [
        {"data": data, "mark": line, "encoding": place},
        {"data": data, "mark": word, "encoding": named},
    ]


def offset(field: str, order: Sequence[str]) -> VegaLite:
    """A channel that sets series side by side."""
    return {"xOffset": {"field": field, "type": "nominal", "sort": list(order)}}


def joined(x: VegaLite, y: VegaLite, more: VegaLite) -> VegaLite:
    """Lines that join the points of a series."""
    return {"mark": {"type": "line", "opacity": 0.6}, "encoding": {"x": x, "y": y, **more}}


def intervals(
    x: VegaLite, y: VegaLite, more: VegaLite | None = None, *, mark: VegaLite | None = None
) -> list[VegaLite]:
    """Points with their intervals, up and down; `low` and `high` are columns of the rows."""
    more = more or {}
    span = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    bar = {channel: setting for channel, setting in more.items() if channel in ("color", "xOffset")}
    plain: VegaLite = {} if "color" in more else {"color": BLUE}
    point: VegaLite = (
        {"type": "point", "filled": True, "size": 60, "opacity": 1} | plain | (mark or {})
    )
    rule: VegaLite = {"type": "rule", "size": 2} | plain
    return [
        {"mark": rule, "encoding": span | bar},
        {"mark": point, "encoding": {"x": x, "y": y} | more},
    ]
