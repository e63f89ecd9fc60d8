"""Training data: the examples to train on, and the dev examples that choose the best epoch."""

from __future__ import annotations

from dataclasses import replace

from disorder.errors import BadData, option
from disorder.randomness import digest
from disorder.types import Dataset, Example
from disorder.verbs.selected_data import selected_data
from disorder.verbs.train.recipe_plan import Job
from disorder.verbs.train.request import CheckedRequest
from disorder.verbs.train.span_learning import locate_answers
from disorder.verbs.train.trainable import has_labels

# without --dev: one example in ten, 2,000 at most
HELD_OUT = 10
MOST_HELD_OUT = 2000


def build_job(checked: CheckedRequest, data: Dataset | None = None) -> Job:
    """What the recipe of a request is given; `data` is its training data, where that has been read
    already.
    """
    request = checked.request
    train, dev = _train_and_dev(checked, data)
    finds_spans = _finds_spans(checked, train)
    if finds_spans:
        if any(example.answers is None for example in dev.examples):
            raise BadData(f"{option('dev', request.dev)} has no answers, so it cannot score them")
        train = locate_answers(train, drops=True)
        dev = locate_answers(dev, drops=False)
    is_fine_tuned = has_labels(checked.start, train.task.labels)
    return Job(
        train,
        dev,
        seed=request.seed,
        on=checked.on,
        is_fine_tuned=is_fine_tuned,
        asks=request.asks or (request.model if is_fine_tuned else None),
        data_dir=request.data_dir,
        finds_spans=finds_spans,
        keeps_unperturbed=checked.settings.loop.unperturbed == "keep",
    )


def _train_and_dev(checked: CheckedRequest, data: Dataset | None) -> tuple[Dataset, Dataset]:
    request = checked.request
    reading = replace(request.reading, seed=request.seed)
    given = request.data if data is None else data
    train = selected_data(given, replace(reading, limit=request.limit))
    if request.dev is None:
        rest, dev = held_out(train, request.seed)
        return (train if checked.trains_on_dev else rest), dev
    dev = selected_data(request.dev, reading)
    is_other = dev.task.is_regression != train.task.is_regression
    if is_other or set(dev.task.labels) - set(train.task.labels):
        theirs = ", ".join(dev.task.labels) or "numbers"
        raise BadData(
            f"{option('dev', request.dev)} has other labels ({theirs}) than the training data"
        )
    return train, replace(dev, task=train.task)


def held_out(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training and dev data where no dev data was named: one example in ten is held out, drawn by
    seed.
    """
    if len(data.examples) < 2:
        raise BadData(f"{data.name}: {len(data.examples)} example is too little to train on")
    drawn = sorted(data.examples, key=lambda example: digest(seed, "dev", example.id))
    n = min(MOST_HELD_OUT, max(1, len(drawn) // HELD_OUT))
    dev_ids = {example.id for example in drawn[:n]}
    train: list[Example] = []
    dev: list[Example] = []
    for example in data.examples:
        (dev if example.id in dev_ids else train).append(example)
    return replace(data, examples=train), replace(data, examples=dev)


def _finds_spans(checked: CheckedRequest, data: Dataset) -> bool:
    """Whether answers are trained: where all of them and their places are given, or where the user
    asks for it.
    """
    head = checked.settings.loop.head
    if head == "labels" or not checked.can_find_spans:
        return False
    answers = [example.answers for example in data.examples]
    has_answers = None not in answers and any(answers)
    if head == "spans" and not has_answers:
        raise BadData(
            f"{data.name}: head=spans needs answers to learn from: columns answer and "
            "answer_start, or answers"
        )
    has_places = all(start >= 0 for each in answers for _, start in each or ())
    return head == "spans" or (has_answers and has_places)
