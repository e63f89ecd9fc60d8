"""Tasks for other tools: the same prompts as ours, original and perturbed, one file each, as
multiple-choice tasks of lm-evaluation-harness or as tasks of inspect_ai.

lm_eval --model hf --model_args pretrained=FOLDER --tasks GROUP --include_path DIR
inspect eval DIR/tasks.py --model PROVIDER/MODEL

A record is one variant, with its positions and how disordered it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.models.inputs.variants import are_texts, variant_segments
from disorder.models.prompting import Prompt, Question
from disorder.store.storage import LOCK, write_atomically
from disorder.store.store import Store
from disorder.transformations.positions.disorder import variant_disorder
from disorder.transformations.rendering import moved_span, variant_texts
from disorder.types import ORIGINAL, TEXT_NAMES, Example, Segments, Variants


def records_of(example: Example, spec: str, variants: Variants) -> Iterator[dict[str, Any]]:
    """A record for each variant of an example."""
    found = zip(_written(example, variants), variants.positions(), strict=True)
    measured = variant_disorder(variants)
    for k, (segments, (positions_a, positions_b)) in enumerate(found):
        yield {
            "id": example.id,
            "transformation": spec,
            "variant": k,
            **segments,
            "label": example.label,
            "positions_a": positions_a,
            "positions_b": positions_b,
            **{name: _rounded(values[k]) for name, values in measured.items()},
            **_moved_answers(example, variants, k),
        }


def _written(example: Example, variants: Variants) -> Iterator[dict[str, Any]]:
    """What each variant says: its texts, or all of its segments by their names."""
    if are_texts(example.segments):
        for texts in variant_texts(variants):
            yield dict(zip(TEXT_NAMES, texts, strict=True))
        return
    for segments in variant_segments(variants):
        yield {k: each if isinstance(each, str) else list(each) for k, each in segments.items()}


def _moved_answers(example: Example, variants: Variants, k: int) -> dict[str, Any]:
    """The gold answers of a question where they stand now; None where one was torn apart.

    Where the data does not say at which place of the passage an answer stands, it is the first
    that was not torn apart.
    """
    if example.answers is None or variants.b is None:
        return {}
    rows = variants.b
    answers = []
    for text, start in example.answers:
        starts = [start] if start >= 0 else _places(text, example.text("b"))
        moved = (moved_span(rows, k, place, place + len(text)) for place in starts)
        now = next((place for place in moved if place is not None), None)
        answers.append({"text": text, "answer_start": now})
    return {"answers": answers}


def _places(answer: str, passage: str) -> list[int]:
    """Every place of a passage at which an answer stands."""
    return [found.start() for found in re.finditer(re.escape(answer), passage)]


def _rounded(value: float) -> float | None:
    """A measure as it is written; None where there is none."""
    return None if isnan(value) else round(float(value), 6)


Row = dict[str, Any]


@dataclass(frozen=True)
class TaskRows:
    """The questions of an export, file by file: originals first, then one per transformation."""

    name: str
    prompt: Prompt | None  # None for pairs of a better and a worse text
    originals: list[Example]
    records: list[Row]

    @property
    def files(self) -> dict[str, list[tuple[Row, Question]]]:
        """What stands in each file: what is known of a text, and the question about it."""
        found = {ORIGINAL: [self._asked(_original(each), each.segments) for each in self.originals]}
        names = tuple(self.originals[0].segments)
        for record in self.records:
            file = file_name(record["transformation"])
            segments = {
                name: tuple(record[name]) if isinstance(record[name], list) else record[name]
                for name in names
            }
            found.setdefault(file, []).append(self._asked(record, segments))
        return found

    def _asked(self, record: Row, segments: Segments) -> tuple[Row, Question]:
        question = self._question(segments)
        keys = ("id", "transformation", "variant", "label")
        labels = ("good", "bad") if self.prompt is None else self.prompt.labels
        gold = {"gold": labels.index(record["label"])}
        return {key: record[key] for key in keys} | gold, question

    def _question(self, segments: Segments) -> Question:
        """What is asked; of a pair nothing is, and its two texts are scored by themselves."""
        if self.prompt is None:
            return Question("", (), "", tuple(str(each) for each in segments.values()))
        [question] = self.prompt.questions_about([segments])
        return question


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


READER = '''"""Reads the rows that lie beside this file; written by disorder."""

from pathlib import Path

from datasets import Dataset


def rows(file, **_):
    """The rows of one transformation."""
    return {"test": Dataset.from_json(str(Path(__file__).parent / f"{file}.jsonl"))}
'''
LM_EVAL_TASK = """task: {task}
custom_dataset: !function rows.rows
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{prompt}}}}"
doc_to_choice: choices
doc_to_target: gold
target_delimiter: "{delimiter}"
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
  - metric: acc_norm
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
  file: {file}
"""
GROUP = """group: {group}
task:
{tasks}
metadata:
  version: 1.0
"""


def write_lm_eval(folder: Path, rows: TaskRows) -> str:
    """Write the folder; gives the name of the group."""
    names = {file: f"{rows.name}_{file}" for file in rows.files}
    delimiter = "" if rows.prompt is None else " "
    tasks = "\n".join(f"  - {name}" for name in names.values())
    extra = {"rows.py": READER, f"{rows.name}.yaml": GROUP.format(group=rows.name, tasks=tasks)}
    extra |= {
        f"{name}.yaml": LM_EVAL_TASK.format(task=name, file=json.dumps(file), delimiter=delimiter)
        for file, name in names.items()
    }
    write_files(folder, rows, _lm_eval_line, extra)
    return rows.name


def _lm_eval_line(record: Row, question: Question) -> Row:
    return record | {"prompt": question.text, "choices": list(question.options)}


HEAD = '''"""Original and perturbed texts as tasks of inspect_ai; written by disorder.

The answer is right when it is the word of the gold label, whatever its case and punctuation.
"""

import re
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
from inspect_ai.solver import generate


def is_right(answer: str, gold: str) -> bool:
    """Whether an answer is the gold word and nothing else."""
    said, wanted = (re.findall(r"\\w+", text.casefold()) for text in (answer, gold))
    return said == wanted


@scorer(metrics=[accuracy(), stderr()])
def gold_word():
    """The answer is the word of the gold label."""

    async def score(state, target):
        answer = state.output.completion
        value = CORRECT if is_right(answer, target.text) else INCORRECT
        return Score(value=value, answer=answer)

    return score


def _task(name: str) -> Task:
    return Task(
        dataset=json_dataset(str(Path(__file__).parent / f"{name}.jsonl"), name=name),
        solver=generate(),
        scorer=gold_word(),
    )
'''
INSPECT_TASK = '''

@task
def {name}() -> Task:
    """{about}."""
    return _task("{file}")
'''


def write_inspect(folder: Path, rows: TaskRows) -> str:
    """Write the folder; gives the name of the file to run."""
    tasks = [
        INSPECT_TASK.format(name=f"{rows.name}_{file}", about=_about(file), file=file)
        for file in rows.files
    ]
    write_files(folder, rows, _inspect_line, {"tasks.py": HEAD + "".join(tasks)})
    return "tasks.py"


def _about(file: str) -> str:
    return "The original texts" if file == "original" else f"Texts perturbed by {file}"


def _inspect_line(record: Row, question: Question) -> Row:
    turns: list[dict[str, Any]] = list(question.messages)
    return {
        "id": f"{record['id']}#{record['variant']}",
        "input": turns,
        "target": question.options[record["gold"]],
        "metadata": record,
    }
