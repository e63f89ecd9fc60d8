"""Tables of NDSC's three designs: perturb the training data, the test data, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from disorder.errors import DisorderError
from disorder.papers.study.means import EXAMPLES_ALONE
from disorder.papers.study.naming import GivenDesigns, short_name, title_of
from disorder.papers.study.part_settings import canonical, spec_among
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.result import StepResult, StudyCell
from disorder.papers.study.training_models import run_designs
from disorder.papers.study.workbench import Workbench
from disorder.papers.training import Design
from disorder.types import ORIGINAL, Score

DESIGNS = ("corrupt-train", "corrupt-test", "corrupt-both")


@dataclass(frozen=True)
class DesignsTable(Pipeline):
    """`disorder designs` as a table; `transformations` are those, `only` the designs shown."""

    transformations: Sequence[str]
    only: Sequence[str] = DESIGNS
    settings: Mapping[str, str] = field(default_factory=dict)

    kind = "designs"
    trains = True
    takes_designs = True
    units = MappingProxyType({"accuracy": "percent", "delta": "points"})

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return (
            f"train each model on original texts and on {len(self.transformations)} kinds of "
            "perturbed texts; test on original and on perturbed texts"
        )

    @property
    def reach(self) -> Sequence[Reach]:
        """Accuracy and its change, for each transformation and design."""
        return [
            Reach(
                ("accuracy", "delta"),
                {"transformation": self.transformations, "design": self.only},
            )
        ]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model and set of test data."""
        for model, data in bench.pairs():
            if isinstance(model, GivenDesigns):
                yield self._shown(bench, model)
                continue
            bench.announce_training(model, bench.train, data)
            compute = partial(self._designs, bench, model, data)
            made_of = bench.made_of(data=data, train=bench.train)
            yield bench.once(compute, model, data, made_of=made_of)

    def _shown(self, bench: Workbench, given: GivenDesigns) -> StepResult:
        """Finished designs, without training any again."""
        has = {spec for each in given.designs.found for spec in (each.trained_on, each.tested_on)}
        declared = {
            spec: name
            for name in self.transformations
            if (spec := spec_among(has, canonical(name, bench.fidelity))) is not None
        }
        missing = [name for name in self.transformations if name not in declared.values()]
        if missing:
            raise DisorderError(f"{given.folder} has no {', '.join(missing)}; make designs with it")
        about = given.designs.about
        found = [
            each
            for each in given.designs.found
            if {each.trained_on, each.tested_on} <= {ORIGINAL, *declared}
        ]
        size = f"{about.limit:,} examples of {about.train}" if about.limit else about.train
        notes = [f"{short_name(given)}: designs of {given.folder}, trained on {size}"]
        return self._result(bench, given, about.test, found, declared, given.folder, notes)

    def _designs(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        found, folder = run_designs(bench, model, data, self.transformations, self.settings)
        declared = {
            canonical(bench.spec_of(spec), bench.fidelity): spec for spec in self.transformations
        }
        return self._result(bench, model, data, found, declared, folder, [])

    def _result(
        self,
        bench: Workbench,
        model: Any,
        data: Any,
        found: Sequence[Design],
        declared: Mapping[str, str],
        folder: Path,
        notes: Sequence[str],
    ) -> StepResult:
        """The cells of designs; `declared` are the item's names of transformations, by spec."""
        baseline = _described(found[0].accuracy)
        note = f"{short_name(model)}, trained and tested on original texts: {baseline}"
        result = StepResult(notes=[*notes, note])
        seeds = _seeds(bench, model)
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
        if len(seeds) > 1:
            result.notes.append(EXAMPLES_ALONE)
        for seed in seeds:
            card = folder / f"seed-{seed}" / ORIGINAL / "README.md"
            title = f"{short_name(model)} trained on original texts, seed {seed}"
            result.links.append(bench.link(title, card))
        return result


def _seeds(bench: Workbench, model: Any) -> Sequence[int]:
    """The seeds of the trainings; finished designs have their own."""
    if isinstance(model, GivenDesigns):
        return model.designs.about.seeds
    return bench.settings.seeds_to_train


def _cell(row: Mapping[str, str], column: str, score: Score, by_seed: Sequence[float]) -> StudyCell:
    """A score over all seeds; `by_seed` is kept where there are several."""
    cell = StudyCell.of(row, column, score)
    return cell.model_copy(update={"by_seed": list(by_seed)}) if len(by_seed) > 1 else cell


def _described(score: Score) -> str:
    return f"accuracy {score.value:.3f} ({score.low:.3f} to {score.high:.3f}, {score.n:,} examples)"
