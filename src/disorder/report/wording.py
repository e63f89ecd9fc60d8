"""Wording that terminal and page share: intervals, what was left out, how to run it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from disorder.report.metric_names import place_of
from disorder.runs.run import Record, Run
from disorder.runs.settings import Settings

TELLING_KINDS = {
    "unmoved": "correct on the original, and the same label on every perturbed version",
    "rescued": "wrong on the original, correct on perturbed versions of it",
    "noticed": "correct on the original, another label on most perturbed versions",
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
    text = f"{bound:.2f}"
    if text in ("0.00", "1.00"):
        return text[0]
    return text.replace("0.", ".", 1) if bound < 1 else text


def main_transformation(run: Run) -> str:
    """The transformation whose permutation scores are shown: `derange`, else the first that only
    changes the order of words, else the first that has such scores; empty where none has.
    """
    scored = {r.transformation for r in run.scores if place_of(r.metric) == "permutations"}
    ranked = ["derange", *run.breaks_order, *run.transformations]
    return next((name for name in ranked if name in scored), "")


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
    words += ["--q", str(run.settings.get("q", "")), "--seed", str(run.seed)]
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
