"""The workbench of a pipeline: models, data and settings of one study, and its folder.

Modules beside this one run other verbs on it (`auditing`, `explaining`, `training_models`), each in
a folder inside the study's, so that a study that was stopped can be resumed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disorder.data import honest_name
from disorder.models import load
from disorder.runs.settings import Settings
from disorder.specs import split_spec
from disorder.types import Dataset, Fidelity, Progress
from disorder.verbs.selected_data import selected_data
from disorder.verbs.study.kept_steps import compute_once
from disorder.verbs.study.naming import (
    Given,
    OneLanguage,
    hashed_folder_name,
    raw_data,
    short_name,
    title_of,
)
from disorder.verbs.study.part_settings import PartSettings, with_settings
from disorder.verbs.study.result import StepResult, StudyLink
from disorder.verbs.study.study_settings import StudySettings

logger = logging.getLogger("disorder")
LEARNING = ("pbsmt", "minitree")  # parts that learn from training data


@dataclass
class Workbench:
    """One study under way; `train` is the data to train on."""

    folder: Path
    models: Sequence[Any]
    data: Sequence[Any]
    settings: StudySettings
    progress: Progress
    train: str | None = None
    part_settings: PartSettings = field(default_factory=dict)  # of transformations, explanations
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of the paper's models
    sources: dict[str, Any] = field(default_factory=dict)  # data that was read

    @property
    def fidelity(self) -> Fidelity:
        """Whose definitions count."""
        return self.settings.fidelity or "paper"

    def spec_of(self, named: str, *, train: str | None = None) -> str:
        """A transformation or explanation with the settings it has in this study.

        Where a part learns from other data, `train` is what it learns from unless the user says.
        """
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
        path = self.folder / "steps" / f"{hashed_folder_name(*key)}.json"
        return compute_once(path, compute, made_of=made_of)

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
