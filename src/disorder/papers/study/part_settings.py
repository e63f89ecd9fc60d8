"""Settings of a study, and of its parts: `--set drop_pos.tagger=spacy`, `--set lime.n=200`.

An item names its transformations and explanations as the paper does; settings are added when they
are used, and found again in a run by what the item named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from disorder.errors import DisorderError, UnknownName
from disorder.papers.fields import StudyFields
from disorder.papers.requests import PredictingOptions, StudyOptions
from disorder.registry import ExplanationPart, TransformationPart, parts
from disorder.requests.option import declared_in
from disorder.results.run import Run
from disorder.specs import format_part, parse_part, split_chain
from disorder.transformations import parse
from disorder.types import ORIGINAL, Fidelity

PartSettings = Mapping[str, Mapping[str, str]]


def sorted_settings(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Settings of trainings, and those of parts (`part.setting=value`) by part.

    >>> sorted_settings({"epochs": "3", "lime.n": "50"})
    ({'epochs': '3'}, {'lime': {'n': '50'}})
    """
    of_training: dict[str, str] = {}
    of_parts: dict[str, dict[str, str]] = {}
    for name, value in given.items():
        part, dot, setting = name.partition(".")
        if dot:
            of_parts.setdefault(part, {})[setting] = value
        else:
            of_training[name] = value
    return of_training, of_parts


def check_parts(
    given: PartSettings, used: Iterable[str], own: Mapping[str, Collection[str]]
) -> None:
    """Raise on settings that neither the parts `used` nor what is the item's `own` have."""
    names = {name for spec in used for name, _ in _steps(spec)}
    for name, settings in given.items():
        if name not in {*names, *own}:
            options = sorted({*names, *own})
            raise UnknownName("transformation or explanation of this item", name, options)
        for setting in settings if name in own else ():
            if setting not in own[name]:
                raise UnknownName(f"setting of {name}", setting, sorted(own[name]))


def with_settings(spec: str, given: PartSettings) -> str:
    """The spec with more settings; those that it has already stay unless they are given again.

    >>> with_settings("drop_pos:tags=NOUN+reverse", {"drop_pos": {"tagger": "nltk"}})
    'drop_pos:tagger=nltk,tags=NOUN+reverse'
    """
    if spec == ORIGINAL:
        return spec
    return "+".join(
        format_part(name, {**own, **given[name]} if name in given else own)
        for name, own in _steps(spec)
    )


def _steps(spec: str) -> list[tuple[str, dict[str, str]]]:
    if spec == ORIGINAL:
        return []
    names = [*parts(TransformationPart), *parts(ExplanationPart)]
    return [parse_part(step, kind="part") for step in split_chain(spec, names)]


def canonical(spec: str, fidelity: Fidelity) -> str:
    """A transformation as runs spell it; `original` stays."""
    return spec if spec == ORIGINAL else parse(spec, fidelity=fidelity).spec


def spec_in_run(run: Run, spec: str) -> str | None:
    """What a run calls a transformation that an item names, perhaps with more settings."""
    if spec == ORIGINAL:
        return spec
    fidelity: Any = run.settings["fidelity"]
    return spec_among(run.transformations, canonical(spec, fidelity))


def spec_among(known: Collection[str], wanted: str) -> str | None:
    """The one of these specs that is wanted: the same, or the same with more settings."""
    if wanted in known:
        return wanted
    found = [each for each in known if each != ORIGINAL and _has_all_of(each, wanted)]
    if len(found) > 1:
        raise DisorderError(
            f"{wanted} may be {' or '.join(sorted(found))} there; only one of them may be"
        )
    return found[0] if found else None


def _has_all_of(spec: str, wanted: str) -> bool:
    """Whether a spec has the steps of another with all their settings, and perhaps more."""
    theirs, ours = _steps(spec), _steps(wanted)
    return [name for name, _ in theirs] == [name for name, _ in ours] and all(
        own.items() <= more.items() for (_, own), (_, more) in zip(ours, theirs, strict=True)
    )


def settings_notes(
    specs: Iterable[str], given: PartSettings, own: Collection[str] = ()
) -> list[str]:
    """Which settings were added to which parts, and to what else is `own`, as a line each."""
    names = {*own, *(name for spec in specs for name, _ in _steps(spec))}
    return [
        f"{name} with {', '.join(f'{key}={value}' for key, value in own.items())}"
        for name, own in given.items()
        if name in names
    ]


@dataclass(frozen=True)
class StudySettings(StudyFields):
    """Everything beside the item, the models and the data."""

    @property
    def recorded(self) -> dict[str, Any]:
        """What decides the numbers, as result.json keeps it."""
        return {
            each.recorded_name: getattr(self, each.recorded_name)
            for each in declared_in(StudyOptions).values()
            if each.option.changes_predictions
        }

    @property
    def predicting(self) -> dict[str, Any]:
        """How to read data and predict, as audits and explanations take it."""
        return {name: getattr(self, name) for name in declared_in(PredictingOptions)}

    @property
    def of_training(self) -> dict[str, str]:
        """The settings of trainings."""
        return sorted_settings(self.set)[0]

    @property
    def of_parts(self) -> dict[str, dict[str, str]]:
        """The settings of transformations and explanations, by part."""
        return sorted_settings(self.set)[1]

    @property
    def seeds_to_train(self) -> range:
        """The seeds of the trainings."""
        return range(self.seed, self.seed + (self.seeds or 1))
