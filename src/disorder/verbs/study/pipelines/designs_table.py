"""Tables of NDSC's three designs: perturb the training data, the test data, or both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from disorder.metrics import ORIGINAL
from disorder.types import Score
from disorder.verbs.study.naming import short_name, title_of
from disorder.verbs.study.part_settings import canonical
from disorder.verbs.study.pipeline import Pipeline, Reach
from disorder.verbs.study.pipelines.seeds import EXAMPLES_ALONE
from disorder.verbs.study.result import StepResult, StudyCell
from disorder.verbs.study.training_models import run_designs
from disorder.verbs.study.workbench import Workbench

DESIGNS = ("corrupt-train", "corrupt-test", "corrupt-both")


@dataclass(frozen=True)
class DesignsTable(Pipeline):
    """`disorder designs` as a table; `on` are the transformations, `only` the designs shown."""

    on: Sequence[str]
    only: Sequence[str] = DESIGNS
    settings: Mapping[str, str] = field(default_factory=dict)

    kind = "designs"
    trains = True
    units = MappingProxyType({"accuracy": "percent", "delta": "points"})

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return (
            f"train each model on original texts and on {len(self.on)} kinds of perturbed texts; "
            "test on original and on perturbed texts"
        )

    @property
    def perturbs(self) -> Sequence[str]:
        """The transformations of training and test data."""
        return self.on

    @property
    def reach(self) -> Sequence[Reach]:
        """Accuracy and its change, for each transformation and design."""
        return [Reach(("accuracy", "delta"), {"transformation": self.on, "design": self.only})]

    def without(self, specs: Collection[str]) -> DesignsTable:
        """The same without these transformations."""
        return replace(self, on=[spec for spec in self.on if spec not in specs])

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model and set of test data."""
        for model, data in bench.pairs():
            bench.announce_training(model, bench.train, data)
            compute = partial(self._designs, bench, model, data)
            made_of = bench.made_of(data=data, train=bench.train)
            yield bench.once(compute, model, data, made_of=made_of)

    def _designs(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        found, folder = run_designs(bench, model, data, self.on, self.settings)
        declared = {canonical(bench.spec_of(spec), bench.fidelity): spec for spec in self.on}
        baseline = _described(found[0].accuracy)
        note = f"{short_name(model)}, trained and tested on original texts: {baseline}"
        result = StepResult(notes=[note])
        for design in found:
            if design.name not in self.only:
                continue
            is_trained_on_original = design.trained_on == ORIGINAL
            spec = design.tested_on if is_trained_on_original else design.trained_on
            row = {
                "model": title_of(model),
                "data": bench.name_of(data),
                "transformation": declared[spec],
                "design": design.name,
            }
            cell = _cell(row, "accuracy", design.accuracy, design.accuracy_by_seed)
            result.cells.append(cell)
            if design.delta:
                by_seed = design.delta_by_seed or ()
                result.cells.append(_cell(row, "delta", design.delta, by_seed))
        if bench.settings.seeds > 1:
            result.notes.append(EXAMPLES_ALONE)
        for seed in bench.settings.seeds_to_train:
            card = folder / f"seed-{seed}" / ORIGINAL / "README.md"
            title = f"{short_name(model)} trained on original texts, seed {seed}"
            result.links.append(bench.link(title, card))
        return result


def _cell(row: Mapping[str, str], column: str, score: Score, by_seed: Sequence[float]) -> StudyCell:
    """A score over all seeds; `by_seed` is kept where there are several."""
    cell = StudyCell.of(row, column, score)
    return cell.model_copy(update={"by_seed": list(by_seed)}) if len(by_seed) > 1 else cell


def _described(score: Score) -> str:
    return f"accuracy {score.value:.3f} ({score.low:.3f} to {score.high:.3f}, {score.n:,} examples)"
