"""How does a run or a dataset become a blind task? An even draw, shuffled and numbered, with the
key in a file of its own.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os.path import isdir
from pathlib import Path
from typing import Any, Literal, Unpack

from disorder.errors import BadOption, DisorderError, UnknownName, option
from disorder.randomness import generator
from disorder.requests.fields import HumanMakeFields
from disorder.requests.human import HumanMakeOptions
from disorder.requests.option import command_line
from disorder.requests.settings import takes_options
from disorder.results.result import NextStep, Result
from disorder.store.store import Store
from disorder.transformations import parse, suite
from disorder.types import ORIGINAL
from disorder.verbs.human.answer_store import AnswerStore
from disorder.verbs.human.task_drawing import draw_texts
from disorder.verbs.human.task_folder import (
    ANSWERS,
    FILES,
    INVALID,
    MAX_NAME,
    NLI,
    RESERVED,
    TASK,
    VALID,
    Annotator,
    HumanTask,
    ItemKey,
    TaskItem,
    TaskKind,
    instructions_for,
    is_annotator_name,
    question_for,
    write_folder,
)
from disorder.verbs.human.text_pool import PooledText, TextPool, pool_from_data, pool_from_run

Side = Literal["a", "b"]
# transformations that may leave a well-formed sentence
WELL_FORMED = {ORIGINAL, "swap_texts", "drop_text", "swap_nouns", "trade_classes", "empty"}


@dataclass(frozen=True)
class MadeTask:
    """A task that was made: its folder, its annotators, and how many items of each kind it has."""

    folder: Path
    task: HumanTask
    annotators: list[Annotator]
    counts: dict[str, dict[str, int]]

    @property
    def result(self) -> Result:
        """The envelope, from which the terminal is made."""
        drawn = [
            f"{name}: {', '.join(f'{value} {count:,}' for value, count in counts.items())}"
            for name, counts in self.counts.items()
        ]
        serve = NextStep(command_line("human", "serve", self.folder), "collect the answers")
        return Result(
            verb="human",
            about=f"a blind task from {self.task.source}",
            headline=f"{self.task.n_items:,} items for people to answer",
            request={},
            body=self,
            lead=drawn,
            notes=self.task.notes,
            next_steps=[serve],
        )

    def as_data(self) -> dict[str, Any]:
        """How many items of each kind there are."""
        return {"counts": self.counts}


@takes_options(HumanMakeOptions, verb="human make")
def make(source: str | Path, out: str | Path, **options: Unpack[HumanMakeOptions]) -> MadeTask:
    """Draw a blind, balanced sample from a run folder or a data spec, and write a task folder.

    source: a run folder, or a data spec.
    out: the task folder.
    """
    out = Path(out)
    source = str(source)
    asked = HumanMakeFields.of(options)
    _check_names(asked.annotators)
    with Store.open(out):
        _check_folder(out)
        is_run = isdir(source)  # Path.is_dir raises on a name that is too long
        if is_run:
            pool = pool_from_run(
                Path(source),
                asked.transformations,
                seed=asked.seed,
                is_accepted_only=asked.accepted,
            )
        else:
            pool = _pool_of_data(source, asked)
        _check_pool(pool, asked.task, source)
        is_mixed = asked.task == "valid" or not is_run
        with_originals = is_mixed if asked.whole is None else asked.whole
        drawn, notes = draw_texts(pool, asked.n, with_originals=with_originals)
        pool.check(drawn)
        is_pair = asked.task == "label" and pool.is_pair
        is_nli = set(pool.task.labels) == set(NLI)
        names = ["Premise", "Hypothesis"] if is_nli else ["First text", "Second text"]
        check_meanings(asked.labels or {}, pool.task.labels)
        about = HumanTask(
            kind=asked.task,
            question=question_for(asked.task, pool.task, is_pair=is_pair),
            labels=[VALID, INVALID] if asked.task == "valid" else list(pool.task.labels),
            meanings=dict(asked.labels or {}),
            text_names=names if is_pair else ["Text"],
            source=pool.name,
            model=pool.model,
            is_accepted_only=asked.accepted and is_run,
            seed=pool.seed,
            n_items=len(drawn),
            notes=[*notes, *unsaid(asked.task, pool.task.labels, asked.labels or {})],
            transformations=sorted({text.transformation for text in drawn} - {ORIGINAL}),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return _written(out, pool, about, drawn, asked.annotators)


def check_meanings(given: Mapping[str, str], labels: Sequence[str]) -> None:
    """Raise where a meaning is of no label."""
    for label in given:
        if label not in labels:
            raise UnknownName("label", label, labels)


def unsaid(kind: str, labels: Sequence[str], given: Mapping[str, str]) -> list[str]:
    """A note where annotators would read bare numbers."""
    bare = [label for label in labels if label.isdecimal() and label not in given]
    if kind == "valid" or not bare:
        return []
    example = ",".join(f"{label}=…" for label in bare)
    return [
        f"Annotators read the labels {', '.join(bare)} as they are; say what they mean with "
        f"{option('labels', example)}"
    ]


def _pool_of_data(source: str, asked: HumanMakeFields) -> TextPool:
    """The texts of a dataset; for validity the transformations default to those of Word Salad."""
    specs = asked.transformations
    defaults: list[str] = []
    if asked.task == "valid":
        defaults = [spec for spec in suite("salad") if not parse(spec).needs_context]
    pool = pool_from_data(
        source,
        specs or defaults,
        seed=asked.seed,
        columns=asked.columns,
        data_dir=asked.data_dir,
    )
    if not specs:
        pool.drop_copies()
    return pool


def _check_names(annotators: Sequence[str]) -> None:
    for name in annotators:
        if not is_annotator_name(name):
            need = (
                f"names of 1 to {MAX_NAME} letters with commas between, "
                f"none of them {', '.join(RESERVED)}"
            )
            raise BadOption("human make", annotators=name, need=need)
    if not annotators or len(set(annotators)) < len(annotators):
        raise BadOption(
            "human make", annotators=",".join(annotators), need="one or more names, each once"
        )


def _check_folder(out: Path) -> None:
    """Raise rather than write over answers, or over a folder that holds something else."""
    if (out / ANSWERS).exists() and AnswerStore(out).answers(with_undone=True):
        raise DisorderError(
            f"{out} holds answers; choose another {option('out')} (nothing was changed)"
        )
    others = {path.name for path in out.iterdir() if not path.name.startswith(".")} - {*FILES}
    if others and not (out / TASK).exists():
        raise DisorderError(
            f"{out} holds something else than a task; choose another {option('out')}"
        )


def _check_pool(pool: TextPool, task: TaskKind, source: str) -> None:
    """Raise where the texts do not suit the question."""
    if task == "label":
        if pool.task.is_regression:
            raise DisorderError(
                f"the labels of {source} are numbers; people can give labels only: use "
                f"{option('task', 'valid')}"
            )
        return
    for spec, _ in pool.groups:
        names = [] if spec == ORIGINAL else [step.part.name for step in parse(spec).steps]
        if names and set(names) <= WELL_FORMED:
            raise DisorderError(
                f"{spec} leaves sentences that people may rightly call valid; "
                "use another transformation"
            )


def _written(
    out: Path, pool: TextPool, task: HumanTask, drawn: Sequence[PooledText], names: Sequence[str]
) -> MadeTask:
    # in random order, by names that tell nothing about them
    order = generator(pool.seed, "human items").permutation(len(drawn)).tolist()
    width = max(3, len(str(len(drawn))))
    numbered = {f"i{number:0{width}d}": drawn[i] for number, i in enumerate(order, start=1)}
    side = _judged_side(pool)
    items = [_item(name, text, task.kind, side) for name, text in numbered.items()]
    key = [_key(name, text, task.kind) for name, text in numbered.items()]
    # not from the seed: a link that can be computed is not personal
    annotators = [Annotator(name=name, token=secrets.token_urlsafe(24)) for name in names]
    write_folder(out, task, items, key, instructions=instructions_for(task), annotators=annotators)
    return MadeTask(out, task, annotators, _counts(key))


def _judged_side(pool: TextPool) -> Side:
    """Which text of a pair is judged alone: the one that the first transformation perturbs."""
    if not pool.is_pair:
        return "a"
    perturbed = [spec for spec, _ in pool.groups if spec != ORIGINAL]
    return "a" if perturbed and pool.perturbed_sides(perturbed[0])[-1] == "a" else "b"


def _item(name: str, text: PooledText, kind: TaskKind, side: Side) -> TaskItem:
    first, second = text.texts
    if kind == "label":
        return TaskItem(item=name, text_a=first, text_b=second)
    return TaskItem(item=name, text_a=first if side == "a" or second is None else second)


def _key(name: str, text: PooledText, kind: TaskKind) -> ItemKey:
    example = text.example
    validity = VALID if text.transformation == ORIGINAL else INVALID
    return ItemKey(
        item=name,
        gold=example.label if kind == "label" else validity,
        transformation=text.transformation,
        set=text.set,
        label=example.label,
        length=text.length,
        example=example.id,
        variant=text.variant,
        original_a=example.texts[0],
        original_b=example.texts[1],
        model_answer=text.model_answer,
        model_original=text.model_original,
    )


def _counts(key: Sequence[ItemKey]) -> dict[str, dict[str, int]]:
    """How many items of each kind there are."""
    columns: dict[str, list[str]] = {
        "texts": [entry.transformation for entry in key],
        "set": [entry.set for entry in key if entry.set],
        "label": [entry.label for entry in key],
        "length": [entry.length for entry in key],
    }
    return {
        name: dict(Counter(sorted(values)).most_common())
        for name, values in columns.items()
        if values
    }
