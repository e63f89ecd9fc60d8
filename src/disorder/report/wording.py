"""Which words and figures do terminal and page share? Titles, intervals, what was left out, how to
run it again.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from disorder.runs.run import Record, Run
from disorder.runs.settings import Settings

COLUMNS = {
    "accuracy": "accuracy",
    "agreement": "same answer",
    "wos": "WOS",
    "confidence": "confidence",
    "spearman": "Spearman",
}
PAGE_COLUMNS = COLUMNS | {"ece": "ECE"}  # there is more room on a page than on a terminal
PERMUTATION_METRICS = {
    "omega_max": "Ω_max",
    "omega_rand": "Ω_rand",
    "omega_all": "Ω_1.0",
    "p_c": "P_c",
    "p_f": "P_f",
    "entropy_c": "entropy, D_c",
    "entropy_f": "entropy, D_f",
}
MEANINGS = {
    "accuracy": "share of texts given the gold label",
    "agreement": "share of perturbed texts whose answer is the one the original text got (for copies: the default label)",
    "wos": "word-order sensitivity: 0 when order is ignored, 1 when accuracy falls to chance",
    "confidence": "mean probability of the answer given",
    "spearman": "rank correlation with the gold numbers",
    "ece": "expected calibration error: mean distance between how sure answers are and how often they are right, in 15 bins",
    "omega_max": "share of examples with at least one permutation that gets the gold label",
    "omega_rand": "share of examples whose permutations get the gold label more often than by chance",
    "omega_all": "share of examples all of whose permutations get the gold label",
    "p_c": "share of permutations that get the gold label, of examples first answered right (D_c)",
    "p_f": "the same, of examples first answered wrong and flipped by some permutation (D_f)",
    "entropy_c": "mean entropy in nats over accepted permutations, of examples first answered right",
    "entropy_f": "the same, of examples first answered wrong and flipped",
}


def interval(record: Record) -> str:
    """A value with its bounds."""
    return f"{record.value:.3f} [{record.low:.2f}, {record.high:.2f}]"


def spread(record: Record) -> str:
    """A value with its bounds, as short as it can be said."""
    low, high = (_short(bound) for bound in (record.low, record.high))
    return f"{record.value:.3f} {low}–{high}"


def _short(bound: float) -> str:
    """Two decimals without what goes without saying: .07, 1, 1.05."""
    return {"0.00": "0", "1.00": "1"}.get(
        f"{bound:.2f}", f"{bound:.2f}".replace("0.", ".", 1) if bound < 1 else f"{bound:.2f}"
    )


def main_transformation(run: Run) -> str:
    """The transformation whose permutation scores are shown first."""
    measured = [
        t for t in run.breaks_order if run.score(t, "omega_max")
    ]  # others change the words too
    return "derange" if "derange" in measured else next(iter(measured), "")


def left_out(run: Run) -> Sequence[str]:
    """One line for each reason why examples were left out."""
    return [
        f"left out of {'the data' if name == 'data' else name}: {count:,} ({reason})"
        for name, reasons in run.skips.items()
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ]


def command(run: Run) -> str:
    """The command that repeats a run: every setting that differs from its default."""
    words = ["disorder", "audit", run.model, run.data]
    for spec in run.transformations:
        words += ["--with", spec]
    words += ["--q", str(run.settings["q"]), "--seed", str(run.seed)]
    usual = asdict(Settings())
    for name, value in run.settings.items():
        if name not in ("q", "suite") and _as_json(value) != _as_json(usual.get(name)):
            words += _option(name, value)
    return shlex.join(words)


def _as_json(value: Any) -> Any:
    """Tuples as lists, since run.json knows no tuples."""
    return list(value) if isinstance(value, tuple) else value


def _option(name: str, value: Any) -> list[str]:
    """One setting as it is typed."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag]
    if isinstance(value, dict):
        return [flag, ",".join(f"{key}={to}" for key, to in value.items())]
    if name == "omega":
        return [flag, ",".join(value)]
    if isinstance(value, list | tuple):
        return [word for item in value for word in (flag, str(item))]
    return [flag, str(value)]


TELLING_KINDS = {
    "unmoved": "right on the text, and as sure of the same answer on every perturbed version",
    "rescued": "wrong on the text, right on perturbed versions of it",
    "noticed": "right on the text, another answer on most perturbed versions",
}
