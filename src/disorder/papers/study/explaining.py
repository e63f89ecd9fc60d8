"""Explanations of a study: `disorder.explain`, with its page in a folder of the study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disorder.papers.study.auditing import check_given
from disorder.papers.study.naming import (
    GivenRun,
    hashed_folder_name,
    raw_data,
    short_name,
    title_of,
)
from disorder.papers.study.replaying import StoredPredictions
from disorder.papers.study.result import StudyPicture
from disorder.papers.study.workbench import Workbench
from disorder.requests.explain import ExplainOptions
from disorder.requests.option import changed, command_line
from disorder.verbs.explain import Explanations, explain, write_folder
from disorder.verbs.train import with_prefix


def explain_in_folder(
    bench: Workbench,
    model: Any,
    data: Any,
    by: Sequence[str],
    *,
    q: int,
    transformation: str,
    names: Sequence[str] = (),
) -> tuple[Explanations, Path]:
    """The explanations and their folder; `names` tell it from others of the same model and data."""
    folder = bench.folder / "explained" / hashed_folder_name(model, data, *names)
    settings: dict[str, Any] = {
        "q": q,
        "seed": bench.settings.seed,
        "fidelity": bench.fidelity,
        "short": bench.settings.short or "skip",
        "limit": bench.settings.limit,  # None: all examples, not the limit that explain has
    }
    predictor, examples = model, raw_data(data)
    reading = bench.predicting(model)
    if isinstance(model, GivenRun):
        check_given(model, [transformation], q=q, fidelity=bench.fidelity)
        predictor = StoredPredictions(model)
        examples = predictor.dataset
        settings |= {name: model.run.settings[name] for name in ("q", "fidelity", "short")}
        settings |= {"seed": model.run.seed, "limit": None}
        reading = {}
    found = explain(
        predictor,
        examples,
        by=by,
        with_=transformation,
        progress=with_prefix(bench.progress, f"{short_name(model)} {short_name(data)}"),
        **settings,
        **reading,
    )
    made = {
        **settings,
        "by": by,
        "transformation": transformation,
        "limit": settings.get("limit") or found.n_examples,
    }
    words = [title_of(model), title_of(data), *changed(ExplainOptions, made)]
    found.command = command_line("explain", *words)
    write_folder(folder, found)
    return found, folder


def pictures_of(found: Explanations, what: str) -> list[StudyPicture]:
    """The figures of explanations, each with what it is about."""
    return [
        StudyPicture(name=figure.name, caption=f"{what}: {figure.caption}", svg=figure.svg)
        for figure in found.figures
    ]
