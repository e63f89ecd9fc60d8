"""Audits and explanations of a study: `disorder.audit` and `disorder.explain`, in folders of the
study; what was stopped is resumed.

A finished run can stand for a model: its stored predictions are given again, none is made, for
texts that are drawn again with the run’s seed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from disorder.errors import DisorderError, DoesNotApply, option
from disorder.papers.study.part_settings import spec_in_run
from disorder.papers.study.result import StudyPicture
from disorder.papers.study.workbench import (
    GivenRun,
    Workbench,
    check_made_of,
    hashed_folder_name,
    raw_data,
    short_name,
    title_of,
)
from disorder.requests.explain import ExplainOptions
from disorder.requests.option import changed, command_line
from disorder.requests.settings import resume_line
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import ORIGINAL, Dataset, Fidelity, Floats, Texts
from disorder.verbs.audit import audit, preview, resume
from disorder.verbs.compare import FinishedRun
from disorder.verbs.explain import Explanations, explain, write_folder
from disorder.verbs.train import with_prefix

logger = logging.getLogger("disorder")


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
    """The audit and its folder, begun, resumed or given; `train` is what transformations learn
    from, `curtails` the scores to which it may be curtailed.
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
    else:
        settings: dict[str, Any] = {
            "with_": specs,
            "q": q,
            "limit": limit,
            "short": bench.settings.short or short,
            "seed": bench.settings.seed,
            "fidelity": bench.fidelity,
            "engine": bench.settings.engine,
            "workers": bench.settings.workers,
            **_curtailed(bench, curtails),
            **bench.predicting(model, data),
            **bench.budget_left(),
        }
        n_calls = preview(model, raw_data(data), **settings).n_questions
        what = f"{short_name(model)} on {short_name(data)}"
        logger.info("%s: at most %s model calls", what, f"{n_calls:,}")
        run = audit(model, raw_data(data), out=folder, progress=progress, **settings)
    bench.spent.update(run.spent)
    bench.notes += [
        f"{short_name(model)} on {short_name(data)}: {n:,} examples {reason}"
        for reason, n in run.skips.get("data", {}).items()
        if reason.startswith("not predicted")
    ]
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
        **bench.budget_left(),
    )
    bench.spent.update(found.spent)
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


class StoredPredictions:
    """A model that knows the texts of one run and no other."""

    def __init__(self, given: GivenRun) -> None:
        self.finished = FinishedRun.open(given.folder)
        self.labels = list(self.finished.run.full_task.labels)
        self.__name__ = given.run.model

    @property
    def dataset(self) -> Dataset:
        """The examples of the run."""
        run = self.finished.run
        return Dataset(
            run.data, run.full_task, self.finished.examples, {}, run.hashes.get("data", "")
        )

    def __call__(self, texts: Sequence[Texts]) -> Floats:
        """The stored predictions for these texts."""
        try:
            return np.stack([self._known[_key(text)] for text in texts])
        except KeyError:
            raise DisorderError(
                f"{self.finished.folder} has no prediction for some of the texts; this item needs "
                "the model itself"
            ) from None

    @cached_property
    def _known(self) -> dict[tuple[str, str | None], Floats]:
        return dict(self._stored())

    def _stored(self) -> Iterator[tuple[tuple[str, str | None], Floats]]:
        finished = self.finished
        originals = zip(finished.examples, finished.original, strict=True)
        yield from ((_key(example.texts), row) for example, row in originals)
        run = finished.run
        for spec in run.transformations:
            samples = None if parse(spec).needs_context else finished.samples(spec)
            if spec == ORIGINAL or samples is None:
                continue
            made = parse(spec).apply_all(
                finished.examples,
                task=run.full_task,
                q=int(run.settings["q"]),
                seed=run.seed,
                short=str(run.settings["short"]),
                context=None,
            )
            drawn = [() if isinstance(each, DoesNotApply) else variant_texts(each) for each in made]
            rows = zip(samples.places, samples.variants, samples.predictions, strict=True)
            for place, variant, prediction in rows:
                if variant < len(drawn[place]):
                    yield _key(drawn[place][variant]), prediction


def _key(text: Texts | str) -> tuple[str, str | None]:
    return (text, None) if isinstance(text, str) else (text[0], text[1] if len(text) > 1 else None)
