"""The files of a task folder: what annotators see, apart from what they must not see.

task.json, items.jsonl and instructions.md are shown; key.jsonl is read by `score` alone;
annotators.json holds the personal links; answers.sqlite is created with the first answer.

What annotators are told is a question and a page of Markdown, of which the folder has its own copy,
meant to be edited.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field

from disorder.errors import BadData
from disorder.randomness import generator
from disorder.safe_io import parse_json, read_file, read_json, validated
from disorder.store.storage import make_folder, remove_files, write_atomically
from disorder.types import Task

SCHEMA_VERSION = 1
VALID = "valid"
INVALID = "invalid"
TASK = "task.json"
ITEMS = "items.jsonl"
KEY = "key.jsonl"
INSTRUCTIONS = "instructions.md"
ANNOTATORS = "annotators.json"
ANSWERS = "answers.sqlite"
MAX_LINES = 1024**3  # bytes of items or their key
FILES = (ITEMS, KEY, INSTRUCTIONS, ANNOTATORS, TASK)  # as they are written
SECRET = (KEY, ANNOTATORS)
RESERVED = ("all", "majority", "model")  # evaluators in the scores that are not annotators
MAX_NAME = 60
MIN_TOKEN = 16  # characters; a link that can be guessed is not personal

TaskKind = Literal["label", "valid"]
Entry = TypeVar("Entry", bound=BaseModel)


class HumanTask(BaseModel):
    """What annotators are asked, and where the texts come from."""

    schema_version: int = SCHEMA_VERSION
    kind: TaskKind
    question: str
    labels: list[str]
    meanings: dict[str, str] = Field(default_factory=dict)  # what labels mean, in words
    text_names: list[str]
    source: str
    model: str | None = None
    transformations: list[str] = Field(default_factory=list)
    is_accepted_only: bool = False
    seed: int
    n_items: int
    notes: list[str] = Field(default_factory=list)
    made: str


class TaskItem(BaseModel):
    """What an annotator sees, and no more."""

    item: str
    text_a: str
    text_b: str | None = None


class ItemKey(BaseModel):
    """What is known of an item and not shown to annotators."""

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
    """A person with a personal link."""

    name: str
    token: str


def read_task(folder: Path) -> HumanTask:
    """Read task.json."""
    path = folder / TASK
    missing = f"{folder} is not a task folder: it has no {TASK}; make one with disorder human make"
    raw = _read_json(path, missing)
    if not isinstance(raw, dict) or raw.get("schema_version") != SCHEMA_VERSION:
        raise BadData(f"{path}: not a task of schema version {SCHEMA_VERSION}")
    task: HumanTask = validated(HumanTask, raw, str(path))
    return task


def read_items(folder: Path) -> list[TaskItem]:
    """Read what annotators see."""
    return _read_lines(folder / ITEMS, TaskItem)


def read_key(folder: Path) -> list[ItemKey]:
    """Read what annotators must not see; nothing that serves pages may call this."""
    return _read_lines(folder / KEY, ItemKey)


def read_annotators(folder: Path) -> list[Annotator]:
    """Read who has a personal link."""
    path = folder / ANNOTATORS
    entries = _read_json(path, f"{path} is missing")
    annotators: list[Annotator] = validated(list[Annotator], entries, str(path))
    names = {annotator.name for annotator in annotators}
    tokens = {annotator.token for annotator in annotators}
    if len(names) < len(annotators) or len(tokens) < len(annotators):
        raise BadData(f"{path}: two annotators have the same name or token")
    for annotator in annotators:
        if len(annotator.token) < MIN_TOKEN or not is_annotator_name(annotator.name):
            raise BadData(
                f"{path}: {annotator.name!r} needs a name that is not taken, "
                f"and a token of {MIN_TOKEN} or more characters"
            )
    return annotators


def read_instructions(folder: Path) -> str:
    """Read what annotators are told first, as Markdown."""
    try:
        return (folder / INSTRUCTIONS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{folder / INSTRUCTIONS} cannot be read ({error})") from None


def is_annotator_name(name: str) -> bool:
    """Whether an annotator can have this name."""
    return (
        bool(name)
        and len(name) <= MAX_NAME
        and name.isprintable()
        and name.strip() == name
        and name not in RESERVED
    )


def order_for(annotator: str, items: Sequence[TaskItem], seed: int) -> list[TaskItem]:
    """The items in the order in which one annotator gets them, the same every day."""
    order = generator(seed, "human order", annotator).permutation(len(items))
    return [items[i] for i in order.tolist()]


def write_folder(
    folder: Path,
    task: HumanTask,
    items: Sequence[TaskItem],
    key: Sequence[ItemKey],
    *,
    instructions: str,
    annotators: Sequence[Annotator],
) -> None:
    """Write a task folder; only the owner can read the secret files. task.json goes first and comes
    last: stopped half-way, there is no task.
    """
    files = {
        ITEMS: _as_lines(items),
        KEY: _as_lines(key),
        INSTRUCTIONS: instructions,
        ANNOTATORS: _as_json([annotator.model_dump() for annotator in annotators]),
        TASK: _as_json(task.model_dump()),
    }
    make_folder(folder)
    remove_files(folder, [TASK])
    for name, text in files.items():
        mode = 0o600 if name in SECRET else 0o644
        write_atomically(folder / name, text.encode("utf-8"), mode=mode)


def _as_json(content: object) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _as_lines(entries: Sequence[BaseModel]) -> str:
    return "".join(json.dumps(entry.model_dump(), ensure_ascii=False) + "\n" for entry in entries)


def _read_json(path: Path, missing: str) -> Any:
    try:
        return read_json(path)
    except FileNotFoundError:
        raise BadData(missing) from None


def _read_lines(path: Path, kind: type[Entry]) -> list[Entry]:
    try:
        text = read_file(path, max_bytes=MAX_LINES).decode("utf-8")
    except FileNotFoundError:
        raise BadData(f"{path} is missing") from None
    except UnicodeDecodeError as error:
        raise BadData(f"{path} cannot be read ({error})") from None
    return [
        validated(kind, parse_json(line, f"{path}, line {number}"), f"{path}, line {number}")
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


NLI = ("entailment", "neutral", "contradiction")
MEANINGS = {
    "entailment": "if the premise is true, the hypothesis must be true too",
    "neutral": "the hypothesis may be true or false; the premise does not decide it",
    "contradiction": "if the premise is true, the hypothesis cannot be",
    "not_entailment": "the first text does not show that the second is true",
    "positive": "the writer likes what the text is about",
    "negative": "the writer does not like what the text is about",
    "acceptable": "a native speaker could say this sentence",
    "unacceptable": "no native speaker would say it this way",
    "equivalent": "both texts have the same meaning",
    "not_equivalent": "the texts differ in meaning",
    "duplicate": "both questions ask for the same thing",
    "not_duplicate": "the questions ask for different things",
    "answerable": "the passage answers the question",
    "unanswerable": "the passage does not answer the question",
}
VALIDITY = """\
# Is this a sentence?

You will see {n} texts, one at a time. For each text choose one answer:

- **valid**: it can be understood, even if it is clumsy, short, or not quite grammatical;
- **invalid**: it cannot be understood.

Judge only the text. Do not look anything up, and do not discuss the texts with others.
"""
LABELLING = """\
# {question}

You will see {n} {things}, one at a time. Some may be hard or impossible to understand: read
them as well as you can, try to make sense of the words, and always choose the answer that fits
best.

{labels}

Judge only the text. Do not look anything up, and do not discuss the texts with others.
"""


def question_for(kind: TaskKind, task: Task, *, is_pair: bool) -> str:
    """The question shown above every item."""
    if kind == "valid":
        return "Is this a sentence?"
    if set(task.labels) == set(NLI):
        return "What does the premise say about the hypothesis?"
    return "Which label fits the two texts?" if is_pair else "Which label fits this text?"


def instructions_for(task: HumanTask) -> str:
    """The page that annotators see first, as Markdown."""
    if task.kind == "valid":
        return VALIDITY.format(n=task.n_items)
    lines = []
    for label in task.labels:
        known = task.meanings.get(label) or MEANINGS.get(label)
        meaning = f": {known}" if known else ""
        lines.append(f"- **{label}**{meaning}")
    things = "pairs of texts" if len(task.text_names) > 1 else "texts"
    return LABELLING.format(
        question=task.question, n=task.n_items, things=things, labels="\n".join(lines)
    )
