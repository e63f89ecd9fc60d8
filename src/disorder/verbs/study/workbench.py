"""What does a pipeline work with? The models and data asked for, the settings, and verbs that go on
where they stopped.

Each verb is the one that users have (audit, train, explain, …); its folder lies in the study's.
What was finished before with the same settings is used again, if data and model are still the same.
"""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disorder.data import honest_name
from disorder.errors import BadData, BadSetting, DisorderError
from disorder.metrics import ORIGINAL
from disorder.models import load
from disorder.runs import Run, read_run
from disorder.runs.run import make_folder
from disorder.runs.settings import Settings
from disorder.runs.storage import write_atomically
from disorder.transformations import parse
from disorder.types import Dataset, Fidelity, Progress
from disorder.verbs.audit.pipeline import audit, resume
from disorder.verbs.explain import Explanations, explain, write_folder
from disorder.verbs.selected_data import selected_data
from disorder.verbs.study.result import Link, Picture, Portion
from disorder.verbs.train import (
    Design,
    Finding,
    TrainingRequest,
    TrainingSource,
    designs,
    mitigations,
    train_once,
)

logger = logging.getLogger("disorder")
READING = ("seed", "labels", "columns", "task", "data_dir", "batch_size", "cache")


@dataclass(frozen=True)
class Asked:
    """The settings of a study: the same words in Python, on the command line and in study.json.

    `limit` is how many examples are asked about, or trained on where the item trains; then
    `test_limit` is how many are asked about. `q` and `fidelity` are None for the item's own;
    `seeds` is how many trainings of each kind are made, `set` their settings.
    """

    q: int | None = None
    seed: int = 0
    seeds: int = 1
    limit: int | None = None
    test_limit: int | None = None
    fidelity: Fidelity | None = None
    set: Mapping[str, str] = field(default_factory=dict)
    train: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    task: str | None = None
    data_dir: str | None = None
    batch_size: int | None = None
    device: str | None = None
    cache: str | None = None

    def check(self) -> None:
        """Raise on a value that cannot work."""
        Settings(
            q=1 if self.q is None else self.q, limit=self.limit, fidelity=self.fidelity or "paper"
        ).check()
        for name in ("seeds", "test_limit", "batch_size"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise BadSetting("study", need="1 or more", **{name: getattr(self, name)})

    @property
    def recorded(self) -> dict[str, Any]:
        """What decides the numbers."""
        return {
            k: v
            for k, v in asdict(self).items()
            if k not in ("data_dir", "cache", "device", "batch_size")
        }


@dataclass(frozen=True)
class Finished:
    """An audit that was made before: a run folder in place of a model and its data."""

    folder: Path
    run: Run

    def check(self, transformations: Sequence[str], *, q: int, fidelity: str) -> None:
        """Raise unless the audit was asked what the item asks."""
        run = self.run
        if run.status != "done":
            raise DisorderError(
                f"{self.folder} is not finished; resume: disorder audit --resume {self.folder}"
            )
        missing = [spec for spec in transformations if spec not in (ORIGINAL, *run.transformations)]
        if missing:
            raise DisorderError(
                f"{self.folder} was not asked about {', '.join(missing)}; audit again with --with {missing[0]}"
            )
        for name, wanted in (("q", q), ("fidelity", fidelity)):
            if run.settings[name] != wanted:
                has = run.settings[name]
                raise DisorderError(
                    f"{self.folder} has {name} {has}, the study {wanted}; say --{name} {has}"
                )


@dataclass(frozen=True)
class Rows:
    """Data that came without a name, and the name it has in the rows."""

    name: str
    given: Any


@dataclass
class Bench:
    """One study under way."""

    folder: Path
    models: Sequence[Any]
    data: Sequence[Any]
    asked: Asked
    progress: Progress
    train: str | None = None  # the data to train on
    _read: TrainingSource | None = None

    @property
    def fidelity(self) -> Fidelity:
        """Whose definitions count."""
        return self.asked.fidelity or "paper"

    def name_of(self, data: Any) -> str:
        """What data is called in a row: its spec, or that of the file that stands in for it."""
        return (
            honest_name(data, data_dir=self.asked.data_dir)
            if isinstance(data, str)
            else title_of(data)
        )

    def read(self, data: Any, *, limit: int | None) -> Dataset:
        """The examples of a data spec."""
        known = {
            name: getattr(self.asked, name) for name in ("seed", "columns", "task", "data_dir")
        }
        return selected_data(itself(data), Settings(limit=limit, **known))

    def q(self, usual: int | None) -> int:
        """How many permutations to draw."""
        return self.asked.q or usual or 1

    def reading(self, *, limit: int | None) -> dict[str, Any]:
        """The settings that concern reading and asking, as audit and explain take them."""
        return {name: getattr(self.asked, name) for name in READING} | {
            "limit": limit,
            "fidelity": self.fidelity,
        }

    def audit(
        self,
        model: Any,
        data: Any,
        transformations: Sequence[str],
        *,
        q: int,
        limit: int | None = None,
        **more: Any,
    ) -> tuple[Run, Path]:
        """An audit in a folder of its own, taken up again if it was begun; one that was made before
        is taken as it is.
        """
        if isinstance(model, Finished):
            specs = [
                spec if spec == ORIGINAL else parse(spec, fidelity=self.fidelity).spec
                for spec in transformations
            ]
            model.check(specs, q=q, fidelity=self.fidelity)
            return model.run, model.folder
        folder, given = self.folder / "runs" / folder_name(model, data), itself(data)
        spoken = named(self.progress, f"{short(model)} {short(data)}")
        if (folder / "run.json").exists():
            check_made_of(
                folder, read_run(folder).hashes, self.made_of(model=model, data=data, limit=limit)
            )
            return resume(folder, model=model, data=given, progress=spoken), folder
        settings = self.reading(limit=limit) | {"q": q, "transformations": transformations, **more}
        return audit(model, given, out=folder, progress=spoken, **settings), folder

    def explain(
        self, model: Any, data: Any, by: Sequence[str], *, q: int, transformation: str
    ) -> tuple[Explanations, Path]:
        """Explanations, with their page in a folder of its own."""
        folder = self.folder / "explained" / folder_name(model, data)
        spoken, settings = (
            named(self.progress, f"{short(model)} {short(data)}"),
            self.reading(limit=self.asked.limit),
        )
        settings = {
            name: value for name, value in settings.items() if name != "limit" or value is not None
        }
        found = explain(
            model,
            itself(data),
            by=by,
            with_=transformation,
            progress=spoken,
            q=q,
            **settings,
        )
        words = [
            "disorder",
            "explain",
            found.model,
            found.data,
            *(word for each in by for word in ("--by", each)),
        ]
        flags = {"with": transformation, "q": q} | {
            k: settings[k] for k in ("seed", "limit", "fidelity") if k in settings
        }
        words += [str(word) for name, value in flags.items() for word in (f"--{name}", value)]
        write_folder(folder, found, shlex.join(words))
        return found, folder

    def trained(self, model: str, name: str, arm: Any, seed: int, usual: Mapping[str, str]) -> str:
        """The spec of a model trained in one way (an `Arm`), in a folder of its own."""
        out, asked = (
            self.folder / "models" / folder_name(model, name, f"seed-{seed}"),
            self._training(model, usual),
        )
        on = [
            spec if spec == ORIGINAL else parse(spec, fidelity=self.fidelity).spec
            for spec in arm.on
        ]
        more = {**asked, "settings": {**asked["settings"], **arm.settings}, "on": on, "seed": seed}
        spoken = named(self.progress, f"{short(model)} {name} seed {seed}")
        request = TrainingRequest(recipe=arm.recipe, data=self.train, **more)
        spec = train_once(request, self._lessons(asked), out=out, progress=spoken)
        if arm.always_answers:
            (out / "calibration.json").unlink(missing_ok=True)
        return spec

    def designs(
        self, model: str, test: Any, on: Sequence[str], usual: Mapping[str, str]
    ) -> tuple[list[Design], Path]:
        """The three designs over all seeds, in a folder of their own."""
        out = self.folder / "models" / folder_name(model)
        specs = [parse(spec, fidelity=self.fidelity).spec for spec in on]
        more = self._training(model, usual) | {
            name: getattr(self.asked, name) for name in ("seed", "seeds", "test_limit")
        }
        return designs(
            self.train,
            itself(test),
            specs,
            out=out,
            progress=named(self.progress, short(model)),
            **more,
        ), out

    def mitigations(
        self, model: str, train: str, test: Any, usual: Mapping[str, str], **more: Any
    ) -> list[Finding]:
        """What `disorder mitigations` finds over all seeds, in a folder of its own."""
        out, spoken = (
            self.folder / "models" / folder_name(model, train),
            named(self.progress, f"{short(model)} {short(test)}"),
        )
        known = self._training(model, usual) | {
            name: getattr(self.asked, name) for name in ("seed", "seeds", "test_limit")
        }
        return mitigations(
            train, itself(test), out=out, progress=spoken, fidelity=self.fidelity, **known, **more
        )

    def say(self, model: Any, train: Any, test: Any) -> None:
        """Tell at once what takes long, before anything is read."""
        logger.info("%s: trained on %s, asked about %s", short(model), short(train), short(test))

    def _lessons(self, asked: Mapping[str, Any]) -> TrainingSource:
        """The training data, read once for all models of a study."""
        if self._read is None or self._read.given != self.train:
            self._read = TrainingSource.of(TrainingRequest(data=self.train, **asked))
        return self._read

    def _training(self, model: str, usual: Mapping[str, str]) -> dict[str, Any]:
        """What every training is told; the paper's settings are for the encoders that the paper
        trains.
        """
        settings = {**(usual if model.startswith("hf:") else {}), **self.asked.set}
        known = {
            name: getattr(self.asked, name)
            for name in ("limit", "device", "columns", "task", "data_dir")
        }
        return {"model": model, "settings": settings, **known}

    def made_of(
        self, *, model: Any = None, data: Any = None, train: Any = None, limit: int | None = None
    ) -> dict[str, str]:
        """The fingerprints of what something is made from; `limit` is how much of the data is
        taken.
        """
        found = {"data": self.read(data, limit=limit)} if data is not None else {}
        found |= {"training data": self.read(train, limit=None)} if train is not None else {}
        prints = {name: dataset.fingerprint for name, dataset in found.items()}
        if model is None:
            return prints
        return prints | {
            "model": load(model, task=found["data"].task, labels=self.asked.labels).fingerprint
        }

    def once(self, make: Callable[[], Portion], *key: Any, made_of: Mapping[str, str]) -> Portion:
        """What `make` finds, or what it found when it was last asked with this key about the same
        data and model.
        """
        path = self.folder / "portions" / f"{folder_name(*key)}.json"
        if path.exists():
            try:
                portion = Portion.model_validate_json(path.read_bytes())
            except ValueError as error:
                raise BadData(
                    f"{path} is damaged ({str(error).splitlines()[0]}); remove it and start again"
                ) from None
            check_made_of(path, portion.made_of, made_of)
            return portion
        portion = make().model_copy(update={"made_of": dict(made_of)})
        make_folder(path.parent)
        write_atomically(
            path, portion.model_dump_json(indent=1).encode("utf-8", "backslashreplace")
        )
        return portion

    def link(self, title: str, page: Path) -> Link:
        """A link from the study's page."""
        return Link(title=title, page=Path(os.path.relpath(page, self.folder)).as_posix())

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Every model with every set of data; a finished run with its own."""
        for model in self.models:
            yield from (
                (model, data)
                for data in ([model.run.data] if isinstance(model, Finished) else self.data)
            )

    def seeds(self) -> range:
        """The seeds of trainings."""
        return range(self.asked.seed, self.asked.seed + self.asked.seeds)


def check_made_of(path: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raise unless what was kept is known to be made from the same."""
    if other := [
        ("another " if name == "model" else "other ") + name
        for name in now
        if before.get(name) != now[name]
    ]:
        raise DisorderError(f"{path} was made from {' and '.join(other)}; choose another --out")
    if "" in now.values():
        raise DisorderError(
            f"{path} was made from a model that nothing tells from others of its kind; choose another --out"
        )


def pictures_of(found: Explanations, what: str) -> list[Picture]:
    """The pictures of explanations, each with what it is about."""
    return [
        Picture(name=figure.name, caption=f"{what}: {figure.caption}", svg=figure.svg)
        for section in found.sections
        if section.found is not None
        for figure in section.found.figures
    ]


def title_of(given: Any) -> str:
    """What a model or data is called in a row."""
    if isinstance(given, Finished):
        return given.run.model
    if isinstance(given, Rows):
        return given.name
    return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)


def itself(data: Any) -> Any:
    """Data as it was given."""
    return data.given if isinstance(data, Rows) else data


def spelled(given: Any) -> str:
    """How a model or data was given: a run as its folder."""
    return str(given.folder) if isinstance(given, Finished) else title_of(given)


def short(given: Any) -> str:
    """A spec without the folders before its last name.

    >>> short("hf:/home/anna/models/minilm"), short("mnli:matched"), short("data/pairs.jsonl")
    ('hf:minilm', 'mnli:matched', 'pairs.jsonl')
    """
    head, colon, rest = title_of(given).partition(":")
    return f"{head}:{Path(rest).name}" if colon else Path(head).name


def folder_name(*given: Any) -> str:
    """A name for a folder that says what is in it, and differs where a spec does.

    >>> folder_name("hf:models/minilm", "mnli:matched")
    'hf-minilm--mnli-matched--c586ba'
    """
    words = [
        "".join(char if char.isalnum() else "-" for char in short(each)).strip("-")
        for each in given
    ]
    mark = blake2b(
        "\0".join(title_of(each) for each in given).encode("utf-8", "surrogatepass"), digest_size=3
    ).hexdigest()
    return "--".join([*words, mark])


def named(progress: Progress, name: str) -> Progress:
    """The same listener, told what it hears of."""
    return lambda stage, done, total, note: progress(f"{name} {stage}", done, total, note)
