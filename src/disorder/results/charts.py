"""Charts of a run as Vega-Lite, made from its record alone; readable in print and grey."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from disorder.results.drawing import GREY
from disorder.results.run import Record, Run
from disorder.results.writing import title_of
from disorder.types import ORIGINAL

BLUE = "#0b5fa5"
ORANGE = "#e08a00"
TEXTS = {"before": "original texts", "after": "perturbed texts"}
SURFACE = "surface:"  # begins the controls, which tables show
ChartRows = list[dict[str, Any]]
ChartSpec = dict[str, Any]
SKILL = "skill_kept"
DOSE = re.compile(r"derange(?::share=([\d.]+))?")


def forest(run: Run, metric: str) -> ChartSpec:
    """A score of every transformation with its interval, and chance as a line."""
    rows: ChartRows = [
        {
            "name": r.transformation.replace(ORIGINAL, "original texts"),
            "value": r.value,
            "low": r.low,
            "high": r.high,
        }
        for r in run.scores
        if r.metric == metric and r.group == "all" and not r.transformation.startswith(SURFACE)
    ]
    x = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "title": title_of(metric),
    }
    points = {"type": "point", "filled": True, "size": 60, "color": BLUE}
    layers = interval_layers(rows, x, points, label_limit=220)
    if run.chance is not None:
        layers.append(dotted_line({"x": {"datum": run.chance}}))
    return {"data": {"values": rows}, "layer": layers, "height": {"step": 24}}


def interval_layers(
    rows: ChartRows,
    x: dict[str, Any],
    points: dict[str, Any],
    *,
    label_limit: int,
    encoding: Mapping[str, Any] | None = None,
) -> ChartRows:
    """The layers of a forest plot: each row's interval from `low` to `high`, and its point.

    Rows stand in the order given, under their `name`; `encoding` is added to that of the points.
    """
    y = {
        "field": "name",
        "type": "nominal",
        "sort": [row["name"] for row in rows],
        "title": None,
        "axis": {"labelLimit": label_limit},
    }
    span = {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}}
    return [
        {"mark": {"type": "rule", "size": 2, "color": BLUE}, "encoding": span},
        {"mark": points, "encoding": {"y": y, "x": x, **(encoding or {})}},
    ]


def dose_points(run: Run) -> list[tuple[float, Record]]:
    """Skill kept by how large a share of the words `derange` moved, where a run says it of some."""
    found = []
    for spec in run.transformations:
        dose = DOSE.fullmatch(spec)
        record = run.score(spec, SKILL) if dose else None
        if dose and record is not None:
            found.append((float(dose[1] or 1), record))
    return sorted(found, key=lambda point: point[0])


def dose_curve(points: Sequence[tuple[float, Record]]) -> ChartSpec:
    """Skill kept over the share of words that were moved; untouched texts keep all of it."""
    rows: ChartRows = [{"share": 0.0, "kept": 1.0}]
    rows += [{"share": x, "kept": y.value, "low": y.low, "high": y.high} for x, y in points]
    x = {"field": "share", "type": "quantitative", "title": "share of words moved"}
    y = {"field": "kept", "type": "quantitative", "title": "skill kept"}
    return {
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "line", "color": BLUE}, "encoding": {"x": x, "y": y}},
            {
                "mark": {"type": "point", "filled": True, "color": BLUE},
                "encoding": {"x": x, "y": y},
            },
            {
                "mark": {"type": "rule", "color": BLUE},
                "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}},
            },
        ],
    }


def omega_curve(run: Run, transformation: str) -> ChartSpec:
    """Ω_x over x, beside the reference models at their Ω_max and what a bag of words would give."""
    points = run.figures[transformation]["omega"]
    rows: ChartRows = [{"x": x, "share": y, "model": "this model"} for x, y in points]
    accuracy = run.score(transformation, "accuracy_used")
    if accuracy is not None:
        rows += [{"x": x, "share": accuracy.value, "model": "bag of words (C)"} for x, _ in points]
    encoding = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": "threshold x",
            "scale": {"domain": [0, 1]},
        },
        "y": {
            "field": "share",
            "type": "quantitative",
            "title": "Ω_x: share of examples",
            "scale": {"domain": [0, 1]},
        },
        **_two("model", ["this model", "bag of words (C)"], dash=True),
    }
    line = {"type": "line", "interpolate": "step-after"}
    layers: ChartRows = [{"mark": line, "encoding": encoding}]
    if run.chance is not None:
        layers.append(dotted_line({"x": {"datum": run.chance}}))
    return {"data": {"values": rows}, "layer": layers}


def acceptance(run: Run, transformation: str) -> ChartSpec:
    """How many examples have each share of accepted permutations, by whether the prediction for
    the original text is correct.
    """
    table = run.figures[transformation]["acceptance"]
    names = {"right": "predicted correctly", "wrong": "predicted wrongly"}
    rows = [
        {
            "from": i / len(counts),
            "to": (i + 1) / len(counts),
            "examples": count,
            "original text": names[name],
        }
        for name, counts in table.items()
        for i, count in enumerate(counts)
    ]
    return _bars(
        rows,
        "examples",
        "original text",
        list(names.values()),
        "share of permutations that get the gold label",
    )


def confidence(run: Run, transformation: str) -> ChartSpec:
    """The confidence of the model's predictions, for original and for perturbed texts."""
    table = run.figures[transformation]["confidence"]
    rows = [
        {"from": i / len(shares), "to": (i + 1) / len(shares), "share": share, "texts": TEXTS[name]}
        for name, shares in table.items()
        for i, share in enumerate(shares)
    ]
    title = "probability of the predicted label"
    return _bars(rows, "share", "texts", list(TEXTS.values()), title)


def reliability(run: Run, transformation: str) -> ChartSpec:
    """How often predictions are correct, by confidence; calibrated ones lie on the diagonal."""
    rows: ChartRows = [
        {
            "confidence": confidence,
            "correct": correct,
            "predictions": n / sum(count for *_, count in points),
            "texts": TEXTS[name],
        }
        for name, points in run.figures[transformation]["reliability"].items()
        for confidence, correct, n in points
    ]
    axis = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    places = {
        "x": {"field": "confidence", "title": "probability of the predicted label", **axis},
        "y": {"field": "correct", "title": "share of correct predictions", **axis},
    }
    colour = _two("texts", list(TEXTS.values()))
    size = {
        "field": "predictions",
        "type": "quantitative",
        "legend": None,
        "scale": {"range": [15, 220]},
    }
    shape = {
        "field": "texts",
        "type": "nominal",
        "scale": {"domain": list(TEXTS.values())},
        "legend": colour["color"]["legend"],
    }
    ends = {
        "x": {"datum": 0, **axis},
        "y": {"datum": 0, **axis},
        "x2": {"datum": 1},
        "y2": {"datum": 1},
    }
    diagonal = dotted_line(ends) | {"data": {"values": [{}]}}
    points = {
        "mark": {"type": "point", "filled": True, "opacity": 0.9},
        "encoding": {**places, **colour, "size": size, "shape": shape},
    }
    lines = {"mark": {"type": "line", "strokeWidth": 1}, "encoding": {**places, **colour}}
    return {"data": {"values": rows}, "layer": [diagonal, lines, points]}


def heat_map(cells: ChartRows, rows: str, columns: str, value: str) -> ChartSpec:
    """A share from 0 to 1 for every row and column, as colour and number; dark is high, in grey
    too.
    """
    names = {field: list(dict.fromkeys(cell[field] for cell in cells)) for field in (rows, columns)}
    y = {
        "field": rows,
        "type": "nominal",
        "sort": names[rows],
        "axis": {"labelLimit": 220, "grid": False},
    }
    turned = {"labelLimit": 220, "labelAngle": -40, "grid": False}
    x = {"field": columns, "type": "nominal", "sort": names[columns], "axis": turned}
    colour = {
        "field": value,
        "type": "quantitative",
        "scale": {"domain": [0, 1], "scheme": "blues"},
    }
    light = {"condition": {"test": f"datum['{value}'] > 0.55", "value": "white"}, "value": "black"}
    number = {"text": {"field": value, "type": "quantitative", "format": ".2f"}, "color": light}
    layers = [
        {"mark": "rect", "encoding": {"x": x, "y": y, "color": colour}},
        {"mark": {"type": "text", "fontSize": 11}, "encoding": {"x": x, "y": y, **number}},
    ]
    return {
        "data": {"values": cells},
        "layer": layers,
        "width": {"step": 52},
        "height": {"step": 26},
    }


def _bars(rows: ChartRows, y: str, group: str, names: list[str], title: str) -> ChartSpec:
    """Two histograms, one above the other, so that none is hidden and no colour is needed."""
    x = {
        "field": "from",
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, 1]},
        "bin": {"binned": True},
    }
    header = {"labelOrient": "top", "labelAnchor": "start", "labelFontSize": 12}
    encoding = {
        "x": x,
        "x2": {"field": "to"},
        "y": {"field": y, "type": "quantitative", "title": y},
        "row": {"field": group, "type": "nominal", "sort": names, "title": None, "header": header},
        "color": _two(group, names)["color"] | {"legend": None},
    }
    return {"data": {"values": rows}, "mark": {"type": "bar"}, "encoding": encoding, "height": 90}


def _two(field: str, names: list[str], *, dash: bool = False) -> dict[str, Any]:
    """Colours for two series that differ in lightness too; dashes where they are lines."""
    legend = {"title": None, "orient": "top"}
    colours = {"domain": names, "range": [BLUE, ORANGE]}
    channels: dict[str, Any] = {
        "color": {"field": field, "type": "nominal", "scale": colours, "legend": legend}
    }
    if dash:
        scale = {"domain": names, "range": [[1, 0], [6, 3]]}
        channels["strokeDash"] = {
            "field": field,
            "type": "nominal",
            "scale": scale,
            "legend": legend,
        }
    return channels


def dotted_line(encoding: dict[str, Any]) -> dict[str, Any]:
    """A thin line that marks chance, or no difference; screen readers skip it."""
    return {
        "mark": {"type": "rule", "aria": False, "strokeDash": [2, 3], "color": GREY},
        "encoding": encoding,
    }
