"""Finished runs, read back from their folders: samples as `Outcomes`, exactly as in the audit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from disorder.data.families import family_numbers
from disorder.errors import BadData, DisorderError
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.safe_io import visible
from disorder.store.sample_parts import SampleParts, read_examples
from disorder.store.samples import predictions_of
from disorder.transformations import Transformation, parse
from disorder.transformations.words import NATURAL
from disorder.types import ORIGINAL, Bools, Example, Fidelity, Floats, Ints, Outcomes, Variants
from disorder.verbs.outcomes import OutcomeFacts
from disorder.verbs.transformation_samples import ExampleNumbers, TransformationSamples

DRAWN = ["positions_a", "positions_b", "written_a", "written_b"]  # what a variant is


@dataclass
class FinishedRun:
    """A finished run: its examples in the order of their ids, and their place in the run."""

    folder: Path
    run: Run
    parts: SampleParts
    examples: list[Example]
    turns: Ints
    name: str = ""
    _last: tuple[str, pa.Table] | None = None

    @classmethod
    def open(cls, given: str | Path | Run) -> FinishedRun:
        """The run in a folder."""
        run = given if isinstance(given, Run) else read_run(given)  # says what is no folder
        folder = run.folder
        if folder is None:
            raise DisorderError("this run has no folder, so that it cannot be compared")
        run.check_done()
        if "q" not in run.settings:
            raise BadData(f"{folder}/run.json is damaged: its settings have no q")
        if not (folder / "samples").is_dir():
            raise BadData(f"{folder} has no samples, which a comparison reads; audit it again")
        examples = read_examples(folder)
        turns = sorted(range(len(examples)), key=lambda i: examples[i].id)
        parts = SampleParts.open(folder, to_write=False, of=run.binding, n_labels=len(run.labels))
        return cls(folder, run, parts, [examples[i] for i in turns], np.array(turns))

    def cut_otherwise(self, other: FinishedRun) -> list[str] | None:
        """The ids of examples whose texts one of two models read further than the other; None where
        the runs are about other examples.
        """
        by_id = {example.id: example for example in other.examples}
        pairs = [(mine, by_id[mine.id]) for mine in self.examples if mine.id in by_id]
        if len(pairs) < min(len(self.examples), len(by_id)):  # one may have stopped earlier
            return None
        for mine, theirs in pairs:
            if mine.label != theirs.label or not all(map(_is_part, mine.texts, theirs.texts)):
                return None
        return [mine.id for mine, theirs in pairs if mine.texts != theirs.texts]

    @property
    def fidelity(self) -> Fidelity:
        """Whose definitions it was measured by."""
        found = self.run.settings.get("fidelity")
        return next((each for each in get_args(Fidelity) if each == found), "paper")

    def samples(self, spec: str) -> RunSamples | None:
        """The samples that the scores of a transformation rest on; None where no example could be
        used.
        """
        table = self._table(spec)
        names, variants, predictions = predictions_of(table)
        places = self._numbers.places(names)
        kept = self._is_used(spec, places) & ~np.isnan(predictions[:, 0])
        if not kept.any():
            return None
        drawn = table.select(DRAWN).filter(pa.array(kept))
        return RunSamples(
            np.array([example.id for example in self.examples]),
            places[kept],
            np.asarray(variants)[kept],
            drawn,
            predictions[kept],
        )

    def outcomes(self, spec: str) -> Outcomes | None:
        """What the model predicted under a transformation; None where no example could be used."""
        transformation = None
        if spec != ORIGINAL:
            transformation = parse(spec, usual_words=self.run.usual_words(spec))
        table = self._table(spec)
        q = int(table["variant"].to_numpy().max(initial=0)) + 1
        samples = TransformationSamples.empty(transformation, q, self._numbers)
        samples.add(table, {}, len(self.examples))
        if transformation is not None and transformation.is_control:
            samples.enter_unchanged(self.original, partial(self._perturbed, transformation))
        is_used = self._is_used(spec, np.arange(len(self.examples)))
        chosen = np.flatnonzero(samples.used & is_used)
        if not len(chosen):
            return None
        self._fill_planned(samples, chosen)
        return samples.outcomes(
            self.original,
            chosen,
            self._facts,
            is_last=True,
            gives_probabilities=self.run.has_probabilities,
        )

    def _is_used(self, spec: str, places: Ints) -> Bools:
        """Which of these examples count: an engine may have predicted more by the time --stop-when
        was met, and one without an answer to the original text is left out.
        """
        n_stopped = self.run.stopped_after(spec)
        n_used = len(self.examples) if n_stopped is None else n_stopped
        is_reached = self.turns[places] < n_used
        return np.asarray(is_reached & ~np.isnan(self.original[places, 0]))

    @cached_property
    def _numbers(self) -> ExampleNumbers:
        return ExampleNumbers.of(self.run.full_task, self.examples)

    @property
    def _facts(self) -> OutcomeFacts:
        is_curtailed = bool(self.run.settings.get("curtail"))
        return OutcomeFacts(
            self.run.full_task, self.run.seed, self.fidelity, is_curtailed, self._families
        )

    @cached_property
    def _families(self) -> dict[str, int] | None:
        """The families of the examples of a natural run, by id."""
        return family_numbers(self.examples) if self.fidelity == NATURAL else None

    def _table(self, spec: str) -> pa.Table:
        """All parts of a transformation, each checked; the last one read is kept."""
        if self._last is not None and self._last[0] == spec:
            return self._last[1]
        number = 0 if spec == ORIGINAL else self.run.transformations.index(spec) + 1
        names = self.parts.names_of(spec, number)
        if not names:
            raise BadData(f"{self.folder} has no samples of {visible(spec)}; audit it again")
        self._last = (spec, self.parts.table(names))
        return self._last[1]

    @cached_property
    def original(self) -> Floats:
        """The predictions for the original texts, NaN where there is no answer."""
        samples = TransformationSamples.empty(None, 1, self._numbers)
        table = self._table(ORIGINAL)
        if table.num_rows != len(self.examples) or table["variant"].to_numpy().any():
            raise BadData(
                f"{self.folder}: its samples do not hold every original text; audit it again"
            )
        samples.add(table, {}, len(self.examples))
        return samples.values[:, 0]

    def _fill_planned(self, samples: TransformationSamples, chosen: Ints) -> None:
        """How many variants each example has, where --curtail left some unpredicted and an older
        version did not say.
        """
        transformation = samples.transformation
        is_known = not self._facts.is_curtailed or bool(samples.n_variants[chosen].all())
        if transformation is None or is_known:
            return
        settings = self.run.settings
        # those that depend on a model or other data always draw the full number
        if settings.get("short") != "use" or transformation.needs_context:
            samples.n_variants[chosen] = transformation.count(int(settings["q"]))
            return
        for i in chosen.tolist():
            samples.n_variants[i] = len(self._perturbed(transformation, self.examples[i]))

    def _perturbed(self, transformation: Transformation, example: Example) -> Variants:
        """All variants of an example, drawn again."""
        return transformation.apply(
            example,
            task=self.run.full_task,
            q=int(self.run.settings["q"]),
            seed=self.run.seed,
            short=self.run.settings.get("short", "skip"),
        )


def _is_part(one: str | None, other: str | None) -> bool:
    """Whether a text is the beginning or the end of another."""
    if one is None or other is None:
        return one is other
    short, long = sorted((one, other), key=len)
    return long.startswith(short) or long.endswith(short)


@dataclass(frozen=True, eq=False)
class RunSamples:
    """The rows of one transformation: the place of the example among the ids of the run, variant,
    its word positions or its texts, prediction.
    """

    ids: NDArray[np.str_]
    places: Ints
    variants: Ints
    drawn: pa.Table
    predictions: Floats

    def draws_as(self, other: RunSamples, cut: Collection[str] = ()) -> bool:
        """Whether the variants that both runs predicted choose the same words; those of examples
        that were cut at another place cannot.
        """
        width = int(max(self.variants.max(), other.variants.max())) + 1
        shared = np.setdiff1d(np.intersect1d(self.ids, other.ids), np.array(list(cut), dtype=str))
        mine, theirs = self._keys(shared, width), other._keys(shared, width)
        _, i, j = np.intersect1d(mine, theirs, return_indices=True)
        is_shared = mine[i] >= 0
        i, j = i[is_shared], j[is_shared]
        return bool(self.drawn.take(pa.array(i)).equals(other.drawn.take(pa.array(j))))

    def _keys(self, shared: NDArray[np.str_], width: int) -> Ints:
        """A number for each row by example and variant; −1 where the example is not shared."""
        number = np.full(len(self.ids), -1, dtype=np.int64)
        _, own, among = np.intersect1d(self.ids, shared, return_indices=True)
        number[own] = among
        found = number[self.places]
        return np.where(found < 0, -1, found * width + self.variants)
