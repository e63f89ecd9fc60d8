"""Caveats: what about the data or the run a reader of the conclusion should know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np

from disorder.data.examples import UNREADABLE
from disorder.metrics import SkillRatio, decompose
from disorder.results.conclusion import Caveat, Conclusion, WordBaseline
from disorder.types import Dataset, Floats, Outcomes, Score
from disorder.verbs.audit.watching import STOP_WHEN, not_predicted

SKEWED = 0.6  # share of one label from which accuracy alone says little
FEW = 10  # examples of a label
MANY_LEFT_OUT = 0.1  # share of the examples
MUCH = 0.5  # of the model's skill: what words alone must reach for the data to be in doubt
MANY_REPEATS = 0.1  # share of the examples
STEADY = 0.8  # agreement below which a model that keeps its skill is not steady
STOPPED = not_predicted(STOP_WHEN)
# Labels look swapped where another order of them has this much more balanced accuracy, on the scale
# from chance to perfect, and has skill at so many standard errors
SWAPPED = 0.3
CERTAIN = 4.0
MOST_LABELS = 7  # whose orders are all tried


def caveats_of(
    outcomes: Outcomes,
    *,
    skips: Mapping[str, int],
    renamed: Mapping[str, str] | None = None,
    model_labels: Sequence[str] = (),
    least_skill: float = 0.1,
) -> Iterator[Caveat]:
    """What to know about these examples; `skips` are those left out by reason, `model_labels` and
    `renamed` the model's own labels and what --labels made of them.
    """
    yield from _left_out(outcomes, skips)
    if outcomes.task.is_regression:
        yield from _reversed_scale(outcomes)
        return
    if outcomes.task.has_own_chance:
        return
    yield from _skew(outcomes)
    yield from _few(outcomes)
    better = better_order(outcomes, least_skill=least_skill)
    if better is not None:
        yield _swapped(outcomes, better, renamed or {}, model_labels or outcomes.task.labels)


def _skew(outcomes: Outcomes) -> Iterator[Caveat]:
    """One label has most of the examples."""
    counts = np.bincount(outcomes.gold, minlength=len(outcomes.task.labels))
    share = counts.max() / counts.sum()
    present = int((counts > 0).sum())
    if present > 1 and share >= min(SKEWED, max(2 / present, 1 / 3)):
        name = outcomes.task.labels[int(counts.argmax())]
        yield Caveat(
            kind="label_skew",
            text=f"{share:.2f} of the examples are {name}, so that one constant answer has an "
            f"accuracy of {share:.2f}; the conclusion is drawn from balanced accuracy, in which "
            "every label counts the same",
        )


def _few(outcomes: Outcomes) -> Iterator[Caveat]:
    """A label has few examples, or none."""
    labels = outcomes.task.labels
    counts = np.bincount(outcomes.gold, minlength=len(labels))
    if (counts > 0).sum() < 2:
        return
    few = [f"{labels[i]} ({counts[i]})" for i in np.flatnonzero((counts > 0) & (counts < FEW))]
    none = [labels[i] for i in np.flatnonzero(counts == 0)]
    if few:
        yield Caveat(
            kind="few_examples",
            text=f"few examples of {_some(few)}: each label weighs the same, so that these decide "
            "much of the result",
        )
    if none:
        yield Caveat(
            kind="absent_labels",
            text=f"no example has the gold label {_some(none)}; chance is that of the "
            f"{len(labels) - len(none)} labels that are there",
        )


def words_alone(beside: WordBaseline | None, command: str) -> Caveat:
    """Where words alone go far on this data, keeping one's skill without their order is no fault.

    `beside` has a bag of words trained on the data; None where there is none. It is a quick one:
    where it fails, stronger models may not. `command` asks them; empty where it could not.
    """
    if beside is None:
        find_out = (
            f"; to find out: {command}" if command else ": it has too few examples to learn from"
        )
        text = f"whether this data needs word order was not measured{find_out}"
        return Caveat(kind="may_not_need_order", text=text)
    figures = (
        f"a bag of words trained on it by cross-fitting has a balanced accuracy of "
        f"{beside.value:.2f} [{beside.low:.2f}, {beside.high:.2f}], this model {beside.model:.2f}, "
        f"chance is {beside.chance:.2f}"
    )
    skill = beside.value - beside.chance
    if beside.low > beside.chance and skill >= MUCH * (beside.model - beside.chance):
        text = f"the data may not need word order: {figures}; to keep that skill is no fault"
        return Caveat(kind="may_not_need_order", text=text)
    text = f"whether the data needs word order is not known: {figures}; to find out: {command}"
    return Caveat(kind="order_need_unknown", text=text)


def words_explain(beside: WordBaseline | None, command: str) -> Caveat:
    """What words alone reach on this data, what part of this model's skill that explains, and that
    it is not known whether order has more to give.
    """
    more = "whether order has more to give is not known"
    if command:
        more += f"; to find out: {command}"
    if beside is None:
        return Caveat(kind="order_need_unknown", text=f"no bag of words was trained here: {more}")
    skill = max(0.0, beside.value - beside.chance)
    own = max(1e-9, beside.model - beside.chance)
    text = (
        f"a bag of words trained on this data by cross-fitting has a balanced accuracy of "
        f"{beside.value:.2f} [{beside.low:.2f}, {beside.high:.2f}], chance is {beside.chance:.2f}: "
        f"that explains {min(1.0, skill / own):.2f} of this model's skill; {more}"
    )
    return Caveat(kind="order_need_unknown", text=text)


def of_behaviour(
    found: Conclusion, outcomes: Outcomes, misled_above: float, noise: Score | None = None
) -> Iterator[Caveat]:
    """Where skill is kept, and yet order matters to the model: more predictions change than do by
    themselves (`noise`).
    """
    if found.low is not None and found.low > misled_above:
        yield Caveat(
            kind="better_without_order",
            text="the model does better when words are moved: the order of these texts misleads it",
        )
    if found.kind != "bag_of_words" or outcomes.task.is_regression:
        return
    agreement = decompose("agreement", outcomes).score().value
    floor = 1.0 if noise is None else 1 - noise.high
    if agreement < min(STEADY, floor):
        yield Caveat(
            kind="predictions_change",
            text=f"its skill is kept, but only {agreement:.2f} of its predictions: those of a bag "
            "of words would not change, so that order matters to this model in ways that cancel "
            f"out, or it predicts by chance in part{_beside(noise)}",
        )


def _beside(noise: Score | None) -> str:
    return "" if noise is None else f" ({1 - noise.value:.2f} for the same texts again)"


def of_repeats(n_distinct: int, n: int) -> Iterator[Caveat]:
    """Examples that are copies of others tell nothing new."""
    if n_distinct <= (1 - MANY_REPEATS) * n:
        yield Caveat(
            kind="repeats",
            text=f"only {n_distinct:,} of {n:,} examples differ in their texts: the interval takes "
            "copies for new examples, and is narrower than it should be",
        )


def _reversed_scale(outcomes: Outcomes) -> Iterator[Caveat]:
    """Higher predictions go with lower gold numbers."""
    if len(outcomes) < FEW or np.ptp(outcomes.gold.astype(np.float64)) == 0:
        return
    gold = -outcomes.gold.astype(np.float64)
    original = outcomes.original[:, 0].astype(np.float64)
    if np.ptp(original) == 0:
        return
    ratio = SkillRatio.of_numbers(gold, original, original[:, None])
    if ratio.before >= SWAPPED and ratio.interval(CERTAIN) is not None:
        found = f"{-ratio.before:.2f}".replace("-", "−")
        yield Caveat(
            kind="labels_swapped",
            text=f"the scale looks reversed: rank correlation is {found}, so that higher "
            "predictions go with lower gold numbers; check what the model's numbers mean",
        )


def _some(names: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _left_out(outcomes: Outcomes, skips: Mapping[str, int]) -> Iterator[Caveat]:
    """Examples that the transformation could not use: mostly the short ones."""
    reasons = {reason: n for reason, n in skips.items() if reason != STOPPED}
    n = len(outcomes) + outcomes.n_skipped
    n_left_out = outcomes.n_skipped
    if not reasons or n_left_out / n < MANY_LEFT_OUT:
        return
    reason = max(reasons, key=lambda name: (reasons[name], name))
    if outcomes.fidelity == "natural" and len(reasons) > 1:
        by_number = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        reason = "; ".join(f"{why}: {count:,}" for why, count in by_number)
    about = "the conclusion is about the others"
    if "variants exist" in reason:
        about += ", which are longer; --short use takes the variants there are"
    yield Caveat(
        kind="left_out",
        text=f"{n_left_out:,} of {n:,} examples are left out under {outcomes.transformation} "
        f"({reason}): {about}",
    )


def unread(dataset: Dataset) -> Iterator[Caveat]:
    """Rows that no model was asked about: one of a pair's texts is empty, or a text too long."""
    reasons = {why: n for why in UNREADABLE if (n := dataset.skipped.get(why, 0))}
    n_unread = sum(reasons.values())
    n = n_unread + len(dataset.examples)
    if n_unread < MANY_LEFT_OUT * n:
        return
    told = "; ".join(f"{why}: {count:,}" for why, count in reasons.items())
    yield Caveat(
        kind="left_out",
        text=f"{n_unread:,} of {n:,} rows are left out as they are read ({told}): the conclusion "
        "is about the others",
    )


def better_order(outcomes: Outcomes, *, least_skill: float) -> list[int] | None:
    """What each answer would have to mean for the model to have skill, where it has none as it is:
    a label number for each label; None where no other order of the labels is far better.
    """
    table = recalls(outcomes)
    present = np.flatnonzero(table.sum(axis=1) > 0)
    m = len(present)
    if m < 2 or (outcomes.original_label < 0).any():
        return None
    as_it_is = float(table[present, present].mean())
    if as_it_is > (1 + least_skill * (m - 1)) / m:
        return None
    meaning = _best_order(table)
    found = float(np.mean([table[gold, meaning.index(gold)] for gold in present.tolist()]))
    if found - as_it_is < SWAPPED * (1 - 1 / m):
        return None
    right = np.asarray(meaning)[outcomes.original_label] == outcomes.gold
    ratio = SkillRatio.of_labels(outcomes.gold, right, right.astype(np.float64))
    return None if ratio.interval(CERTAIN) is None else meaning


def recalls(outcomes: Outcomes) -> Floats:
    """Share of the examples of each gold label (rows) that get each answer (columns)."""
    m = len(outcomes.task.labels)
    answered = outcomes.original_label >= 0
    cells = outcomes.gold[answered] * m + outcomes.original_label[answered]
    counts = np.bincount(cells, minlength=m * m).reshape(m, m)
    sizes = np.bincount(outcomes.gold, minlength=m)
    return np.asarray(counts / np.maximum(sizes, 1)[:, None])


def _best_order(table: Floats) -> list[int]:
    """The gold label that each answer should mean, so that most examples are right."""
    m = len(table)
    if m <= MOST_LABELS:
        columns = np.arange(m)
        return list(
            max(permutations(range(m)), key=lambda order: table[list(order), columns].sum())
        )
    meaning = [-1] * m
    for cell in np.argsort(-table, axis=None, kind="stable"):  # best cells first
        gold, answer = divmod(int(cell), m)
        if meaning[answer] < 0 and gold not in meaning:
            meaning[answer] = gold
    return meaning


def _swapped(
    outcomes: Outcomes, meaning: Sequence[int], renamed: Mapping[str, str], given: Sequence[str]
) -> Caveat:
    labels = outcomes.task.labels
    number = {label.lower(): i for i, label in enumerate(labels)}
    right = np.asarray(meaning)[outcomes.original_label] == outcomes.gold
    pairs = [
        f"{own}={labels[meaning[number[target]]]}"
        for own in given
        if (target := renamed.get(own, own).lower()) in number
    ]
    return Caveat(
        kind="labels_swapped",
        text=f"the labels look swapped: accuracy is {outcomes.is_right.mean():.2f}, and would be "
        f'{right.mean():.2f} with --labels "{",".join(pairs)}"; check what the model\'s columns '
        "mean (data made to mislead models can look the same)",
    )
