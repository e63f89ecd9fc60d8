"""What did a finished run answer? Its samples read back as `Outcomes`, exactly as the audit saw
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from disorder.data import guess_task, known_tasks
from disorder.errors import BadData, DisorderError
from disorder.metrics import ORIGINAL, is_simple
from disorder.report.page import visible
from disorder.runs import Run, SampleParts, read_run
from disorder.runs.samples import answers_of
from disorder.transformations import Transformation, parse
from disorder.types import Bools, Example, Fidelity, Floats, Ints, Outcomes, Task

POSITIONS = ["positions_a", "positions_b"]


@dataclass(frozen=True, eq=False)
class Samples:
    """The rows of one transformation: example number, variant number, word positions, answer."""

    places: Ints
    variants: Ints
    positions: pa.Table
    answers: Floats

    def draws_as(self, other: Samples) -> bool:
        """Whether the variants that both were asked about choose the same words."""
        width = int(max(self.variants.max(), other.variants.max())) + 1
        mine, theirs = (samples.places * width + samples.variants for samples in (self, other))
        _, i, j = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
        return bool(self.positions.take(pa.array(i)).equals(other.positions.take(pa.array(j))))


@dataclass
class Audited:
    """A finished run: its examples in the order of their ids, and their place in the run."""

    folder: Path
    run: Run
    parts: SampleParts
    examples: list[Example]
    turns: Ints
    name: str = ""

    @classmethod
    def open(cls, folder: Path) -> Audited:
        """The run in a folder."""
        run = read_run(folder)
        if run.status != "done":
            what = "failed" if run.status == "failed" else "is not finished"
            raise DisorderError(f"{folder} {what}; resume: disorder audit --resume {folder}")
        if not (folder / "samples").is_dir():
            raise BadData(f"{folder} has no samples, which a comparison reads; audit it again")
        examples = _examples(folder)
        turns = sorted(range(len(examples)), key=lambda i: examples[i].id)
        return cls(
            folder,
            run,
            SampleParts.open(folder, to_write=False),
            [examples[i] for i in turns],
            np.array(turns),
        )

    @property
    def rows(self) -> list[tuple[str, str, str | None, str]]:
        """What the run was asked about."""
        return [(e.id, e.text_a, e.text_b, e.label) for e in self.examples]

    @property
    def fidelity(self) -> Fidelity:
        """Whose definitions it was measured by."""
        return "released" if self.run.settings.get("fidelity") == "released" else "paper"

    @cached_property
    def task(self) -> Task:
        """What the data asks, found as it was when the run was made."""
        run, name = self.run, self.run.settings.get("task")
        if name in known_tasks():
            return known_tasks()[str(name)]
        if run.data.partition(":")[0] in {"builtin", *known_tasks()} and run.task in known_tasks():
            return known_tasks()[run.task]
        if run.chance is None:
            return Task(run.task)
        return guess_task(run.task, run.labels, is_pair=self.examples[0].text_b is not None)

    def samples(self, spec: str) -> Samples | None:
        """The samples that the scores of a transformation rest on, None where no example could be
        used.
        """
        numbers = {example.id: i for i, example in enumerate(self.examples)}
        table = self._table(spec)
        names, variants, answers = answers_of(table)
        try:
            places = np.array([numbers[name] for name in names], dtype=np.int64)
        except KeyError as name:
            raise BadData(
                f"{self.folder}: its samples name example {name}, examples.parquet does not"
            ) from None
        n_asked = self.run.stopped.get(spec, {}).get("n_examples", len(self.examples))
        kept = (
            self.turns[places] < n_asked
        )  # an engine may have answered more by the time --stop-when was met
        if not kept.any():
            return None
        return Samples(
            places[kept],
            np.asarray(variants)[kept],
            table.select(POSITIONS).filter(pa.array(kept)),
            answers[kept],
        )

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
        """The answers to original texts."""
        samples = self.samples(ORIGINAL)
        if samples is None or len(samples.places) != len(self.examples):
            raise BadData(
                f"{self.folder}: its samples do not hold every original text; audit it again"
            )
        answers = np.empty_like(samples.answers)
        answers[samples.places] = samples.answers
        return answers

    def outcomes(self, spec: str, samples: Samples) -> Outcomes:
        """What the model answered."""
        q = int(samples.variants.max()) + 1
        answers: Floats = np.full(
            (len(self.examples), q, samples.answers.shape[1]), np.nan, dtype=np.float32
        )
        answers[samples.places, samples.variants] = samples.answers
        used = np.unique(samples.places)
        examples = [self.examples[i] for i in used.tolist()]
        transformation = None if spec == ORIGINAL else parse(spec)
        gold = [
            float(e.label) if self.task.is_regression else self.task.labels.index(e.label)
            for e in examples
        ]
        return Outcomes(
            spec,
            self.task,
            np.array([e.id for e in examples]),
            np.array(gold),
            self.original[used],
            answers[used],
            self._simple(transformation, examples),
            0,
            self.run.seed,
            self.fidelity,
            is_copy=transformation is not None and transformation.is_copy,
            n_planned=self._planned(transformation, examples),
        )

    def _simple(self, transformation: Transformation | None, examples: Sequence[Example]) -> Bools:
        is_pair = examples[0].text_b is not None
        sides = (
            ()
            if transformation is None
            else transformation.perturbed_sides(self.task, is_pair=is_pair)
        )
        texts = [[str(e.text_a if side == "a" else e.text_b) for side in sides] for e in examples]
        return np.array(
            [
                all(is_simple(t, task=self.task, fidelity=self.fidelity) for t in perturbed)
                for perturbed in texts
            ]
        )

    def _planned(
        self, transformation: Transformation | None, examples: Sequence[Example]
    ) -> Ints | None:
        """How many variants each example has, where --curtail left some unasked."""
        settings, q = self.run.settings, int(self.run.settings["q"])
        if transformation is None or not settings.get("curtail"):
            return None
        if (
            settings.get("short") != "use" or transformation.asks_others
        ):  # which draw as many as they are asked for
            return np.full(len(examples), transformation.count(q))
        apply = transformation.apply
        return np.array(
            [len(apply(e, task=self.task, q=q, seed=self.run.seed, short="use")) for e in examples]
        )


def _examples(folder: Path) -> list[Example]:
    try:
        # as bytes, since a path such as builtin:bow/examples.parquet would be taken for an address
        rows = pq.read_table(
            pa.BufferReader((folder / "examples.parquet").read_bytes())
        ).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise BadData(
            f"{folder}/examples.parquet cannot be read ({str(error).splitlines()[0]}); audit it again"
        ) from None
    return [
        Example(row["id"], row["text_a"], row["text_b"], row["label"], dict(row["groups"] or ()))
        for row in rows
    ]
