"""The settings of an audit, as verbs and run.json hold them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from disorder.errors import BadOption, DisorderError, names_options, option
from disorder.requests.audit import CONTINUED, DECIDED, AuditOptions, ResumeOptions
from disorder.requests.fields import AuditFields
from disorder.requests.option import View, command_line, declared_in, must_be_said
from disorder.safe_io import one_line

MOST_BY_ITSELF = 10  # variants that an audit takes where q follows from the data
DECLARED = {each.recorded_name: each for each in declared_in(AuditOptions).values()}


@dataclass(frozen=True)
class Settings(AuditFields):
    """Everything beside the model and the data."""

    @classmethod
    def among(cls, view: View, **more: Any) -> Settings:
        """The settings among those of another verb, and `more` that it settles itself."""
        values = {name: value for name, value in vars(view).items() if name in DECLARED}
        chosen = cls(**(values | more))
        chosen.check_together()
        return chosen

    @classmethod
    def recorded(cls, folder: object, settings: Mapping[str, Any], **given: Any) -> Settings:
        """The settings in a run.json, to resume it; what reaches elsewhere is `given` again."""
        for name in settings:
            if name not in DECLARED:
                raise DisorderError(
                    f"{folder} has a setting {one_line(name)!r}, which this version does not "
                    "know; resume it with the version that began it"
                )
        check_said_again(folder, AuditOptions, settings, given, partial(resume_line, folder))
        kept = {
            name: value
            for name, value in settings.items()
            if not DECLARED[name].option.named_again or value == "off"
        }
        return cls(**(kept | {name: value for name, value in given.items() if value is not None}))

    @property
    def model_options(self) -> dict[str, Any]:
        """The settings that were given for the model itself."""
        values = {name: getattr(self, name) for name, d in DECLARED.items() if d.option.for_model}
        return {
            name: value
            for name, value in values.items()
            if value not in (None, {}) and value is not False
        }

    def check_together(self) -> None:
        """Raise on values that cannot work together."""
        if not self.reads_below < self.bag_above:
            raise BadOption(
                "audit",
                reads_below=self.reads_below,
                bag_above=self.bag_above,
                need="shares between 0 and 1, the first the smaller",
            )
        if self.curtail and self.stop_when:
            raise BadOption("audit", curtail=True, stop_when=self.stop_when, need="one of the two")
        if self.stop_when and self.is_in_portions:
            raise BadOption(
                "audit",
                stop_when=self.stop_when,
                need=f"no {option('fail_if')} and no budget beside it",
            )
        if self.until == DECIDED and self.not_with_until:
            raise BadOption("audit", until=self.until, need=f"no {self.not_with_until} beside it")
        if len(set(self.prompt)) < len(self.prompt):
            raise BadOption("audit", prompt=list(self.prompt), need="each prompt once")

    @property
    def n_variants(self) -> int:
        """How many variants an example has at most, as far as that is known."""
        return self.q or MOST_BY_ITSELF

    @property
    def short_texts(self) -> Literal["skip", "use"]:
        """What becomes of examples with fewer variants than asked for."""
        return self.short or ("use" if self.q is None else "skip")

    @property
    def is_in_portions(self) -> bool:
        """Whether examples are taken in portions, since the run may end before the last."""
        return bool(self.fail_if) or self.is_limited or self.is_until_decided

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget."""
        limits = (self.max_questions, self.max_tokens, self.max_cost)
        return any(limit is not None for limit in limits)

    @property
    def is_until_decided(self) -> bool:
        """Whether the conclusion is looked at while examples come."""
        return self.until in (DECIDED, CONTINUED)

    @property
    def not_with_until(self) -> str:
        """What was asked for that a run cannot stop early for; empty where there is none."""
        asked: dict[str, object] = {
            "group_by": self.group_by,
            "score": self.score,
            "curtail": self.curtail,
            "stop_when": self.stop_when,
            "fail_if": self.fail_if,
            "fidelity": self.fidelity != "natural",
            "on": self.break_ != "text",
            "prompt": len(self.prompt) > 1,
            "engine": self.engine != "local",
        }
        return next((option(name) for name, value in asked.items() if value), "")

    @property
    def may_stop(self) -> bool:
        """Whether the run may end before the last example; they come in random order then."""
        return bool(self.stop_when) or self.is_in_portions

    @property
    def prompt_options(self) -> list[str]:
        """The options of prompts that have another value than usual."""
        return [
            option(each.name)
            for name, each in DECLARED.items()
            if each.option.for_prompt and not each.is_default(getattr(self, name))
        ]


def check_said_again(
    folder: object,
    request: type,
    settings: Mapping[str, Any],
    given: Mapping[str, Any],
    again: Callable[..., str],
) -> None:
    """Raise where recorded settings name what would be run or reached, and the user does not;
    `again` is what to type with it.
    """
    for name in must_be_said(request, settings):
        if not given.get(name):
            value = settings[name]
            said = value if isinstance(value, bool) else one_line(value)
            raise DisorderError(
                f"{folder} was begun with {option(name, said)}; nothing is run or reached because "
                f"a folder says so. If you trust it, repeat it: {again(**{name: said})}"
            )


AN_OBJECT = "…"  # stands for a model that has no spec


def resume_line(folder: object, model: str = "", **options: Any) -> str:
    """What resumes an audit, as whoever reads it writes it: a command, or a line of Python."""
    if names_options():
        declared = declared_in(ResumeOptions)
        words = [word for name, value in options.items() for word in declared[name].words(value)]
        return command_line("audit", "--resume", folder, *([model] if model else []), *words)
    named = {"model": model} if model else {}
    keywords = [f"{name}={_python(value)}" for name, value in (named | options).items()]
    return f"disorder.resume({', '.join([_python(str(folder)), *keywords])})"


def _python(value: Any) -> str:
    if value == AN_OBJECT:
        return AN_OBJECT
    return json.dumps(value, ensure_ascii=False)
