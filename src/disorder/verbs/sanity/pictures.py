"""Figures of `sanity` as Vega-Lite, in the colours of the report; shapes tell designs apart too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.results.charts import BLUE, ORANGE
from disorder.results.drawing import GREY
from disorder.results.result import Figure, Row
from disorder.results.writing import score_row
from disorder.verbs.sanity.trials import DESIGNS, Trial, Trials

ChartSpec = dict[str, Any]
COST = "cost (0.05 is five points)"
SHAPES = {"corrupt-both": "circle", "corrupt-test": "square", "corrupt-train": "triangle-up"}
INK = "#1b1f24"
POINT = {"type": "point", "filled": True, "size": 60, "opacity": 1}
RULE = {"type": "rule", "size": 2}
COLOURS = {"corrupt-both": BLUE, "corrupt-test": ORANGE, "corrupt-train": "#7a3b8f"}


def number(field: str, title: str | None, **scale: Any) -> ChartSpec:
    """A channel that shows numbers."""
    usual = {"zero": False, "nice": True}
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": usual | scale,
        "axis": {"tickCount": 6},
    }


def name(field: str, order: Sequence[str]) -> ChartSpec:
    """A channel that shows names in a fixed order."""
    return {
        "field": field,
        "type": "nominal",
        "sort": list(order),
        "title": None,
        "axis": {"labelLimit": 260, "labelAngle": 0},
    }


def forest(names: Sequence[str], title: str, *, lines: Sequence[float] = (0.0,)) -> ChartSpec:
    """Numbers with their intervals, one row per name; rows need `name`, `value`, `low`, `high`."""
    x = number("value", title)
    y = name("name", names)
    span = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}}
    dotted = {"type": "rule", "aria": False, "strokeDash": [2, 3], "color": GREY}
    layers = [
        *({"mark": dotted, "encoding": {"x": {"datum": line}}} for line in lines),
        {"mark": RULE | {"color": BLUE}, "encoding": span},
        {"mark": POINT | {"color": BLUE}, "encoding": {"y": y, "x": x}},
    ]
    return {"layer": layers, "height": {"step": 26}}


def designs(names: Sequence[str], title: str, *, margin: float) -> ChartSpec:
    """Costs of the three designs side by side; dotted lines at no cost, dashed at the margin."""
    order = list(SHAPES)
    legend = {"title": None, "orient": "top"}
    by_design: ChartSpec = {"field": "design", "type": "nominal", "legend": legend}
    colour = by_design | {"scale": {"domain": order, "range": list(COLOURS.values())}}
    shape = by_design | {"scale": {"domain": order, "range": list(SHAPES.values())}}
    x = number("value", title)
    y = name("name", names)
    offset = {"field": "design", "type": "nominal", "sort": order}
    span = {
        "y": y,
        "yOffset": offset,
        "x": x | {"field": "low"},
        "x2": {"field": "high"},
        "color": colour,
    }
    layers: list[ChartSpec] = [
        _line({"x": {"datum": 0.0}}, [2, 3]),
        _line({"x": {"datum": margin}}, [6, 3]),
        {"mark": RULE, "encoding": span},
        {
            "mark": POINT,
            "encoding": {"y": y, "yOffset": offset, "x": x, "color": colour, "shape": shape},
        },
    ]
    return {"layer": layers, "height": {"step": 18}}


def scatter(x: ChartSpec, y: ChartSpec, *, label: str = "name") -> ChartSpec:
    """Named points with intervals up and down."""
    span = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    text = {"field": label, "type": "nominal"}
    beside = {"type": "text", "align": "left", "dx": 7, "dy": -5, "fontSize": 11, "color": INK}
    layers = [
        {"mark": RULE | {"color": BLUE, "opacity": 0.6}, "encoding": span},
        {"mark": POINT | {"color": BLUE}, "encoding": {"x": x, "y": y}},
        {"mark": beside, "encoding": {"x": x, "y": y, "text": text}},
    ]
    return {"layer": layers, "height": 260}


def curve(x: ChartSpec, y: ChartSpec, *, line: float) -> ChartSpec:
    """Points with intervals, joined, and chance as a dotted line."""
    span = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    return {
        "layer": [
            _line({"y": {"datum": line}}, [2, 3]),
            {"mark": {"type": "line", "color": BLUE, "opacity": 0.5}, "encoding": {"x": x, "y": y}},
            {"mark": RULE | {"color": BLUE}, "encoding": span},
            {"mark": POINT | {"color": BLUE}, "encoding": {"x": x, "y": y}},
        ]
    }


def _line(encoding: ChartSpec, dash: Sequence[int]) -> ChartSpec:
    mark = {"type": "rule", "aria": False, "strokeDash": list(dash), "color": GREY}
    return {"data": {"values": [{}]}, "mark": mark, "encoding": encoding}


def cost_figure(check: str, trials: Trials, shown: Sequence[Trial]) -> Figure:
    """The cost of each transformation in the three designs."""
    rows: list[Row] = [
        {"name": short_name(trial.spec), "design": design}
        | score_row(trials.cost(trial.predictions[design], trials.rows.tested))
        for trial in shown
        for design in DESIGNS
    ]
    names = [short_name(trial.spec) for trial in shown]
    metric = trials.metric.replace("_", " ")
    caption = (
        f"What the perturbation costs ({metric}), with 95 % intervals, when both training and test "
        "data are perturbed, or one of them. Dotted: no cost; dashed: the margin."
    )
    drawing = designs(names, COST, margin=trials.rule.margin)
    return Figure(f"{check}_cost", caption, rows, drawing)


def short_name(spec: str) -> str:
    """A transformation as a figure names it."""
    named = {
        "drop_text": "text_b only",
        "drop_text:side=b": "text_a only",
        "swap_texts": "texts swapped",
    }
    return named.get(spec, spec.replace(",side=both", "").replace("drop_pos:tags=", "without "))
