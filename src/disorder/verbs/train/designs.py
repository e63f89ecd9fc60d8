"""NLI Data Sanity Check's three designs: break the training data, the test data, or both, and
compare with neither.

Δ is the accuracy of a design minus that of the plain model of the same seed on the whole test data,
over the same test examples, so its interval is a paired one: examples are resampled, all answers to
an example together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from disorder.abstention import predicted_label
from disorder.data import vocabulary
from disorder.errors import BadData, DisorderError
from disorder.metrics import ORIGINAL
from disorder.metrics.statistics.intervals import mean, resampled, share
from disorder.models import LoadedModel, load
from disorder.transformations import parse
from disorder.types import Bools, Dataset, Floats, Ints, Progress, Score, Texts
from disorder.verbs.context import RunContext
from disorder.verbs.train.perturbed_copies import mixed
from disorder.verbs.train.resuming import (
    Source,
    check_seeds,
    data_to_ask,
    folder_name,
    named,
    source,
    train_once,
)
from disorder.verbs.train.training import Request, check

Cell = tuple[str, str, str]  # design, trained on, tested on
Right = dict[Cell, Floats]  # 1 or 0 a test example, NaN where there is no text to ask
PLAIN: Cell = ("plain", ORIGINAL, ORIGINAL)


@dataclass(frozen=True)
class Design:
    """One cell: what models were trained on, what they were asked, the mean accuracy over seeds,
    and Δ; each seed apart.
    """

    name: str
    trained_on: str
    tested_on: str
    accuracy: Score
    delta: Score | None  # against plain on plain
    accuracy_by_seed: tuple[float, ...]
    delta_by_seed: tuple[float, ...] | None


def designs(
    data: Any,
    test: Any,
    on: Sequence[str],
    *,
    out: str | Path,
    seed: int = 0,
    seeds: int = 1,
    test_limit: int | None = None,
    progress: Progress | None = None,
    **asked: Any,
) -> list[Design]:
    """Train on original texts and on each transformation; test each model on whole and on perturbed
    texts.

    There is a model of each kind for `seeds` seeds from `seed` on. Models lie in `out`; those that
    are there already are used again. What a transformation asks a model, it asks the plain one.
    """
    specs = list(dict.fromkeys(parse(spec).tried().spec for spec in on))
    if not specs:
        raise DisorderError("designs needs a transformation to break texts by: --on reverse")
    check_seeds("designs", seeds)
    check(Request("plain", data, **asked))
    asked_about = data_to_ask("designs", test, test_limit, asked)
    given, drawn = source(data, asked), range(seed, seed + seeds)
    per_seed = [
        _one_seed(given, asked_about, specs, Path(out) / f"seed-{s}", s, progress, asked)
        for s in drawn
    ]
    return [
        _design(cell, *([np.array([each[key] for each in per_seed]) for key in (cell, PLAIN)]))
        for cell in per_seed[0]
    ]


def _one_seed(
    data: Source,
    test: Dataset,
    specs: Sequence[str],
    folder: Path,
    seed: int,
    progress: Progress | None,
    asked: Mapping[str, Any],
) -> Right:
    """All models of one seed, asked about the same texts."""

    def trained(name: str, **more: Any) -> str:
        spoken = named(progress, f"seed {seed}, {name}")
        return train_once(
            "plain",
            data,
            out=folder / folder_name(name),
            progress=spoken,
            seed=seed,
            **asked,
            **more,
        )

    plain = trained(ORIGINAL)
    asks = load(plain, task=test.task)
    whole, everything = [example.texts for example in test.examples], np.arange(len(test.examples))
    found = {PLAIN: _is_right(asks, test, everything, whole)}
    for spec in specs:
        more: dict[str, Any] = {"asks": plain} if parse(spec).asks_others else {}
        places, texts = perturbed_test(spec, test, seed, asks, asked.get("data_dir"))
        perturbed = load(trained(spec, on=[spec], **more), task=test.task)
        found["corrupt-train", spec, ORIGINAL] = _is_right(perturbed, test, everything, whole)
        found["corrupt-test", ORIGINAL, spec] = _is_right(asks, test, places, texts)
        found["corrupt-both", spec, spec] = _is_right(perturbed, test, places, texts)
    return found


def perturbed_test(
    spec: str,
    test: Dataset,
    seed: int,
    model: LoadedModel | None = None,
    data_dir: str | None = None,
) -> tuple[Ints, list[Texts]]:
    """Which test examples the transformation applies to, and one perturbed copy of each; the model
    says which words matter.
    """
    context = RunContext(model, vocabulary(test), data_dir) if parse(spec).asks_others else None
    perturbed = mixed(test.examples, test.task, [spec], seed=seed, context=context)
    if not perturbed.texts:
        raise BadData(
            f"--on {spec}: no test example can be perturbed so ({', '.join(perturbed.skips[spec])})"
        )
    return np.array(perturbed.places, dtype=np.int64), perturbed.texts


def _is_right(model: LoadedModel, test: Dataset, places: Ints, texts: Sequence[Texts]) -> Floats:
    gold = np.array([test.task.labels.index(test.examples[i].label) for i in places.tolist()])
    found = np.full(len(test.examples), np.nan)
    found[places] = predicted_label(model(texts)) == gold
    return found


def _design(cell: Cell, right: Floats, plain: Floats) -> Design:
    """The numbers of one cell, from a row of right answers a seed."""
    is_there = ~np.isnan(right).any(axis=0)
    if not is_there.any():
        raise BadData(f"--on {cell[2]}: it applies to no test example with every seed")
    right, plain, skipped = right[:, is_there], plain[:, is_there], int((~is_there).sum())
    counted = right.mean(axis=0)
    accuracy = (
        share(counted > 0, skipped=skipped) if len(right) == 1 else mean(counted, skipped=skipped)
    )
    by_seed = _rounded(right.mean(axis=1))
    if cell == PLAIN:
        return Design(*cell, accuracy, None, by_seed, None)
    delta = difference(counted, plain.mean(axis=0), skipped)
    return Design(*cell, accuracy, delta, by_seed, _rounded((right - plain).mean(axis=1)))


def difference(right: Floats | Bools, than: Floats | Bools, skipped: int = 0) -> Score:
    """The mean difference of two models' right answers on the same examples, with a paired
    bootstrap interval.

    One imagined example at each end joins the resampling: without them it sees no doubt where the
    answers never differ.
    """
    steps = np.asarray(right, dtype=float) - np.asarray(than, dtype=float)
    drawn = np.concatenate([steps, [-1.0, 1.0]])

    def statistic(picks: Ints) -> Floats:
        return np.asarray(drawn[picks].mean(axis=1))

    value = float(steps.mean())
    low, high = resampled(statistic, len(drawn))
    return Score(value, min(low, value), max(high, value), len(steps), skipped)


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(value), 6) for value in values)
