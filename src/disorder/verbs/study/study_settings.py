"""Settings of a study: the same words in Python, on the command line and in study.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from disorder.errors import BadSetting
from disorder.types import Fidelity
from disorder.verbs.study.part_settings import sorted_settings

Positive = Annotated[int, Field(ge=1)]
NEEDS = {
    "fidelity": "paper or released",
    "q": "1 or more",
    "seeds": "1 or more",
    "limit": "1 or more",
    "test_limit": "1 or more",
    "batch_size": "1 or more",
    "seed": "a whole number",
    "precision": "fp32, bf16, int8 or auto",
    "short": "skip or use",
    "workers": "1 or more",
}
# they do not change the numbers
NOT_RECORDED = {"data_dir", "cache", "device", "batch_size", "engine", "workers", "curtail"}
PREDICTING = {
    "labels",
    "columns",
    "task",
    "language",
    "data_dir",
    "batch_size",
    "precision",
    "cache",
}


class StudySettings(BaseModel):
    """Everything beside the item, the models and the data; `disorder.study` explains each."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    q: Positive | None = None
    seed: int = 0
    seeds: Positive = 1
    limit: Positive | None = None
    test_limit: Positive | None = None
    fidelity: Fidelity | None = None
    set: Mapping[str, str] = Field(default_factory=dict)
    train: tuple[str, ...] = ()
    labels: Mapping[str, str] = Field(default_factory=dict)
    columns: Mapping[str, str] = Field(default_factory=dict)
    task: str | None = None
    language: str = "auto"
    data_dir: str | None = None
    batch_size: Positive | None = None
    precision: Literal["fp32", "bf16", "int8", "auto"] = "fp32"
    curtail: bool = False
    short: Literal["skip", "use"] | None = None
    engine: str = "local"
    workers: Positive | None = None
    device: str | None = None
    cache: str | None = None

    @classmethod
    def checked(cls, **given: Any) -> StudySettings:
        """Settings as a user gave them; a value that cannot work is the user's mistake."""
        try:
            return cls(**given)
        except ValidationError as error:
            name = str(error.errors()[0]["loc"][0])
            need = NEEDS.get(name, error.errors()[0]["msg"])
            raise BadSetting("study", need=need, **{name: given[name]}) from None

    @property
    def recorded(self) -> dict[str, Any]:
        """What decides the numbers, as study.json keeps it."""
        return self.model_dump(mode="json", exclude=NOT_RECORDED)

    @property
    def predicting(self) -> dict[str, Any]:
        """How to read data and predict, as audits and explanations take it."""
        return self.model_dump(include=PREDICTING)

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
        return range(self.seed, self.seed + self.seeds)
