"""What does `disorder human score` print? UNLI Table 4 and WS Table 4, with intervals, and what is
missing and why.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from disorder.report.wording import interval, spread
from disorder.verbs.human.ratings import ALL, BROKEN, MAJORITY, MODEL
from disorder.verbs.human.score import HumanRecord, HumanScores
from disorder.verbs.human.task import WHOLE

TITLES = {
    "fleiss_kappa": "Fleiss’ κ",
    "krippendorff_alpha": "Krippendorff’s α",
    "cohen_kappa": "Cohen’s κ",
}
DIFFERENCES = {
    "gap": "accuracy of the model − of people",
    "drop": "accuracy on whole − on perturbed texts",
}
ROWS = {
    WHOLE: "un-transformed",
    BROKEN: "all perturbed",
    "lexical": "avg. lexical",
    "gradient": "avg. gradient",
}


def show(scores: HumanScores, console: Console) -> None:
    """Print the scores of a task."""
    console.print(Text(about(scores), style="bold"))
    console.print(_evaluators(scores))
    texts = _texts(scores)
    if texts.row_count > 1:
        console.print(texts)
    agreement = _agreement(scores)
    if agreement.row_count:
        console.print(agreement)
    for line in [*_notes(scores), *_not_measured(scores)]:
        console.print(Text(line))


def about(scores: HumanScores) -> str:
    """What was asked, in one line."""
    asked = (
        "is it a sentence?" if scores.kind == "valid" else f"which of {', '.join(scores.labels)}?"
    )
    return f"{scores.n_items:,} items from {scores.source}: {asked}"


def _table(first: str, *columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, overflow="fold", min_width=14)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _names(scores: HumanScores) -> list[str]:
    """Every evaluator that was measured, people first."""
    return list(dict.fromkeys(r.evaluator for r in scores.scores if r.metric == "accuracy"))


def _evaluators(scores: HumanScores) -> Table:
    """UNLI Table 4: a row an evaluator."""
    columns = {"Accuracy": ("accuracy", "all"), "Macro F1": ("macro_f1", "all")}
    columns |= {"Acc on D_c": ("accuracy", "set=D_c"), "Acc on D_f": ("accuracy", "set=D_f")}
    kept = {
        title: place
        for title, place in columns.items()
        if any((r.metric, r.group) == place for r in scores.scores)
    }
    table = _table("Evaluator", "n", *kept)
    for name in _names(scores):
        records = [scores.score(name, *place) for place in kept.values()]
        n = next((record.n for record in records if record), 0)
        table.add_row(Text(_called(scores, name)), f"{n:,}", *[_cell(record) for record in records])
    table.add_row("chance", "", f"{scores.chance:.3f}", *[""] * (len(kept) - 1))
    return table


def _called(scores: HumanScores, name: str) -> str:
    n = len(scores.answered)
    return {ALL: f"all {n}", MAJORITY: f"majority of {n}"}.get(name, name)


def _cell(record: HumanRecord | None) -> str:
    return spread(record) if record else ""


def _texts(scores: HumanScores) -> Table:
    """WS Table 4: a row a transformation; what is counted depends on the question."""
    metric = "invalid" if scores.kind == "valid" else "accuracy"
    shown = [name for name in _names(scores) if name in (ALL, MAJORITY, MODEL)] or _names(scores)
    titles = [
        f"{'% invalid' if metric == 'invalid' else 'accuracy'}, {_called(scores, name)}"
        for name in shown
    ]
    table = _table("Transformation", "n", *titles)
    rows = dict.fromkeys(
        r.transformation for r in scores.scores if r.metric == metric and r.transformation != ALL
    )
    for name in rows:
        records = [scores.score(who, metric, transformation=name) for who in shown]
        n = max((record.n for record in records if record), default=0)
        cells = [_percent(record) if metric == "invalid" else _cell(record) for record in records]
        table.add_row(Text(ROWS.get(name, name)), f"{n:,}", *cells)
    return table


def _percent(record: HumanRecord | None) -> str:
    return (
        f"{100 * record.value:.2f} {100 * record.low:.0f}–{100 * record.high:.0f}" if record else ""
    )


def _agreement(scores: HumanScores) -> Table:
    table = _table("Agreement", "n", "value")
    for record in scores.scores:
        if record.metric in TITLES and (
            record.transformation == ALL or record.metric == "krippendorff_alpha"
        ):
            where = {ALL: "", WHOLE: ", un-transformed", BROKEN: ", perturbed"}[
                record.transformation
            ]
            who = (
                record.evaluator
                if record.metric == "cohen_kappa"
                else f"all {len(scores.answered)}{where}"
            )
            table.add_row(
                Text(f"{TITLES[record.metric]}, {who}"), f"{record.n:,}", interval(record)
            )
    return table


def _notes(scores: HumanScores) -> Iterator[str]:
    """What one must know to read the tables."""
    yield "After a number its 95 % interval over items; chance is a uniform guess."
    unfinished = [f"{name} {n:,}" for name, n in scores.answered.items() if n < scores.n_items]
    if unfinished:
        yield f"not finished: {', '.join(unfinished)} of {scores.n_items:,} items"
    if scores.n_ties:
        yield f"no majority on {scores.n_ties:,} items (a tie); they are left out of its scores"
    if scores.is_accepted_only and scores.score(MODEL, "accuracy"):
        yield "only texts that the model gave the gold label were drawn, so its accuracy on perturbed texts is 1 by construction"
    for metric, title in DIFFERENCES.items():
        for record in scores.scores:
            if (
                record.metric == metric
                and (record.transformation, record.group) == (ALL, "all")
                and _is_told(scores, record)
            ):
                yield f"{title}, {_called(scores, record.evaluator)}: {interval(record)}"
    if scores.median_seconds:
        spent = ", ".join(
            f"{name} {seconds:.1f} s" for name, seconds in scores.median_seconds.items()
        )
        yield f"median time an item: {spent}"


def _is_told(scores: HumanScores, record: HumanRecord) -> bool:
    """Whether a difference is printed: those of all annotators and their majority where there are
    several.
    """
    return len(scores.answered) == 1 or record.evaluator in (ALL, MAJORITY)


def _not_measured(scores: HumanScores) -> Iterator[str]:
    """Scores of the whole task that are missing, by reason."""
    reasons: dict[str, list[str]] = {}
    for entry in scores.omitted:
        if entry.group == "all" and entry.transformation == ALL:
            who = "" if entry.evaluator == ALL else f" ({entry.evaluator})"
            metric = (
                "gap" if entry.metric == "gap" else f"{TITLES.get(entry.metric, entry.metric)}{who}"
            )
            reasons.setdefault(entry.reason, []).append(metric)
    for reason, metrics in reasons.items():
        yield f"not measured: {', '.join(dict.fromkeys(metrics))} ({reason})"
