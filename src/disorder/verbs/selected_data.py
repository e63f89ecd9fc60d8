"""The examples that the settings of a run choose from its data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from disorder.data import select, turn_of
from disorder.data.families import named_families
from disorder.models.prompting.choosing import template_variables
from disorder.requests.settings import Settings
from disorder.transformations import parse
from disorder.transformations.words import NATURAL
from disorder.types import Dataset
from disorder.verbs.open_answers import guessed_score, match_of


def wanted_columns(settings: Settings) -> list[str]:
    """Columns of the data that prompts, `--on` and transformations name."""
    named = [] if settings.break_ == "text" else settings.break_.split(",")
    for spec in settings.transformations:
        named += [name for step in parse(spec).steps for name in step.on]
    for prompt in settings.prompt:
        named += sorted(template_variables(prompt))
    return list(dict.fromkeys(named))


def selected_data(data: Any, settings: Settings, *, needs_gold: bool = True) -> Dataset:
    """The dataset that a verb works on; where a run may stop early, in random order, in a natural
    run family by family.
    """
    found = select(
        data,
        columns=settings.columns,
        data_dir=settings.data_dir,
        task=settings.task,
        language=settings.language,
        group_by=settings.group_by,
        family=settings.family,
        limit=settings.limit,
        seed=settings.seed,
        is_shuffled=settings.may_stop,
        needs_gold=needs_gold,
        wanted=wanted_columns(settings),
    )
    if found.task.is_graded:
        guess = guessed_score(found.examples, match_of(settings))
        found = replace(found, task=replace(found.task, guess=guess))
    if not settings.may_stop or settings.fidelity != NATURAL:
        return found
    return in_turn(named_families(found), settings.seed)


def in_turn(dataset: Dataset, seed: int) -> Dataset:
    """Examples with named families in an order that follows from seed and id alone, family by
    family: any first part of them is a random one, and the same for every model.
    """
    shuffled = sorted(dataset.examples, key=lambda example: turn_of(example, seed))
    turn: dict[str, int] = {}
    for example in shuffled:
        turn.setdefault(example.family, len(turn))
    shuffled.sort(key=lambda example: turn[example.family])
    return replace(dataset, examples=shuffled)
