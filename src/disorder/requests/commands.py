"""The command to type: the one place that writes a request as a command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from disorder.errors import names_options
from disorder.requests.audit import ResumeOptions
from disorder.requests.option import declared_in


def command_line(verb: str, *words: object) -> str:
    """What to type; every word is quoted where a shell needs it."""
    return shlex.join(["disorder", verb, *map(str, words)])


def changed(request: type, recorded: Mapping[str, Any]) -> list[str]:
    """The options that say how recorded settings differ from the defaults."""
    words = []
    for each in declared_in(request).values():
        value = recorded.get(each.recorded_name)
        if value is None or each.option.is_implied:
            continue
        if each.option.is_always_said or not each.is_default(value):
            words += each.words(value)
    return words


def must_be_said(request: type, recorded: Mapping[str, Any]) -> list[str]:
    """The options among recorded ones that must be said again when a run is resumed."""
    return [
        name
        for name, each in declared_in(request).items()
        if each.option.named_again == "must" and recorded.get(each.recorded_name)
    ]


def must_be_named(spec: str) -> bool:
    """Whether loading a model runs code or reaches another machine, so that only the user's own
    word counts.
    """
    from disorder.registry import ModelPart, parts

    entry = parts(ModelPart).get(spec.partition(":")[0])
    return bool(spec) and (entry is None or not entry.only_reads)


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
