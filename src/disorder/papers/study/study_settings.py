"""Settings of a study: the same words in Python, on the command line and in result.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from disorder.papers.fields import StudyFields
from disorder.papers.requests import PredictingOptions, StudyOptions
from disorder.papers.study.part_settings import sorted_settings
from disorder.requests.option import declared_in


@dataclass(frozen=True)
class StudySettings(StudyFields):
    """Everything beside the item, the models and the data."""

    @property
    def recorded(self) -> dict[str, Any]:
        """What decides the numbers, as result.json keeps it."""
        return {
            each.recorded_name: getattr(self, each.recorded_name)
            for each in declared_in(StudyOptions).values()
            if each.option.changes_predictions
        }

    @property
    def predicting(self) -> dict[str, Any]:
        """How to read data and predict, as audits and explanations take it."""
        return {name: getattr(self, name) for name in declared_in(PredictingOptions)}

    @property
    def training_set(self) -> str | None:
        """The training data that was named, all sets together; None where none was."""
        return "+".join(self.train) or None

    @property
    def of_training(self) -> dict[str, str]:
        """The settings of trainings."""
        return sorted_settings(self.set)[0]

    @property
    def of_parts(self) -> dict[str, dict[str, str]]:
        """The settings of transformations and explanations, by part."""
        return sorted_settings(self.set)[1]

    @property
    def seeds_to_train(self) -> range:
        """The seeds of the trainings."""
        return range(self.seed, self.seed + (self.seeds or 1))
