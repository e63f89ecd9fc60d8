"""Finished runs, read back from their folders: samples as `Outcomes`, exactly as in the audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from disorder.errors import BadData, DisorderError
from disorder.metrics import ORIGINAL
from disorder.report.page import visible
from disorder.runs import Run, SampleParts, predictions_of, read_examples, read_run
from disorder.transformations import Transformation, parse
from disorder.types import Example, Fidelity, Floats, Ints, Outcomes
from disorder.verbs.outcomes import build_outcomes

POSITIONS = ["positions_a", "positions_b"]


@dataclass(frozen=True, eq=False)
class RunSamples:
    """The rows of one transformation: example, variant, word positions, prediction."""

    places: Ints
    variants: Ints
    positions: pa.Table
    predictions: Floats

    def draws_as(self, other: RunSamples) -> bool:
        """Whether the variants that both runs predicted choose the same words."""
        width = int(max(self.variants.max(), other.variants.max())) + 1
        mine, theirs = (samples.places * width + samples.variants for samples in (self, other))
        _, i, j = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
        return bool(self.positions.take(pa.array(i)).equals(other.positions.take(pa.array(j))))


@dataclass
class FinishedRun:
    """A finished run: its examples in the order of their ids, and their place in the run."""

    folder: Path
    run: Run
    parts: SampleParts
    examples: list[Example]
    turns: Ints
    name: str = ""

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
        parts = SampleParts.open(folder, to_write=False, of=run.binding)
        return cls(folder, run, parts, [examples[i] for i in turns], np.array(turns))

    @property
    def rows(self) -> list[tuple[str, str, str | None, str]]:
        """What the run was about."""
        return [(e.id, e.text_a, e.text_b, e.label) for e in self.examples]

    @property
    def fidelity(self) -> Fidelity:
        """Whose definitions it was measured by."""
        return "released" if self.run.settings.get("fidelity") == "released" else "paper"

    def samples(self, spec: str) -> RunSamples | None:
        """The samples that the scores of a transformation rest on, None where no example could be
        used.
        """
        numbers = {example.id: i for i, example in enumerate(self.examples)}
        table = self._table(spec)
        names, variants, predictions = predictions_of(table)
        try:
            places = np.array([numbers[name] for name in names], dtype=np.int64)
        except KeyError as name:
            raise BadData(
                f"{self.folder}: its samples name example {name}, examples.parquet does not"
            ) from None
        n_stopped = self.run.stopped_after(spec)
        n_used = len(self.examples) if n_stopped is None else n_stopped
        # an engine may have predicted more by the time --stop-when was met
        kept = (self.turns[places] < n_used) & ~np.isnan(predictions[:, 0])
        if spec != ORIGINAL:
            kept &= ~np.isnan(self.original[places, 0])
        if not kept.any():
            return None
        positions = table.select(POSITIONS).filter(pa.array(kept))
        return RunSamples(places[kept], np.asarray(variants)[kept], positions, predictions[kept])

    def _table(self, spec: str) -> pa.Table:
        """All parts of a transformation, each checked against its checksum."""
        number = 0 if spec == ORIGINAL else self.run.transformations.index(spec) + 1
        names = sorted(part for part in self.parts.known if part.startswith(f"{number:02d}-"))
        tables = []
        for name in names:
            read = self.parts.read(name)
            if read is None:
                raise BadData(
                    f"{self.folder}: samples/{visible(name)} is missing or damaged; audit it again"
                )
            tables.append(read[0])
        if not tables:
            raise BadData(f"{self.folder} has no samples of {visible(spec)}; audit it again")
        return pa.concat_tables(tables)

    @cached_property
    def original(self) -> Floats:
        """The predictions for the original texts, NaN where there is no answer."""
        numbers = {example.id: i for i, example in enumerate(self.examples)}
        names, _, found = predictions_of(self._table(ORIGINAL))
        if sorted(names) != sorted(numbers):
            raise BadData(
                f"{self.folder}: its samples do not hold every original text; audit it again"
            )
        predictions = np.empty_like(found)
        predictions[[numbers[name] for name in names]] = found
        return np.asarray(predictions)

    def outcomes(self, spec: str, samples: RunSamples) -> Outcomes:
        """What the model predicted under a transformation."""
        q = int(samples.variants.max()) + 1
        shape = (len(self.examples), q, samples.predictions.shape[1])
        predictions: Floats = np.full(shape, np.nan, dtype=np.float32)
        predictions[samples.places, samples.variants] = samples.predictions
        used = np.unique(samples.places)
        examples = [self.examples[i] for i in used.tolist()]
        transformation = None
        if spec != ORIGINAL:
            transformation = parse(spec, usual_words=self.run.usual_words(spec))
        return build_outcomes(
            self.run.full_task,
            examples,
            self.original[used],
            predictions[used],
            transformation,
            seed=self.run.seed,
            fidelity=self.fidelity,
            n_planned=self._planned(transformation, examples),
            gives_probabilities=self.run.has_probabilities,
        )

    def _planned(
        self, transformation: Transformation | None, examples: Sequence[Example]
    ) -> Ints | None:
        """How many variants each example has, where --curtail left some unpredicted."""
        settings = self.run.settings
        q = int(settings["q"])
        if transformation is None or not settings.get("curtail"):
            return None
        # those that depend on a model or other data always draw the full number
        if settings.get("short") != "use" or transformation.asks_others:
            return np.full(len(examples), transformation.count(q))
        task = self.run.full_task
        return np.array(
            [
                len(transformation.apply(e, task=task, q=q, seed=self.run.seed, short="use"))
                for e in examples
            ]
        )
