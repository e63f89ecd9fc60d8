"""Scores of a mitigation: abstentions, correct labels and entropy, on original, perturbed, and rare
but valid texts; and what it gains and costs against a plain model with as many updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from disorder.data import read_data
from disorder.data.families import find_families
from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import mean, resampled
from disorder.metrics.statistics.paired import difference_of
from disorder.metrics.statistics.skill import labels_that_count
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.models import load
from disorder.models.outputs import Calibration
from disorder.types import ORIGINAL, Bools, Dataset, Example, Floats, Ints, Score, Task, Texts
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
    """A metric of a mitigation on texts of one kind, over examples and seeds, and by seed."""

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
    """What a model predicts (−1: it abstains), and its entropy as a share of the largest."""
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
    """Abstentions, correct labels and entropies by kind and group, one number per example."""
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
        perturbed = np.array([found[metric, kind] for kind in texts if kind != ORIGINAL])
        with np.errstate(invalid="ignore"):  # NaN where nothing is there
            present = (~np.isnan(perturbed)).sum(axis=0)
            found[metric, ALL] = np.nansum(perturbed, axis=0) / present
    return {
        (metric, kind, group): np.where(mask, values, np.nan)
        for group, mask in _groups(test.examples)
        for (metric, kind), values in found.items()
        if group == ALL or kind in (ORIGINAL, ALL)
    }


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
    """The mean over seeds and examples; the interval resamples examples with all their seeds."""
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


SKILL_KEPT = "skill_kept"
SKILL_GAIN = "skill_kept_difference"  # to the control
ACCURACY_GAIN = "accuracy_difference"
AGAINST = "In brackets: the difference to a plain model with as many updates, on the same texts."


def gains(per_seed: Sequence[SeedFindings], test: Dataset) -> list[Finding]:
    """The skill that each model keeps without word order, and what a mitigation gains and costs:
    skill kept and accuracy on original texts, minus those of its control, paired by example.
    """
    labels = test.task.labels
    gold = np.array([labels.index(example.label) for example in test.examples])
    family = find_families(test.examples).number
    found = []
    for name in dict.fromkeys(name for name, on in per_seed[0].counts if not on):
        own = [SeedScores.of(each, name, gold, family) for each in per_seed]
        found += _kept(name, own)
        control = [each.controls.get(name, name) for each in per_seed]
        if set(control) != {name}:
            pairs = zip(per_seed, control, strict=True)
            base = [SeedScores.of(each, other, gold, family) for each, other in pairs]
            found += _gained(name, base, own)
    return found


@dataclass(frozen=True, eq=False)
class SeedScores:
    """How far one model gets each test example right; for skill an abstention is a guess."""

    gold: Ints
    family: Ints
    right: Floats
    skill_before: Floats
    skill_after: Floats

    @classmethod
    def of(cls, seed: SeedFindings, name: str, gold: Ints, family: Ints) -> SeedScores:
        """Those of a model that was measured with a seed."""
        chance = 1 / max(1, len(labels_that_count(gold, family)))
        right, abstained = (
            {kind: seed.values[name, "", metric, kind, ALL] for kind in (ORIGINAL, ALL)}
            for metric in ("accuracy", "abstained")
        )
        before, after = (right[kind] + abstained[kind] * chance for kind in (ORIGINAL, ALL))
        return cls(gold, family, right[ORIGINAL], before, after)


def _ratio(scores: Sequence[SeedScores]) -> SkillRatio:
    """The skill kept, of the mean over seeds."""
    gold, family = scores[0].gold, scores[0].family
    before = np.mean([each.skill_before for each in scores], axis=0)
    after = np.mean([each.skill_after for each in scores], axis=0)
    used = ~np.isnan(after) & np.isin(gold, labels_that_count(gold, family))
    return SkillRatio.of_labels(gold[used], before[used], after[used], family[used])


def _kept(name: str, own: Sequence[SeedScores]) -> list[Finding]:
    with suppress(NothingToMeasure):
        score = _ratio(own).score()
        by_seed = tuple(round(_ratio([each]).value, 6) for each in own)
        return [_of_score(name, SKILL_KEPT, ALL, score, by_seed)]
    return []


def _gained(name: str, base: Sequence[SeedScores], own: Sequence[SeedScores]) -> list[Finding]:
    right = [np.mean([each.right for each in side], axis=0) for side in (own, base)]
    pairs = list(zip(own, base, strict=True))
    by_seed = tuple(round(float((a.right - b.right).mean()), 6) for a, b in pairs)
    found = [_of_score(name, ACCURACY_GAIN, ORIGINAL, accuracy_difference(*right), by_seed)]
    with suppress(NothingToMeasure):
        both = difference_of(_ratio(base), _ratio(own))
        score = Score(both.difference, both.low, both.high, both.n)
        by_seed = tuple(round(_ratio([a]).value - _ratio([b]).value, 6) for a, b in pairs)
        found.append(_of_score(name, SKILL_GAIN, ALL, score, by_seed))
    return found


def _of_score(
    name: str, metric: str, texts: str, score: Score, by_seed: tuple[float, ...]
) -> Finding:
    value, low, high = (round(x, 6) for x in (score.value, score.low, score.high))
    return Finding(name, "", metric, texts, ALL, value, low, high, score.n, by_seed)


def reached(found: Sequence[Finding]) -> str:
    """Which mitigations lower the skill kept, and which of them at a shown loss of accuracy."""
    gains_of = {f.mitigation: f for f in found if f.metric == SKILL_GAIN}
    costly = {f.mitigation for f in found if f.metric == ACCURACY_GAIN and f.high < 0}
    lowered = [name for name, gain in gains_of.items() if gain.high < 0]
    sorts = {
        "Lowered, with no loss of accuracy shown": [name for name in lowered if name not in costly],
        "Lowered, at a loss of accuracy": [name for name in lowered if name in costly],
        "Not shown to be lowered": [name for name in gains_of if name not in lowered],
    }
    told = ". ".join(f"{what}: {', '.join(names)}" for what, names in sorts.items() if names)
    return f"Skill kept without word order. {told}." if told else ""


def gain_lines(found: Sequence[Finding]) -> list[str]:
    """What each mitigation gains and costs, in a sentence each."""
    of_all = [f for f in found if f.group == ALL and not f.trained_on]
    values = {(f.mitigation, f.metric, f.texts): f for f in of_all}
    lines = []
    for name in dict.fromkeys(f.mitigation for f in found if f.metric == ACCURACY_GAIN):
        kept = values.get((name, SKILL_KEPT, ALL))
        gained = values.get((name, SKILL_GAIN, ALL))
        paid = values[name, ACCURACY_GAIN, ORIGINAL]
        paid_for = values[name, "accuracy", ORIGINAL]
        abstained = values[name, "abstained", ORIGINAL]
        skill = "may have no skill to keep, or its control has none"
        if kept is not None and gained is not None:
            skill = f"keeps {kept.value:.2f} of its skill without word order ({_told(gained)})"
        lines.append(
            f"{name} {skill}; its accuracy on original texts is {paid_for.value:.2f} "
            f"({_told(paid)}), and it abstains on {abstained.value:.2f} of them."
        )
    return [*lines, AGAINST] if lines else []


def _told(gain: Finding) -> str:
    """A difference to the control, and whether there is one."""
    numbers = f"{gain.value:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]".replace("-", "−")
    return f"{numbers}, no difference shown" if gain.low <= 0 <= gain.high else numbers


def accuracy_difference(
    is_right: Floats | Bools, baseline: Floats | Bools, skipped: int = 0
) -> Score:
    """The accuracy of one model minus that of a baseline on the same examples, with a paired
    bootstrap interval.

    One imagined example at each end joins the resampling: without them it sees no doubt where the
    predictions never differ.
    """
    steps = np.asarray(is_right, dtype=float) - np.asarray(baseline, dtype=float)
    padded = np.concatenate([steps, [-1.0, 1.0]])

    def statistic(picks: Ints) -> Floats:
        return np.asarray(padded[picks].mean(axis=1))

    value = float(steps.mean())
    low, high = resampled(statistic, len(padded))
    return Score(value, min(low, value), max(high, value), len(steps), skipped)
