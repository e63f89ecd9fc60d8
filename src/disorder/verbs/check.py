"""Check, for CI: audit a model, compare it with the last run on the same data, and decide rules.

A model fails where a rule does, or where it is shown to be worse than the last one: less accurate,
or with more of its skill left without word order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from disorder.errors import BadData, DisorderError, option
from disorder.requests.audit import AuditOptions
from disorder.requests.settings import takes_options
from disorder.results.comparison import Comparison, Difference, headline
from disorder.results.gate import Decision, Ruling, State
from disorder.results.result import Result
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.types import Progress
from disorder.verbs.audit import audit
from disorder.verbs.compare import compare


@dataclass(frozen=True)
class CheckedModel:
    """What a check found; `why_alone` says why there is no comparison."""

    run: Run
    decision: Decision
    comparison: Comparison | None = None
    why_alone: str = ""

    @property
    def passed(self) -> bool:
        """Whether no rule failed, and nothing is shown to be worse than before."""
        return self.decision.passed

    @property
    def result(self) -> Result:
        """The envelope: what the audit says, how it differs from the last run, the rules."""
        found, rules = self.run.result, self.decision.result
        difference = f"Not compared: {self.why_alone}."
        if self.comparison is not None:
            difference = headline(self.comparison)
        has_rules = bool(self.decision.rulings)
        said = [f"{rules.headline}."] if has_rules else []
        return replace(
            rules,
            verb="check",
            headline=found.headline,
            lead=[*found.lead[:2], difference, *said],
            grids=rules.grids if has_rules else (),
        )


@takes_options(AuditOptions)
def check(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    against: str | Path | Run | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[AuditOptions],
) -> CheckedModel:
    """Audit a model, compare it with an earlier run, and decide rules (`fail_if`).

    model: as `disorder.audit` takes it.
    data: as `disorder.audit` takes it.
    against: a run, or a folder of runs, of which the last that was made alike is taken.
    out: write the run folder there.
    progress: called as progress(stage, done, total, note).
    """
    named = _named(against)
    others = [] if named or against is None else list(_finished_runs(Path(str(against))))
    run = audit(model, data, out=out, progress=progress, **options)
    alike = sorted((each for each in others if each.data == run.data), key=lambda run: run.started)
    comparison, why = _compared([named] if named else alike[::-1], run)
    if not why and comparison is None:
        lacks = f"{against} has no finished run on {run.data}"
        why = lacks if against else f"no earlier run was named ({option('against')})"
    return CheckedModel(run, _decision(run, comparison), comparison, why)


def _named(against: str | Path | Run | None) -> Run | None:
    """The one run to compare with, where it is named."""
    if isinstance(against, Run) or against is None:
        return against
    return read_run(against) if (Path(against) / "run.json").is_file() else None


def _compared(earlier: Sequence[Run], run: Run) -> tuple[Comparison | None, str]:
    """The comparison with the first run that was made alike, else why not with the first."""
    why = ""
    for before in earlier:
        try:
            return compare(before, run, metrics=["skill_kept", run.main_score]), ""
        except DisorderError as error:
            why = why or str(error)
    return None, why


def _finished_runs(folder: Path) -> Iterator[Run]:
    for path in sorted(folder.glob("*/run.json")):
        try:
            run = read_run(path.parent)
        except BadData:  # of another version, or damaged
            continue
        if run.status == "done":
            yield run


def _decision(run: Run, comparison: Comparison | None) -> Decision:
    """The rules of the run, and one that nothing became worse."""
    given = Decision.model_validate(run.gate) if run.gate else None
    rulings = [] if given is None else list(given.rulings)
    for found in [] if comparison is None else comparison.conclusions:
        if found.skill_kept is not None:
            rulings.append(_no_worse(found.skill_kept, ">"))
        rulings.append(_no_worse(found.original, "<"))
    return Decision(
        run=str(run.folder or ""),
        model=run.title,
        data=run.data,
        passed=all(ruling.passed for ruling in rulings),
        rulings=rulings,
        conclusion=run.conclusion,
        notes=[] if given is None else given.notes,
    )


def _no_worse(found: Difference, operator: str) -> Ruling:
    """Fails where a difference to the last run is shown, in the wrong direction."""
    is_worse = found.is_sure and (found.difference > 0) == (operator == ">")
    state: State = "failed" if is_worse else "passed"
    return Ruling(
        rule=f"{found.metric} is no worse than in the last run",
        transformation=found.transformation,
        metric=f"{found.metric} minus that of the last run",
        group=found.group,
        operator=operator,
        limit=0.0,
        value=found.difference,
        low=found.low,
        high=found.high,
        n=found.n,
        passed=not is_worse,
        is_sure=found.is_sure,
        state=state,
    )
