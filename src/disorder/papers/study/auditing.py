"""Audits of a study: `disorder.audit` in a folder of the study, resumed if it was stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from disorder.errors import DisorderError, option
from disorder.papers.study.naming import (
    GivenRun,
    hashed_folder_name,
    raw_data,
    short_name,
    title_of,
)
from disorder.papers.study.part_settings import spec_in_run
from disorder.papers.study.workbench import Workbench, check_made_of
from disorder.requests.settings import resume_line
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.types import Fidelity
from disorder.verbs.audit import audit, resume
from disorder.verbs.train import with_prefix


@dataclass(frozen=True)
class StudiedRun:
    """The audit of one model on one dataset, and how the tables of a study name it."""

    run: Run
    folder: Path
    about: Mapping[str, str]
    name: str


def audited_pairs(
    bench: Workbench,
    transformations: Sequence[str],
    *,
    q: int | None,
    short: Literal["skip", "use"] = "skip",
    curtails: Sequence[str] = (),
) -> Iterator[StudiedRun]:
    """The audits of all models of a study on all of its data."""
    for model, data in bench.pairs():
        run, folder = audit_once(
            bench,
            model,
            data,
            transformations,
            q=bench.q(q),
            limit=bench.settings.limit,
            short=short,
            curtails=curtails,
        )
        about = {"model": title_of(model), "data": bench.name_of(data)}
        yield StudiedRun(run, folder, about, f"{short_name(model)} on {short_name(data)}")


def audit_once(
    bench: Workbench,
    model: Any,
    data: Any,
    transformations: Sequence[str],
    *,
    q: int,
    limit: int | None = None,
    short: Literal["skip", "use"] = "skip",
    train: str | None = None,
    curtails: Sequence[str] = (),
) -> tuple[Run, Path]:
    """The audit and its folder; one that was started is resumed, a given run is taken as it is.

    `train` is what transformations learn from that need to. `curtails` are the scores to which an
    audit may be curtailed, where they are all that is needed.
    """
    if isinstance(model, GivenRun):
        check_given(model, transformations, q=q, fidelity=bench.fidelity)
        return model.run, model.folder
    folder = bench.folder / "runs" / hashed_folder_name(model, data)
    specs = [bench.spec_of(spec, train=train) for spec in transformations]
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
        with_=specs,
        q=q,
        limit=limit,
        short=bench.settings.short or short,
        seed=bench.settings.seed,
        fidelity=bench.fidelity,
        out=folder,
        progress=progress,
        engine=bench.settings.engine,
        workers=bench.settings.workers,
        **_curtailed(bench, curtails),
        **bench.predicting(model, data),
    )
    return run, folder


def _curtailed(bench: Workbench, scores: Sequence[str]) -> dict[str, Any]:
    """What stops an audit early, where the user asks for it and the item needs nothing more."""
    if not bench.settings.curtail:
        return {}
    if not scores:
        raise DisorderError(
            f"{option('curtail')}: this item needs every prediction (it stops early only where Ω "
            "scores and "
            "accuracy are all that is measured)"
        )
    return {"curtail": True, "score": list(scores)}


def check_given(
    given: GivenRun, transformations: Sequence[str], *, q: int, fidelity: Fidelity
) -> None:
    """Raise unless a finished audit has what the item needs."""
    folder = given.folder
    run = given.run
    if run.status != "done":
        raise DisorderError(f"{folder} is not finished; resume it: {resume_line(folder)}")
    missing = [spec for spec in transformations if spec_in_run(run, spec) is None]
    if missing:
        raise DisorderError(
            f"{folder} has no {', '.join(missing)}; audit again with {option('with_', missing[0])}"
        )
    for name, value in (("q", q), ("fidelity", fidelity)):
        has = run.settings[name]
        if has != value:
            raise DisorderError(
                f"{folder} has {name} {has}, the study {value}; say {option(name, has)}"
            )
