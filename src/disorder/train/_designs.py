"""NLI Data Sanity Check's three designs: break the training data, the test data, or both, and compare with neither.

Δ is the accuracy of a design minus that of the plain model on the whole test data, over the same test examples, so its
interval is a paired one: examples are resampled, both answers of an example together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from disorder.data import select
from disorder.errors import BadData, DoesNotApply
from disorder.measure import ORIGINAL
from disorder.measure._interval import resampled, share
from disorder.perturb import parse
from disorder.predict import load
from disorder.settings import Settings
from disorder.train._loop import Listener
from disorder.train._once import trained_once
from disorder.types import Bools, Dataset, Floats, Ints, Score, Texts


@dataclass(frozen=True)
class Design:
    """One cell: what the model was trained on, what it was asked, its accuracy, and Δ against plain on plain."""

    name: str
    trained_on: str
    tested_on: str
    accuracy: Score
    delta: Score | None


def designs(
    data: Any, test: Any, on: Sequence[str], *, out: str | Path, seed: int = 0, test_limit: int | None = None,
    listen: Listener | None = None, **asked: Any,
) -> list[Design]:  # fmt: skip
    """Train on whole texts and on each transformation; test each model on whole and on broken texts.

    Models lie in `out`; those that are there already are used again.
    """
    specs, folder = [parse(spec).tried().spec for spec in on], Path(out)
    named = {name: asked[name] for name in ("columns", "task", "data_dir") if asked.get(name) is not None}
    asked_about = select(test, Settings(limit=test_limit, seed=seed, **named))
    if asked_about.task.is_regression:
        raise BadData(f"{test}: the three designs compare accuracies, and this data asks for numbers")
    spoken = {name: _named(listen, name) for name in (ORIGINAL, *specs)}
    plain = trained_once("plain", data, out=folder / ORIGINAL, seed=seed, listen=spoken[ORIGINAL], **asked)
    whole = _is_right(plain, asked_about, [example.texts for example in asked_about.examples])
    found = [Design("plain", ORIGINAL, ORIGINAL, share(whole), None)]
    for spec in specs:
        place = folder / "".join(char if char.isalnum() else "-" for char in spec)
        broken = trained_once("plain", data, out=place, seed=seed, on=[spec], listen=spoken[spec], **asked)
        found += _three(spec, plain, broken, asked_about, whole, seed)
    return found


def _three(spec: str, plain: str, broken: str, test: Dataset, whole: Bools, seed: int) -> list[Design]:
    kept, texts, skipped = broken_test(spec, test, seed)
    part = Dataset(test.name, test.task, [test.examples[i] for i in kept.tolist()])
    base = whole[kept]
    corrupt_train = _is_right(broken, test, [example.texts for example in test.examples])
    corrupt_test, both = _is_right(plain, part, texts), _is_right(broken, part, texts)
    rows = [
        ("corrupt-train", spec, ORIGINAL, corrupt_train, whole, 0),
        ("corrupt-test", ORIGINAL, spec, corrupt_test, base, skipped),
        ("corrupt-both", spec, spec, both, base, skipped),
    ]
    return [Design(n, on, at, share(right, skipped=k), difference(right, than, k)) for n, on, at, right, than, k in rows]


def broken_test(spec: str, test: Dataset, seed: int) -> tuple[Ints, list[Texts], int]:
    """Which test examples the transformation applies to, one broken copy of each, and how many it does not apply to."""
    transformation, kept, texts, skips = parse(spec), [], [], Counter[str]()
    for i, example in enumerate(test.examples):
        try:
            texts.append(transformation.apply(example, task=test.task, q=1, seed=seed, short="use").texts()[0])
            kept.append(i)
        except DoesNotApply as reason:
            skips[str(reason)] += 1
    if not kept:
        raise BadData(f"--on {spec}: no test example can be broken so ({', '.join(skips)})")
    return np.array(kept, dtype=np.int64), texts, skips.total()


def difference(right: Bools, than: Bools, skipped: int = 0) -> Score:
    """The mean difference of two models' right answers on the same examples, with a paired bootstrap interval.

    One imagined example at each end joins the resampling: without them it sees no doubt where the answers never differ.
    """
    steps = right.astype(float) - than.astype(float)
    drawn = np.concatenate([steps, [-1.0, 1.0]])

    def statistic(picks: Ints) -> Floats:
        return np.asarray(drawn[picks].mean(axis=1))

    value = float(steps.mean())
    low, high = resampled(statistic, len(drawn))
    return Score(value, min(low, value), max(high, value), len(steps), skipped)


def _is_right(spec: str, data: Dataset, texts: Sequence[Texts]) -> Bools:
    gold = np.array([data.task.labels.index(example.label) for example in data.examples])
    return np.asarray(load(spec, task=data.task)(texts).argmax(axis=1) == gold)


def _named(listen: Listener | None, name: str) -> Listener | None:
    """The same listener, told which model it hears of."""
    if listen is None:
        return None
    return lambda stage, done, total, note: listen(f"{name}: {stage}", done, total, note)
