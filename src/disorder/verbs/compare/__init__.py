"""How do models differ, asked the same questions? Run folders are read back and compared example by
example.

Runs on the same data, seed and settings share every permutation, so that differences are paired.
Like audit.py, this folder joins stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disorder.errors import BadData, BadSetting, DisorderError, UnknownName
from disorder.metrics import holm
from disorder.report.comparison import Comparison
from disorder.report.page import visible
from disorder.transformations import parse
from disorder.verbs.compare.differences import Comparing
from disorder.verbs.compare.finished_run import Audited

__all__ = ["Audited", "compare"]

SAME = (
    "q",
    "short",
    "fidelity",
)  # settings that decide which permutations are drawn and what is measured on them


def compare(
    *runs: str | Path,
    metrics: Sequence[str] = (),
    transformations: Sequence[str] = (),
    groups: Sequence[str] = ("all",),
    base: str | Path | None = None,
    pairs: str = "base",
    seed: int = 0,
) -> Comparison:
    """Compare finished runs on the same examples and permutations: paired differences with
    intervals, Holm over all tests.

    Each run is compared with `base` (else the first), or with `pairs="all"` each with each. Without
    `metrics` and `transformations`: all main scores that the runs share. `seed` is that of the
    resampling.
    """
    if pairs not in ("base", "all"):
        raise BadSetting("compare", pairs=pairs, need="base or all")
    given = [Audited.open(folder) for folder in _folders(runs, base)]
    for name, audited in zip(_names(given), given, strict=True):
        audited.name = name
    for other in given[1:]:
        _refuse(given[0], other, has_chosen=bool(transformations))
    chosen = _chosen(given, transformations)
    found = Comparing(
        given, chosen, list(dict.fromkeys(metrics)), list(dict.fromkeys(groups)), pairs, seed
    ).go()
    for difference, p in zip(
        found.differences, holm([d.p for d in found.differences]), strict=True
    ):
        difference.p_holm = float(f"{p:.6g}")
    return found


def _folders(runs: Sequence[str | Path], base: str | Path | None) -> list[Path]:
    """The run folders, the base first."""
    folders = [Path(run) for run in runs]
    if base is not None:
        folders = [
            Path(base),
            *[folder for folder in folders if folder.resolve() != Path(base).resolve()],
        ]
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise DisorderError("a run is named twice; a comparison needs two or more different runs")
    if len(folders) < 2:
        raise DisorderError("a comparison needs two or more runs: disorder compare RUN RUN")
    return folders


def _names(given: Sequence[Audited]) -> list[str]:
    """What each run is called: its model where that is clear, else with its folder."""
    models, stems = (
        [g.run.model for g in given],
        [f"{g.run.model} ({g.folder.name})" for g in given],
    )
    for names in (models, stems):
        if len(set(names)) == len(names):
            return names
    return [str(g.folder) for g in given]


def _refuse(base: Audited, other: Audited, *, has_chosen: bool) -> None:
    """Raise where two runs were not asked the same questions, and say what differs."""
    a, b = base.run, other.run
    facts: list[tuple[str, object, object]] = [
        ("data hash", a.hashes.get("data"), b.hashes.get("data"))
    ]
    facts.append(("seed", a.seed, b.seed))
    facts += [("number of examples", a.n_examples, b.n_examples), ("labels", a.labels, b.labels)]
    facts += [(name, a.settings.get(name), b.settings.get(name)) for name in SAME]
    if not has_chosen:
        facts.append(
            ("transformations", ", ".join(a.transformations), ", ".join(b.transformations))
        )
    differing = [(name, x, y) for name, x, y in facts if x != y]
    if differing:
        told = "; ".join(visible(f"{name} ({x} and {y})") for name, x, y in differing)
        tip = (
            "--with T compares one that they share"
            if [d[0] for d in differing] == ["transformations"]
            else "audit again"
        )
        raise DisorderError(
            f"{base.folder} and {other.folder} cannot be compared: they differ in {told}; {tip}"
        )
    if base.rows != other.rows:
        raise BadData(
            f"{base.folder} and {other.folder} hold other examples, though their hashes agree; audit them again"
        )


def _chosen(given: Sequence[Audited], transformations: Sequence[str]) -> list[str]:
    """The transformations to compare, in the order of the first run."""
    first = given[0].run.transformations
    shared = [
        spec for spec in first if all(spec in audited.run.transformations for audited in given)
    ]
    wanted = [spec if spec in shared else parse(spec).spec for spec in transformations] or shared
    for spec in wanted:
        if spec not in shared:
            raise UnknownName(
                "transformation of these runs", spec, map(visible, shared or ["(they share none)"])
            )
    return [spec for spec in shared if spec in wanted]
