"""Explanations of a study: `disorder.explain`, with its page in a folder of the study.

A finished run can stand for a model: its stored predictions are given again, none is made, for
texts that are drawn again with the run's seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import DisorderError, DoesNotApply
from disorder.papers.study.auditing import check_given
from disorder.papers.study.naming import (
    GivenRun,
    hashed_folder_name,
    raw_data,
    short_name,
    title_of,
)
from disorder.papers.study.result import StudyPicture
from disorder.papers.study.workbench import Workbench
from disorder.requests.explain import ExplainOptions
from disorder.requests.option import changed, command_line
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import ORIGINAL, Dataset, Floats, Texts
from disorder.verbs.compare import FinishedRun
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
