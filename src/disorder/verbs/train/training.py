"""From a request to a trained folder: settings are checked first, then data, then the model, then
the loop runs, then the model card is written.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from disorder.errors import BadData, DisorderError, option
from disorder.models.fingerprints import path_fingerprint
from disorder.models.loading import loading
from disorder.requests.option import command_line
from disorder.requests.settings import takes_options
from disorder.requests.train import AsksOptions, TrainOptions
from disorder.results.progress import shown_progress
from disorder.results.result import Result
from disorder.results.run_folder import check_folder
from disorder.safe_io import one_line, validated
from disorder.store.storage import sync_tree
from disorder.store.store import Store
from disorder.types import Dataset, Progress, Score
from disorder.verbs.model_loading import named_again
from disorder.verbs.train.devices import choose_devices, is_first_process
from disorder.verbs.train.evaluation import best_constant, final_score, write_calibration
from disorder.verbs.train.folder import (
    Record,
    is_training,
    read_record,
    saving_weights,
    versions,
    write_card,
    write_record,
)
from disorder.verbs.train.loop import TrainingLoop, forked_torch_rng
from disorder.verbs.train.recipe_plan import Job
from disorder.verbs.train.request import (
    FROM_PYTHON,
    CheckedRequest,
    TrainingRequest,
    build_job,
    check_request,
    training_request,
)
from disorder.verbs.train.summary import begun_result, training_result
from disorder.verbs.train.trainable import SETTING_NAMES, load_trainable


@dataclass(frozen=True)
class TrainedModel:
    """A finished training: its folder, the spec to load it by, and its score on the dev data.

    `record` is what its result.json holds.
    """

    folder: Path
    spec: str
    metric: str
    score: Score
    record: Record = field(repr=False)

    @property
    def result(self) -> Result:
        """The envelope, from which terminal and record are made."""
        return training_result(self)

    def as_data(self) -> Record:
        """What is known of the training."""
        return self.record


@takes_options(TrainOptions, inside={"settings": SETTING_NAMES})
def train(
    recipe: str = "plain",
    data: Any = "builtin:nli:train",
    *,
    out: str | Path,
    progress: Progress | None = None,
    **options: Unpack[TrainOptions],
) -> TrainedModel:
    """Train a model on data by a recipe, and leave it in the folder `out`, ready to be audited.

    recipe: how to train: `plain`, `max_entropy`, … (`disorder list recipes`).
    data: training data: a spec (`mnli:train`), a file, or rows.
    out: folder of the trained model; it must not hold a training already.
    progress: called with (stage, done, total, note) after every step.
    """
    request = training_request(recipe, data, options)
    checked = check_request(request)
    folder = Path(out)
    with _only_writer(folder):
        if is_first_process() and is_training(folder):
            raise DisorderError(
                f"{folder} holds a training already; choose another {option('out')}, or "
                f"finish it: {command_line('train', '--resume', folder)}"
            )
        check_folder(folder, "train")
        return run_training(checked, folder, progress)


def _only_writer(folder: Path, keyword: str = "out") -> AbstractContextManager[object]:
    """The lock of a folder; of several processes that train together, the first holds it."""
    return Store.open(folder, keyword=keyword) if is_first_process() else nullcontext()


@takes_options(AsksOptions)
def resume(
    out: str | Path, *, progress: Progress | None = None, **options: Unpack[AsksOptions]
) -> TrainedModel:
    """Resume a training that was stopped; on a CPU the weights are, bit for bit, those of a
    training that was not.

    `asks` is named again where loading it runs code (`python:…`): nothing is run because a folder
    says so.

    out: the folder of the training.
    progress: called with (stage, done, total, note) after every step.
    """
    folder = Path(out)
    read_record(folder)  # says what holds no training
    with _only_writer(folder, "resume"):
        return _resumed(folder, options.get("asks"), progress)


def _resumed(folder: Path, asks: str | None, progress: Progress | None) -> TrainedModel:
    record = read_record(folder)
    if record["status"] == "done":
        told = one_line(record.get("spec", folder))
        raise DisorderError(f"{folder}: this training is done; its model is {told}")
    request: TrainingRequest = validated(
        TrainingRequest, {"fidelity": "paper"} | record["request"], f"{folder} (request)"
    )
    if request.asks is not None:
        words = ("--resume", folder, "--asks", one_line(request.asks))
        again = partial(command_line, "train", *words)
        request = replace(request, asks=named_again(folder, request.asks, asks, again))
    if FROM_PYTHON in (request.data, request.dev):  # rows, which are not kept
        raise DisorderError(
            f"{folder}: its data was {FROM_PYTHON} and is not kept; only a training on a data spec "
            "can be resumed"
        )
    return run_training(check_request(request), folder, progress, is_resumed=True)


def run_training(
    checked: CheckedRequest,
    folder: Path,
    progress: Progress | None,
    *,
    is_resumed: bool = False,
    data: Dataset | None = None,
) -> TrainedModel:
    """Carry out a request, or what is left; `data` is its data, where it was read already."""
    began = time.perf_counter()
    if not is_resumed and is_first_process() and Store(folder).checkpoint().folder.exists():
        # a later --resume would take them for its own
        raise DisorderError(
            f"{folder} holds checkpoints of a training that has no record; choose another "
            f"{option('out')}"
        )
    job = build_job(checked, data)
    devices = choose_devices(checked.request.device, checked.settings.loop.precision)
    record = new_record(checked, job)
    if is_resumed and (changed := changed_since(read_record(folder), record)):
        raise BadData(
            f"{folder}: the {' and the '.join(changed)} has changed since this training began; it "
            "cannot be resumed"
        )
    # a recipe may raise on its data: nothing is written before
    phases = checked.recipe.function(job, **checked.settings.recipe)
    if devices.rank == 0:
        write_record(folder, begun_result(record))
    first, last = phases[0], phases[-1]
    seed = checked.request.seed
    with loading(checked.request.model), forked_torch_rng():
        model = load_trainable(
            checked.start,
            checked.settings,
            last.train.vocabulary_texts,
            first.labels,
            is_pair=first.train.is_pair,
            seed=seed,
        )
    checkpoints = Store(folder).checkpoint()
    told = shown_progress(progress)
    loop = TrainingLoop(model, checked.settings.loop, devices, seed, checkpoints, told)
    loop.run(phases, is_resumed=is_resumed)
    metric, score = final_score(loop.model, phases[-1], job.task, loop.state.after)
    spec = f"{loop.model.form}:{folder}"
    if devices.rank == 0:
        with saving_weights(folder):
            loop.model.save(folder)
        write_calibration(folder, loop.state.after)
        seconds = time.perf_counter() - began
        record |= _results(loop, job, metric, score, spec, seconds)
        record["best_constant"] = best_constant(phases[-1])
        write_card(folder, record)
        sync_tree(folder)  # before it says that it is done
        write_record(folder, TrainedModel(folder, spec, metric, score, record).result)
        loop.checkpoints.clear()
    devices.wait()
    return TrainedModel(folder, spec, metric, score, record)


def new_record(checked: CheckedRequest, job: Job) -> Record:
    """What is known when training begins."""
    return {
        "status": "started",
        "request": checked.request.recorded(),
        "on": list(checked.on),
        "n_train": len(job.train.examples),
        "n_dev": len(job.dev.examples),
        "dev_was_trained_on": checked.trains_on_dev,
        "skipped": dict(job.train.skipped),
        "hashes": {
            "data": job.train.fingerprint,
            "dev": job.dev.fingerprint,
            **_hashes_of_files(checked),
        },
        "versions": versions(),
    }


def _hashes_of_files(checked: CheckedRequest) -> dict[str, str]:
    """Hashes of what training starts from and asks: folders and files that may change."""
    asks = checked.request.asks
    addresses = {
        "model": checked.start.address,
        "model of --asks": asks.partition(":")[2] if asks else "",
        "vectors": checked.settings.words.vectors or "",
    }
    return {name: found for name, path in addresses.items() if (found := path_fingerprint(path))}


def changed_since(before: Record, now: Record) -> list[str]:
    """What a training was begun with that is not the same any more; older records say less."""
    hashes = before["hashes"]
    return [name for name, found in now["hashes"].items() if hashes.get(name, found) != found]


def _results(
    loop: TrainingLoop, job: Job, metric: str, score: Score, spec: str, seconds: float
) -> Record:
    """What is known when training is done."""
    state = loop.state
    return {
        "status": "done",
        "spec": spec,
        "labels": list(job.task.labels if job.finds_spans else loop.model.labels),
        "lr": loop.settings.lr or loop.model.lr,
        "curve": state.curve,
        "after": state.after,
        "skips": job.skips,
        "score": {
            "metric": metric,
            **{name: getattr(score, name) for name in ("value", "low", "high", "n")},
        },
        "seconds": round(seconds, 3),
        "examples_per_second": round(state.n_learned / max(state.seconds, 1e-9), 1),
        "n_rows": state.n_learned,
        "n_updates": state.n_updates,
    }
