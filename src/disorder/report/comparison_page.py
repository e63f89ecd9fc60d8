"""A comparison as one HTML page that works from disk, offline. Names are untrusted."""

from __future__ import annotations

from typing import Any

from disorder.report.charts import BLUE, dotted_line, interval_layers, svg
from disorder.report.comparison import (
    about,
    counted,
    footnotes,
    headline,
    rows_that_matter,
    shown_p,
    signed,
    where,
)
from disorder.report.metric_names import meaning_of, title_of
from disorder.report.page import conclusion_rules, template, visible
from disorder.runs.comparison import Comparison, Difference


def page(comparison: Comparison) -> str:
    """The comparison as one string of HTML."""
    metrics = list(dict.fromkeys(d.metric for d in comparison.differences))
    rendered: str = template(
        "compare_page.html", signed=signed, shown_p=shown_p, where=where, title=title_of
    ).render(
        comparison=comparison,
        headline=headline(comparison).splitlines(),
        counted=counted(comparison) if comparison.conclusions else "",
        about=about(comparison),
        pairs=[
            (*pair, rows_that_matter(comparison, pair[-1]), forest(pair[-1]))
            for pair in comparison.pairs
        ],
        footnotes=footnotes(comparison),
        rules=conclusion_rules({}),
        meanings=[(title_of(metric), meaning_of(metric)) for metric in metrics],
    )
    return rendered


def forest(differences: list[Difference]) -> str:
    """Every difference with its interval; filled where significant after Holm's correction."""
    rows: list[dict[str, Any]] = [
        {
            "name": _name(d),
            "value": d.difference,
            "low": d.low,
            "high": d.high,
            "significant": d.is_sure,
        }
        for d in differences
    ]
    x = {"field": "value", "type": "quantitative", "title": "difference, with 95 % interval"}
    points = {"type": "point", "size": 60, "stroke": BLUE, "opacity": 1}
    fill = {"condition": {"test": "datum.significant", "value": BLUE}, "value": "#ffffff"}
    layers = [
        dotted_line({"x": {"datum": 0}}),
        *interval_layers(rows, x, points, label_limit=300, encoding={"fill": fill}),
    ]
    return svg({"data": {"values": rows}, "layer": layers, "height": {"step": 20}})


def _name(d: Difference) -> str:
    return visible(f"{where(d.transformation)}: {title_of(d.metric)}").replace("\n", " ")
