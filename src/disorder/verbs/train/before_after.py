"""Before and after: did training take the weakness away, and at what cost on original texts?

The same audit of the model that training started from and of the trained one, on the same examples
and permutations, so that differences are paired.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from disorder.errors import DisorderError
from disorder.requests.audit import AuditOptions
from disorder.requests.option import declared_in
from disorder.results.comparison import ComparisonConclusion, Difference
from disorder.results.result import Result
from disorder.results.run import Run
from disorder.results.run_folder import read_run, verb_of
from disorder.transformations import parse
from disorder.types import ORIGINAL, Progress
from disorder.types.predictions import ABSTAINS
from disorder.verbs.audit import audit
from disorder.verbs.compare import compare
from disorder.verbs.train.summary import audits_result
from disorder.verbs.train.training import TrainedModel

DECLINES = 0.1  # of the perturbed texts, from which on abstaining is what was learned


@dataclass(frozen=True)
class BeforeAndAfter:
    """The audits of a model before and after training; `reason` says why there is none before."""

    before: Run | None
    after: Run
    changed: ComparisonConclusion | None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """What training changed, or without a model before what the trained one does."""
        if self.changed is None or self.before is None:
            return self._after_alone()
        spec = self.changed.transformation
        before, after = (abstained(run, spec) for run in (self.before, self.after))
        kept = self.changed.skill_kept
        skill = f"skill kept without word order cannot be compared ({self.changed.because})"
        if kept is not None:
            verdict = "no change is shown"
            if kept.high < 0 or kept.low > 0:
                verdict = f"it relies {'more' if kept.high < 0 else 'less'} on word order"
            if kept.high < 0 and after - before > DECLINES:
                verdict = "it learned to abstain on perturbed texts"
            skill = f"{verdict}: skill kept without word order {_arrow(kept)}"
        accuracy = f"accuracy on original texts {_arrow(self.changed.original)}"
        originals = f"{abstained(self.before):.2f} → {abstained(self.after):.2f} of them"
        declined = f"{originals} and on {before:.2f} → {after:.2f} of the perturbed ones"
        return f"Before → after training, {skill}; {accuracy}; it abstains on {declined}."

    def _after_alone(self) -> str:
        found = self.after.conclusion
        skill = "may have no skill to keep"
        if found is not None and found.value is not None:
            skill = f"keeps {found.value:.2f} of its skill without word order"
        score = self.after.score(ORIGINAL, "accuracy")
        accuracy = "" if score is None else f"its accuracy on original texts is {score.value:.2f}; "
        declined = f"it abstains on {abstained(self.after):.2f} of original texts"
        return f"After training the model {skill}; {accuracy}{declined}."

    @property
    def result(self) -> Result:
        """The envelope, from which the terminal is made."""
        return audits_result(self)

    def as_data(self) -> dict[str, Any]:
        """The facts, as `--json` prints them."""
        changed = self.changed
        return {
            "before": None if self.before is None else str(self.before.folder),
            "after": str(self.after.folder),
            "sentence": self.sentence,
            "skill_kept": _numbers(changed.skill_kept) if changed else None,
            "accuracy": _numbers(changed.original) if changed else None,
        }


def audit_training(
    trained: TrainedModel, data: str, progress: Progress | None = None
) -> BeforeAndAfter:
    """Audit a trained model and the one that training started from.

    data: data to audit on, or the folder of an audit of the starting model, whose settings are
        taken and whose numbers are those before.
    """
    if verb_of(Path(data)) == "audit":
        before = read_run(data)
        before.check_done()
        own = _options(before)
        after = audit(
            trained.spec, before.data, out=trained.folder / "audit-after", progress=progress, **own
        )
        return BeforeAndAfter(before, after, _changed(before, after))
    request = trained.record["request"]
    own = {name: request[name] for name in ("seed", "columns", "task", "data_dir")}
    first, reason = None, ""
    spec = request["model"]
    try:
        if ":" in spec:  # a network from scratch has no audit before
            out = trained.folder / "audit-before"
            first = audit(spec, data, out=out, progress=progress, **own)
    except DisorderError as error:  # an encoder that has no head for these labels yet
        reason = f"no audit before training: {error}"
    after = audit(trained.spec, data, out=trained.folder / "audit-after", progress=progress, **own)
    changed = None if first is None else _changed(first, after)
    return BeforeAndAfter(first, after, changed, reason)


def _options(run: Run) -> dict[str, Any]:
    """The keywords that repeat an audit."""
    specs = [spec for spec in run.transformations if not parse(spec).is_control]
    recorded = {**run.settings, "seed": run.seed, "transformations": specs}
    return {
        name: recorded[each.recorded_name]
        for name, each in declared_in(AuditOptions).items()
        if recorded.get(each.recorded_name) is not None
        and not each.is_default(recorded[each.recorded_name])
    }


def _changed(before: Run, after: Run) -> ComparisonConclusion | None:
    found = compare(before, after).conclusions
    return found[0] if found else None


def abstained(run: Run, transformation: str = ORIGINAL) -> float:
    """The share of texts that a model gave none of the labels."""
    table = run.samples()
    is_of_these = pc.equal(table["transformation"].cast("string"), transformation)
    outcomes = table.filter(is_of_these)["outcome"]
    n = int(pc.sum(pc.equal(outcomes.cast("string"), ABSTAINS)).as_py() or 0)
    return n / max(1, len(outcomes))


def _arrow(found: Difference) -> str:
    numbers = f"{found.difference:+.2f} [{found.low:+.2f}, {found.high:+.2f}]".replace("-", "−")
    return f"{found.base_value:.2f} → {found.other_value:.2f} ({numbers})".replace(" -", " −")


def _numbers(found: Difference | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {
        "before": found.base_value,
        "after": found.other_value,
        "difference": found.difference,
        "low": found.low,
        "high": found.high,
    }
