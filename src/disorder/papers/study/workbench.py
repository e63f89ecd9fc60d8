"""The workbench of a pipeline: models, data and settings of one study, how they are named in tables
and folders, and the folder of the study.

Modules beside this one run other verbs on it (`verbs_used`, `training_models`), each in a folder
inside the study’s, so that a study that was stopped can be resumed.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disorder.data import honest_name
from disorder.errors import DisorderError, NothingToMeasure, option
from disorder.models import load
from disorder.papers.requests import PaperFidelity
from disorder.papers.study.part_settings import PartSettings, StudySettings, with_settings
from disorder.papers.study.result import StepResult, StudyLink
from disorder.papers.training import FinishedDesigns
from disorder.requests.audit import BudgetOptions
from disorder.requests.option import declared_in
from disorder.requests.settings import Settings
from disorder.results.run import Run
from disorder.results.writing import short_name as without_folders
from disorder.specs import split_spec
from disorder.store.store import Store, records
from disorder.types import Dataset, Progress
from disorder.verbs.selected_data import selected_data
from disorder.verbs.train import folder_name


@dataclass(frozen=True)
class GivenRun:
    """The folder of a finished audit, given in place of a model and its data."""

    folder: Path
    run: Run

    @property
    def data(self) -> str:
        """The data it is about."""
        return self.run.data

    @property
    def limit(self) -> int | None:
        """How many examples were tested at most."""
        limit = self.run.settings.get("limit")
        return int(limit) if limit else None


@dataclass(frozen=True)
class GivenDesigns:
    """The folder of finished designs, given in place of a model, its training and its test data."""

    designs: FinishedDesigns

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.designs.folder

    @property
    def data(self) -> str:
        """The data that models were tested on."""
        return self.designs.about.test

    @property
    def limit(self) -> int | None:
        """How many examples were tested at most."""
        return self.designs.about.test_limit


Given = GivenRun | GivenDesigns  # what was finished before, and is shown again


@dataclass(frozen=True)
class NamedRows:
    """Data given as rows, and the name it has in the table."""

    name: str
    given: Any


@dataclass(frozen=True)
class OneLanguage(NamedRows):
    """The rows of one language, which the study has read itself; `source` names all of them."""

    source: str


def title_of(given: Any) -> str:
    """What a model or data is called in the table."""
    match given:
        case str():
            return given
        case GivenRun(run=run):
            return run.model
        case GivenDesigns(designs=designs):
            return designs.about.model
        case NamedRows(name=name):
            return name
    return str(getattr(given, "__name__", type(given).__name__))


def raw_data(data: Any) -> Any:
    """Data as the user gave it."""
    return data.given if isinstance(data, NamedRows) else data


def recorded_name(given: Any) -> str:
    """How result.json records a model or data: what was finished before as its folder."""
    return str(given.folder) if isinstance(given, Given) else title_of(given)


def short_name(given: Any) -> str:
    """The name of a model or data without the folders before its last part."""
    return without_folders(title_of(given))


def hashed_folder_name(*given: Any) -> str:
    """A folder name that says what is in it, and differs wherever a spec differs.

    >>> hashed_folder_name("hf:models/minilm", "mnli:matched")
    'hf-minilm--mnli-matched--c586ba'
    """
    words = [folder_name(short_name(each)).strip("-") for each in given]
    whole = "\0".join(title_of(each) for each in given).encode("utf-8", "surrogatepass")
    return "--".join([*words, blake2b(whole, digest_size=3).hexdigest()])


logger = logging.getLogger("disorder")
LEARNING = ("pbsmt", "minitree")  # parts that learn from training data
STEP = "step"  # what it was made of is in the step itself, which says what has changed


@dataclass
class Workbench:
    """One study under way; `train` is the data to train on."""

    store: Store
    models: Sequence[Any]
    data: Sequence[Any]
    settings: StudySettings
    progress: Progress
    train: str | None = None
    part_settings: PartSettings = field(default_factory=dict)  # of transformations, explanations
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of the paper's models
    sources: dict[str, Any] = field(default_factory=dict)  # data that was read
    spent: Counter[str] = field(default_factory=Counter)  # of a budget, by option
    notes: list[str] = field(default_factory=list)  # audits that a budget has ended

    @property
    def folder(self) -> Path:
        """The folder of the study."""
        assert self.store.folder is not None
        return self.store.folder

    @property
    def fidelity(self) -> PaperFidelity:
        """Whose definitions count."""
        return self.settings.fidelity or "paper"

    def spec_of(self, named: str, *, train: str | None = None) -> str:
        """A part with the settings it has in this study; `train` is what it may learn from."""
        given = dict(self.part_settings)
        name = split_spec(named)[0]
        if train and name in LEARNING:
            given[name] = {"train": train, **given.get(name, {})}
        return with_settings(named, given)

    def labels_of(self, model: Any) -> Mapping[str, str]:
        """What a model's labels mean: as the user says, else as is known of the paper's models."""
        known = self.labels.get(model, {}) if isinstance(model, str) else {}
        return self.settings.labels or known

    def predicting(self, model: Any, data: Any = None) -> dict[str, Any]:
        """How to read data and predict with a model, as audits and explanations take it."""
        found = {**self.settings.predicting, "labels": dict(self.labels_of(model))}
        return {**found, **self._reading(data)}

    def _reading(self, data: Any) -> dict[str, Any]:
        """How the user wants data to be read; nothing for what the study has read so already."""
        is_read = isinstance(data, OneLanguage)
        settings = StudySettings() if is_read else self.settings
        return {name: getattr(settings, name) for name in ("columns", "task", "language")}

    def budget_left(self) -> dict[str, Any]:
        """What of the budget is left, as audits and explanations take it."""
        left = {name: getattr(self.settings, name) for name in declared_in(BudgetOptions)}
        for name, spent in self.spent.items():
            limit = left.get(f"max_{name}")
            if limit is None:
                continue
            left[f"max_{name}"] = limit - spent
            if spent >= limit:
                raise NothingToMeasure(
                    f"{option(f'max_{name}', limit)} is spent before the end of the study: allow "
                    f"more, with another {option('out')}; what is cached costs nothing again"
                )
        return left

    def q(self, usual: int | None) -> int:
        """How many permutations to draw, where the paper draws `usual`."""
        return self.settings.q or usual or 1

    def name_of(self, data: Any) -> str:
        """What data is called in a row: its spec, or that of the file that stands in for it."""
        if isinstance(data, str):
            return honest_name(data, data_dir=self.settings.data_dir)
        return data.source if isinstance(data, OneLanguage) else title_of(data)

    def read(self, data: Any, *, limit: int | None) -> Dataset:
        """The examples of a data spec."""
        settings = Settings(
            limit=limit,
            seed=self.settings.seed,
            data_dir=self.settings.data_dir,
            **self._reading(data),
        )
        return selected_data(raw_data(data), settings)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Every model with every set of data; a finished run or designs with their own."""
        for model in self.models:
            sets = [model.data] if isinstance(model, Given) else self.data
            for data in sets:
                yield model, data

    def made_of(
        self, *, model: Any = None, data: Any = None, train: Any = None, limit: int | None = None
    ) -> dict[str, str]:
        """The fingerprints of model, data (`limit` examples of it) and training data."""
        found: dict[str, str] = {}
        if data is not None:
            dataset = self.read(data, limit=limit)
            found["data"] = dataset.fingerprint
        if train is not None:
            found["training data"] = self.read(train, limit=None).fingerprint
        if model is not None:
            loaded = load(model, task=dataset.task, labels=self.labels_of(model))
            found["model"] = loaded.fingerprint
        return found

    def once(
        self, compute: Callable[[], StepResult], *key: Any, made_of: dict[str, str]
    ) -> StepResult:
        """What `compute` finds, or what it found before with this key, data and model."""
        form = records(StepResult)
        name = hashed_folder_name(*key)
        steps = self.store.kept("steps")
        is_kept = f"{name}{form.ending}" in steps.known
        step = steps.once(
            name, lambda: compute().model_copy(update={"made_of": made_of}), form, of=STEP
        )
        if is_kept:
            check_made_of(self.folder / "steps" / f"{name}{form.ending}", step.made_of, made_of)
        return step

    def link(self, title: str, page: Path) -> StudyLink:
        """A link from the study's page."""
        return StudyLink(title=title, page=Path(os.path.relpath(page, self.folder)).as_posix())

    def announce_training(self, model: Any, train: Any, test: Any) -> None:
        """Log at once what takes long, before anything is read."""
        logger.info(
            "%s: training on %s, testing on %s",
            short_name(model),
            short_name(train),
            short_name(test),
        )


def check_made_of(path: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raise unless what was kept is known to be made from the same data and model."""
    changed = [
        f"another {name}" if name == "model" else f"other {name}"
        for name in now
        if before.get(name) != now[name]
    ]
    if changed:
        raise DisorderError(
            f"{path} was made from {' and '.join(changed)}; choose another {option('out')}"
        )
    if "" in now.values():
        raise DisorderError(
            f"{path} was made from a model that cannot be told from others of its kind; "
            f"choose another {option('out')}"
        )
