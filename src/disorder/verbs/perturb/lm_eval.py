"""A task folder for lm-evaluation-harness: the same prompts as ours, original and perturbed, as one
group of multiple-choice tasks.

lm_eval --model hf --model_args pretrained=FOLDER --tasks GROUP --include_path DIR
"""

from __future__ import annotations

import json
from pathlib import Path

from disorder.models.prompting import Question
from disorder.verbs.perturb.task_rows import Row, TaskRows, write_files

READER = '''"""Reads the rows that lie beside this file; written by disorder."""

from pathlib import Path

from datasets import Dataset


def rows(file, **_):
    """The rows of one transformation."""
    return {"test": Dataset.from_json(str(Path(__file__).parent / f"{file}.jsonl"))}
'''
TASK = """task: {task}
custom_dataset: !function rows.rows
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{prompt}}}}"
doc_to_choice: choices
doc_to_target: gold
target_delimiter: " "
num_fewshot: 0
metric_list:
  - metric: acc
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
    tasks = "\n".join(f"  - {name}" for name in names.values())
    extra = {"rows.py": READER, f"{rows.name}.yaml": GROUP.format(group=rows.name, tasks=tasks)}
    extra |= {
        f"{name}.yaml": TASK.format(task=name, file=json.dumps(file))
        for file, name in names.items()
    }
    write_files(folder, rows, _line, extra)
    return rows.name


def _line(record: Row, question: Question) -> Row:
    return record | {"prompt": question.text, "choices": list(question.options)}
