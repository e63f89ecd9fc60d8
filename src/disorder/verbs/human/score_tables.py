"""What `disorder human score` shows: UNLI Table 4 and WS Table 4 with intervals, and what is
missing and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from disorder.results.result import Cell, Column, Grid, Result
from disorder.results.writing import interval
from disorder.types import ORIGINAL
from disorder.verbs.human.ratings import ALL, MAJORITY, MODEL, PERTURBED
from disorder.verbs.human.scoring import HumanRecord, HumanScores

TITLES = {
    "fleiss_kappa": "Fleiss’ κ",
    "krippendorff_alpha": "Krippendorff’s α",
    "cohen_kappa": "Cohen’s κ",
}
DIFFERENCES = {
    "gap": "accuracy of the model − of people",
    "drop": "accuracy on original − on perturbed texts",
}
ROWS = {
    ORIGINAL: "original",
    PERTURBED: "all perturbed",
    "lexical": "avg. lexical",
    "gradient": "avg. gradient",
}
AGREEMENT_ON = {ALL: "", ORIGINAL: ", original", PERTURBED: ", perturbed"}
COLUMNS = {
    "Accuracy": ("accuracy", "all"),
    "Macro F1": ("macro_f1", "all"),
    "Acc on D_c": ("accuracy", "set=D_c"),
    "Acc on D_f": ("accuracy", "set=D_f"),
}


def result_of(scores: HumanScores) -> Result:
    """The envelope of the answers: tables of evaluators, transformations and agreement; one without
    a comparison is left out.
    """
    question = f"which of {', '.join(scores.labels)}?"
    if scores.kind == "valid":
        question = "is it a sentence?"
    texts = _texts(scores)
    agreement = _agreement(scores)
    return Result(
        verb="human",
        about=f"{scores.n_items:,} items from {scores.source}: {question}",
        headline=_headline(scores),
        request={},
        body=scores,
        records=[asdict(record) for record in scores.scores],
        grids=[
            _evaluators(scores),
            *([texts] if len(texts.rows) > 1 else []),
            *([agreement] if agreement.rows else []),
        ],
        notes=[*_notes(scores), *_not_measured(scores)],
    )


def _headline(scores: HumanScores) -> str:
    """How often people are right, beside the model."""
    names = [name for name in (ALL, *_names(scores)) if name != MODEL]
    found = [scores.score(name, "accuracy") for name in names]
    people = next((record for record in found if record is not None), None)
    if people is None:
        return "The accuracy of people was not measured."
    model = scores.score(MODEL, "accuracy")
    beside = "" if model is None else f", the model on {model.value:.0%}"
    told = f"People are right on {people.value:.0%} of the texts{beside}; guessing: "
    return f"{told}{scores.chance:.0%}.".replace("%", " %")


def _names(scores: HumanScores) -> list[str]:
    """Every evaluator that was measured, people first."""
    return list(dict.fromkeys(r.evaluator for r in scores.scores if r.metric == "accuracy"))


def _evaluators(scores: HumanScores) -> Grid:
    """UNLI Table 4: one row per evaluator."""
    measured = {(record.metric, record.group) for record in scores.scores}
    columns = {title: place for title, place in COLUMNS.items() if place in measured}
    rows = []
    for name in _names(scores):
        records = [scores.score(name, *place) for place in columns.values()]
        n = next((record.n for record in records if record), 0)
        cells = map(Cell.of, records)
        rows.append([Cell(_title(scores, name)), Cell(f"{n:,}"), *cells])
    others = [Cell()] * (len(columns) - 1)
    rows.append([Cell("chance"), Cell(), Cell(f"{scores.chance:.3f}"), *others])
    return Grid([Column("Evaluator", "name"), *map(Column, ("n", *columns))], rows)


def _title(scores: HumanScores, evaluator: str) -> str:
    n = len(scores.answered)
    return {ALL: f"all {n}", MAJORITY: f"majority of {n}"}.get(evaluator, evaluator)


def _texts(scores: HumanScores) -> Grid:
    """WS Table 4: one row per transformation; what is counted depends on the question."""
    is_valid_task = scores.kind == "valid"
    metric = "invalid" if is_valid_task else "accuracy"
    title = "% invalid" if is_valid_task else "accuracy"

    def cell(record: HumanRecord | None) -> Cell:
        if record is None or not is_valid_task:
            return Cell.of(record)
        return Cell(f"{100 * record.value:.2f}", f"{100 * record.low:.0f}–{100 * record.high:.0f}")

    shown = [name for name in _names(scores) if name in (ALL, MAJORITY, MODEL)] or _names(scores)
    heads = ["n", *(f"{title}, {_title(scores, name)}" for name in shown)]
    rows = []
    transformations = dict.fromkeys(
        r.transformation for r in scores.scores if r.metric == metric and r.transformation != ALL
    )
    for name in transformations:
        records = [scores.score(who, metric, transformation=name) for who in shown]
        n = max((record.n for record in records if record), default=0)
        rows.append([Cell(ROWS.get(name, name)), Cell(f"{n:,}"), *map(cell, records)])
    return Grid([Column("Transformation", "name"), *map(Column, heads)], rows)


def _agreement(scores: HumanScores) -> Grid:
    rows = []
    for record in scores.scores:
        if record.metric not in TITLES:
            continue
        if record.transformation != ALL and record.metric != "krippendorff_alpha":
            continue
        who = f"all {len(scores.answered)}{AGREEMENT_ON[record.transformation]}"
        if record.metric == "cohen_kappa":
            who = record.evaluator
        name = f"{TITLES[record.metric]}, {who}"
        rows.append([Cell(name), Cell(f"{record.n:,}"), Cell.of(record)])
    return Grid([Column("Agreement", "name"), Column("n"), Column("value")], rows)


def _notes(scores: HumanScores) -> Iterator[str]:
    """What one must know to read the tables."""
    yield "After each number its 95 % interval over items; chance is a uniform guess."
    unfinished = [f"{name} {n:,}" for name, n in scores.answered.items() if n < scores.n_items]
    if unfinished:
        yield f"not finished: {', '.join(unfinished)} of {scores.n_items:,} items"
    if scores.n_ties:
        yield f"no majority on {scores.n_ties:,} items (a tie); they are left out of its scores"
    if scores.is_accepted_only and scores.score(MODEL, "accuracy"):
        yield (
            "only texts that the model gave the gold label were drawn, "
            "so its accuracy on perturbed texts is 1 by construction"
        )
    yield from _differences(scores)
    if scores.median_seconds:
        times = [f"{name} {seconds:.1f} s" for name, seconds in scores.median_seconds.items()]
        yield f"median time per item: {', '.join(times)}"


def _differences(scores: HumanScores) -> Iterator[str]:
    """Differences on the whole task: for all annotators and their majority, or for the only one."""
    is_alone = len(scores.answered) == 1
    for metric, title in DIFFERENCES.items():
        for record in scores.scores:
            is_wanted = (record.metric, record.transformation, record.group) == (metric, ALL, "all")
            if is_wanted and (is_alone or record.evaluator in (ALL, MAJORITY)):
                yield f"{title}, {_title(scores, record.evaluator)}: {interval(record)}"


def _not_measured(scores: HumanScores) -> Iterator[str]:
    """Scores of the whole task that are missing, by reason."""
    reasons: dict[str, list[str]] = {}
    for entry in scores.omitted:
        if entry.group != "all" or entry.transformation != ALL:
            continue
        name = TITLES.get(entry.metric, entry.metric)
        if entry.evaluator != ALL and entry.metric != "gap":
            name = f"{name} ({entry.evaluator})"
        reasons.setdefault(entry.reason, []).append(name)
    for reason, metrics in reasons.items():
        yield f"not measured: {', '.join(dict.fromkeys(metrics))} ({reason})"
