"""Explanations of a study: `disorder.explain`, with its page in a folder of the study."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disorder.verbs.explain import Explanations, explain, write_folder
from disorder.verbs.study.naming import hashed_folder_name, raw_data, short_name
from disorder.verbs.study.result import StudyPicture
from disorder.verbs.study.workbench import Workbench
from disorder.verbs.train import with_prefix


def explain_in_folder(
    bench: Workbench, model: Any, data: Any, by: Sequence[str], *, q: int, transformation: str
) -> tuple[Explanations, Path]:
    """The explanations and their folder."""
    folder = bench.folder / "explained" / hashed_folder_name(model, data)
    settings: dict[str, Any] = {
        "q": q,
        "seed": bench.settings.seed,
        "fidelity": bench.fidelity,
    }
    if bench.settings.limit is not None:  # else the limit that explain has by itself
        settings["limit"] = bench.settings.limit
    found = explain(
        model,
        raw_data(data),
        by=by,
        with_=transformation,
        progress=with_prefix(bench.progress, f"{short_name(model)} {short_name(data)}"),
        **settings,
        **bench.settings.predicting,
    )
    command = ["disorder", "explain", found.model, found.data]
    for spec in by:
        command += ["--by", spec]
    for name, value in {"with": transformation, **settings}.items():
        command += [f"--{name}", str(value)]
    write_folder(folder, found, shlex.join(command))
    return found, folder


def pictures_of(found: Explanations, what: str) -> list[StudyPicture]:
    """The figures of explanations, each with what it is about."""
    return [
        StudyPicture(name=figure.name, caption=f"{what}: {figure.caption}", svg=figure.svg)
        for section in found.sections
        if section.found is not None
        for figure in section.found.figures
    ]
