"""The report as one HTML page that works from disk, offline, on a phone and in print.

Texts and names are untrusted: they are escaped, and invisible characters are made visible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disorder.registry import TransformationPart, parts
from disorder.report import charts
from disorder.report.metric_names import meaning_of, shown, title_of
from disorder.report.number_text import fixed
from disorder.report.terminal import about, by_transformation, caveat_lines, permutation_rows
from disorder.report.wording import (
    TELLING_KINDS,
    command,
    gain_lines,
    left_out,
    main_spread,
    main_transformation,
    omitted_scores,
    prompt_lines,
)
from disorder.runs.run import Run
from disorder.runs.settings import Settings
from disorder.runs.storage import write_atomically
from disorder.visible_text import visible as visible  # other modules take it from here

if TYPE_CHECKING:
    from jinja2 import Environment

CAPTIONS = {
    "forest": "{score} on original and perturbed texts, with 95 % intervals; the dotted line is "
    "chance{among}.",
    "omega": "Examples with more than a share x of permutations ({main}) that get the gold label: "
    "Ω_x. A bag of words draws a flat line at its accuracy; the dotted line marks chance{among}.",
    "acceptance": "Share of permutations ({main}) that get the gold label, for examples whose "
    "original text is predicted correctly, and wrongly. A bag of words has all of the first at 1 "
    "and all of the second at 0.",
    "confidence": "The confidence of the model's predictions before and after {main}.",
    "reliability": "How often predictions are correct, by their confidence, before and after "
    "{main}; larger points stand for more predictions. On the dotted line the model is calibrated; "
    "below it, it is overconfident.",
}
DRAWN = {
    "omega": charts.omega_curve,
    "acceptance": charts.acceptance,
    "confidence": charts.confidence,
    "reliability": charts.reliability,
}
PART = re.compile(r"(?:^|\+)([a-z]\w*)")  # names of transformations in a spec


def write_report(folder: Path, run: Run) -> None:
    """Write report.html into the run folder."""
    html = page(run, has_explanations=(folder / "explain.html").exists())
    write_atomically(folder / "report.html", html.encode("utf-8", "backslashreplace"))


def page(run: Run, *, has_explanations: bool = False) -> str:
    """The report as one string of HTML, with a link to the explanations that lie beside it."""
    main = main_transformation(run)
    first, *rest = run.verdict.split("\n")
    measured = [record.metric for record in run.scores]
    drawn: str = template("page.html", title=title_of).render(
        run=run,
        about=about(run),
        verdict=first,
        verdicts=rest,
        caveats=caveat_lines(run),
        answers=_answers(run, main),
        main=main,
        pictures=_pictures(run, main),
        tables=[(group, list(by_transformation(run, group))) for group in ["all", *run.groups]],
        columns=shown(measured, "table", "page"),
        permutations=list(permutation_rows(run, main)),
        meanings=[
            (title_of(metric), meaning_of(metric))
            for metric in shown(measured, "table", "page", "permutations")
        ],
        transformations=_summaries(run),
        omitted=omitted_scores(run),
        kinds=TELLING_KINDS,
        telling=_telling(run, main),
        left_out=left_out(run),
        prompt_lines=prompt_lines(run),
        prompt_spread=main_spread(run),
        gains=gain_lines(run),
        command=command(run),
        has_explanations=has_explanations,
        rules=conclusion_rules(run.settings),
    )
    return drawn


def conclusion_rules(settings: Mapping[str, Any]) -> str:
    """How conclusions are drawn, as HTML: with the limits of a run, else the usual ones."""
    limits = asdict(Settings()) | dict(settings)
    drawn: str = template("conclusions_drawn.html").render(
        reads_below=limits["reads_below"], bag_above=limits["bag_above"]
    )
    return drawn


def _summaries(run: Run) -> dict[str, str]:
    """What each transformation of a run does, as far as it is known here."""
    known = parts(TransformationPart)
    names = [name for spec in run.transformations for name in PART.findall(spec)]
    return {name: known[name].summary for name in dict.fromkeys(names) if name in known}


@lru_cache(maxsize=32)
def template(name: str, **filters: Callable[..., str]) -> Any:
    """A page's template, compiled once; others extend `page.html`."""
    return environment("disorder.report", "", **filters).get_template(name)


def environment(package: str, folder: str, **filters: Callable[..., str]) -> Environment:
    """The templates of a package: everything is escaped, and nothing may be missing."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"visible": visible, "number": fixed, **filters}
    return found


def _pictures(run: Run, main: str) -> list[dict[str, str]]:
    pictures = {"forest": charts.forest(run, run.main_score)}
    tables = run.figures.get(main, {})  # runs of older versions have fewer
    pictures |= {name: draw(run, main) for name, draw in DRAWN.items() if name in tables}
    return [{"svg": svg, "caption": caption(name, run, main)} for name, svg in pictures.items()]


def caption(name: str, run: Run, main: str) -> str:
    """What a picture of a run shows under a transformation."""
    score = title_of(run.main_score)
    among = "" if run.chance is None else f" among the {len(run.labels)} labels of the task"
    return CAPTIONS[name].format(score=score[0].upper() + score[1:], main=main, among=among)


def _answers(run: Run, main: str) -> dict[str, Any]:
    """Which labels were given before and after the transformation of the conclusion."""
    name = main if run.conclusion is None else run.conclusion.transformation
    found = run.answers.get(name)
    return {"transformation": name, **found} if found else {}


def _telling(run: Run, main: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Examples by transformation, the main one first."""
    names = dict.fromkeys([main, *run.transformations])
    grouped = [
        (name, [entry for entry in run.telling if entry["transformation"] == name])
        for name in names
    ]
    return [(name, entries) for name, entries in grouped if entries]
