"""Labels: is one so frequent, or so rare, that scores mislead?

A frequent label makes accuracy look like skill; in balanced accuracy, where every label counts the
same, the rows of a rare one weigh the most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import share
from disorder.metrics.statistics.intervals import Z
from disorder.registry import check
from disorder.results.result import Row, Table
from disorder.results.writing import rounded
from disorder.types import Example
from disorder.verbs.sanity.trials import CheckInput, Trials
from disorder.verbs.sanity.verdicts import CheckResult, Verdict, VerdictRule

RARE = 0.5  # of an equal share: what a rare label has less than
ADD_A_LABEL = "add rows of another label"


@check(asks="Is a label so frequent, or so rare, that scores mislead?", trains=False, position=5)
def labels(given: CheckInput) -> CheckResult:
    """Count the labels: what one constant answer scores, and which label has too few rows."""
    if given.task.is_regression:
        raise NothingToMeasure("labels are numbers: none is frequent or rare")
    counts = _counts(given.task.labels, given.data.examples)
    if len(counts) == 1:
        [(label, n)] = counts.items()
        because = f"Each of {n:,} rows has the label {label!r}: there is nothing to tell apart"
        return CheckResult([Verdict("labels", "one label", because, fix=ADD_A_LABEL, urgency=1)])
    scored, where = _scored_rows(given)
    tested = _counts(given.task.labels, [example for example, _ in scored])
    one_per_family = {(number, example.label): example for example, number in scored}
    families = _counts(given.task.labels, one_per_family.values())
    table = Table("labels", "How frequent each label is", _rows(counts, tested, families))
    verdicts = [_skew_verdict(counts, given.rule), _rare_verdict(families, where, given.rule)]
    return CheckResult(verdicts, tables=[table])


def _counts(labels: Sequence[str], examples: Iterable[Example]) -> Counter[str]:
    """How many rows have each label, in the order of the task; those without rows are left out."""
    found = Counter(example.label for example in examples)
    return Counter({label: found[label] for label in labels if found[label]})


def _scored_rows(given: CheckInput) -> tuple[list[tuple[Example, int]], str]:
    """The rows that scores rest on, each with its family, and what to call them."""
    if isinstance(given.trained, Trials):
        rows = given.trained.rows
        pairs = [(rows.examples[row], int(rows.cluster[row])) for row in rows.tested.tolist()]
        return pairs, "independent tested rows"
    n_train = len(given.examples) - len(given.data.examples)
    numbers = given.families.number[n_train:].tolist()
    return list(zip(given.data.examples, numbers, strict=True)), "independent rows"


def _skew_verdict(counts: Counter[str], rule: VerdictRule) -> Verdict:
    """A constant answer is judged as a model would be: has it gone far from chance to perfect?"""
    label, n = max(counts.items(), key=lambda item: item[1])
    total = counts.total()
    chance = 1 / len(counts)
    is_skewed = n / total >= rule.enough(chance)
    because = (
        f"Always predicting {label!r} has an accuracy of {n / total:.3f} ({n:,} of {total:,} rows) "
        f"and a balanced accuracy of {chance:.3f}, which is chance"
    )
    if is_skewed:
        because += ": compare accuracies with the first, or use balanced accuracy"
    score = share(np.arange(total) < n)
    fix = "report balanced accuracy, or balance the labels"
    return Verdict("labels", "skewed" if is_skewed else "not skewed", because, score, fix=fix)


def _rare_verdict(families: Counter[str], where: str, rule: VerdictRule) -> Verdict:
    """A label is rare if it has less than half an equal share, and so few rows that the interval
    of its part of a balanced score alone can be wider than the margin.
    """
    n_labels = len(families)
    enough = ceil((Z / (2 * n_labels * rule.margin)) ** 2)
    total = families.total()
    rare = {
        label: n
        for label, n in sorted(families.items(), key=lambda item: item[1])
        if n < enough and n < RARE * total / n_labels
    }
    if not rare:
        fewest = min(families, key=lambda label: families[label])
        because = f"The fewest {where}, {families[fewest]:,}, have the label {fewest!r}"
        return Verdict("rare labels", "none found", because)
    named = ", ".join(f"{n:,} of {label!r}" for label, n in rare.items())
    weight = 100 / n_labels / min(rare.values())
    because = (
        f"{named} ({where}): each label carries 1/{n_labels} of a balanced score, so that one row "
        f"of the rarest moves it by {weight:.1f} points; {enough:,} are needed for the margin of "
        f"{rule.in_points}"
    )
    fix = f"add rows of {', '.join(map(repr, rare))}, or leave them out of scores"
    return Verdict("rare labels", "found", because, fix=fix)


def _rows(counts: Counter[str], tested: Counter[str], families: Counter[str]) -> list[Row]:
    total = counts.total()
    return [
        {
            "label": label,
            "rows": n,
            "share": rounded(n / total),
            "tested": tested[label],
            "families_tested": families[label],
        }
        for label, n in counts.items()
    ]
