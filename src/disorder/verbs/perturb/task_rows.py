"""The rows of an exported task: each text inside its prompt, with the options and the gold one.

One file for the original texts and one per transformation, in the order of the data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.models.prompting import Prompt, Question
from disorder.store.storage import LOCK, write_atomically
from disorder.store.store import Store
from disorder.types import ORIGINAL, Example, Texts

Row = dict[str, Any]


@dataclass(frozen=True)
class TaskRows:
    """The questions of an export, file by file: originals first, then one per transformation."""

    name: str
    prompt: Prompt
    originals: list[Example]
    records: list[Row]

    @property
    def files(self) -> dict[str, list[tuple[Row, Question]]]:
        """What stands in each file: what is known of a text, and the question about it."""
        found = {
            ORIGINAL: [self._asked(_original(example), example.texts) for example in self.originals]
        }
        for record in self.records:
            file = file_name(record["transformation"])
            texts = (record["text_a"], record["text_b"])
            found.setdefault(file, []).append(self._asked(record, texts))
        return found

    def _asked(self, record: Row, texts: Texts) -> tuple[Row, Question]:
        [question] = self.prompt.questions([texts])
        keys = ("id", "transformation", "variant", "label")
        gold = {"gold": self.prompt.labels.index(record["label"])}
        return {key: record[key] for key in keys} | gold, question


def _original(example: Example) -> Row:
    return {
        "id": example.id,
        "transformation": ORIGINAL,
        "variant": 0,
        "label": example.label,
    }


def file_name(spec: str) -> str:
    """A transformation's spec as the name of a file and of a task.

    >>> file_name("shuffle_ngrams:n=2+reverse")
    'shuffle_ngrams_n_2_reverse'
    """
    return re.sub(r"\W+", "_", spec).strip("_")


def write_files(
    folder: Path, rows: TaskRows, line: Callable[[Row, Question], Row], extra: dict[str, str]
) -> None:
    """Write one JSONL file per transformation, and other files of text."""
    with Store.open(folder):
        if any(path.name != LOCK for path in folder.iterdir()):
            raise DisorderError(f"{folder} is not empty; choose another folder for the task")
        for name, entries in rows.files.items():
            content = "".join(_lines(entries, line))
            write_atomically(folder / f"{name}.jsonl", content.encode("utf-8"))
        for name, text in extra.items():
            write_atomically(folder / name, text.encode("utf-8"))


def _lines(
    entries: list[tuple[Row, Question]], line: Callable[[Row, Question], Row]
) -> Iterator[str]:
    for record, question in entries:
        yield json.dumps(line(record, question), ensure_ascii=False) + "\n"
