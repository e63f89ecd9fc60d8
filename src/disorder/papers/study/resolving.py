"""Models and data of a study: which of the words after an item are which, and the paper's own
where nothing was named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from disorder.data import joined_specs, named_set_of
from disorder.data.files import READERS
from disorder.errors import DisorderError, Lacking, UnknownName, option
from disorder.papers.requests import PaperFidelity
from disorder.papers.study.item import StudyItem
from disorder.papers.study.preflight import is_available, why_no_data, why_no_models
from disorder.papers.study.workbench import (
    LEARNING,
    Given,
    GivenDesigns,
    GivenRun,
    NamedRows,
    title_of,
)
from disorder.papers.training import FinishedDesigns
from disorder.registry import DataPart, ModelPart, NetworkPart, parts
from disorder.results.run_folder import read_run
from disorder.specs import split_spec
from disorder.transformations import parse
from disorder.transformations.applying.transformation import OF_MODEL
from disorder.types import ORIGINAL, Dataset

WHOSE = get_args(PaperFidelity)
HUMAN_TASK = "task.json"  # in a folder that people answer


def as_list(given: Any) -> list[Any]:
    """Models or sets of data as a list; rows (a list of dictionaries) are one set of data."""
    is_several = isinstance(given, list | tuple)
    is_rows = is_several and given and all(isinstance(each, Mapping) for each in given)
    return list(given) if is_several and not is_rows else [given]


def split_models_and_data(
    given: Iterable[Any], *, needs_model: bool
) -> tuple[list[Any], list[Any]]:
    """Models and data, in order; what can be both (`builtin`) is a model first, then data."""
    models: list[Any] = []
    data: list[Any] = []
    for each in map(as_given_run, given):
        kind = _kind(each)
        is_model = kind == "model" or (kind == "either" and needs_model and not models)
        if is_model:
            models.append(each)
        else:
            data.append(each)
    return models, data


def as_given_run(given: Any) -> Any:
    """A folder of a run or of designs as what is in it, a path as its spec; all else stays."""
    if not isinstance(given, str | Path):
        return given
    folder = Path(given)
    if (folder / "run.json").is_file():
        return GivenRun(folder, read_run(folder))
    return (
        GivenDesigns(FinishedDesigns.open(folder)) if FinishedDesigns.are_in(folder) else str(given)
    )


def _kind(given: Any) -> Literal["model", "data", "either"]:
    if not isinstance(given, str):
        is_data = isinstance(given, list | Dataset | NamedRows) or hasattr(given, "to_dict")
        return "data" if is_data else "model"
    name, address = split_spec(given)
    if (Path(given) / HUMAN_TASK).is_file() or len(joined_specs(given)) > 1:
        return "data"
    if name == "hf":
        return "data" if ":" in address and not Path(address).exists() else "model"
    if name == "builtin":
        return "model" if address == "bow" else "data" if address else "either"
    if named_set_of(given) is not None or Path(given).suffix.lower() in {*READERS, ".gz"}:
        return "data"
    if name in parts(ModelPart) or name in parts(NetworkPart):
        return "model"
    return "data" if name in parts(DataPart) or Path(given).is_file() else "model"


def usual_fidelity(item: StudyItem, models: Sequence[Any]) -> PaperFidelity:
    """Whose definitions are used unless the user says: those of finished runs, else the item's; as
    described where released code needs tokens that a model does not show.
    """
    for model in models:
        if isinstance(model, GivenRun) and model.run.settings.get("fidelity") in WHOSE:
            found: PaperFidelity = model.run.settings["fidelity"]
            return found
    has_tokens = all(isinstance(model, str) and model.startswith("hf:") for model in models)
    if item.fidelity == "released" and not has_tokens:
        named = [spec for spec in item.pipeline.perturbs if spec not in (ORIGINAL, *LEARNING)]
        if any(parse(spec, fidelity="released").needs & set(OF_MODEL) for spec in named):
            return "paper"
    return item.fidelity


def models_for(item: StudyItem, given: Sequence[Any]) -> list[Any]:
    """The models that were named, else the paper's own, if they are available."""
    pipeline = item.pipeline
    if given and not pipeline.needs_model and pipeline.kind != "drawing":
        raise DisorderError(f"{title_of(given[0])!r}: {_what_it_takes(item)}")
    for model in given if not pipeline.trains else ():
        if isinstance(model, str) and model in parts(NetworkPart):
            raise DisorderError(
                f"{item.name} tests trained models and trains none: "
                f"disorder train plain DATA --model {model} --out FOLDER, then {model}:FOLDER"
            )
    if not pipeline.takes_runs and any(isinstance(model, GivenRun) for model in given):
        raise DisorderError(
            f"{item.name} needs the model itself: it trains, or predicts what no audit does"
        )
    if not pipeline.takes_designs and any(isinstance(model, GivenDesigns) for model in given):
        raise DisorderError(f"{item.name} is not made of designs; name a model or a run")
    if given or not pipeline.needs_model:
        return list(given)
    example = "bilstm" if pipeline.trains else "hf:FOLDER"
    purpose = "to train" if pipeline.trains else "to test"
    advice = f"{item.name} needs a model {purpose}: disorder study {item.name} {example}"
    if not item.models:
        raise Lacking(advice)
    if why := why_no_models(item):
        raise Lacking(f"{advice} (the paper's own, {', '.join(item.models)}: {why})")
    return list(item.models)


def _what_it_takes(item: StudyItem) -> str:
    takes, word = "data only", "DATA"
    if item.pipeline.kind == "people":
        takes, word = "folders that people answered", "TASK"
    return f"{item.name} takes {takes}: disorder study {item.name} {word}"


def data_for(
    item: StudyItem, given: Sequence[Any], data_dir: str | None, models: Sequence[Any] = ()
) -> tuple[list[Any], list[str]]:
    """The data that was named or is a run's own, else those of the paper's sets that are available,
    and notes on the others.
    """
    has_own = models and all(isinstance(model, Given) for model in models)
    if given or has_own or item.pipeline.kind == "people":
        return _named(given), []
    missing = [spec for spec in item.data if not is_available(spec, data_dir)]
    found = [spec for spec in item.data if spec not in missing]
    if not missing:
        return found, []
    names = ", ".join(missing)
    if not found:
        raise Lacking(
            f"{item.name} needs data: {names}: {why_no_data(data_dir)}; or name a FILE.jsonl"
        )
    return found, [f"left out: {names} ({why_no_data(data_dir)})"]


def _named(data: Sequence[Any]) -> list[Any]:
    """Rows from Python are called `rows 1`, `rows 2`, …; specs have their names."""
    unnamed = dict.fromkeys(id(each) for each in data if not isinstance(each, str))
    numbers = {key: number for number, key in enumerate(unnamed, start=1)}
    return [
        each if isinstance(each, str) else NamedRows(f"rows {numbers[id(each)]}", each)
        for each in data
    ]


def published_names(item: StudyItem, models: Sequence[Any], names: Sequence[str]) -> dict[str, str]:
    """Which published model each of ours stands for."""
    means = {mean.name: mean for mean in item.means if mean.key == "model"}
    known = item.published_table.values("model")
    if not known and item.subject:
        known = [item.subject]
    members = [name for mean in means.values() for name in mean.members]
    known = list(dict.fromkeys([*(name for name in known if name not in means), *members]))
    if len(names) > len(models):
        counted = "1 model" if len(models) == 1 else f"{len(models)} models"
        raise DisorderError(f"{option('as_')} was given {len(names)} times for {counted}")
    for name in names:
        if name in means:
            several = ", ".join(means[name].members)
            raise DisorderError(
                f"{option('as_', name)}: no single model stands for it; name "
                f"{len(means[name].members)} "
                f"models, each {option('as_')} one of {several}, and their mean is that row"
            )
        if name not in known:
            options = known or ["(its numbers are about no model)"]
            raise UnknownName(f"model of {item.name}", name, options)
    given = {title_of(model): name for model, name in zip(models, names, strict=False)}
    return {**item.models, **given}


def check_folders(models: Sequence[Any]) -> None:
    """Raise where the folder of a model is not there, before anything is computed."""
    for model in models:
        address = split_spec(model)[1] if isinstance(model, str) else ""
        if address.startswith(("/", "./", "../", "~")) and not Path(address).expanduser().exists():
            raise DisorderError(f"{model}: no such folder")


def check_distinct(item: StudyItem, models: Sequence[Any], data: Sequence[Any]) -> None:
    """Raise where two rows of the table could not be told apart."""
    advice = "rows must differ in model or data"
    if not item.pipeline.needs_model:
        advice = _what_it_takes(item)
    of_models = [
        f"{title_of(model)} on {title_of(model.data)}"
        if isinstance(model, Given)
        else title_of(model)
        for model in models
    ]
    for titles in (of_models, [title_of(each) for each in data]):
        for name, n in Counter(titles).items():
            if n > 1:
                raise DisorderError(f"{name!r} is named twice; {advice}")
