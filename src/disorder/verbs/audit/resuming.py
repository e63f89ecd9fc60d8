"""Resuming: what a stopped run says of itself, what the user has to say again, and what must not
have changed since.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError, option
from disorder.registry.own import own_specs
from disorder.requests.settings import resume_line
from disorder.results.run import Run
from disorder.safe_io import one_line
from disorder.store.sample_parts import SAMPLES
from disorder.store.store import JOURNAL, journal_entries
from disorder.transformations import Transformation, parse
from disorder.verbs.audit.planning import LEFT_OUT


def recorded_plan(before: Run) -> tuple[list[Transformation], list[str]]:
    """The transformations of a stopped run with their splitters, and its notes on those that were
    left out.
    """
    plan = [parse(spec, usual_words=before.usual_words(spec)) for spec in before.transformations]
    return plan, [note for note in before.notes if note.startswith(LEFT_OUT)]


def check_version(folder: Path) -> None:
    """Raise where an earlier version of disorder wrote some of the parts: it counted and wrote
    texts in other ways, and a run must not be of two kinds.
    """
    entries = journal_entries(folder / SAMPLES / JOURNAL)
    parts = [set(entry) for entry in entries if entry["part"].endswith(".parquet")]
    if any({"predicted", "transformation"} - names for names in parts):
        raise DisorderError(
            f"{folder} was begun by an earlier version of disorder and cannot be resumed; start it "
            f"again with another {option('out')}"
        )


def check_own(
    folder: Path, before: Run, transformations: Sequence[str], scores: Sequence[str]
) -> None:
    """Raise where a folder names functions of a user's files, and the user does not."""
    again = {
        "with_": (own_specs(before.transformations), transformations),
        "score": (own_specs(before.settings.get("score") or ()), scores),
    }
    if any({*named} - {*given} for named, given in again.values()):
        said: dict[str, Any] = {
            name: [*map(one_line, named)] for name, (named, _) in again.items() if named
        }
        told = ", ".join(each for named in said.values() for each in named)
        raise DisorderError(
            f"{folder} names {told}, which would be run; nothing is run because a folder says so. "
            f"If you trust it, repeat it: {resume_line(folder, **said)}"
        )


def check_taggers(folder: Path, specs: Sequence[str], given: Sequence[str]) -> None:
    """Raise where a folder names a tagger's model to load, and the user does not."""
    named = {parse(spec).spec for spec in given}
    for spec in specs:
        transformation = parse(spec)
        loads = any(":" in (step.tagger or "") for step in transformation.steps)
        if loads and transformation.spec not in named:
            raise DisorderError(
                f"{folder} names the transformation {one_line(spec)}, which loads a tagger; "
                "nothing is loaded because a folder says so. If you trust it, repeat it: "
                f"{resume_line(folder, with_=[one_line(spec)])}"
            )


def continue_run(run: Run, before: Run) -> None:
    """Take over what a stopped run had spent; raise where data or model changed since."""
    changed = [name for name in run.hashes if run.hashes[name] != before.hashes.get(name)]
    if changed:
        raise DisorderError(
            f"the {' and the '.join(changed)} changed since the run began; start a new one"
        )
    if before.taggers != run.taggers:
        raise DisorderError(
            f"the run began with {', '.join(before.taggers)} for word "
            "classes, which is "
            "not what is installed here; install it, or start a new one"
        )
    run.started = before.started
    run.seconds = before.seconds
    run.spent = dict(before.spent)
