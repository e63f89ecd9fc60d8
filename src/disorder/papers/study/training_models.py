"""Trainings of a study: `train`, `designs` and `mitigations` in folders of the study.

A training that was finished before is reused, one that was stopped is resumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from disorder.errors import BadData, DisorderError, option
from disorder.papers.study.part_settings import canonical
from disorder.papers.study.workbench import (
    Workbench,
    hashed_folder_name,
    raw_data,
    short_name,
    title_of,
)
from disorder.papers.training import Design, Finding, designs, mitigations
from disorder.specs import split_spec
from disorder.types import ORIGINAL
from disorder.verbs.train import (
    EQUAL_ARMS,
    TrainingRequest,
    TrainingSource,
    is_training,
    loop_setting_names,
    read_record,
    train_once,
    with_prefix,
)

# as the papers do: no epoch is picked, and nothing is kept apart of the training data
LAST_EPOCH = {"epoch": "last"}
ALL_ROWS = {**LAST_EPOCH, "held_out": "false"}


@dataclass(frozen=True)
class TrainingArm:
    """One way to train: recipe, texts and settings; `never_abstains` removes the threshold that it
    stores, `of` names the arm that it begins from.
    """

    recipe: str = "plain"
    on: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    never_abstains: bool = False
    of: str = ""


def perturbed_by(arms: Mapping[str, TrainingArm]) -> list[str]:
    """The transformations whose texts some arm trains on."""
    return list(dict.fromkeys(spec for arm in arms.values() for spec in arm.on if spec != ORIGINAL))


def train_model(
    bench: Workbench,
    model: str,
    name: str,
    arm: TrainingArm,
    *,
    seed: int,
    usual: Mapping[str, str],
    dev: Any = None,
    start: str | None = None,
) -> str:
    """The spec of a model trained in one way on the bench's training data.

    `name` tells this way from others of the same model; `usual` are the paper's settings. `dev` is
    data to score answers on, where those are trained; `start` a trained model to begin from, which
    keeps the settings of its network.
    """
    out = bench.folder / "models" / hashed_folder_name(model, name, f"seed-{seed}")
    base = TrainingRequest(data=bench.train, fidelity="paper", **_request(bench, model, usual))
    if start is not None:
        names = loop_setting_names()
        kept = {key: value for key, value in base.settings.items() if key in names}
        base = replace(base, model=start, settings=kept)
    request = replace(
        base,
        recipe=arm.recipe,
        settings={**base.settings, **arm.settings},
        on=[canonical(bench.spec_of(spec, train=bench.train), bench.fidelity) for spec in arm.on],
        seed=seed,
        dev=dev,
    )
    spec = train_once(
        request,
        _training_data(bench, base),
        out=out,
        progress=with_prefix(bench.progress, f"{short_name(model)} {name} seed {seed}"),
    )
    if arm.never_abstains:
        (out / "calibration.json").unlink(missing_ok=True)
    return spec


def held_out_notes(spec: Any, what: str) -> list[str]:
    """How many examples a training (`what`) held out, where its recipe needs some for itself."""
    record = training_of(spec)
    if record is None or record.get("dev_was_trained_on", True):
        return []
    return [f"{what}: trained on {record['n_train']:,} examples; {record['n_dev']:,} were held out"]


def training_of(spec: Any) -> dict[str, Any] | None:
    """The record of the training that made a model; None where its folder holds none of ours."""
    folder = Path(split_spec(spec)[1]) if isinstance(spec, str) else Path()
    if not isinstance(spec, str) or not is_training(folder):
        return None
    try:
        return read_record(folder)
    except BadData:  # another program's training.json, beside weights that load
        return None


def said_trainings(models: Sequence[Any]) -> list[str]:
    """What models that were trained before the study learned from, those alike in one phrase."""
    found: dict[str, list[str]] = {}
    for spec in dict.fromkeys(map(title_of, models)):
        record = training_of(spec)
        if record is not None and "n_train" in record:
            asked = record["request"]
            said = f"trained on {record['n_train']:,} examples of {asked['data']}"
            found.setdefault(f"{said} (seed {asked['seed']})", []).append(short_name(spec))
    if len(found) == 1 and len(models) == len(next(iter(found.values()))):
        return list(found)
    return [f"{', '.join(names)} {said}" for said, names in found.items()]


def run_designs(
    bench: Workbench, model: str, test: Any, on: Sequence[str], usual: Mapping[str, str]
) -> tuple[list[Design], Path]:
    """The three designs over all seeds, and the folder of their models."""
    out = bench.folder / "models" / hashed_folder_name(model)
    found = designs(
        bench.train,
        raw_data(test),
        [canonical(bench.spec_of(spec), bench.fidelity) for spec in on],
        out=out,
        progress=with_prefix(bench.progress, short_name(model)),
        seed=bench.settings.seed,
        seeds=len(bench.settings.seeds_to_train),
        test_limit=bench.settings.test_limit,
        **_request(bench, model, usual),
    )
    return found, out


def run_mitigations(
    bench: Workbench,
    model: str,
    train: str,
    test: Any,
    *,
    usual: Mapping[str, str],
    recipes: Sequence[str],
    on: Sequence[str],
    transfer: str | None,
) -> tuple[list[Finding], Path]:
    """What `disorder mitigations` finds over all seeds, and the folder of its models."""
    out = bench.folder / "models" / hashed_folder_name(model, train)
    found = mitigations(
        train,
        raw_data(test),
        out=out,
        progress=with_prefix(bench.progress, f"{short_name(model)} {short_name(test)}"),
        fidelity=bench.fidelity,
        recipe=recipes,
        with_=on,
        transfer=transfer,
        refit=True,  # as the paper does, once a tenth has chosen
        seed=bench.settings.seed,
        seeds=len(bench.settings.seeds_to_train),
        test_limit=bench.settings.test_limit,
        **_request(bench, model, usual, LAST_EPOCH),  # thresholds are fitted on what is held out
    )
    return found, out


def _request(
    bench: Workbench,
    model: str,
    usual: Mapping[str, str],
    fixed: Mapping[str, str] = MappingProxyType(ALL_ROWS),
) -> dict[str, Any]:
    """What every training gets; the paper's settings are for the encoders that it fine-tunes."""
    if bench.settings.of_training.get("epoch") == "best":
        fixed = {}
    papers = usual if model.startswith("hf:") else {}
    return {
        "model": model,
        "settings": {**EQUAL_ARMS, **fixed, **papers, **bench.settings.of_training},
        "limit": bench.settings.limit,
        "device": bench.settings.device,
        "columns": bench.settings.columns,
        "task": bench.settings.task,
        "data_dir": bench.settings.data_dir,
    }


def _training_data(bench: Workbench, request: TrainingRequest) -> TrainingSource:
    """The training data, read once for all models of a study."""
    if bench.train is None:
        raise DisorderError(f"training data is missing: say {option('train', 'DATA')}")
    if bench.train not in bench.sources:
        bench.sources.clear()  # one at a time: training data can be large
        bench.sources[bench.train] = TrainingSource.of(request)
    read: TrainingSource = bench.sources[bench.train]
    return read
