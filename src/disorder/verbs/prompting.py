"""The prompt of a run: the settings of a user, and examples that are none of the audited rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from disorder.data import stream, train_spec
from disorder.errors import BadData, DisorderError, option
from disorder.models import is_prompted
from disorder.models.prompting import Prompt, Shot, prompt_for
from disorder.models.prompting.choice_prompt import choice_prompt
from disorder.randomness import digest
from disorder.registry import PromptPart, parts
from disorder.requests.settings import Settings
from disorder.safe_io import one_line
from disorder.types import TEXT_NAMES, Dataset, Example, Segments
from disorder.verbs.selected_data import wanted_columns


def prompt_files(names: Iterable[str]) -> list[str]:
    """Those of some prompts that are files, and not known by name."""
    known = parts(PromptPart)
    return [name for name in names if name not in known]


def check_prompts(
    folder: object, names: Iterable[str], given: Sequence[str], again: Callable[..., str]
) -> None:
    """Raise where a folder names the file of a prompt, which a model would be sent, and the user
    does not; `again` is what to type with it.
    """
    for name in prompt_files(names):
        if name not in given:
            raise DisorderError(
                f"{folder} names the prompt {one_line(name)}; no file is read because a folder "
                f"says so. If you trust it, repeat it: {again(prompt=[one_line(name)])}"
            )


def bound_prompt(model: Any, dataset: Dataset, settings: Settings) -> Prompt | None:
    """The prompt for the data of a run; None for a model that takes none."""
    if dataset.task.is_likelihood or dataset.task.kind == "pair" or not is_prompted(model):
        if settings.prompt_options:
            given = ", ".join(settings.prompt_options)
            raise DisorderError(
                f"{given}: this model takes no prompt; prompts are for language models (causal:…)"
            )
        return None
    return prompt_of(dataset, settings)


def prompt_of(dataset: Dataset, settings: Settings) -> Prompt:
    """The prompt that these settings mean for some data."""
    if dataset.task.kind == "choice":
        return choice_prompt(
            dataset.task,
            by=settings.choose_by,
            name=settings.prompt[0] if settings.prompt else None,
            shots=[(example.segments, example.label) for example in _shots(dataset, settings)],
            option_orders=settings.option_orders,
            calibrate=settings.calibrate,
            chat=settings.chat,
            columns=tuple(dataset.examples[0].segments),
        )
    prompt = prompt_for(
        dataset.task,
        is_pair=dataset.examples[0].is_pair,
        name=settings.prompt[0] if settings.prompt else None,
        label_words=settings.label_words,
        shots=[
            Shot(example.texts, example.label, _more(example))
            for example in _shots(dataset, settings)
        ],
        option_orders=settings.option_orders,
        calibrate=settings.calibrate,
        chat=settings.chat,
        seed=settings.seed,
        columns=tuple(dataset.examples[0].segments),
    )
    _check_range(prompt, dataset)
    return prompt


def _more(example: Example) -> Segments:
    """The segments of an example beside one text or a pair."""
    return {name: each for name, each in example.segments.items() if name not in TEXT_NAMES}


def _check_range(prompt: Prompt, dataset: Dataset) -> None:
    """Raise where gold numbers lie outside of what the options can say."""
    if not prompt.numbers:
        return
    low = min(prompt.numbers)
    high = max(prompt.numbers)
    for example in dataset.examples:
        if not low <= float(example.label) <= high:
            raise DisorderError(
                f"{dataset.name}: the label {example.label} is outside of the options {low:g} to "
                f"{high:g}; give options with {option('label_words', '0=0,50=50,100=100')}"
            )


def _shots(dataset: Dataset, settings: Settings) -> list[Example]:
    """Examples of other rows, as many of each label as can be, drawn and ordered by seed."""
    if not settings.shots:
        return []
    source = settings.shots_from or _training_split(dataset, settings)
    seed = settings.seed
    by_label: dict[str, list[Example]] = {}
    for example in _others(source, dataset, settings):
        by_label.setdefault(_shot_class(example, dataset), []).append(example)
    for found in by_label.values():
        found.sort(key=lambda example: digest(seed, "shots", example.id))
    labels = sorted(by_label, key=lambda label: digest(seed, "shot labels", label))
    in_turn = [
        by_label[label][i]
        for i in range(settings.shots)
        for label in labels
        if i < len(by_label[label])
    ]
    chosen = in_turn[: settings.shots]
    if len(chosen) < settings.shots:
        raise DisorderError(
            f"{option('shots', settings.shots)}: {source} has only {len(chosen)} examples that "
            "are not "
            "audited"
        )
    chosen.sort(key=lambda example: digest(seed, "shot order", example.id))
    return chosen


def _training_split(dataset: Dataset, settings: Settings) -> str:
    """The training split that belongs to named data; a file says nothing of its own."""
    is_named = ":" in dataset.name or dataset.name == "builtin"
    found = train_spec(dataset.name, settings.data_dir) if is_named else None
    if found is None:
        raise DisorderError(
            f"{option('shots')}: {dataset.name} has no training split here; say where the "
            "examples come from "
            f"with {option('shots_from', 'DATA')} (rows that are audited are left out)"
        )
    return found


def _others(source: str, dataset: Dataset, settings: Settings) -> Iterator[Example]:
    """The examples of a source that share no text with an audited row."""
    audited = {text for example in dataset.examples for text in example.texts}
    audited.discard(None)
    is_pair = dataset.examples[0].is_pair
    # columns are named for the audited data; a file of its own form says so by the usual names
    wanted = wanted_columns(settings)
    for example in stream(source, data_dir=settings.data_dir, wanted=wanted)[2]:
        if example.is_pair != is_pair:
            kind = "pairs of texts" if is_pair else "single texts"
            raise BadData(
                f"{option('shots_from', source)}: the audited data has {kind}, and this has not"
            )
        _check_label(source, example, dataset)
        if audited.isdisjoint(example.texts):
            yield example


def _check_label(source: str, example: Example, dataset: Dataset) -> None:
    labels = dataset.task.labels
    if labels and example.label not in labels:
        raise BadData(
            f"{option('shots_from', source)}: label {example.label!r} (id {example.id}) is none of "
            f"{', '.join(labels)}"
        )


def _shot_class(example: Example, dataset: Dataset) -> str:
    """What examples are balanced by: the label, or nothing where labels are numbers."""
    return "" if dataset.task.is_regression else example.label
