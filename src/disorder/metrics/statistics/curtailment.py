"""When is a score of an example decided before all its permutations are asked? For Ω: when the
count can no longer cross.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from disorder.errors import DisorderError
from disorder.types import Fidelity, Task

CURTAILED = ("omega_max", "omega_rand")  # what is measured when nothing else was asked for


def thresholds_of(metrics: Iterable[str], task: Task, fidelity: Fidelity) -> list[Fraction]:
    """The shares that an example's accepted permutations must exceed; 1 stands for all of them."""
    return sorted({_threshold(metric, task, fidelity) for metric in metrics})


def _threshold(metric: str, task: Task, fidelity: Fidelity) -> Fraction:
    if metric == "omega_max":
        return Fraction(0)
    if metric == "omega_all":
        return Fraction(1)
    if metric == "omega_rand":
        return rand_threshold(task, fidelity)
    if metric.startswith("omega@"):
        return Fraction(metric.removeprefix("omega@"))
    raise DisorderError(
        f"--curtail: {metric} needs every permutation; ask for omega_… scores only, or leave --curtail out"
    )


def rand_threshold(task: Task, fidelity: Fidelity) -> Fraction:
    """Chance; the released code writes 0.34 for three labels."""
    is_rounded = fidelity == "released" and len(task.labels) == 3
    return Fraction("0.34") if is_rounded else Fraction(1, len(task.labels))
