"""Scores of a mitigation: abstentions, correct labels and entropy, on original, perturbed, and rare
but valid texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from disorder.data import read_data
from disorder.metrics.statistics.intervals import mean
from disorder.models import load
from disorder.models.outputs import Calibration
from disorder.types import ORIGINAL, Bools, Dataset, Example, Floats, Ints, Task, Texts
from disorder.types.predictions import predicted_label
from disorder.verbs.train import TrainingCounts

ALL = "all"  # every transformation together, or every example
RARE_ORDERS = {
    frozenset(("entailment", "neutral", "contradiction")): "rare_nli",
    frozenset(("negative", "positive")): "rare_sentiment",
}
PLAIN_ORDER = "plain"
ABSTAINED_MORE = "abstained_more"  # than in plain order
TRAIN = "train"  # the texts that counts of training are about
COUNTS = ("n_examples", "n_rows", "n_updates")

MeasureKey = tuple[str, str, str]  # metric, texts, group
FindingKey = tuple[str, str, str, str, str]  # mitigation, trained on, metric, texts, group
Judge = Callable[[Sequence[Texts]], tuple[Ints, Floats]]  # texts → labels, relative entropies
TextsByKind = Mapping[str, tuple[Ints, Sequence[Texts]]]  # kind → example numbers and texts


@dataclass(frozen=True)
class Finding:
    """One number: a metric of a mitigation on texts of one kind, over examples and seeds, and by
    seed.
    """

    mitigation: str
    trained_on: str
    metric: str
    texts: str
    group: str
    value: float
    low: float
    high: float
    n: int
    by_seed: tuple[float, ...]


@dataclass
class SeedFindings:
    """What was measured with one seed: a number per test example, what each model learned from,
    and the plain model that each mitigation is compared with.
    """

    values: dict[FindingKey, Floats] = field(default_factory=dict)
    counts: dict[tuple[str, str], TrainingCounts] = field(default_factory=dict)
    controls: dict[str, str] = field(default_factory=dict)


def model_judge(spec: str, task: Task) -> Judge:
    """What a model predicts, −1 where it abstains by its own label or its threshold; and its
    entropy as a share of the largest possible.
    """
    predictor = load(spec, task=task)
    calibration = predictor.calibration or Calibration()
    # entropy is that of the network: an abstention below the threshold has none
    network = predictor
    if predictor.threshold is not None:
        network = replace(predictor, calibration=replace(calibration, threshold=None))

    def judge(texts: Sequence[Texts]) -> tuple[Ints, Floats]:
        found = network(texts)
        labels = np.where(calibration.abstains_on(found), -1, predicted_label(found))
        if network.abstains:
            abstaining = np.maximum(1 - found.sum(axis=1), 0)[:, None]
            found = np.concatenate([found, abstaining], axis=1)
        entropies = -(found * np.log(np.maximum(found, 1e-300))).sum(axis=1)
        return labels, np.clip(entropies / np.log(found.shape[1]), 0, 1)

    return judge


def measure(judge: Judge, test: Dataset, texts: TextsByKind) -> dict[MeasureKey, Floats]:
    """Abstentions, correct labels and entropies, by kind of text and group of examples: one number
    per example, NaN where there is none.
    """
    gold = np.array([test.task.labels.index(example.label) for example in test.examples])
    found: dict[tuple[str, str], Floats] = {}
    for kind, (places, given) in texts.items():
        labels, entropies = judge(given)
        measured = {
            "abstained": labels < 0,
            "accuracy": labels == gold[places],
            "entropy": entropies,
        }
        for metric, values in measured.items():
            found[metric, kind] = np.full(len(gold), np.nan)
            found[metric, kind][places] = values
    for metric in ("abstained", "accuracy", "entropy"):
        perturbed = [found[metric, kind] for kind in texts if kind != ORIGINAL]
        found[metric, ALL] = _mean_of_present(np.array(perturbed))
    return {
        (metric, kind, group): np.where(mask, values, np.nan)
        for group, mask in _groups(test.examples)
        for (metric, kind), values in found.items()
        if group == ALL or kind in (ORIGINAL, ALL)
    }


def _mean_of_present(stacked: Floats) -> Floats:
    """The mean over the first axis of what is not NaN; NaN where nothing is there."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(stacked, axis=0) / (~np.isnan(stacked)).sum(axis=0))


def _groups(examples: Sequence[Example]) -> Iterator[tuple[str, Bools]]:
    yield ALL, np.ones(len(examples), dtype=bool)
    for column in examples[0].groups:
        values = [example.groups[column] for example in examples]
        for value in sorted(set(values)):
            yield f"{column}={value}", np.array([each == value for each in values])


def rare_orders(test: Dataset) -> Dataset | None:
    """Rare but valid word orders for this task, where our grammar has them."""
    name = RARE_ORDERS.get(frozenset(test.task.labels))
    is_pair = test.examples[0].is_pair
    if name is None or is_pair != (name == "rare_nli"):
        return None
    return read_data(f"builtin:{name}", group_by=["phenomenon"])


def measure_rare(judge: Judge, rare: Dataset) -> dict[MeasureKey, Floats]:
    """Abstentions by word order, one number per statement.

    `rare` is the mean of the orders that are not plain, ABSTAINED_MORE that minus plain.
    """
    labels, _ = judge([example.texts for example in rare.examples])
    orders = np.array([example.groups["phenomenon"] for example in rare.examples])
    abstained = {
        order: (labels[orders == order] < 0).astype(float)
        for order in dict.fromkeys(orders.tolist())
    }
    others = [values for order, values in abstained.items() if order != PLAIN_ORDER]
    mean_of_others = np.mean(others, axis=0)
    found = {("abstained", f"order={order}", ALL): values for order, values in abstained.items()}
    found["abstained", "order=rare", ALL] = mean_of_others
    found[ABSTAINED_MORE, "order=rare", ALL] = mean_of_others - abstained[PLAIN_ORDER]
    return found


def findings(per_seed: Sequence[Mapping[FindingKey, Floats]]) -> list[Finding]:
    """One finding per key that every seed has a number for."""
    keys = [key for key in per_seed[0] if all(key in each for each in per_seed)]
    stacked = {key: np.array([each[key] for each in per_seed]) for key in keys}
    return [_finding(key, values) for key, values in stacked.items() if not np.isnan(values).all()]


def _finding(key: FindingKey, stacked: Floats) -> Finding:
    """The mean over seeds and examples; the interval resamples examples, all seeds of an example
    together.
    """
    is_there = ~np.isnan(stacked).all(axis=0)
    values = np.nanmean(stacked[:, is_there], axis=0)
    # `mean` takes numbers in [0, 1]; a difference lies between −1 and 1
    lowest, size = (-1, 2) if key[2] == ABSTAINED_MORE else (0, 1)
    score = mean((values - lowest) / size)
    value, low, high = (
        round(number * size + lowest, 6) for number in (score.value, score.low, score.high)
    )
    by_seed = tuple(round(float(np.nanmean(each[is_there])), 6) for each in stacked)
    return Finding(*key, value, low, high, score.n, by_seed)


def counted(per_seed: Sequence[SeedFindings]) -> list[Finding]:
    """What each model learned from: training examples, rows over all epochs, updates."""
    found = []
    for name, on in per_seed[0].counts:
        counts = [each.counts[name, on] for each in per_seed if (name, on) in each.counts]
        for metric in COUNTS:
            by_seed = tuple(float(getattr(each, metric)) for each in counts)
            value = float(np.mean(by_seed))
            key = (name, on, metric, TRAIN, ALL)
            found.append(Finding(*key, value, min(by_seed), max(by_seed), len(counts), by_seed))
    return found
