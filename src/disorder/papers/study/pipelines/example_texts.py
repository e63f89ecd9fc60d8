"""Examples with their perturbed texts: those whose prediction stays although it should not, and
those whose prediction changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from disorder.papers.study.auditing import audited_pairs
from disorder.papers.study.part_settings import spec_in_run
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.result import DIGITS, StepResult, StudyCell
from disorder.papers.study.workbench import Workbench
from disorder.randomness import digest
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Example, Ints, Outcomes, Texts
from disorder.types.predictions import ABSTAINED
from disorder.verbs.compare import FinishedRun

KEPT = "prediction stays"
LOST = "prediction changes"
N_SHOWN = 3  # examples of each kind
N_VARIANTS = 2  # perturbed texts of each


@dataclass(frozen=True)
class ExampleTexts(Pipeline):
    """Audit every model on every set of data, and show texts: of examples predicted right, some
    under all of whose variants the prediction stays, and some where it changes.
    """

    transformation: str
    q: int | None = 1

    kind = "audits"
    takes_runs = True

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return (
            f"show examples predicted right whose texts perturbed by {self.transformation} get the "
            "same prediction, and some that do not"
        )

    @property
    def perturbs(self) -> Sequence[str]:
        """How texts are perturbed."""
        return (self.transformation,)

    @property
    def reach(self) -> Sequence[Reach]:
        """The confidence of every text shown."""
        keys = ("shown", "example", "texts", "text a", "text b", "label")
        return [Reach(("confidence",), dict.fromkeys(keys))]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per run."""
        for each in audited_pairs(bench, self.perturbs, q=self.q, short="use"):
            spec = spec_in_run(each.run, self.transformation) or self.transformation
            shown = ShownExamples.of(each.folder, spec)
            yield StepResult(
                cells=list(shown.cells(each.about)),
                links=[bench.link(each.name, each.folder / "report.html")],
                notes=[f"{each.name}: {shown.summary}"],
            )


@dataclass(frozen=True, eq=False)
class ShownExamples:
    """The examples of a run that are shown, with what the model predicted for each text."""

    finished: FinishedRun
    spec: str
    outcomes: Outcomes

    @classmethod
    def of(cls, folder: Path, spec: str) -> ShownExamples:
        """Those of a finished run."""
        finished = FinishedRun.open(folder)
        outcomes = finished.outcomes(spec)
        assert outcomes is not None, "an audit without any text raises before"
        return cls(finished, spec, outcomes)

    @property
    def summary(self) -> str:
        """How often the prediction stays, so that examples are not taken for the rule."""
        kept = int(self._is_kept.sum())
        right = int(self.outcomes.is_right.sum())
        return f"of {right:,} examples predicted right {kept:,} stay so under every variant"

    @property
    def _is_kept(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        outcomes = self.outcomes
        return np.asarray(outcomes.is_right & (outcomes.n_accepted == outcomes.n_variants))

    def cells(self, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """One row per text: the original one, then perturbed ones."""
        is_lost = np.asarray(self.outcomes.is_right & ~self._is_kept)
        for name, mask in ((KEPT, self._is_kept), (LOST, is_lost)):
            for place in self._drawn(np.flatnonzero(mask)):
                yield from self._rows(place, {**about, "shown": name})

    def _drawn(self, places: Ints) -> list[int]:
        """A few of these examples, drawn by seed."""
        seed = self.outcomes.seed
        names = self.outcomes.example
        key = {int(i): digest(seed, "shown", str(names[i])) for i in places}
        return sorted(key, key=lambda i: key[i])[:N_SHOWN]

    def _rows(self, place: int, about: Mapping[str, str]) -> Iterator[StudyCell]:
        outcomes = self.outcomes
        name = str(outcomes.example[place])
        example = next(each for each in self.finished.examples if each.id == name)
        predictions = [outcomes.original[place], *outcomes.predictions[place]]
        labels = [outcomes.original_label[place], *outcomes.label[place]]
        for i, text in enumerate([example.texts, *self._perturbed(example)]):
            label = int(labels[i])
            names = (*outcomes.task.labels, ABSTAINED)
            row = {
                **about,
                "example": name,
                "texts": "original" if i == 0 else f"perturbed {i}",
                "text a": text[0],
                "text b": text[1] or "",
                "label": names[label],
            }
            value = round(float(np.nanmax(predictions[i])), DIGITS)
            yield StudyCell(row=row, column="confidence", value=value, n=1)

    def _perturbed(self, example: Example) -> list[Texts]:
        run = self.finished.run
        variants = parse(self.spec).apply(
            example,
            task=run.full_task,
            q=int(run.settings["q"]),
            seed=run.seed,
            short=str(run.settings["short"]),
        )
        return list(variant_texts(variants))[:N_VARIANTS]
