"""A finished run in place of a model: its stored predictions are given again, none is made.

Texts are drawn again with the run's seed, as they were when the run was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from disorder.errors import DisorderError, DoesNotApply
from disorder.papers.study.naming import GivenRun
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import ORIGINAL, Dataset, Floats, Texts
from disorder.verbs.compare import FinishedRun


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
