"""What is in a task folder? What annotators see apart from what they must not, each in a file of
its own.

task.json, items.jsonl and instructions.md are shown; key.jsonl is read by `score` alone;
annotators.json holds the personal links; answers.sqlite is made when the first answer comes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from disorder.errors import BadData, DisorderError
from disorder.randomness import generator

SCHEMA_VERSION = 1
VALID, INVALID = "valid", "invalid"
WHOLE = "original"
TASK, ITEMS, KEY, INSTRUCTIONS = "task.json", "items.jsonl", "key.jsonl", "instructions.md"
ANNOTATORS, ANSWERS = "annotators.json", "answers.sqlite"
SECRET = (KEY, ANNOTATORS)
RESERVED = ("all", "majority", "model")  # evaluators in the scores that are no annotators
MAX_NAME = 60
MIN_TOKEN = 16  # letters; a link that can be guessed is no personal link

Kind = Literal["label", "valid"]
Line = TypeVar("Line", bound=BaseModel)


class HumanTask(BaseModel):
    """What is asked, of whom it is known where the texts came from."""

    schema_version: int = SCHEMA_VERSION
    kind: Kind
    question: str
    labels: list[str]
    text_names: list[str]
    source: str
    model: str | None = None
    transformations: list[str] = Field(default_factory=list)
    is_accepted_only: bool = False
    seed: int
    n_items: int
    notes: list[str] = Field(default_factory=list)
    made: str


class Item(BaseModel):
    """What an annotator sees, and no more."""

    item: str
    text_a: str
    text_b: str | None = None


class Key(BaseModel):
    """What is known of an item and shown to nobody before the end."""

    item: str
    gold: str
    transformation: str
    set: str | None = None
    label: str
    length: Literal["short", "long"]
    example: str
    variant: int | None = None
    original_a: str
    original_b: str | None = None
    model_answer: str | None = None
    model_original: str | None = None


class Annotator(BaseModel):
    """Somebody with a personal link."""

    name: str
    token: str


def read_task(folder: Path) -> HumanTask:
    """What a task folder asks."""
    path = folder / TASK
    raw = _json(
        path, f"{folder} is no task folder: it has no {TASK}; make one with disorder human make"
    )
    if not isinstance(raw, dict) or raw.get("schema_version") != SCHEMA_VERSION:
        raise BadData(f"{path}: not a task of schema version {SCHEMA_VERSION}")
    return _validated(HumanTask, raw, str(path))


def read_items(folder: Path) -> list[Item]:
    """What annotators see."""
    return _lines(folder / ITEMS, Item)


def read_key(folder: Path) -> list[Key]:
    """What annotators must not see; nothing that serves pages may call this."""
    return _lines(folder / KEY, Key)


def read_annotators(folder: Path) -> list[Annotator]:
    """Who has a personal link."""
    path = folder / ANNOTATORS
    people = [
        _validated(Annotator, entry, str(path)) for entry in _json(path, f"{path} is missing")
    ]
    names, tokens = ([getattr(person, field) for person in people] for field in ("name", "token"))
    if len(set(names)) < len(people) or len(set(tokens)) < len(people):
        raise BadData(f"{path}: two annotators have the same name or token")
    for person in people:
        if len(person.token) < MIN_TOKEN or not can_be_named(person.name):
            raise BadData(
                f"{path}: {person.name!r} needs a name that is not taken, and a token of {MIN_TOKEN} or more letters"
            )
    return people


def read_instructions(folder: Path) -> str:
    """What annotators are told first, as Markdown."""
    try:
        return (folder / INSTRUCTIONS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{folder / INSTRUCTIONS} cannot be read ({error})") from None


def can_be_named(name: str) -> bool:
    """Whether an annotator can be called so."""
    return (
        bool(name)
        and len(name) <= MAX_NAME
        and name.isprintable()
        and name.strip() == name
        and name not in RESERVED
    )


def order_for(annotator: str, items: Sequence[Item], seed: int) -> list[Item]:
    """The items in the order in which one annotator gets them: another one for each, the same on
    every day.
    """
    order = generator(seed, "human order", annotator).permutation(len(items))
    return [items[i] for i in order.tolist()]


def write_folder(
    folder: Path,
    task: HumanTask,
    items: Sequence[Item],
    key: Sequence[Key],
    *,
    instructions: str,
    annotators: Sequence[Annotator],
) -> None:
    """Write a task folder; what must stay secret can be read by its owner alone."""
    files = {
        ITEMS: _as_lines(items),
        KEY: _as_lines(key),
        INSTRUCTIONS: instructions,
        ANNOTATORS: json.dumps([a.model_dump() for a in annotators], indent=1, ensure_ascii=False)
        + "\n",
        TASK: json.dumps(task.model_dump(), indent=1, ensure_ascii=False) + "\n",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = folder / name
            path.touch(mode=0o600 if name in SECRET else 0o644)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise DisorderError(
            f"--out {folder} cannot be written ({error.strerror or error})"
        ) from None


def _as_lines(entries: Sequence[BaseModel]) -> str:
    return "".join(json.dumps(entry.model_dump(), ensure_ascii=False) + "\n" for entry in entries)


def _json(path: Path, missing: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise BadData(missing) from None
    except (OSError, ValueError) as error:
        raise BadData(f"{path} is damaged: {str(error).splitlines()[0]}") from None


def _lines(path: Path, kind: type[Line]) -> list[Line]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({error})") from None
    return [
        _validated(kind, line, f"{path}, line {i}")
        for i, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _validated(kind: type[Line], raw: Any, where: str) -> Line:
    try:
        return kind.model_validate_json(raw) if isinstance(raw, str) else kind.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise BadData(
            f"{where} is damaged: {f'{place}: ' if place else ''}{first['msg']}"
        ) from None
