"""A comparison of runs as a result: its sections, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from disorder.results.charts import BLUE, dotted_line, interval_layers
from disorder.results.comparison import Comparison, Difference
from disorder.results.comparison_table import (
    about,
    counted,
    difference_grid,
    footnotes,
    headline,
    rows_that_matter,
    where,
)
from disorder.results.conclusion import conclusion_rules
from disorder.results.result import Figure, Result, Section
from disorder.results.writing import meaning_of, title_of
from disorder.visible_text import visible

PICTURE = (
    "Every difference with its 95 % interval; filled points: significant at 0.05 after Holm's "
    "correction; the dotted line is no difference."
)


def result_of(comparison: Comparison) -> Result:
    """The envelope of a comparison."""
    pairs = [section for pair in comparison.pairs for section in _pair(comparison, *pair)]
    facts = {
        run.name: f"{run.model} ({run.model_hash or 'no hash'}), {run.folder}"
        for run in comparison.runs
    }
    return Result(
        verb="compare",
        about=about(comparison),
        headline=headline(comparison),
        request={"seed": comparison.seed},
        body=comparison,
        conclusion=[found.model_dump() for found in comparison.conclusions],
        lead=[counted(comparison)] if comparison.conclusions else [],
        sections=[*pairs, *_how(comparison)],
        facts=facts | {"resampling": f"seed {comparison.seed}"},
    )


def _pair(
    comparison: Comparison, base: str, other: str, group: str, differences: Sequence[Difference]
) -> Iterator[Section[None]]:
    """The differences that matter most, then all of them, folded where they are more."""
    main = rows_that_matter(comparison, differences)
    is_part = len(main) < len(differences)
    only = "" if group == "all" else f", only {group}"
    title = "The differences that matter most" if is_part else "All differences"
    yield Section(
        f"{other} minus {base}{only}",
        f"{other} minus {base}{only}",
        f"Above 0 the score of {other} is higher; n is the number of examples that count for one "
        "of the two or both.",
        grids=[difference_grid(main, base, other, title)],
        figures=[] if is_part else [forest(differences)],
    )
    if is_part:
        yield Section(
            f"all {other} minus {base}{only}",
            f"All {len(differences)} differences",
            grids=[difference_grid(differences, base, other, "All differences")],
            figures=[forest(differences)],
            is_folded=True,
        )


def _how(comparison: Comparison) -> Iterator[Section[None]]:
    metrics = list(dict.fromkeys(d.metric for d in comparison.differences))
    yield Section(
        "how",
        "How it was compared",
        notes=footnotes(comparison),
        terms={title_of(metric): meaning_of(metric) for metric in metrics},
    )
    if comparison.conclusions:
        rules = conclusion_rules({})
        decided = (
            "Which model uses word order more is decided on the difference of the skill that each "
            "keeps; whether one of them reads order at all is the conclusion of its own run. "
        )
        yield replace(rules, about=f"{decided}{rules.about}")


def forest(differences: Sequence[Difference]) -> Figure:
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
    spec = {"layer": layers, "height": {"step": 20}}
    return Figure("", PICTURE, rows, spec)


def _name(d: Difference) -> str:
    return visible(f"{where(d.transformation)}: {title_of(d.metric)}").replace("\n", " ")
