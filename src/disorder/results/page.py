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
from disorder.requests.settings import Settings
from disorder.results import charts
from disorder.results.conclusion import capitalised
from disorder.results.grid import Cell, Grid
from disorder.results.result import Section
from disorder.results.run import Record, Run
from disorder.results.run_tables import (
    baseline_grid,
    dev_r_grid,
    permutation_grid,
    prompt_grid,
    score_grid,
)
from disorder.results.terminal import about, caveat_lines
from disorder.results.wording import (
    TELLING_KINDS,
    command,
    gain_lines,
    left_out,
    main_transformation,
    omitted_scores,
    prompt_lines,
)
from disorder.results.writing import fixed, meaning_of, shown, title_of
from disorder.store.storage import write_atomically
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
    drawn: str = template("page.html").render(
        run=run,
        about=about(run),
        verdict=first,
        verdicts=rest,
        caveats=caveat_lines(run),
        answers=_answers(run, main),
        main=main,
        pictures=_pictures(run, main),
        tables=[_scores(run, group) for group in ["all", *run.groups]],
        baselines=baseline_grid(run),
        permutations=permutation_grid(run, main, has_n=True),
        dev_r=dev_r_grid(run),
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
        prompt_spread=prompt_grid(run),
        gains=gain_lines(run),
        command=command(run),
        has_explanations=has_explanations,
        rules=conclusion_rules(run.settings),
    )
    return drawn


def _scores(run: Run, group: str) -> Grid:
    """The scores of a group; WOS, which rests on fewer examples, says on how many."""
    return score_grid(
        run,
        group,
        metrics=shown([record.metric for record in run.scores], "table", "page"),
        has_n=True,
        cell=_score_cell,
        caption="All examples" if group == "all" else f"Only {group}",
    )


def _score_cell(record: Record | None) -> Cell:
    cell = Cell.of(record)
    if record is not None and record.metric == "wos":
        return Cell(cell.text, f"{cell.below} n = {record.n:,}")
    return cell


def conclusion_rules(settings: Mapping[str, Any]) -> Section[None]:
    """How conclusions are drawn: with the limits of a run, else the usual ones."""
    limits = asdict(Settings()) | dict(settings)
    about = (
        "From the skill that is kept: balanced accuracy above chance on perturbed texts, divided "
        "by the same on original texts (for numbers, the ratio of rank correlations). Its whole "
        "95 % interval decides, never the value alone:"
    )
    terms = {
        "reads word order": f"the interval ends at {limits['reads_below']} or below: the skill is "
        "lost with the order. It does not mean that the model reads as people do",
        "behaves like a bag of words": f"it begins at {limits['bag_above']} or above. That is no "
        "fault where words alone can answer",
        "uses word order in part": "it lies between the two, or so far above 1 that order misleads "
        "the model",
        "undecided": "it includes a limit; or skill on original texts cannot be told from none; or "
        "words that stood side by side mostly still do, so that the skill that is kept may rest on "
        "their order",
        "no skill to lose": "balanced accuracy on original texts is not above that of one constant "
        "answer",
        "one answer for every text, one gold label only": "there is nothing to tell skill by",
        "loses its skill without word order, in part or all of it": "with natural units: it ends "
        f"below {limits['bag_above']}",
        "keeps its skill without word order, in part or all of it": "with natural units: it begins "
        f"above {limits['reads_below']}",
        "loses nothing without word order": "with natural units: it begins at "
        f"{limits['bag_above']} or above, and may lie above 1.2",
        "word order misleads it": "with natural units: it begins above 1.2",
        "loses its skill before a word moves": "with natural units: the surface control, which has "
        f"the words in their order, keeps less than {limits['bag_above']} of the skill",
        "does not use the order of the words that were moved": "with natural units: as for a bag "
        "of words, where one of two texts stayed as it was",
    }
    note = (
        "The page docs/conclusions.md of disorder has all rules and caveats, and how often "
        "conclusions are wrong on models whose answer is known."
    )
    return Section("conclusions", "How conclusions are drawn", about, terms=terms, notes=[note])


def _summaries(run: Run) -> dict[str, str]:
    """What each transformation of a run does, as far as it is known here."""
    known = parts(TransformationPart)
    names = [name for spec in run.transformations for name in PART.findall(spec)]
    return {name: known[name].summary for name in dict.fromkeys(names) if name in known}


@lru_cache(maxsize=32)
def template(name: str, package: str = "disorder.results", **filters: Callable[..., str]) -> Any:
    """A page's template in a package, compiled once; it may extend ours."""
    return environment(package, **filters).get_template(name)


def environment(package: str, **filters: Callable[..., str]) -> Environment:
    """The templates of a package, and ours: everything is escaped, and nothing may be missing."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in (package, "disorder.results")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"visible": visible, "number": fixed, "sentence": capitalised, **filters}
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
