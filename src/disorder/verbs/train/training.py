"""From a command to a trained folder: settings checked first, then data, then the model, then the
loop, then the card.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadData, BadSetting, DisorderError
from disorder.metrics import ORIGINAL, scores
from disorder.models.outputs.probabilities import softmax
from disorder.randomness import digest
from disorder.registry import RecipePart, SplitterPart, part
from disorder.runs.settings import Settings
from disorder.transformations import parse
from disorder.types import Dataset, Example, Outcomes, Progress, Score, Task, Texts
from disorder.verbs.selected_data import selected_data
from disorder.verbs.train.calibrating import write_calibration
from disorder.verbs.train.checkpoint import Checkpoints
from disorder.verbs.train.devices import OneDevice, devices, is_first_process
from disorder.verbs.train.folder import Record, read_record, versions, write_card, write_record
from disorder.verbs.train.learner import SPANS, Start, answers_already, make, start
from disorder.verbs.train.loop import Loop, answers, fresh_draws, metric_of
from disorder.verbs.train.recipe_plan import Inputs, Job, Phase
from disorder.verbs.train.span_learning import located
from disorder.verbs.train.training_settings import Chosen, choose
from disorder.verbs.train.word_vectors import check_source

HELD_OUT, MOST_HELD_OUT = 10, 2000  # without --dev: one example in ten, 2,000 at most
CHECKPOINTS = "checkpoints"
FROM_PYTHON = "rows given from Python"


@dataclass(frozen=True)
class Trained:
    """A finished training: the folder, how to name it as a model, and its score on the dev data."""

    folder: Path
    spec: str
    metric: str
    score: Score
    record: Record


@dataclass(frozen=True)
class Request:
    """All that was asked for; the same words in Python, on the command line and in training.json."""

    recipe: str = "plain"
    data: Any = "builtin:nli:train"
    model: str = "bilstm"
    dev: Any = None
    on: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    seed: int = 0
    device: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    task: str | None = None
    data_dir: str | None = None
    asks: str | None = None


@dataclass(frozen=True)
class Checked:
    """A request whose every word makes sense, before anything is read."""

    request: Request
    recipe: RecipePart
    start: Start
    chosen: Chosen
    on: Sequence[str]


def train(
    recipe: str = "plain",
    data: Any = "builtin:nli:train",
    *,
    out: str | Path,
    progress: Progress | None = None,
    **asked: Any,
) -> Trained:
    """Train a model on `data` by a recipe and leave it in the folder `out`.

    `model` is the name of a network (`bilstm`, …), `bow`, or `hf:NAME_OR_FOLDER`; `on` names
    transformations to train on instead of the original texts; `settings` are those of the recipe, the
    loop and the network (`disorder list recipes`).
    """
    request = Request(recipe, data, **asked)
    checked = check(request)
    folder = Path(out)
    if is_first_process() and (folder / "training.json").exists():
        raise DisorderError(
            f"{folder} holds a training already; choose another --out, or resume --resume {folder}"
        )
    return carry_out(checked, folder, progress, is_resumed=False)


def resume(out: str | Path, *, progress: Progress | None = None) -> Trained:
    """Resume a training that was stopped; on a CPU the weights are, bit for bit, those of a
    training in one go.
    """
    record = read_record(Path(out))
    if record["status"] == "done":
        raise DisorderError(f"{out}: this training is done; its model is {record['spec']}")
    if FROM_PYTHON in _sources(Request(**record["request"])).values():
        raise DisorderError(
            f"{out}: its data was {FROM_PYTHON} and is not kept; only a training on a data spec can go on"
        )
    return carry_out(check(Request(**record["request"])), Path(out), progress, is_resumed=True)


def check(request: Request) -> Checked:
    """Raise on anything that cannot work, before any data is read or model loaded."""
    recipe, begin = part(RecipePart, request.recipe), start(request.model)
    chosen = choose(request.settings, recipe, None if begin.address else begin.network)
    if request.limit is not None and request.limit < 1:
        raise DisorderError(f"--limit {request.limit}: need 1 or more")
    if chosen.loop.head == "spans" and not _can_find_spans(recipe, begin):
        raise BadSetting(
            "train",
            head="spans",
            need="--model hf:ENCODER and a recipe for the task itself, as plain is",
        )
    check_source(chosen.words.vectors)
    part(SplitterPart, chosen.words.words)
    on = [
        spec if spec == ORIGINAL else parse(spec).tried().spec for spec in request.on or (ORIGINAL,)
    ]
    return Checked(request, recipe, begin, chosen, on)


def carry_out(
    checked: Checked,
    folder: Path,
    progress: Progress | None,
    *,
    is_resumed: bool,
    data: Dataset | None = None,
) -> Trained:
    """Train what was asked, or what is left of it; `data` is what the request names, where it has
    been read already.
    """
    request, began = checked.request, time.perf_counter()
    job = job_of(checked, data)
    place = devices(request.device, checked.chosen.loop.precision)
    before = read_record(folder) if is_resumed else None
    record = new_record(checked, job)
    if before is not None and before["hashes"] != record["hashes"]:
        raise BadData(f"{folder}: the data has changed since this training began; it cannot go on")
    phases = checked.recipe.function(
        job, **checked.chosen.recipe
    )  # it may say no: nothing is written before
    if place.rank == 0:
        write_record(folder, record)
    loop = _loop(checked, phases, folder, place, progress or _silent)
    loop.run(phases, is_resumed=is_resumed)
    score = final_score(loop, phases[-1])
    if place.rank == 0:
        _finish(record, loop, job, score, folder, time.perf_counter() - began)
        loop.checkpoints.clear()
    place.wait()
    return Trained(folder, f"{loop.learner.form}:{folder}", score[0], score[1], record)


def _loop(
    checked: Checked, phases: Sequence[Phase], folder: Path, place: OneDevice, progress: Progress
) -> Loop:
    texts, first, seed = words_from(phases[-1].train), phases[0], checked.request.seed
    with fresh_draws():
        learner = make(
            checked.start,
            checked.chosen,
            texts,
            first.labels,
            is_pair=first.train.is_pair,
            seed=seed,
        )
    return Loop(
        learner, checked.chosen.loop, place, seed, Checkpoints(folder / CHECKPOINTS), progress
    )


def words_from(inputs: Inputs) -> list[Texts]:
    """The texts whose words a network from scratch knows: original ones, where there are any.

    Broken copies would count each word again, so that none were rare and the vector of unknown
    words were never learned.
    """
    whole = [
        text
        for text, is_perturbed in zip(inputs.texts, inputs.is_perturbed, strict=True)
        if not is_perturbed
    ]
    return whole or list(inputs.texts)


def job_of(checked: Checked, read: Dataset | None = None) -> Job:
    """The data of a request, training and dev."""
    request = checked.request
    settings = Settings(
        columns=request.columns, task=request.task, data_dir=request.data_dir, seed=request.seed
    )
    data = selected_data(
        request.data if read is None else read, replace(settings, limit=request.limit)
    )
    if request.dev is not None:
        dev = selected_data(request.dev, settings)
        if (
            set(dev.task.labels) - set(data.task.labels)
            or dev.task.is_regression != data.task.is_regression
        ):
            theirs = ", ".join(dev.task.labels) or "numbers"
            raise BadData(f"--dev {request.dev} has other labels ({theirs}) than the training data")
        dev = replace(dev, task=data.task)
    else:
        data, dev = held_out(data, request.seed)
    finds_spans = _finds_spans(checked, data)
    if finds_spans:
        if any(example.answers is None for example in dev.examples):
            raise BadData(f"--dev {request.dev} does not say the answers, and so cannot judge them")
        data, dev = located(data, drops=True), located(dev, drops=False)
    fine_tuned = answers_already(checked.start, data.task.labels)
    asks = request.asks or (request.model if fine_tuned else None)
    return Job(
        data, dev, request.seed, checked.on, {}, fine_tuned, asks, request.data_dir, finds_spans
    )


def _can_find_spans(recipe: RecipePart, begin: Start) -> bool:
    return bool(recipe.spans) and begin.name == "hf"


def _finds_spans(checked: Checked, data: Dataset) -> bool:
    """Whether answers are learned: where all of them and their places are said, or where the user
    asks for it.
    """
    head, said = checked.chosen.loop.head, [example.answers for example in data.examples]
    if head == "labels" or not _can_find_spans(checked.recipe, checked.start):
        return False
    has_all = None not in said and any(said)
    if head == "spans" and not has_all:
        raise BadData(
            f"{data.name}: head=spans needs answers to learn from: columns answer and answer_start, or answers"
        )
    return head == "spans" or (
        has_all and all(start >= 0 for answers in said for _, start in answers or ())
    )


def held_out(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training and dev data where no dev data was named: one example in ten is kept apart, drawn by
    seed.
    """
    if len(data.examples) < 2:
        raise BadData(f"{data.name}: {len(data.examples)} example is too little to train on")
    drawn = sorted(data.examples, key=lambda example: digest(seed, "dev", example.id))
    n = min(MOST_HELD_OUT, max(1, len(drawn) // HELD_OUT))
    apart = {example.id for example in drawn[:n]}

    def part_of(keep: bool) -> list[Example]:
        return [example for example in data.examples if (example.id in apart) == keep]

    return replace(data, examples=part_of(False)), replace(data, examples=part_of(True))


def new_record(checked: Checked, job: Job) -> Record:
    """What is known when training begins."""
    request = checked.request
    return {
        "status": "started",
        "request": written(request),
        "on": list(checked.on),
        "n_train": len(job.train.examples),
        "n_dev": len(job.dev.examples),
        "skipped": dict(job.train.skipped),
        "hashes": {"data": job.train.fingerprint, "dev": job.dev.fingerprint},
        "versions": versions(),
    }


def written(request: Request) -> dict[str, Any]:
    """A request as training.json holds it."""
    names = {
        name: given if isinstance(given, str | None) else FROM_PYTHON
        for name, given in _sources(request).items()
    }
    return {**request.__dict__, **names, "on": list(request.on), "settings": dict(request.settings)}


def _sources(request: Request) -> dict[str, Any]:
    return {"data": request.data, "dev": request.dev}


def final_score(loop: Loop, phase: Phase) -> tuple[str, Score]:
    """The dev score of the trained network, with its interval."""
    if phase.labels == SPANS:
        return "f1", Score(**loop.state.after["spans"]["scores"]["f1, all"])
    found, dev = answers(loop.learner, phase.dev.texts), phase.dev
    found = softmax(found) if phase.labels else found
    names = np.array([str(i) for i in range(len(dev))])
    simple = np.ones(len(dev), dtype=bool)
    asked = Outcomes(
        ORIGINAL, Task("dev", phase.labels), names, dev.targets, found, found[:, None], simple
    )
    wanted = metric_of(phase.labels)
    measured = dict(scores(asked, only=[wanted]))[wanted]
    if isinstance(measured, str):
        raise DisorderError(f"the dev score cannot be measured: {measured}")
    return wanted, measured


def _finish(
    record: Record, loop: Loop, job: Job, score: tuple[str, Score], folder: Path, seconds: float
) -> None:
    state = loop.state
    metric, value = score
    loop.learner.save(folder)
    write_calibration(folder, state.after)
    numbers = {name: getattr(value, name) for name in ("value", "low", "high", "n")}
    record |= {
        "status": "done",
        "spec": f"{loop.learner.form}:{folder}",
        "labels": list(job.task.labels if job.finds_spans else loop.learner.labels),
        "lr": loop.settings.lr or loop.learner.lr,
        "curve": state.curve,
        "after": state.after,
        "skips": job.skips,
        "score": {"metric": metric, **numbers},
        "seconds": round(seconds, 3),
        "examples_per_second": round(state.n_learned / max(state.seconds, 1e-9), 1),
    }
    write_card(folder, record)
    write_record(folder, record)


def _silent(stage: str, done: int, total: int, note: str) -> None:
    """Say nothing."""
