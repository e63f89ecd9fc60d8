"""Logged answers as the samples of a run: originals are its examples, answers to perturbed texts
stand under their transformation, and nothing is predicted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NoReturn

import numpy as np

from disorder.data import detected_language, guess_task
from disorder.data.examples import example_of, unusable
from disorder.data.families import family_numbers, named_families
from disorder.data.reading import fingerprint
from disorder.engines import Engine
from disorder.errors import BadData, BadModel, DoesNotApply, option
from disorder.models import LoadedModel
from disorder.models.servers.replies import named_options
from disorder.registry import EnginePart, part
from disorder.requests.settings import Settings
from disorder.results.progress import Steps, shown_progress
from disorder.results.run import Run
from disorder.results.run_folder import new_run
from disorder.store.samples import sample_table
from disorder.tasks import LETTERS, TaskRow
from disorder.tasks.text import answers_of
from disorder.transformations import Transformation, parse
from disorder.transformations.rendering import shown_texts
from disorder.transformations.words import split
from disorder.types import (
    ORIGINAL,
    TEXT_NAMES,
    Dataset,
    Example,
    Floats,
    PositionRows,
    Progress,
    Task,
    Variants,
)
from disorder.types.predictions import ABSTAINS, ANSWERED, FAILED, Predictions
from disorder.verbs.audit import Audit, Block, BlockPredictor, BlockResult, Budget
from disorder.verbs.import_logs.logged import LoggedAnswer
from disorder.verbs.run_inputs import LOGGED

MOST_LABELS = 20  # different right answers, above which they are no labels
FEWEST_OF_EACH = 2  # rows of a label on average; with fewer, answers are open
SHARE_OTHER = 0.01  # of perturbed texts that may hold other words than their original
NOT_LOGGED = "not in the log"

Group = Mapping[str, Sequence[LoggedAnswer]]  # the answers about each example, by its id


def dataset_of(originals: Sequence[LoggedAnswer], name: str) -> Dataset:
    """The examples of a log: those of its original texts."""
    options = {row.options for row in originals}
    has_own = len(options) > 1 or any(len({*each}) < len(each) for each in options)
    labels = next(iter(options)) if not has_own else ()
    golds = {row.gold for row in originals} - {""}
    is_few = len(golds) <= min(MOST_LABELS, len(originals) // FEWEST_OF_EACH)
    if not has_own and not labels and is_few and _are_words(originals):
        labels = tuple(sorted(golds))
    if has_own and () in options:
        source = originals[0].source
        raise BadData(f"{source}: some of its questions have options, others have none")
    if has_own:
        longest = max(originals, key=lambda row: len(row.options))
        if len(longest.options) > len(LETTERS):
            raise BadData(
                f"{longest.source}: {longest.id} has {len(longest.options)} options; "
                f"{len(LETTERS)} are the most"
            )
        of_options = Task(name, LETTERS[: len(longest.options)], "a", kind="choice")
        return _dataset(originals, of_options)
    if labels:
        known = guess_task(name, golds, is_pair=False)
        return _dataset(originals, replace(known, labels=labels))
    of_words = Task(name, ("right", "wrong"), "a", kind="text", guess=_guess(originals))
    return _dataset(originals, of_words)


def _dataset(originals: Sequence[LoggedAnswer], task: Task) -> Dataset:
    """The examples that can be used, as they are logged: "-1" is a label, and letters that options
    begin with stay.
    """
    examples: list[Example] = []
    skipped: Counter[str] = Counter()
    for row in originals:
        asked = _asked(row, task)
        reason = unusable(asked)
        if reason:
            skipped[reason] += 1
        else:
            example = example_of(asked, row.id)
            examples.append(replace(example, label=row.gold) if task.kind == "labels" else example)
    if not examples:
        raise BadData(f"{originals[0].source}: no example can be used")
    examples.sort(key=lambda example: example.id)
    found = detected_language(examples)
    return Dataset(
        task.name,
        replace(task, language=found.code),
        examples,
        dict(sorted(skipped.items())),
        fingerprint(examples),
        [found.note] if found.note else [],
    )


def _asked(row: LoggedAnswer, task: Task) -> TaskRow:
    if task.kind == "choice":
        return TaskRow({"question": row.text, "options": row.options}, row.place)
    if task.kind == "text":
        answers = tuple(each for each in answers_of(row.gold) if each.strip())
        return TaskRow({"question": row.text, "answers": answers}, 0 if answers else None)
    return TaskRow({"text_a": row.text}, 0 if row.gold else None, on=TEXT_NAMES)


def _are_words(rows: Sequence[LoggedAnswer]) -> bool:
    """Whether every answer is right or wrong, as of labels."""
    return all(row.score in (0, 1, None) for row in rows)


def _guess(rows: Sequence[LoggedAnswer]) -> float:
    """How often the right answer to another question is that of this one."""
    counts = Counter(row.gold.casefold() for row in rows)
    n = len(rows)
    return sum(count * (count - 1) for count in counts.values()) / (n * (n - 1)) if n > 1 else 0.0


def predictions_of(rows: Sequence[LoggedAnswer], example: Example, task: Task) -> Predictions:
    """The answers of some rows about one example, as predictions of its labels."""
    found = Predictions.empty(len(rows), len(task.labels))
    for i, row in enumerate(rows):
        values, outcome = _prediction(row, example, task)
        found.values[i] = values
        found.outcomes[i] = outcome
    return found


def _prediction(row: LoggedAnswer, example: Example, task: Task) -> tuple[Floats, str]:
    n = len(task.labels)
    if row.failure:
        return np.full(n, np.nan), FAILED + row.failure
    if task.is_graded:
        assert row.score is not None
        return np.array([row.score, 1 - row.score]), ANSWERED
    options = example.options or task.labels
    if row.shares is not None:
        if row.options != options:
            raise BadData(f"{row.source}: {row.id} has other options than its original")
        return np.pad(np.array(row.shares), (0, n - len(options))), ANSWERED
    place = _place(row, options, options.index(_gold_text(example, task)))
    if place is None:
        return np.zeros(n), ABSTAINS
    return np.eye(n)[place], ANSWERED


def _gold_text(example: Example, task: Task) -> str:
    """The right option as it is written."""
    if not example.options:
        return example.label
    return example.options[task.labels.index(example.label)]


def _place(row: LoggedAnswer, options: Sequence[str], gold: int) -> int | None:
    """Which option was answered: what the log grades as right is the right one, and what it grades
    as wrong never is; None where no one option was named.
    """
    if row.score == 1:
        return gold
    named = [i for i in named_options(row.answer or "", options) if i != gold]
    return named[0] if len(named) == 1 else None


@dataclass
class LoggedBlocks(BlockPredictor):
    """Blocks whose predictions stand in logs."""

    can_predict = False

    answers: Mapping[str, Group] = field(default_factory=dict)  # by transformation

    def __call__(self, block: Block) -> BlockResult:
        """The samples of a block."""
        examples: list[Example] = []
        variants: list[Variants | None] = []
        parts: list[Predictions] = []
        skips: Counter[str] = Counter()
        for example in block.examples:
            rows = self.answers[block.transformation].get(example.id)
            if rows is None:
                skips[NOT_LOGGED] += 1
                continue
            examples.append(example)
            is_original = block.transformation == ORIGINAL
            variants.append(None if is_original else _variants(rows, example))
            parts.append(predictions_of(rows, example, self.task))
        nothing = Predictions.empty(0, len(self.task.labels))
        table = sample_table(
            block.transformation,
            self.task.labels,
            examples,
            variants,
            Predictions.joined(parts) if parts else nothing,
            counts=[len(part) for part in parts],
            texts=None if None in variants else [shown_texts(each) for each in variants if each],
        )
        return BlockResult(block.part, table, dict(skips), {}, self.model.fingerprint)

    def perturbed(self, spec: str, example: Example) -> Variants:
        """The perturbed texts of an example, as they were logged."""
        rows = self.answers[spec].get(example.id)
        if rows is None:
            raise DoesNotApply(NOT_LOGGED)
        return _variants(rows, example)


def _variants(rows: Sequence[LoggedAnswer], example: Example) -> Variants:
    written = PositionRows.of_texts(split(example.text_a), [row.text for row in rows])
    return Variants(written, None, example.label, example.segments, example.on[:1])


class NotHere:
    """A model that was called elsewhere."""

    is_costly = True
    fingerprint = ""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels

    def __call__(self, texts: object, /) -> NoReturn:
        """It is not there."""
        raise BadModel("this run was imported from a log: its model is not here to predict")


def audit_of_logs(
    groups: Mapping[str, Group], notes: Sequence[str], progress: Progress | None
) -> Audit:
    """An audit whose predictions are known: of the originals, and under each transformation."""
    originals = [each[0] for each in groups[ORIGINAL].values()]
    task, model = originals[0].task, originals[0].model
    dataset = named_families(dataset_of(originals, task))
    plan = [parse(spec) for spec in groups if spec != ORIGINAL]
    for transformation in plan:
        _check_words(transformation, groups[transformation.spec], groups[ORIGINAL])
    q = max(len(each) for spec, g in groups.items() if spec != ORIGINAL for each in g.values())
    chosen = Settings(transformations=[t.spec for t in plan], q=q, short="use", repeats=0)
    predictor = NotHere(dataset.task.labels)
    loaded = LoadedModel(predictor, f"{LOGGED}:{model}", dataset.task.labels, None)
    blocks = LoggedBlocks(lambda: loaded, dataset.task, q, chosen.seed, "use", answers=groups)
    engine: Engine = part(EnginePart, "local").function(lambda: blocks, None, None)
    return Audit(
        dataset=dataset,
        predictor=blocks,
        plan=plan,
        settings=chosen,
        run=_new_run(loaded, dataset, plan, chosen, notes),
        progress=Steps(shown_progress(progress), {ORIGINAL: 1.0, **{t.spec: q for t in plan}}),
        engine=engine,
        requested=(),
        budget=Budget.of(chosen, {}, elsewhere={}, n_sharing=1),
        families=family_numbers(dataset.examples),
    )


def _new_run(
    loaded: LoadedModel,
    dataset: Dataset,
    plan: Sequence[Transformation],
    chosen: Settings,
    notes: Sequence[str],
) -> Run:
    outside = ("seed", "transformations")  # stand at the top of run.json
    settings = {key: value for key, value in asdict(chosen).items() if key not in outside}
    specs = [each.spec for each in plan]
    data = f"{LOGGED}:{dataset.name}"
    run = new_run(loaded.name, data, dataset, specs, settings, chosen.seed)
    run.variants = dict.fromkeys(specs, chosen.n_variants)
    run.breaks_order = [each.spec for each in plan if each.keeps_words]
    run.hashes = {"data": dataset.fingerprint, "model": loaded.fingerprint}
    run.notes = [*dataset.notes, *notes]
    return run


def _check_words(transformation: Transformation, found: Group, originals: Group) -> None:
    """Raise where texts whose words should be those of their originals are others: rows that were
    paired by the wrong ids, or a transformation by the wrong name.
    """
    if not transformation.keeps_words:
        return
    pairs = [(row, originals[name][0]) for name, rows in found.items() for row in rows]
    other = [row for row, original in pairs if _words(row.text) != _words(original.text)]
    if len(other) > SHARE_OTHER * len(pairs):
        raise BadData(
            f"{other[0].source}: {len(other):,} of {len(pairs):,} texts do not hold the words of "
            f"their originals (the first is {other[0].id}), which {transformation.spec} keeps; "
            f"name the column that pairs them ({option('id', 'COLUMN')}), or another transformation"
        )


def _words(text: str) -> list[str]:
    return sorted(re.findall(r"\w+", text.casefold()))
