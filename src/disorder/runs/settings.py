"""The settings of an audit: the same words in Python, on the command line and in run.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from disorder.errors import BadSetting
from disorder.types import Fidelity

PRECISIONS = ("fp32", "bf16", "int8", "auto")


def _model_option() -> Any:
    """A setting that only some models take: it is passed to the loader that declares it."""
    return field(default=None, metadata={"for": "model"})


@dataclass(frozen=True)
class Settings:
    """Everything beside the model and the data."""

    suite: str = "order"
    transformations: Sequence[str] = ()
    q: int = 100
    seed: int = 0
    limit: int | None = None
    fidelity: Fidelity = "paper"
    short: str = "skip"
    omega: Sequence[str] = ()
    score: Sequence[str] = ()
    curtail: bool = False
    stop_when: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    group_by: Sequence[str] = ()
    task: str | None = None
    data_dir: str | None = None
    batch_size: int | None = None
    precision: str = "fp32"
    agree: float = 0.995
    engine: str = "local"
    address: str | None = None
    workers: int | None = None
    cache: str | None = None
    base_url: str | None = _model_option()
    answers: str | None = _model_option()
    no_answer: str | None = _model_option()
    max_connections: int | None = _model_option()
    timeout: float | None = _model_option()
    max_retries: int | None = _model_option()

    @property
    def model_options(self) -> dict[str, Any]:
        """The settings that were given for the model itself."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.metadata.get("for")}
        return {name: value for name, value in values.items() if value is not None}

    def check(self) -> None:
        """Raise on a value that cannot work."""
        for name in ("q", "limit", "batch_size", "workers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadSetting("audit", need="1 or more", **{name: value})
        _one_of("fidelity", self.fidelity, ("paper", "released"))
        _one_of("short", self.short, ("skip", "use"))
        _one_of("precision", self.precision, PRECISIONS)
        _one_of("engine", self.engine, ("local", "ray"))
        if not 0 < self.agree <= 1:
            raise BadSetting("audit", agree=self.agree, need="a share above 0, at most 1")
        if self.curtail and self.stop_when:
            raise BadSetting("audit", curtail=True, stop_when=self.stop_when, need="one of the two")


def _one_of(name: str, value: str, options: Sequence[str]) -> None:
    if value not in options:
        raise BadSetting("audit", need=" or ".join(options), **{name: value})
