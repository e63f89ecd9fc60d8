"""Tables of trainings that are compared: the three designs of NDSC (perturb the training data, the
test data, or both), and `disorder mitigations` for every model and set of data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from disorder.errors import DisorderError
from disorder.papers.study.means import EXAMPLES_ALONE
from disorder.papers.study.part_settings import canonical, spec_among
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.pipelines.measurements import SALAD
from disorder.papers.study.pipelines.training_table import training_data_for
from disorder.papers.study.result import DIGITS, StepResult, StudyCell
from disorder.papers.study.training_models import run_designs, run_mitigations
from disorder.papers.study.workbench import GivenDesigns, Workbench, short_name, title_of
from disorder.papers.training import ALL, Design, Finding, chosen_lines
from disorder.transformations import parse
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
        row = {"model": about.model, "data": bench.name_of(about.test)}
        result = self._result(bench, row, found, declared, given.folder, about.seeds)
        note = f"{short_name(given)}: designs of {given.folder}, trained on {size}"
        result.notes.insert(0, note)
        return result

    def _designs(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        found, folder = run_designs(bench, model, data, self.transformations, self.settings)
        declared = {
            canonical(bench.spec_of(spec), bench.fidelity): spec for spec in self.transformations
        }
        about = {"model": title_of(model), "data": bench.name_of(data)}
        seeds = bench.settings.seeds_to_train
        return self._result(bench, about, found, declared, folder, seeds)

    def _result(
        self,
        bench: Workbench,
        about: Mapping[str, str],
        found: Sequence[Design],
        declared: Mapping[str, str],
        folder: Path,
        seeds: Sequence[int],
    ) -> StepResult:
        """The cells of designs; `declared` are the item's names of transformations, by spec."""
        plain = found[0].accuracy
        baseline = f"accuracy {plain.value:.3f} ({plain.low:.3f} to {plain.high:.3f}"
        model = short_name(about["model"])
        note = f"{model}, trained and tested on original texts: {baseline}"
        result = StepResult(notes=[f"{note}, {plain.n:,} examples)"])
        for design in found:
            if design.name not in self.only:
                continue
            is_trained_on_original = design.trained_on == ORIGINAL
            spec = design.tested_on if is_trained_on_original else design.trained_on
            row = {**about, "transformation": declared[spec], "design": design.name}
            cell = _cell(row, "accuracy", design.accuracy, design.accuracy_by_seed)
            result.cells.append(cell)
            if design.delta:
                by_seed = design.delta_by_seed or ()
                result.cells.append(_cell(row, "delta", design.delta, by_seed))
        if len(seeds) > 1:
            result.notes.append(EXAMPLES_ALONE)
        for seed in seeds:
            card = folder / f"seed-{seed}" / ORIGINAL / "README.md"
            title = f"{model} trained on original texts, seed {seed}"
            result.links.append(bench.link(title, card))
        return result


def _cell(row: Mapping[str, str], column: str, score: Score, by_seed: Sequence[float]) -> StudyCell:
    """A score over all seeds; `by_seed` is kept where there are several."""
    cell = StudyCell.of(row, column, score)
    return cell.model_copy(update={"by_seed": list(by_seed)}) if len(by_seed) > 1 else cell


@dataclass(frozen=True)
class MitigationTable(Pipeline):
    """Teach every model to abstain on perturbed texts, for every set of data.

    `recipes` are what is trained, by the name that its rows have.
    With `transfer`, that recipe is trained on each transformation alone and tested on all.
    `settings` are the paper's, for hf: models; `not_for` says which transformations the paper
    leaves out on which data.
    """

    recipes: Mapping[str, str]
    transfer: str | None = None
    transformations: Sequence[str] = SALAD
    settings: Mapping[str, str] = field(default_factory=dict)
    not_for: Mapping[str, Sequence[str]] = field(default_factory=dict)

    kind = "mitigations"
    trains = True
    units = MappingProxyType({"accuracy": "percent", "caught": "percent"})

    @property
    def does(self) -> str:
        """What it does, in one line."""
        if self.transfer:
            return (
                f"train {self.transfer} on each transformation alone; "
                "count the texts perturbed by the others on which it abstains"
            )
        return (
            f"train each model by {', '.join(self.recipes)}; test on original and perturbed texts"
        )

    @property
    def reach(self) -> Sequence[Reach]:
        """Accuracy and what is caught, by recipe; with `transfer` also by what it learned."""
        if not self.transfer:
            return [Reach(("accuracy", "caught"), {"recipe": tuple(self.recipes)})]
        rows = {"recipe": (self.transfer,), "trained_on": self.transformations}
        return [
            Reach(("accuracy",), rows),
            Reach(("caught",), {**rows, "transformation": self.transformations}),
        ]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model and set of data."""
        for model, data in bench.pairs():
            train = training_data_for(bench, data)
            bench.announce_training(model, train, data)
            compute = partial(self._mitigated, bench, model, data)
            made_of = bench.made_of(data=data, train=train)
            yield bench.once(compute, model, data, made_of=made_of)

    def _mitigated(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        train = training_data_for(bench, data)
        left_out = self._left_out(bench, data)
        declared = {
            canonical(bench.spec_of(spec, train=train), bench.fidelity): spec
            for spec in self.transformations
            if spec not in left_out
        }
        found, folder = run_mitigations(
            bench,
            model,
            train,
            data,
            usual=self.settings,
            recipes=list(self.recipes.values()),
            on=list(declared),
            transfer=self.transfer,
        )
        about = {"model": title_of(model), "data": bench.name_of(data)}
        result = StepResult(
            notes=[EXAMPLES_ALONE] if len(bench.settings.seeds_to_train) > 1 else []
        )
        what = f"{short_name(model)} on {short_name(data)}"
        result.notes += [f"{what}: left out {spec} ({why})" for spec, why in left_out.items()]
        chosen = [*chosen_lines(folder, list(self.recipes.values()))]  # by held-out data
        if self.transfer:
            chosen += chosen_lines(folder, [self.transfer], list(declared))
        result.notes += [f"{what}, {line}" for line in chosen]
        result.notes.append(
            f"{what}: a held-out tenth chose settings and thresholds; the models that are tested "
            "were then trained on all training data"
        )
        for finding in found:
            as_declared = replace(
                finding,
                texts=declared.get(finding.texts, finding.texts),
                trained_on=declared.get(finding.trained_on, finding.trained_on),
            )
            result.cells += self._cells(as_declared, about)
        return result

    def _left_out(self, bench: Workbench, data: Any) -> dict[str, str]:
        """The transformations that do not apply to some data, and why, before anything trains."""
        found = dict.fromkeys(self.not_for.get(title_of(data), ()), "the paper has none here")
        if bench.read(data, limit=1).examples[0].text_b is None:
            for spec in self.transformations:
                if any(step.part.scope == "pair" for step in parse(spec).steps):
                    found[spec] = "it needs two texts"
        return found

    def _cells(self, finding: Finding, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The cell that a finding fills, if the table has one for it."""
        if finding.group != ALL or (self.transfer and not finding.trained_on):
            return
        column = self._column(finding)
        if column is None:
            return
        names = {spec: name for name, spec in self.recipes.items()}
        row = {**about, "recipe": names.get(finding.mitigation, finding.mitigation)}
        if finding.trained_on:
            row["trained_on"] = finding.trained_on
        if column == "caught" and self.transfer:
            row["transformation"] = finding.texts
        score = Score(finding.value, finding.low, finding.high, finding.n)
        by_seed = [round(value, DIGITS) for value in finding.by_seed]
        yield StudyCell.of(row, column, score).model_copy(update={"by_seed": by_seed})

    def _column(self, finding: Finding) -> str | None:
        """Accuracy on original texts, or the share of perturbed ones on which it abstains."""
        if finding.texts.startswith("order="):
            return None
        if finding.texts == ORIGINAL:
            return "accuracy" if finding.metric == "accuracy" else None
        is_all = finding.texts == ALL
        if finding.metric == "abstained" and is_all != bool(self.transfer):
            return "caught"
        return None
