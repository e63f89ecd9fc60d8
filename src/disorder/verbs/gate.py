"""Gate: rules such as `skill_kept > 0.8` over the scores of a finished run, decided on intervals.

It answers, in CI, whether a model may ship.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from disorder.errors import DisorderError, UnknownName, option
from disorder.metrics import two_digits
from disorder.registry import metric_named
from disorder.requests.fields import GateFields
from disorder.requests.runs import GateOptions
from disorder.requests.settings import takes_options
from disorder.results.conclusion import MAIN
from disorder.results.gate import Decision, Ruling, State
from disorder.results.run import Record, Run
from disorder.results.run_folder import check_records, read_run
from disorder.safe_io import visible
from disorder.specs import listed
from disorder.transformations import parse
from disorder.types import ORIGINAL

OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
RULE = r"\s*(?P<score>.*[^\s<>=!])\s*(?P<operator><=|>=|<|>)\s*(?P<limit>[^\s<>=]+)\s*"
SCORE = r"(?:(?P<spec>[^\[]+):)?\s*(?P<metric>[^\[:\s]+)\s*(?:\[(?P<group>.+)\])?"
EVERY = "*"
NEAREST = 0.1  # of half the interval: a limit this near to the value is hardly decided by more
BETTER = "skill_kept > 0.8"  # a rule that means what it says
EXAMPLE = f'disorder gate RUN --fail-if "{BETTER}"'
FORM = (
    f'write it as "[TRANSFORMATION:]SCORE[[GROUP]] > NUMBER", e.g. "{BETTER}" or '
    '"derange:wos[needs=order] < 0.3"'
)

# kinds of conclusion that say that there is no skill to lose
WITHOUT_SKILL = ("no_skill", "one_label", "one_gold_label")


@dataclass(frozen=True)
class GateRule:
    """Fail if a score is beyond a limit; no transformation means the main one, `*` every one."""

    text: str
    transformation: str | None
    metric: str
    group: str
    operator: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> GateRule:
        """The rule that a user typed.

        >>> GateRule.parse("shuffle_ngrams:n=2:omega@0.5[needs=order] >= 0.2").metric
        'omega@0.5'
        """
        found = re.fullmatch(RULE, text, re.DOTALL)
        named = found and re.fullmatch(SCORE, found["score"], re.DOTALL)
        if not found or not named:
            raise DisorderError(f"{option('fail_if', text)}: {FORM}")
        spec = named["spec"].strip() if named["spec"] else None
        return cls(
            text,
            spec,
            named["metric"],
            named["group"] or "all",
            found["operator"],
            _number(text, found["limit"]),
        )

    def is_met(self, value: float) -> bool:
        """Whether a number is beyond the limit."""
        return bool(OPERATORS[self.operator](value, self.limit))

    def ruling(self, record: Record, chosen: GateFields, why_none: str = "") -> Ruling:
        """The decision on one score. It is undecided where the score means nothing (`why_none`),
        and, decided by the interval, where that includes the limit.
        """
        is_sure = self.is_met(record.low) == self.is_met(record.high)
        more = None if is_sure or why_none else self._more_examples(record)
        state: State = "failed" if self.is_met(record.value) else "passed"
        if why_none or (chosen.by == "interval" and not is_sure):
            state = "undecided"
        return Ruling(
            rule=self.text,
            operator=self.operator,
            limit=self.limit,
            passed=state == "passed" or (state == "undecided" and chosen.undecided == "pass"),
            is_sure=is_sure and not why_none,
            more_examples=more,
            state=state,
            because=(why_none or _what_decides(more)) if state == "undecided" else "",
            transformation=record.transformation,
            metric=record.metric,
            group=record.group,
            value=record.value,
            low=record.low,
            high=record.high,
            n=record.n,
        )

    def _more_examples(self, record: Record) -> int | None:
        """About how many more examples would take the limit out of the interval, if the value stays
        as it is; None where it lies so near to the limit that they hardly would.
        """
        distance = abs(record.value - self.limit)
        half = (
            record.value - record.low if record.value > self.limit else record.high - record.value
        )
        if distance <= NEAREST * half:
            return None
        return two_digits(record.n * ((half / distance) ** 2 - 1))


def _what_decides(more_examples: int | None) -> str:
    if more_examples is None:
        return "the value is too near to the limit for more examples to decide it"
    return f"about {more_examples:,} more examples would decide it"


OLD_ON: Mapping[str, GateOptions] = {
    "sure": {"by": "interval"},
    "value": {"by": "value"},
    "doubt": {"by": "interval", "undecided": "fail"},
}


def _chosen(options: GateOptions) -> tuple[GateFields, list[str]]:
    """How rules are decided, and a note where `on` said so."""
    chosen = GateFields.of(options)
    if chosen.on is None:
        return chosen, []
    meant = OLD_ON[chosen.on]
    told = " ".join(option(name, value) for name, value in meant.items())
    return GateFields.of(options | meant), [f"{option('on', chosen.on)} is now written {told}"]


@takes_options(GateOptions)
def gate(
    run: str | Path | Run, fail_if: str | Sequence[str], **options: Unpack[GateOptions]
) -> Decision:
    """Decide rules over a finished run. A rule on a score that was not measured is an error, never
    a pass.

    run: its folder, or what `disorder.audit` gave back.
    fail_if: one rule or several, such as "skill_kept > 0.8".
    """
    chosen, notes = _chosen(options)
    rules = [GateRule.parse(text) for text in listed(fail_if)]
    if not rules:
        raise DisorderError(f"no rule to decide: {EXAMPLE}")
    found = run if isinstance(run, Run) else read_run(run)
    found.check_done()
    check_records(found.scores, str(found.folder or "this run"))
    rulings = [
        rule.ruling(record, chosen, _why_none(found, record))
        for rule in rules
        for record in _records(found, rule)
    ]
    notes += [note for rule in rules for note in _notes(found, rule)]
    return Decision(
        run=str(found.folder or ""),
        model=found.title,
        data=found.data,
        by=chosen.by,
        undecided=chosen.undecided,
        passed=all(ruling.passed for ruling in rulings),
        rulings=rulings,
        conclusion=found.conclusion,
        notes=list(dict.fromkeys(notes)),
    )


def _why_none(run: Run, record: Record) -> str:
    """Why a score means nothing here: some do without skill on original texts."""
    entry = metric_named(record.metric)
    concluded = run.conclusions.get(record.group, run.conclusion)
    if entry is None or not entry.needs_skill or concluded is None:
        return ""
    return f"no skill, so no {record.metric}" if concluded.kind in WITHOUT_SKILL else ""


def _notes(run: Run, rule: GateRule) -> Iterator[str]:
    """Why a limit on this score alone misleads, with a rule that does not."""
    entry = metric_named(rule.metric)
    if entry is None or not entry.alone or rule.transformation == ORIGINAL:
        return
    q = f" (here q = {run.settings['q']})" if entry.depends_on_q and "q" in run.settings else ""
    note = f"{rule.metric}{q}: {entry.alone}."
    where = "" if rule.transformation is None else f"{rule.transformation}:"
    group = "" if rule.group == "all" else f"[{rule.group}]"
    score, _, limit = BETTER.partition(" ")
    if all(spec in (MAIN, *run.breaks_order) for spec in _transformations(run, rule)):
        note += (
            " A limit on it alone does not tell a reader from a bag of words; "
            f'--fail-if "{where}{score}{group} {limit}" does.'
        )
    yield note


@dataclass(frozen=True)
class ScoreNames:
    """The scores that a run has, or will have: metrics by transformation, and groups."""

    metrics: Mapping[str, Collection[str]]  # original texts first
    groups: Collection[str]
    unused: Collection[str] = ()  # transformations that no example could be used under

    @classmethod
    def of_run(cls, run: Run) -> ScoreNames:
        """Those that a run measured, or would have had there been anything to measure."""
        metrics: dict[str, set[str]] = {name: set() for name in (ORIGINAL, *run.transformations)}
        found = [(record.transformation, record.metric) for record in run.scores]
        found += [(gone.transformation, gone.metric) for gone in run.omitted]
        for spec, metric in found:
            if spec in metrics:
                metrics[spec].add(metric)
        measured = {record.transformation for record in run.scores}
        unused = [name for name in metrics if name not in measured]
        return cls(metrics, ["all", *run.groups], unused)

    def transformations(self, rule: GateRule) -> list[str]:
        """The transformations that a rule is about; raises where it names what is not there."""
        having = [name for name, metrics in self.metrics.items() if rule.metric in metrics]
        if not having:
            known = dict.fromkeys(metric for each in self.metrics.values() for metric in each)
            raise UnknownName(f"score in {option('fail_if')}", rule.metric, _plain(known))
        if rule.group not in self.groups:
            raise UnknownName(f"group in {option('fail_if')}", rule.group, _plain(self.groups))
        if rule.transformation is None:
            return [self._main(rule, having)]
        if rule.transformation == EVERY:
            perturbed = [name for name in self.metrics if name != ORIGINAL]
            return [name for name in perturbed if name in having or name in self.unused] or having
        wanted = (rule.transformation, _canonical(rule.transformation))
        found = next((name for name in self.metrics if name in wanted), None)
        if found is None:
            names = _plain([*self.metrics, EVERY])
            raise UnknownName(f"transformation in {option('fail_if')}", rule.transformation, names)
        return [found]

    def _main(self, rule: GateRule, having: list[str]) -> str:
        """The transformation that the report is about; an error where original texts have the
        score too.
        """
        perturbed = [name for name in having if name != ORIGINAL]
        if not perturbed:
            return ORIGINAL
        main = MAIN if MAIN in self.metrics else perturbed[0]
        if len(perturbed) < len(having):
            options = f'"{ORIGINAL}:{rule.metric}" or "{visible(main)}:{rule.metric}"'
            raise DisorderError(
                f"{option('fail_if', rule.text)}: on original texts or on perturbed ones? Write "
                f"{options}"
            )
        return main

    def planned(self, rule: GateRule) -> list[str]:
        """As `transformations`, before anything is measured; raises where one will not have the
        score.
        """
        specs = self.transformations(rule)
        lacking = [spec for spec in specs if rule.metric not in self.metrics[spec]]
        if lacking:
            having = [name for name, metrics in self.metrics.items() if rule.metric in metrics]
            raise DisorderError(
                f"{option('fail_if', rule.text)} cannot be decided: {rule.metric} is not measured "
                "under "
                f"{', '.join(lacking)}; it is under {', '.join(having)}"
            )
        return specs


def _records(run: Run, rule: GateRule) -> list[Record]:
    """The scores that a rule is about; raises where one of them was not measured."""
    records = []
    for spec in _transformations(run, rule):
        record = run.score(spec, rule.metric, rule.group)
        if record is None:
            raise DisorderError(
                f"{option('fail_if', rule.text)} cannot be decided: "
                f"{visible(_why_not(run, rule, spec))}"
            )
        records.append(record)
    return records


def _transformations(run: Run, rule: GateRule) -> list[str]:
    """What a rule's transformation means in this run."""
    return ScoreNames.of_run(run).transformations(rule)


def _why_not(run: Run, rule: GateRule, spec: str) -> str:
    """Why a run holds no such score."""
    wanted = (spec, rule.metric, rule.group)
    for gone in run.omitted:
        if (gone.transformation, gone.metric, gone.group) == wanted:
            return f"{spec}:{rule.metric} was not measured ({gone.reason})"
    if _is_unused(run, spec):
        reasons = ", ".join(run.skips.get(spec, {})) or "no data"
        return f"no example could be used under {spec} ({reasons})"
    others = [
        name
        for name in (ORIGINAL, *run.transformations)
        if run.score(name, rule.metric, rule.group)
    ]
    where = f"audit again without {option('score')} and {option('curtail')}"
    if others:
        where = f"it was measured under {', '.join(others)}"
    group = "" if rule.group == "all" else f" in {rule.group}"
    return f"{rule.metric} was not measured under {spec}{group}; {where}"


def _is_unused(run: Run, spec: str) -> bool:
    """Whether no example could be perturbed this way."""
    return all(record.transformation != spec for record in run.scores)


def _canonical(spec: str) -> str:
    """A spec as run files spell it: `shuffle_ngrams:n=1` is `shuffle_ngrams`."""
    try:
        return parse(spec).spec
    except DisorderError:
        return spec


def _plain(names: Iterable[str]) -> list[str]:
    return [visible(name) for name in names]


def _number(text: str, limit: str) -> float:
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DisorderError(
            f"{option('fail_if', text)}: {limit!r} is not a number; shares are written as 0.95"
        )
    return number
