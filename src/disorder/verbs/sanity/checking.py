"""From a data spec to verdicts: rows are dealt out, a model is chosen, each check is done or says
why it cannot be.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from disorder.errors import BadSetting, MissingData, MissingPackage, NothingToMeasure, UnknownName
from disorder.runs.settings import Settings
from disorder.types import Progress
from disorder.verbs.sanity import linear
from disorder.verbs.sanity.checks import baselines as baselines_check
from disorder.verbs.sanity.checks import classes as classes_check
from disorder.verbs.sanity.checks import duplicates as duplicates_check
from disorder.verbs.sanity.checks import order as order_check
from disorder.verbs.sanity.checks import overlap as overlap_check
from disorder.verbs.sanity.checks import swap as swap_check
from disorder.verbs.sanity.checks import texts as texts_check
from disorder.verbs.sanity.checks import words as words_check
from disorder.verbs.sanity.equivalence import TOO_LITTLE, Rule
from disorder.verbs.sanity.learner import Trained
from disorder.verbs.sanity.result import Checked, Sanity, Section
from disorder.verbs.sanity.splits import Rows, rows_of
from disorder.verbs.sanity.trials import Bench

FEWEST = 50  # rows that anything can be learned from
DEFAULT = "linear"
ONE_TEXT = "there is no second text"


@dataclass(frozen=True)
class Check:
    """A check: its function, what it asks, and whether it needs a trained model and pairs of texts."""

    function: Callable[..., Checked]
    asks: str
    paper: str
    trains: bool = True
    pairs: bool = False


CHECKS: dict[str, Check] = {
    "order": Check(order_check.order, order_check.ASKS, order_check.PAPER),
    "texts": Check(texts_check.texts, texts_check.ASKS, texts_check.PAPER, pairs=True),
    "swap": Check(swap_check.swap, swap_check.ASKS, swap_check.PAPER, pairs=True),
    "classes": Check(classes_check.classes, classes_check.ASKS, classes_check.PAPER),
    "baselines": Check(baselines_check.baselines, baselines_check.ASKS, baselines_check.PAPER),
    "overlap": Check(overlap_check.overlap, overlap_check.ASKS, overlap_check.PAPER, pairs=True),
    "words": Check(words_check.words, words_check.ASKS, words_check.PAPER, trains=False),
    "duplicates": Check(
        duplicates_check.duplicates, duplicates_check.ASKS, duplicates_check.PAPER, trains=False
    ),
}


@dataclass(frozen=True)
class Asked:
    """How the data is to be read, and how `--model` is to be trained."""

    columns: Mapping[str, str] | str = field(default_factory=dict)
    task: str | None = None
    data_dir: str | None = None
    group_by: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = None


def sanity(
    data: Any = "builtin",
    *,
    train: Any = None,
    model: str = DEFAULT,
    checks: Sequence[str] = (),
    margin: float = 0.05,
    skill: float = 0.25,
    folds: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **reading: Any,
) -> Sanity:
    """Does a benchmark need word order, both texts, all word classes, or can it be gamed?

    `train` is its training split (found by name for known sets); without one the data is
    cross-fitted. `model` is the default `linear` or any that `disorder.verbs.train` understands,
    trained once for each way to break the data.
    """
    rule, asked, began = Rule(margin, skill), Asked(**reading), time.perf_counter()
    for name in checks:
        if name not in CHECKS:
            raise UnknownName("check", name, CHECKS)
    if limit is not None and limit < 1:
        raise BadSetting("sanity", limit=limit, need="1 or more")
    _check_model(model, asked)
    settings = Settings(
        seed=seed,
        columns=asked.columns,  # type: ignore[arg-type]
        task=asked.task,
        data_dir=asked.data_dir,
        group_by=asked.group_by,
    )
    rows = rows_of(data, train, folds=folds, limit=limit, margin=margin, settings=settings)
    wanted = {name: check for name, check in CHECKS.items() if not checks or name in checks}
    with tempfile.TemporaryDirectory(prefix="disorder-sanity-") as place:
        bench = _bench(rows, model, rule, seed, asked, Path(place))
        sections = [
            _section(name, check, rows, rule, bench, _step(progress, i, len(wanted)))
            for i, (name, check) in enumerate(wanted.items())
        ]
    _step(progress, len(wanted), len(wanted))("")
    return _result(
        data,
        rows,
        model,
        sections,
        bench,
        time.perf_counter() - began,
        {
            "checks": list(wanted),
            "margin": margin,
            "skill": skill,
            "folds": folds,
            "limit": limit,
            "seed": seed,
            "train": train if isinstance(train, str | None) else "rows given from Python",
            "set": dict(asked.settings),
        },
    )


def _check_model(model: str, asked: Asked) -> None:
    """Raise on a model that cannot be trained, or not as asked, before any data is read."""
    if model == DEFAULT:
        unused = dict(asked.settings) | ({} if asked.device is None else {"device": asked.device})
        if unused:
            raise BadSetting(
                "sanity",
                need=f"a --model that is trained with it: {DEFAULT} takes no settings",
                **unused,
            )
        return
    from disorder.verbs.train import starting_model

    starting_model(model)


def _bench(rows: Rows, model: str, rule: Rule, seed: int, asked: Asked, place: Path) -> Bench | str:
    """What models are trained and asked on, or why none can be."""
    labels = Counter(example.label for example in rows.examples)
    if len(labels) < 2:
        return f"every row has the label {next(iter(labels))!r}: there is nothing to learn"
    if len(rows.examples) < FEWEST:
        return f"{len(rows.examples)} rows are too few to learn from; {FEWEST} at least"
    task = rows.data.task
    if model != DEFAULT:
        return Bench(
            rows, Trained(model, task, place, seed, dict(asked.settings), asked.device), rule, seed
        )
    try:
        return Bench(rows, linear.quick([e.texts for e in rows.examples], task, seed), rule, seed)
    except MissingPackage as reason:
        return str(reason)


def _section(
    name: str, check: Check, rows: Rows, rule: Rule, bench: Bench | str, step: Callable[[str], None]
) -> Section:
    step(name)
    if check.pairs and rows.examples[0].text_b is None:
        return Section(name, check.asks, check.paper, reason=ONE_TEXT)
    if check.trains and isinstance(bench, str):
        return Section(name, check.asks, check.paper, reason=bench)
    everything = [*(rows.train.examples if rows.train else ()), *rows.data.examples]
    given = {"words": (everything, rows.data.task, rule), "duplicates": (rows.data, rows.train)}
    try:
        found = check.function(*given.get(name, (bench,)))
    except (NothingToMeasure, MissingPackage, MissingData) as reason:
        return Section(name, check.asks, check.paper, reason=str(reason))
    return Section(name, check.asks, check.paper, found)


def _step(progress: Progress | None, done: int, total: int) -> Callable[[str], None]:
    return lambda name: None if progress is None else progress("checks", done, total, name)


def _result(
    data: Any,
    rows: Rows,
    model: str,
    sections: Sequence[Section],
    bench: Bench | str,
    seconds: float,
    settings: dict[str, Any],
) -> Sanity:
    train, trained = (
        rows.train,
        not isinstance(bench, str) and any(CHECKS[s.name].trains and s.found for s in sections),
    )
    task = rows.data.task
    counts = {
        "data": len(rows.data.examples),
        "train": len(train.examples) if train else 0,
        "asked": len(rows.asked),
    }
    whole = bench.score(bench.whole, rows.asked) if trained and isinstance(bench, Bench) else None
    chance = bench.chance(rows.asked) if isinstance(bench, Bench) else 0.0
    return Sanity(
        data if isinstance(data, str) else rows.data.name,
        train.name if train else "",
        rows.design,
        model,
        counts,
        task.labels,
        chance,
        "spearman" if task.is_regression else "balanced_accuracy",
        settings,
        {"data": rows.data.fingerprint, "train": train.fingerprint if train else ""},
        version("disorder"),
        sections,
        whole,
        [*rows.notes, *_too_little(sections, bench), *_left_out(rows)],
        round(seconds, 1),
    )


def _too_little(sections: Sequence[Section], bench: Bench | str) -> list[str]:
    """What a "not needed" would have asked for, where the model fell short of it."""
    because = [
        verdict.because
        for section in sections
        if section.found
        for verdict in section.found.verdicts
    ]
    if isinstance(bench, str) or not any(TOO_LITTLE in line for line in because):
        return []
    enough = bench.rule.enough(bench.chance(bench.rows.asked))
    way = f"{bench.rule.skill:g} of the way from chance to perfect"
    advice = "train on more rows (--limit) or try a stronger --model"
    return [f"to say 'not needed' the model must surely score {enough:.3f} ({way}); {advice}"]


def _left_out(rows: Rows) -> list[str]:
    """A line for each reason why rows were not read."""
    sets = [each for each in (rows.data, rows.train) if each is not None]
    return [
        f"{each.name}: {count:,} rows left out ({reason})"
        for each in sets
        for reason, count in each.skipped.items()
    ]
