"""The examples that the settings of a run choose from its data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from disorder.data import select, turn_of
from disorder.data.families import named_families
from disorder.errors import DisorderError, option
from disorder.models.prompting.choosing import template_variables
from disorder.requests.settings import Settings
from disorder.transformations.words import NATURAL
from disorder.types import Dataset
from disorder.verbs.open_answers import guessed_score, match_of
from disorder.verbs.ranked_documents import perturbed_segments, with_ranked_documents


def wanted_columns(settings: Settings) -> list[str]:
    """Columns of the data that prompts, `--on` and transformations name."""
    named = perturbed_segments(settings)
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
    if found.task.kind == "ranking":
        found = with_ranked_documents(found, settings)
    elif settings.candidates is not None:
        raise DisorderError(
            f"{option('candidates', settings.candidates)} is for queries with documents; "
            f"{found.name} has none"
        )
    elif found.task.is_graded:
        guess = guessed_score(found.examples, match_of(settings))
        found = replace(found, task=replace(found.task, guess=guess))
    if not settings.may_stop or settings.fidelity != NATURAL:
        return found
    return in_turn(named_families(found), settings.seed)


OTHER_FORMS = {
    "choice": "questions with options of their own",
    "pair": "pairs of a better and a worse text",
    "text": "questions with open answers",
    "ranking": "queries with documents",
}


def check_has_labels(dataset: Dataset, verb: str) -> None:
    """Raise where a verb is about labels that all examples share, and the data has none."""
    form = OTHER_FORMS.get(dataset.task.kind)
    if form is not None:
        raise DisorderError(
            f"disorder {verb} is about texts with labels or numbers, and {dataset.name} has "
            f"{form}: use disorder audit, compare, gate and view for these"
        )


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
