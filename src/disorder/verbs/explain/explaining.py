"""How does a request become a page? Read, load, explain one by one; what a model cannot show is a
line, not the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from disorder import __version__
from disorder.errors import BadModel, DisorderError, MissingData, MissingPackage, NothingToMeasure
from disorder.registry import ExplanationPart, part, parts
from disorder.runs.settings import Settings
from disorder.transformations import parse
from disorder.types import Dataset, Progress
from disorder.verbs.audit.block import loaded_model
from disorder.verbs.explain.result import Explained
from disorder.verbs.explain.subject import Subject
from disorder.verbs.selected_data import selected_data

LIMIT = 500  # examples looked at unless the user says otherwise
CANNOT = (
    BadModel,
    MissingData,
    MissingPackage,
    NothingToMeasure,
)  # what one explanation lacks need not stop the others


@dataclass(frozen=True)
class Wanted:
    """One explanation with its settings bound."""

    part: ExplanationPart
    settings: Mapping[str, Any]

    @property
    def spec(self) -> str:
        """Its canonical name: settings that differ from the defaults, in alphabetical order."""
        own = sorted((k, v) for k, v in self.settings.items() if v != self.part.settings[k])
        return self.part.name + "".join(f"{':,'[i > 0]}{k}={v}" for i, (k, v) in enumerate(own))


@dataclass(frozen=True)
class Section:
    """What one explanation found, or why it found nothing."""

    spec: str
    name: str
    asks: str
    paper: str
    summary: str
    found: Explained | None
    reason: str = ""


@dataclass
class Explanations:
    """All that was found about one model on one set of data."""

    model: str
    data: str
    n_examples: int
    n_available: int
    labels: Sequence[str]
    settings: Mapping[str, Any]
    transformation: str
    hashes: Mapping[str, str]
    sections: list[Section] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    version: str = __version__

    def __getitem__(self, name: str) -> Explained:
        """What the explanation of that name found."""
        section = next(section for section in self.sections if name in (section.name, section.spec))
        if section.found is None:
            raise NothingToMeasure(f"{name}: {section.reason}")
        return section.found


def explain(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    by: str | Sequence[str] = (),
    transformation: str = "derange",
    progress: Progress | None = None,
    **settings: Any,
) -> Explanations:
    """See what `model` relies on when it answers `data`: the explanations named in `by`, or all
    usual ones.

    Model and data are those of `disorder.audit`; `transformation` is how texts are perturbed. Settings
    are those of an audit that concern reading, breaking and asking (q, seed, limit, fidelity,
    short, columns, labels, batch_size, …).
    """
    chosen = Settings(**({"limit": LIMIT} | settings))
    chosen.check()
    perturbed = parse(transformation, fidelity=chosen.fidelity).tried()
    named = [by] if isinstance(by, str) else list(by)
    wanted = [parsed(spec) for spec in named]
    _check_once(wanted)
    dataset = selected_data(data, chosen)
    wanted = wanted or usual(dataset)
    loaded, notes = loaded_model(model, dataset, [perturbed], chosen)
    subject = Subject(loaded, dataset, chosen, perturbed.spec, progress or (lambda *_: None))
    result = Explanations(
        loaded.name,
        data if isinstance(data, str) else dataset.name,
        len(dataset.examples),
        len(dataset.examples) + sum(dataset.skipped.values()),
        list(dataset.task.labels),
        asdict(chosen),
        perturbed.spec,
        {"data": dataset.fingerprint, "model": loaded.fingerprint},
        notes=notes,
    )
    result.sections = [section(each, subject) for each in wanted]
    if all(each.found is None for each in result.sections):
        raise DisorderError("; ".join(f"{each.name}: {each.reason}" for each in result.sections))
    return result


def parsed(spec: str) -> Wanted:
    """The explanation that a spec such as `minitree:r=1,k=2` names."""
    name, _, text = spec.strip().partition(":")
    found = part(ExplanationPart, name)
    pairs = [item.partition("=") for item in text.split(",") if item]
    if any(not equals or not value for _, equals, value in pairs):
        raise DisorderError(f"explanation {spec!r}: write settings as name:key=value,key=value")
    return Wanted(found, found.bind({key.strip(): value.strip() for key, _, value in pairs}))


def _check_once(wanted: Sequence[Wanted]) -> None:
    """Raise on an explanation that is named twice: its pictures have one name each, and would
    overwrite each other.
    """
    names = [each.part.name for each in wanted]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise DisorderError(
            f"explanation {twice} is named twice, and its files have one name: run it again with another --out"
        )


def usual(dataset: Dataset) -> list[Wanted]:
    """The explanations shown when none is named: those that fit the task."""
    return [
        Wanted(each, {})
        for each in parts(ExplanationPart).values()
        if each.usual and _fits(each, dataset)
    ]


def section(wanted: Wanted, subject: Subject) -> Section:
    """Ask one explanation."""
    found, reason = None, ""
    try:
        if not _fits(wanted.part, subject.dataset):
            asks = "numbers" if subject.task.is_regression else "labels"
            raise NothingToMeasure(
                f"it is for answers that are {wanted.part.on}; {subject.dataset.name} asks for {asks}"
            )
        found = wanted.part.function(subject, **wanted.settings)
    except CANNOT as error:
        reason = str(error)
    return Section(
        wanted.spec,
        wanted.part.name,
        wanted.part.asks,
        wanted.part.paper,
        wanted.part.summary,
        found,
        reason,
    )


def _fits(entry: ExplanationPart, dataset: Dataset) -> bool:
    return entry.on in ("any", "numbers" if dataset.task.is_regression else "labels")
