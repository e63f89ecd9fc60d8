"""A task file for inspect_ai: the same prompts as ours, original and perturbed, one task each.

inspect eval DIR/tasks.py --model PROVIDER/MODEL
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disorder.models.prompting import Question
from disorder.verbs.perturb.task_rows import Row, TaskRows, write_files

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
TASK = '''

@task
def {name}() -> Task:
    """{about}."""
    return _task("{file}")
'''


def write_inspect(folder: Path, rows: TaskRows) -> str:
    """Write the folder; gives the name of the file to run."""
    tasks = [
        TASK.format(name=f"{rows.name}_{file}", about=_about(file), file=file)
        for file in rows.files
    ]
    write_files(folder, rows, _line, {"tasks.py": HEAD + "".join(tasks)})
    return "tasks.py"


def _about(file: str) -> str:
    return "The original texts" if file == "original" else f"Texts perturbed by {file}"


def _line(record: Row, question: Question) -> Row:
    turns: list[dict[str, Any]] = list(question.messages)
    return {
        "id": f"{record['id']}#{record['variant']}",
        "input": turns,
        "target": question.options[record["gold"]],
        "metadata": record,
    }
