"""A run folder in place of a model and data: other verbs take what its audit was given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.requests.audit import SamplingOptions
from disorder.requests.groups import SeedOptions
from disorder.requests.option import changed, command_line, declared_in, held, must_be_said
from disorder.requests.settings import check_said_again
from disorder.results.run import Run
from disorder.results.run_folder import read_run, verb_of
from disorder.specs import listed
from disorder.store.storage import place
from disorder.verbs.model_loading import named_again
from disorder.verbs.prompting import check_prompts

IN_MEMORY = "data"  # how rows that were given as they are are called
LOGGED = "log"  # how model and data of another tool's logs are named: log:NAME
USUAL = "builtin"  # the data where none is named


def run_named(source: Any) -> Run | None:
    """The run in a folder; None where it is anything else, as a model's spec is."""
    if not isinstance(source, str | Path) or not str(source):
        return None
    is_plain = ":" not in str(source) or "://" in str(source)
    if not is_plain or verb_of(place(source)) != "audit":
        return None
    return read_run(source)


def run_of_log(source: Any) -> Run | None:
    """The run that another tool's logs were made into; None where it is anything else."""
    run = run_named(source)
    return run if run is not None and run.model.startswith(f"{LOGGED}:") else None


def with_run(
    verb: str, request: type, model: Any, data: Any, options: Mapping[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Model, data and options, where a run folder may stand for the first two: then with the run's
    own way to read them, unless options say otherwise.
    """
    run = run_named(model)
    if run is None:
        return model, data, dict(options)
    given = [model] if data == USUAL else [model, data]
    if data == USUAL:
        data = run.data
    if data == IN_MEMORY:
        raise DisorderError(f"the data of {model} was given in memory; name model and data")
    recorded = {**run.settings, "seed": run.seed}
    own = _recorded(request, recorded)

    def again(*named: object, **more: Any) -> str:
        """The same command with what it lacks."""
        settings = held(request, {**options, **more})
        return command_line(verb, *(named or given), *changed(request, settings))

    must = {name: run.settings[name] for name in must_be_said(request, run.settings)}
    spec = named_again(
        model, run.model, None, lambda: again(run.model, data, **{**own, **must, **options})
    )
    check_said_again(model, request, recorded, options, again)
    check_prompts(model, listed(own.get("prompt")), listed(options.get("prompt")), again)
    return spec, data, {**own, **options}


def _recorded(request: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run that another verb has too: how data and model are read, not how many
    texts are drawn, nor where its predictions are kept.
    """
    drawn = declared_in(SamplingOptions).keys() - declared_in(SeedOptions).keys()
    found = {}
    for name, declared in declared_in(request).items():
        value = settings.get(declared.recorded_name)
        is_elsewhere = declared.option.named_again and value != "off"
        is_other = isinstance(value, list | tuple) and declared.form is None  # scores of an audit
        if name in drawn or is_elsewhere or is_other or value is None or declared.is_default(value):
            continue
        found[name] = value[0] if name == "prompt" else value  # the others take one
    return found
