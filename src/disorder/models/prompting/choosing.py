"""The choice of a prompt: by name, from a file, or by the labels of the task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from disorder.errors import BadSetting, DisorderError, UnknownName, option
from disorder.models.prompting.prompt import AnswerPrompt, Prompt, Shot
from disorder.models.prompting.template import PromptTemplate, variables_of
from disorder.randomness import generator
from disorder.registry import PromptPart, parts
from disorder.types import Task

ANY_LABELS = "labelled"


def prompt_for(
    task: Task,
    *,
    is_pair: bool | None = None,
    name: str | None = None,
    label_words: Mapping[str, str] | None = None,
    shots: Sequence[Shot] = (),
    option_orders: int = 1,
    calibrate: str | None = None,
    chat: str = "auto",
    seed: int = 0,
    columns: Sequence[str] = (),
) -> Prompt:
    """The prompt for a task: a registered one or a file, with its options and examples.

    `is_pair` says whether there are two texts; without it the task's own prompt decides. `columns`
    are the segments of the data, which a template can use by their names.
    """
    if task.kind == "choice":
        from disorder.models.prompting.choice_prompt import choice_prompt

        return choice_prompt(task, name=name, chat=chat, columns=columns)
    usual = usual_prompt(task, is_pair)
    if is_pair is None:
        is_pair = usual.texts == 2 or task.breaks == "b"
    chosen = _named(name, usual)
    template = PromptTemplate(name or usual.name, _source(name, chosen), tuple(columns))
    if is_pair and not template.uses_second:
        raise DisorderError(
            f"prompt {template.name}: the data has pairs of texts, and the template never uses "
            "text_b"
        )
    words = _words(task, chosen or usual, label_words or {}, is_own=chosen is None)
    numbers = tuple(float(label) for label in words) if task.is_regression else ()
    return (AnswerPrompt if task.kind == "text" else Prompt)(
        template,
        task.labels,
        tuple(words.values()),
        is_pair,
        numbers,
        tuple(shots),
        _orders(len(words), option_orders, seed, is_numbers=bool(numbers)),
        calibrate is not None,
        chat,
    )


def template_of(name: str, columns: Sequence[str] = ()) -> PromptTemplate:
    """The template of a registered prompt, or in a file."""
    return PromptTemplate(name, _source(name, _named(name, None)), tuple(columns))


def template_variables(name: str) -> set[str]:
    """What a prompt fills in; nothing where it cannot be read, which is said when it is used."""
    try:
        return variables_of(_source(name, _named(name, None)))
    except DisorderError:
        return set()


def usual_prompt(task: Task, is_pair: bool | None) -> PromptPart:
    """The registered prompt of the task itself, else the one whose labels are those of the task,
    else the one for any labels.
    """
    on = "text" if task.kind == "text" else "numbers" if task.is_regression else "labels"
    n_texts = (1, 2) if is_pair is None else (2 if is_pair else 1,)
    known = parts(PromptPart)
    its_own_first = sorted(known.values(), key=lambda entry: entry.of != task.name)
    for entry in its_own_first:
        is_of_kind = entry.on == on and entry.texts in n_texts and entry.of in ("", task.name)
        if is_of_kind and on == "text":
            return entry
        if is_of_kind and entry.words and set(task.labels) <= set(entry.words):
            return entry
    if task.is_regression:
        raise DisorderError(
            f"no prompt for numbers fits {task.name}; write one and name its file with "
            f"{option('prompt')}"
        )
    return known[ANY_LABELS]


def _named(name: str | None, usual: PromptPart | None) -> PromptPart | None:
    """The registered prompt that a name stands for; None for a file."""
    if name is None:
        return usual
    known = parts(PromptPart)
    if name in known:
        return known[name]
    if not Path(name).is_file():
        raise UnknownName("prompt (nor is there a file of this name)", name, known)
    return None


def _source(name: str | None, chosen: PromptPart | None) -> str:
    """The template."""
    if chosen is not None:
        return str(chosen.function())
    try:
        return Path(str(name)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DisorderError(f"prompt {name} cannot be read ({error})") from None


def _words(
    task: Task, entry: PromptPart, given: Mapping[str, str], *, is_own: bool
) -> dict[str, str]:
    """The word for each label, or for each number that may be answered.

    A template of the user's own names the labels as they are.
    """
    usual = dict(entry.words)
    if task.is_regression:
        words = _number_words(given) if given else usual
    else:
        for label in given:
            if label not in task.labels:
                raise UnknownName(f"label in {option('label_words')}", label, task.labels)
        plain = {label: label.replace("_", " ") for label in task.labels}
        words = plain if is_own else plain | {k: v for k, v in usual.items() if k in plain}
        words |= given
    _check_distinct(words)
    return words


def _number_words(given: Mapping[str, str]) -> dict[str, str]:
    for label in given:
        try:
            float(label)
        except ValueError:
            raise BadSetting(
                option("label_words"),
                number=label,
                need="numbers, since the data's labels are numbers",
            ) from None
    return dict(given)


def _check_distinct(words: Mapping[str, str]) -> None:
    """Raise where one word stands for two labels: they could not be told apart."""
    seen: dict[str, str] = {}
    for label, word in words.items():
        other = seen.setdefault(word.strip().lower(), label)
        if other != label:
            raise DisorderError(
                f"{other} and {label} have the same word {word!r}; tell them apart with "
                f"{option('label_words')} {other}=…,{label}=…"
            )


def _orders(n: int, count: int, seed: int, *, is_numbers: bool) -> tuple[tuple[int, ...], ...]:
    """Distinct orders of the options: first the rotations, which put each option in each place
    equally often, then others drawn by seed.
    """
    if count < 1 or count > math.factorial(n):
        raise BadSetting(option("option_orders"), orders=count, need=f"1 to {math.factorial(n)}")
    if is_numbers and count > 1:
        raise BadSetting(
            option("option_orders"), orders=count, need="1, since numbers have an order"
        )
    found = {tuple((i + shift) % n for i in range(n)): None for shift in range(min(count, n))}
    rng = generator(seed, "option orders")
    while len(found) < count:
        found.setdefault(tuple(rng.permutation(n).tolist()))
    return tuple(found)
