"""The settings of an audit: the same words in Python, on the command line and in run.json."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from disorder.errors import BadSetting, DisorderError
from disorder.types import Fidelity
from disorder.visible_text import one_line

PRECISIONS = ("fp32", "bf16", "int8", "auto")
MAX_Q = 1_000_000
# what a run reaches or writes beside its own folder: only the user says so, never a folder
REACHES = ("address", "cache", "base_url")
CALIBRATIONS = ("content-free",)
CHATS = ("auto", "on", "off")
BREAKS = ("text", "instruction", "shots")
# what says how a language model is asked
PROMPT_OPTIONS = (
    "prompt",
    "shots",
    "shots_from",
    "label_words",
    "option_orders",
    "calibrate",
    "chat",
)


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
    language: str = "auto"
    data_dir: str | None = None
    batch_size: int | None = None
    precision: str = "fp32"
    agree: float = 0.995
    engine: str = "local"
    address: str | None = None
    workers: int | None = None
    cache: str | None = None
    reads_below: float = 0.2
    bag_above: float = 0.8
    least_skill: float = 0.1
    prompt: Sequence[str] = ()
    shots: int = 0
    shots_from: str | None = None
    label_words: Mapping[str, str] = field(default_factory=dict)
    option_orders: int = 1
    calibrate: str | None = None
    chat: str = "auto"
    break_: str = "text"
    base_url: str | None = _model_option()
    answers: str | None = _model_option()
    max_connections: int | None = _model_option()
    timeout: float | None = _model_option()
    max_retries: int | None = _model_option()
    no_answer: str = "skip"
    price_in: float | None = None
    price_out: float | None = None
    max_questions: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    fail_if: Sequence[str] = ()

    @classmethod
    def recorded(cls, folder: object, settings: Mapping[str, Any], **given: Any) -> Settings:
        """The settings in a run.json, for resuming it; those that reach elsewhere are `given` by
        the user again, or the usual ones.
        """
        known = {entry.name for entry in fields(cls)}
        unknown = [name for name in settings if name not in known]
        if unknown:
            raise DisorderError(
                f"{folder} has a setting {one_line(unknown[0])!r}, which this version does not "
                "know; resume it with the version that began it"
            )
        kept = {
            name: value
            for name, value in settings.items()
            if name not in REACHES or (name == "cache" and value == "off")
        }
        for name in ("address", "base_url"):
            if settings.get(name) and not given.get(name):
                option = f"--{name.replace('_', '-')} {shlex.quote(one_line(settings[name]))}"
                raise DisorderError(
                    f"{folder} was begun with {option}; nothing is reached because a folder says "
                    f"so: repeat it beside --resume {folder}"
                )
        return cls(**(kept | {name: value for name, value in given.items() if value is not None}))

    @property
    def model_options(self) -> dict[str, Any]:
        """The settings that were given for the model itself."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.metadata.get("for")}
        return {name: value for name, value in values.items() if value is not None}

    def check(self) -> None:
        """Raise on a value that cannot work."""
        for name in ("q", "limit", "batch_size", "workers", "max_questions", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadSetting("audit", need="1 or more", **{name: value})
        if self.q > MAX_Q:
            raise BadSetting("audit", need=f"at most {MAX_Q:,}", q=self.q)
        for name in ("price_in", "price_out", "max_cost"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise BadSetting("audit", need="0 or more", **{name: value})
        _one_of("fidelity", self.fidelity, ("paper", "released"))
        _one_of("short", self.short, ("skip", "use"))
        _one_of("no_answer", self.no_answer, ("skip", "abstain"))
        _one_of("precision", self.precision, PRECISIONS)
        _one_of("engine", self.engine, ("local", "ray"))
        if not 0 < self.agree <= 1:
            raise BadSetting("audit", agree=self.agree, need="a share above 0, at most 1")
        if not 0 < self.reads_below < self.bag_above <= 1:
            raise BadSetting(
                "audit",
                reads_below=self.reads_below,
                bag_above=self.bag_above,
                need="shares between 0 and 1, the first the smaller",
            )
        if not 0 < self.least_skill < 1:
            raise BadSetting("audit", least_skill=self.least_skill, need="a share between 0 and 1")
        if self.curtail and self.stop_when:
            raise BadSetting("audit", curtail=True, stop_when=self.stop_when, need="one of the two")
        if self.stop_when and self.is_in_portions:
            raise BadSetting(
                "audit", stop_when=self.stop_when, need="no --fail-if and no --max-… beside it"
            )
        if self.shots < 0:
            raise BadSetting("audit", shots=self.shots, need="0 or more")
        if self.calibrate is not None:
            _one_of("calibrate", self.calibrate, CALIBRATIONS)
        _one_of("chat", self.chat, CHATS)
        _one_of("break_", self.break_, BREAKS)
        if len(set(self.prompt)) < len(self.prompt):
            raise BadSetting("audit", prompt=list(self.prompt), need="each prompt once")

    @property
    def is_in_portions(self) -> bool:
        """Whether examples are taken in portions, since the run may end before the last."""
        limits = (self.max_questions, self.max_tokens, self.max_cost)
        return bool(self.fail_if) or any(limit is not None for limit in limits)

    @property
    def may_stop(self) -> bool:
        """Whether the run may end before the last example; they come in random order then."""
        return bool(self.stop_when) or self.is_in_portions

    @property
    def prompt_options(self) -> list[str]:
        """The options of prompts that have another value than usual."""
        usual = Settings()
        return [
            "--" + name.replace("_", "-")
            for name in PROMPT_OPTIONS
            if (getattr(self, name) or None)
            != (getattr(usual, name) or None)  # [] is as good as ()
        ]


def _one_of(name: str, value: str, options: Sequence[str]) -> None:
    if value not in options:
        raise BadSetting("audit", need=" or ".join(options), **{name: value})
