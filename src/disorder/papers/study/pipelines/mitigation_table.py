"""Tables of mitigations: `disorder mitigations` for every model and set of data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from disorder.papers.study.means import EXAMPLES_ALONE
from disorder.papers.study.naming import short_name, title_of
from disorder.papers.study.part_settings import canonical
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.pipelines.per_task_training import training_data_for
from disorder.papers.study.pipelines.salad_scores import SALAD
from disorder.papers.study.result import DIGITS, StepResult, StudyCell
from disorder.papers.study.training_models import run_mitigations
from disorder.papers.study.workbench import Workbench
from disorder.papers.training import ALL, Finding, chosen_lines
from disorder.transformations import parse
from disorder.types import ORIGINAL, Score


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
        """Accuracy and what is caught, by recipe; with `transfer` also by what it learned and what
        it is tested on.
        """
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
        result.notes += [f"{what}, {line}" for line in self._chosen(folder, list(declared))]
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
        if not bench.read(data, limit=1).examples[0].is_pair:
            for spec in self.transformations:
                if any(step.part.scope == "pair" for step in parse(spec).steps):
                    found[spec] = "it needs two texts"
        return found

    def _chosen(self, folder: Path, specs: Sequence[str]) -> Iterator[str]:
        """Which settings held-out data chose."""
        yield from chosen_lines(folder, list(self.recipes.values()))
        if self.transfer:
            yield from chosen_lines(folder, [self.transfer], specs)

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
        """Accuracy on original texts, and the share of perturbed texts on which it abstains.

        Perturbed texts count all together, or with `transfer` each transformation alone.
        """
        if finding.texts.startswith("order="):
            return None
        if finding.texts == ORIGINAL:
            return "accuracy" if finding.metric == "accuracy" else None
        is_all = finding.texts == ALL
        if finding.metric == "abstained" and is_all != bool(self.transfer):
            return "caught"
        return None
