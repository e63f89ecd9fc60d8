"""Compare finished runs on the same examples: paired differences, example by example.

Runs on the same data, seed and settings share every permutation, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from disorder.errors import BadData, DisorderError, UnknownName, option
from disorder.requests.audit import AuditOptions
from disorder.requests.fields import CompareFields
from disorder.requests.option import changed, command_line, declared_in
from disorder.requests.runs import CompareOptions
from disorder.requests.settings import takes_options
from disorder.results.comparison import Comparison
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.safe_io import visible
from disorder.transformations import parse
from disorder.transformations.words import NATURAL
from disorder.types import CONTROL_OF
from disorder.verbs.compare.concluding import conclusions_of, correct, main_of
from disorder.verbs.compare.differences import Comparing
from disorder.verbs.compare.finished_run import FinishedRun

__all__ = ["FinishedRun", "check_alike", "compare"]

# how the model is loaded and asked: each run keeps its own
OF_MODEL = {
    each.recorded_name
    for each in declared_in(AuditOptions).values()
    if each.option.for_model or each.option.for_prompt or each.option.named_again
} | {"name"}

# settings that decide which permutations are drawn, how they are written, and what is measured
SAME = ("short",)


@takes_options(CompareOptions)
def compare(
    *runs: str | Path | Run,
    base: str | Path | Run | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Compare finished runs (or their folders) on the same examples and permutations.

    Gives paired differences with intervals, with Holm's correction over the main tests, and over
    the others. Without `metrics` and `with_`: all main scores that the runs share.

    runs: two or more finished runs, or their folders.
    base: the run that the others are compared with (default: the first).
    """
    asked = CompareFields.of(options)
    given = _finished(runs, base)
    for name, finished in zip(_names(given), given, strict=True):
        finished.name = name
    transformations = asked.transformations
    for other in given[1:]:
        _check_same(given[0], other, has_chosen=bool(transformations))
    found = Comparing(
        given=given,
        transformations=_chosen(given, transformations),
        metrics=list(dict.fromkeys(asked.metrics)),
        groups=list(dict.fromkeys(asked.groups)),
        pairs=asked.pairs,
        seed=asked.seed,
    ).go()
    found.main = main_of([each.run for each in given], _chosen(given, transformations))
    correct(found, asked.metrics)
    by_name = {each.name: each.run for each in given}
    found.conclusions = list(conclusions_of(found, by_name, asked.metrics))
    found.has_chosen = bool(transformations or asked.metrics)
    return found


def _finished(runs: Sequence[str | Path | Run], base: str | Path | Run | None) -> list[FinishedRun]:
    """The runs to compare, the base first."""
    given = list(runs)
    if base is not None:
        given = [base, *[run for run in given if _folder(run) != _folder(base)]]
    if len({_folder(run) for run in given}) < len(given):
        raise DisorderError("a run is named twice; a comparison needs two or more different runs")
    if len(given) < 2:
        raise DisorderError("a comparison needs two or more runs: disorder compare RUN RUN")
    return [FinishedRun.open(run) for run in given]


def _folder(run: str | Path | Run) -> Path | None:
    folder = read_run(run).folder if not isinstance(run, Run) else run.folder
    return None if folder is None else folder.resolve()


def _names(given: Sequence[FinishedRun]) -> list[str]:
    """What each run is called: its model where that is clear, else with its folder."""
    models = [g.run.title for g in given]
    with_folders = [f"{g.run.title} ({g.folder.name})" for g in given]
    for names in (models, with_folders):
        if len(set(names)) == len(names):
            return names
    return [str(g.folder) for g in given]


def _check_same(base: FinishedRun, other: FinishedRun, *, has_chosen: bool) -> None:
    """Raise where two runs did not predict the same texts, and say what differs."""
    names = f"{base.folder} and {other.folder}"
    if base.run.hashes.get("data") != other.run.hashes.get("data"):
        raise DisorderError(f"{names} cannot be compared: {_other_data(base.run, other.run)}")
    mine = _facts(base.run)
    theirs = _facts(other.run)
    if has_chosen:
        mine.pop("transformations")
    if base.run.settings.get("limit") == other.run.settings.get("limit"):
        mine.pop("number of examples")  # one stopped earlier: those that both have are compared
    differing = {name: (x, theirs[name]) for name, x in mine.items() if x != theirs[name]}
    for name in ("q", "no_answer"):
        if None in differing.get(name, ()):  # of no matter to one of them, which is named besides
            del differing[name]
    if differing:
        told = "; ".join(visible(f"{name} ({x} and {y})") for name, (x, y) in differing.items())
        tip = f"make them alike: {visible(_alike(base.run, other.run))}"
        if list(differing) == ["transformations"]:
            tip = f"{option('with_', 'T')} compares one that they share"
        raise DisorderError(f"{names} cannot be compared: they differ in {told}; {tip}")
    if base.cut_otherwise(other) is None:
        raise BadData(
            f"{base.folder} and {other.folder} hold other examples, though their hashes agree; "
            "audit them again"
        )


def _other_data(base: Run, other: Run) -> str:
    """How the data of two runs differ, in words, and what to do."""
    if base.data != other.data:
        what = f"they are on different data, {visible(base.data)} and {visible(other.data)}"
    else:
        what = f"{visible(base.data)} did not hold the same rows when they were made"
    return f"{what}; differences are paired, so audit both models on the same examples"


def _facts(run: Run) -> dict[str, object]:
    """What two runs must share to be compared."""
    return {
        "seed": run.seed,
        "number of examples": run.n_examples,
        "labels": run.labels,
        **{name: run.settings.get(name) for name in SAME},
        "q": None if _draws_on(run) else run.settings.get("q"),
        **_ways(run),
        "transformations": ", ".join(_named(run)),
    }


def _draws_on(run: Run) -> bool:
    """Whether another q changes no text: more variants come after those of a smaller one."""
    return (run.settings.get("fidelity"), run.settings.get("short")) == (NATURAL, "use")


def _named(run: Run) -> list[str]:
    """The transformations of a run without its controls, which come by themselves."""
    return [spec for spec in run.transformations if not spec.startswith(CONTROL_OF)]


def _ways(run: Run) -> dict[str, object]:
    """How a run writes perturbed texts, and what an abstention counts as; a natural run books it
    in one way, and measures skill against its control.
    """
    is_natural = run.settings.get("fidelity") == NATURAL
    words = {run.usual_words(spec) for spec in run.transformations}
    return {
        "fidelity": run.settings.get("fidelity"),
        "words": ", ".join(sorted(words)),
        "no_answer": None if is_natural else run.settings.get("no_answer", "skip"),
    }


def check_alike(runs: Sequence[Run]) -> None:
    """Raise where runs that stand side by side were not written and booked in one way."""
    for other in runs[1:]:
        first = _ways(runs[0])
        differing = [name for name, value in _ways(other).items() if value != first[name]]
        if differing:
            raise DisorderError(
                f"{runs[0].folder} and {other.folder} cannot stand side by side: they differ in "
                f"{', '.join(differing)}; make them alike: {visible(_alike(runs[0], other))}"
            )


def _alike(base: Run, other: Run) -> str:
    """The command that makes two runs alike: the one that is not natural, else the other one, is
    audited as its partner was.
    """
    is_first = (
        base.settings.get("fidelity") != NATURAL and other.settings.get("fidelity") == NATURAL
    )
    again, partner = (base, other) if is_first else (other, base)
    asked = {"seed": partner.seed, "transformations": _named(partner)}
    settings = partner.settings | asked
    words = changed(AuditOptions, {k: v for k, v in settings.items() if k not in OF_MODEL})
    return command_line("audit", again.model, again.data, *words, "--out", f"{again.folder}-alike")


def _chosen(given: Sequence[FinishedRun], transformations: Sequence[str]) -> list[str]:
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
