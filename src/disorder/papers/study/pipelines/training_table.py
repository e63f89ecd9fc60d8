"""Tables of trained models: one model per task, trained for every set of data and tested on it (Out
of Order, Word Salad); or trained in several ways on one set, and then audited.

A model that is trained already is tested as it is, on data whose labels it has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from disorder.data import named_set_of
from disorder.errors import BadModel, DisorderError, MissingData, option
from disorder.papers.study.means import BEST, Change, best_and_mean, mean_of, over_seeds
from disorder.papers.study.pipeline import Measurement, Pipeline, Reach
from disorder.papers.study.pipelines.audit_table import AuditTable, missing_scores
from disorder.papers.study.preflight import is_available
from disorder.papers.study.result import StepResult, StudyCell
from disorder.papers.study.training_models import (
    TrainingArm,
    held_out_notes,
    perturbed_by,
    train_model,
    training_of,
)
from disorder.papers.study.verbs_used import audit_once
from disorder.papers.study.workbench import LEARNING, Workbench, short_name, title_of
from disorder.registry import NetworkPart, parts
from disorder.results.run import Run
from disorder.specs import split_spec
from disorder.store.hub import hub_access
from disorder.types import Score

CLASSIFIER = "ForSequenceClassification"
PLAIN = TrainingArm()
FIVE = 5  # trainings of which Out of Order gives the best and the mean
SPAN_SCORES = ("f1", "exact")


@dataclass(frozen=True)
class PerTaskTraining(Pipeline):
    """Measure every model on every set of data, trained for it in every way of `arms`.

    The name of the way stands under `key` in the rows. Without arms, a model that is trained
    already is not trained again: then `limit` is how many examples it is tested on. `settings` are
    the paper's, for hf: models. `changes` are columns that say what a way changes against the first
    one. With `runs` each way has a row for the best of several trainings and one for their mean.
    """

    measures: Measurement
    arms: Mapping[str, TrainingArm] = field(default_factory=dict)
    key: str = "recipe"
    settings: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    kind: str = "trainings"
    changes: Sequence[Change] = ()
    runs: bool = False

    trains = True

    @property
    def does(self) -> str:
        """What it does, in one line."""
        ways = ", unless it is trained already"
        if self.arms:
            ways = f" in {len(self.arms)} ways ({', '.join(self.arms)})"
        return f"train each model for each set of data{ways}; then {self.measures.does}"

    @property
    def perturbs(self) -> Sequence[str]:
        """The transformations of training data and of the tests."""
        return list(dict.fromkeys([*perturbed_by(self.arms), *self.measures.perturbs]))

    @property
    def reach(self) -> Sequence[Reach]:
        """The cells of the tests, for each way to train, and what each changes."""
        by_way: dict[str, Sequence[str]] = {self.key: tuple(self.arms)} if self.arms else {}
        if self.runs:
            by_way["of"] = (BEST, mean_of(FIVE))
        changes = [change.fills for change in self.changes]
        return [
            Reach((*each.columns, *SPAN_SCORES, *changes), {**each.rows, **by_way})
            for each in self.measures.reach
        ]

    @property
    def takes_runs(self) -> bool:  # type: ignore[override]
        """Whether models that are trained already are tested as they are."""
        return not self.arms

    def step_names(self, bench: Workbench) -> Sequence[str]:
        """One per model, set of data and way."""
        return [
            " ".join(filter(None, (name, arm)))
            for name in super().step_names(bench)
            for arm in self.arms or ("",)
        ]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model, data and way; what does not fit is left out of a larger table."""
        for model, data in bench.pairs():
            if self.arms or not is_trained(model):
                train = bench.train or f"the training part of {short_name(data)}"
                bench.announce_training(model, train, data)
            baseline: list[StudyCell] = []
            for name, arm in (self.arms or {"": PLAIN}).items():
                about = {"model": title_of(model), "data": bench.name_of(data)}
                if name:
                    about[self.key] = name
                try:
                    result = self._measured(bench, model, data, arm, about)
                except (BadModel, MissingData) as reason:
                    if len(bench.models) * len(bench.data) == 1:
                        raise
                    what = f"{short_name(model)} on {short_name(data)}"
                    result = StepResult(notes=[f"{what}: left out ({reason})"])
                result.cells = (best_and_mean if self.runs else over_seeds)(result.cells)
                if name == next(iter(self.arms), ""):
                    baseline = result.cells
                else:  # the best against the best, the mean against the mean
                    for change in self.changes:
                        result.cells += change.cells(result.cells, baseline, without=(self.key,))
                yield result

    def _measured(
        self,
        bench: Workbench,
        model: Any,
        data: Any,
        arm: TrainingArm,
        about: Mapping[str, str],
    ) -> StepResult:
        result = StepResult()
        what = f"{short_name(model)} on {short_name(data)}"
        measures = self.measures.on(title_of(data))
        train = None
        try:
            if set(measures.perturbs) & set(LEARNING):
                train = bench.name_of(training_data_for(bench, data))
        except DisorderError as reason:  # no training part is known: the rest is measured
            measures = measures.without(LEARNING)
            result.notes.append(f"{what}: left out {', '.join(LEARNING[:1])} ({reason})")
        for seed, spec, limit in self._models(bench, model, data, arm):
            result.cells += [StudyCell.of(about, *each) for each in span_scores(spec)]
            run, folder = audit_once(
                bench,
                spec,
                data,
                measures.transformations,
                q=bench.q(self.q),
                limit=limit,
                short="use",
                train=train,
            )
            result.cells += measures.cells(run, folder, about)
            title = [short_name(model), arm.recipe, *arm.on, f"seed {seed} on", short_name(data)]
            result.links.append(bench.link(" ".join(title), folder / "report.html"))
            result.notes += missing_scores(run, about, measures.metrics)
            result.notes += _skips(run, what)
            if self.arms:
                result.notes += held_out_notes(spec, f"{what}, {arm.recipe}")
        return result

    def _models(
        self, bench: Workbench, model: Any, data: Any, arm: TrainingArm
    ) -> Iterator[tuple[int, Any, int | None]]:
        """Seed, model and number of test examples; a model that is trained already comes once."""
        settings = bench.settings
        if not self.arms and is_trained(model):
            yield settings.seed, model, settings.test_limit or settings.limit
            return
        for seed in settings.seeds_to_train:
            yield seed, self._trained(bench, model, data, arm, seed), settings.test_limit

    def _trained(self, bench: Workbench, model: Any, data: Any, arm: TrainingArm, seed: int) -> str:
        """The spec of a model trained in one way for a set of data."""
        train = training_data_for(bench, data)
        dev = None
        if bench.read(data, limit=1).examples[0].answers is not None:
            if not model.startswith("hf:"):
                raise BadModel(f"{short_name(model)} cannot find answers in a passage: name an hf:")
            arm = replace(arm, settings={**arm.settings, "head": "spans"})
            dev = bench.read(data, limit=bench.settings.test_limit)
        settings = [f"{name}={value}" for name, value in arm.settings.items()]
        return train_model(
            replace(bench, train=train),
            model,
            " ".join([train, arm.recipe, *settings, *arm.on]),
            arm,
            seed=seed,
            usual=self.settings,
            dev=dev,
            start=self._trained(bench, model, data, self.arms[arm.of], seed) if arm.of else None,
        )


def span_scores(spec: Any) -> Iterator[tuple[str, Score]]:
    """F1 and exact match of a model that was trained to find answers, on its dev data."""
    found = (training_of(spec) or {}).get("after", {}).get("spans", {}).get("scores", {})
    for column in SPAN_SCORES:
        if score := found.get(f"{column}, all"):
            yield column, Score(**score)


def training_data_for(bench: Workbench, data: Any) -> str:
    """The training part that belongs to test data."""
    if bench.train:
        return bench.train
    title = title_of(data)
    name, address = split_spec(title)
    if named_set_of(data) is not None:
        if not is_available(f"{name}:train", bench.settings.data_dir):
            raise MissingData(f"{name}:train, to train on, is not available")
        return f"{name}:train"
    if isinstance(data, str) and name == "builtin":
        return f"builtin:{split_spec(address)[0] or 'nli'}:train"
    raise DisorderError(f"training data for {title} is not known: say {option('train', 'DATA')}")


def is_trained(model: Any) -> bool:
    """Whether a model can predict; a network's name or a bare encoder is to be trained first."""
    if not isinstance(model, str):
        return True
    name, address = split_spec(model)
    if name != "hf":
        return bool(address) or name not in (*parts(NetworkPart), "bow")
    kinds = _architectures(address)
    return not kinds or any(kind.endswith(CLASSIFIER) for kind in kinds)


def _architectures(address: str) -> list[str]:
    """What a transformers folder or name says it holds; nothing where it does not say."""
    path = Path(address).expanduser() / "config.json"
    try:
        if path.is_file():
            return list(json.loads(path.read_text(encoding="utf-8")).get("architectures") or ())
        from transformers import AutoConfig

        with hub_access(address):
            config = AutoConfig.from_pretrained(address, trust_remote_code=False)
        return list(config.architectures or ())
    except (OSError, ValueError):
        return []  # loading it will say what is wrong


def _skips(run: Run, what: str) -> list[str]:
    """How many texts could not be perturbed, and why."""
    return [
        f"{what}: {n:,} {'text is' if n == 1 else 'texts are'} not perturbed by {spec} ({reason})"
        for spec, reasons in run.skips.items()
        if spec in run.transformations
        for reason, n in reasons.items()
    ]


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
