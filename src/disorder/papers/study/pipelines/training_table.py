"""Tables of models that are trained in several ways on one set of data, and then audited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from disorder.errors import DisorderError, option
from disorder.papers.study.auditing import audit_once
from disorder.papers.study.means import over_seeds
from disorder.papers.study.naming import short_name, title_of
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.pipelines.audit_table import AuditTable, missing_scores
from disorder.papers.study.result import StepResult
from disorder.papers.study.training_models import (
    TrainingArm,
    held_out_notes,
    perturbed_by,
    train_model,
)
from disorder.papers.study.workbench import Workbench


@dataclass(frozen=True)
class TrainingTable(Pipeline):
    """Train every model in every way, and audit each on every set of data.

    `arms` are the ways by the name they have in the rows, under `key`. `settings` are the paper's,
    for hf: models, `settings_of` those of single ones; networks trained from scratch have their
    own. With several seeds a cell is the mean, and its interval includes their variation.
    """

    arms: Mapping[str, TrainingArm]
    key: str
    audits: AuditTable
    settings: Mapping[str, str] = field(default_factory=dict)
    settings_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    kind = "trainings"
    trains = True
    needs_training_data = True

    @property
    def does(self) -> str:
        """What it does, in one line."""
        ways = f"{len(self.arms)} ways ({', '.join(self.arms)})"
        return f"train each model in {ways}; then {self.audits.does}"

    @property
    def perturbs(self) -> Sequence[str]:
        """The transformations of training data and of the audits."""
        return [*perturbed_by(self.arms), *self.audits.perturbs]

    @property
    def reach(self) -> Sequence[Reach]:
        """The audits' cells, for each way to train."""
        return [
            Reach(each.columns, {**each.rows, self.key: tuple(self.arms)})
            for each in self.audits.reach
        ]

    def step_names(self, bench: Workbench) -> Sequence[str]:
        """One per model, way and set of data."""
        return [
            f"{short_name(model)} {name} on {short_name(data)}"
            for model in bench.models
            for name in self.arms
            for data in bench.data
        ]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model, way and set of data."""
        if bench.train is None:
            raise DisorderError(
                f"the paper trains on several sets together: say {option('train', 'DATA')}"
            )
        for model in bench.models:
            sets = ", ".join(short_name(data) for data in bench.data)
            bench.announce_training(model, bench.train, sets)
            usual = {**self.settings, **self.settings_of.get(model, {})}
            for name, arm in self.arms.items():
                specs = {
                    seed: train_model(bench, model, name, arm, seed=seed, usual=usual)
                    for seed in bench.settings.seeds_to_train
                }
                for data in bench.data:
                    yield self._audited(bench, model, name, specs, data)

    def _audited(
        self, bench: Workbench, model: Any, name: str, specs: Mapping[int, str], data: Any
    ) -> StepResult:
        """The audits of one way to train on one set of data; `specs` are the models by seed."""
        result = StepResult()
        about = {"model": title_of(model), "data": bench.name_of(data), self.key: name}
        for seed, spec in specs.items():
            run, folder = audit_once(
                bench,
                spec,
                data,
                self.audits.transformations,
                q=bench.q(self.q),
                limit=bench.settings.test_limit,
                curtails=self.audits.curtails,
            )
            result.cells += self.audits.cells(run, folder, about)
            title = f"{short_name(model)}, {name}, seed {seed}, on {short_name(data)}"
            result.links.append(bench.link(title, folder / "report.html"))
            result.notes += missing_scores(run, about, self.audits.metrics)
            result.notes += held_out_notes(spec, f"{short_name(model)}, {name}")
        result.cells = over_seeds(result.cells)
        return result
