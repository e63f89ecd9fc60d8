"""Audits of a study: `disorder.audit` in a folder of the study, resumed if it was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from disorder.errors import DisorderError
from disorder.metrics import ORIGINAL
from disorder.runs import Run, read_run
from disorder.transformations import parse
from disorder.types import Fidelity
from disorder.verbs.audit import audit, resume
from disorder.verbs.study.kept_steps import check_made_of
from disorder.verbs.study.naming import GivenRun, hashed_folder_name, raw_data, short_name
from disorder.verbs.study.workbench import Workbench
from disorder.verbs.train import with_prefix


def audit_once(
    bench: Workbench,
    model: Any,
    data: Any,
    transformations: Sequence[str],
    *,
    q: int,
    limit: int | None = None,
    short: Literal["skip", "use"] = "skip",
) -> tuple[Run, Path]:
    """The audit and its folder; one that was started is resumed, a given run is taken as it is."""
    if isinstance(model, GivenRun):
        _check_given(model, transformations, q=q, fidelity=bench.fidelity)
        return model.run, model.folder
    folder = bench.folder / "runs" / hashed_folder_name(model, data)
    progress = with_prefix(bench.progress, f"{short_name(model)} {short_name(data)}")
    if (folder / "run.json").exists():
        now = bench.made_of(model=model, data=data, limit=limit)
        check_made_of(folder, read_run(folder).hashes, now)
        run = resume(
            folder,
            model=model,
            data=raw_data(data),
            with_=transformations,
            cache=bench.settings.cache,
            progress=progress,
        )
        return run, folder
    run = audit(
        model,
        raw_data(data),
        with_=transformations,
        q=q,
        limit=limit,
        short=short,
        seed=bench.settings.seed,
        fidelity=bench.fidelity,
        out=folder,
        progress=progress,
        **bench.settings.predicting,
    )
    return run, folder


def _check_given(
    given: GivenRun, transformations: Sequence[str], *, q: int, fidelity: Fidelity
) -> None:
    """Raise unless a finished audit has what the item needs."""
    folder = given.folder
    run = given.run
    if run.status != "done":
        raise DisorderError(f"{folder} is not finished; resume: disorder audit --resume {folder}")
    wanted = canonical_specs(transformations, fidelity)
    missing = [spec for spec in wanted if spec not in (ORIGINAL, *run.transformations)]
    if missing:
        raise DisorderError(
            f"{folder} has no {', '.join(missing)}; audit again with --with {missing[0]}"
        )
    for name, value in (("q", q), ("fidelity", fidelity)):
        has = run.settings[name]
        if has != value:
            raise DisorderError(f"{folder} has {name} {has}, the study {value}; say --{name} {has}")


def canonical_specs(transformations: Sequence[str], fidelity: Fidelity) -> list[str]:
    """Specs as runs spell them; `original` stays."""
    return [
        spec if spec == ORIGINAL else parse(spec, fidelity=fidelity).spec
        for spec in transformations
    ]
