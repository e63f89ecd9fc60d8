"""Mitigations compared: what does each recipe against word salad catch, and what does it cost?
After Word Salad (Gupta et al., 2021), Table 12, with what the paper leaves out.

A mitigation is a recipe after which a model can abstain on a text: by a label of its own, or below
a threshold. Measured are how often it predicts original texts correctly (an abstention is not
correct), how often it abstains on perturbed ones, and whether it abstains on valid texts too, rare
but valid word orders among them. A model that always abstains is no mitigation.

A mitigation trains longer than the plain model: on perturbed copies too, or on from the plain one.
So it is compared with a control, a plain model that has at least as many updates of its weights.
`entropic:lam=0.1/1/10` is a grid of settings: every value is trained, and the one that is best on
held-out data is tested, where best is the mean of the two numbers that Table 12 gives: accuracy on
original texts, and the share of perturbed texts abstained on. As in the paper, `refit` then trains
it on all of the training data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import ceil
from pathlib import Path
from shutil import copyfile
from typing import Any, Unpack

import numpy as np

from disorder.data import vocabulary
from disorder.errors import BadData, DisorderError
from disorder.models import load
from disorder.models.outputs import FILE as CALIBRATION
from disorder.papers.fields import MitigationsFields
from disorder.papers.requests import MitigationsOptions
from disorder.papers.training.mitigation_scores import (
    Finding,
    SeedFindings,
    TextsByKind,
    counted,
    findings,
    gains,
    measure,
    measure_rare,
    model_judge,
    rare_orders,
)
from disorder.papers.training.tables import mitigations_result
from disorder.registry import RecipePart, part
from disorder.requests.settings import takes_options
from disorder.results.progress import Steps, shown_progress
from disorder.results.render import render
from disorder.results.result import Result
from disorder.results.run_folder import check_folder, write_result
from disorder.specs import format_part, parse_part
from disorder.store.store import Store
from disorder.transformations import parse
from disorder.types import ORIGINAL, Dataset, Ints, Progress, Texts
from disorder.verbs.model_loading import RunContext
from disorder.verbs.selected_data import selected_data
from disorder.verbs.train import (
    HELD_OUT,
    SETTING_NAMES,
    TrainingCounts,
    TrainingRequest,
    TrainingSource,
    check_request,
    comparison_request,
    folder_name,
    held_out,
    loop_setting_names,
    perturbed_copies,
    read_record,
    read_test_data,
    salad_specs,
    train_once,
    training_name,
    with_prefix,
)

SEPARATOR = "/"
ALL_ROWS = ", all rows"  # after the name of a training that nothing is held out of


def grid_of(settings: Mapping[str, str]) -> list[dict[str, str]]:
    """Every combination of values; settings without alternatives have one.

    >>> grid_of({"lam": "0.1/1", "rule": "grid"})
    [{'lam': '0.1', 'rule': 'grid'}, {'lam': '1', 'rule': 'grid'}]
    """
    values = [str(value).split(SEPARATOR) for value in settings.values()]
    return [dict(zip(settings, each, strict=True)) for each in product(*values)]


def held_out_score(folder: Path) -> dict[str, float]:
    """Accuracy, what is caught, and their mean, as a training measured them on held-out data."""
    found = read_record(folder).get("after", {}).get(HELD_OUT)
    if not found:
        raise DisorderError(
            f"{folder} has no score on held-out data to choose a setting by; use a recipe that "
            "abstains below a threshold"
        )
    accuracy, caught = float(found["accuracy"]), float(found["caught"])
    return {"accuracy": accuracy, "caught": caught, "mean": (accuracy + caught) / 2}


def best_of(scores: Mapping[str, Mapping[str, float]]) -> str:
    """The name with the best mean; of equals the first.

    >>> best_of({"a": {"mean": 0.5}, "b": {"mean": 0.7}, "c": {"mean": 0.7}})
    'b'
    """
    return max(scores, key=lambda name: scores[name]["mean"])


@dataclass(frozen=True)
class Mitigation:
    """A recipe with its own settings, and the transformation it is trained on (empty: all of them,
    mixed). With several values of a setting, `choices` are the recipes to choose from.
    """

    name: str  # as the user wrote it
    recipe: RecipePart
    settings: Mapping[str, str]
    on: str = ""
    choices: Sequence[Mitigation] = ()

    @classmethod
    def parse(cls, spec: str) -> Mitigation:
        """Read `name:key=value,key=value`; `key=value/value` are alternatives."""
        name, settings = parse_part(spec, kind="recipe")
        recipe = part(RecipePart, name)
        grid = grid_of(settings)
        for each in grid:
            recipe.bind(each)
        choices = [cls(format_part(name, each), recipe, each) for each in grid]
        return cls(spec, recipe, settings, choices=choices if len(grid) > 1 else ())

    def __str__(self) -> str:
        return f"{self.name} {self.on}".strip()

    @property
    def alternatives(self) -> list[Mitigation]:
        """The recipes that are trained: itself, or those to choose from."""
        return [replace(each, on=self.on) for each in self.choices] or [self]

    @property
    def is_tuned(self) -> bool:
        """Whether held-out data chooses a setting or a threshold of it."""
        return bool(self.choices) or "rule" in self.recipe.settings

    def place(self, folder: Path) -> Path:
        """Where its model is among those of a seed."""
        return folder / folder_name(self.name, self.on)

    def all_settings(self, shared: Mapping[str, Any]) -> dict[str, Any]:
        """The shared settings that fit, and its own; a trained model keeps its network's."""
        fitting = dict(shared)
        if self.recipe.of_trained:
            fitting = {name: shared[name] for name in shared if name in loop_setting_names()}
        if "learn" in self.recipe.settings:
            fitting["learn"] = "false"
        return {**fitting, **self.settings}

    def request(self, base: TrainingRequest, plain: str, specs: Sequence[str]) -> TrainingRequest:
        """What to train: from the plain model where the paper starts from a trained one, with the
        plain model as the one that says which words matter.
        """
        own = replace(base, recipe=self.recipe.name, settings=self.all_settings(base.settings))
        if self.recipe.perturbs:
            own = replace(own, on=[self.on] if self.on else list(specs), asks=plain)
        if self.recipe.of_trained:  # as the paper starts it
            own = replace(own, model=plain)
        return own


@dataclass(frozen=True)
class TrainedArm:
    """A trained model of the comparison, and all that it learned from."""

    name: str
    spec: str
    counts: TrainingCounts


@takes_options(MitigationsOptions, inside={"settings": SETTING_NAMES})
def mitigations(
    data: Any,
    test: Any,
    *,
    out: str | Path,
    progress: Progress | None = None,
    **options: Unpack[MitigationsOptions],
) -> list[Finding]:
    """Train each mitigation with several seeds, and test it on original, perturbed, and rare but
    valid texts.

    data: training data: a spec (`mnli:train`), a file, or rows.
    test: test data, never trained on.
    out: folder of the models and of what they show (result.json, report.html, mitigations.md);
        models that are there already are reused.
    progress: called with (stage, done, total, note) after every step.
    """
    return compared_mitigations(data, test, out=out, progress=progress, **options)[0]


@takes_options(MitigationsOptions, inside={"settings": SETTING_NAMES})
def compared_mitigations(
    data: Any,
    test: Any,
    *,
    out: str | Path,
    progress: Progress | None = None,
    **options: Unpack[MitigationsOptions],
) -> tuple[list[Finding], Result]:
    """What mitigations found, and their result, which is written to the folder `out`."""
    folder = Path(out)
    asked = MitigationsFields.of(options)
    chosen = [Mitigation.parse(spec) for spec in asked.recipe]
    transferred = [Mitigation.parse(asked.transfer)] if asked.transfer else []
    specs = [parse(spec, fidelity=asked.fidelity).tried().spec for spec in asked.on]
    drawn = range(asked.seed, asked.seed + asked.seeds)
    request = comparison_request(data, options)
    for mitigation in [each for one in (*chosen, *transferred) for each in one.alternatives]:
        own = mitigation.all_settings(request.settings)
        check_request(replace(request, recipe=mitigation.recipe.name, settings=own))
    with Store.open(folder):
        check_folder(folder, "mitigations")
        test_data = read_test_data("mitigations", test, asked.test_limit, request)
        if not specs:
            is_pair = test_data.examples[0].text_b is not None
            usual = salad_specs(is_pair=is_pair, has_model=True)
            specs = [parse(spec, fidelity=asked.fidelity).spec for spec in usual]
        chosen += [replace(each, on=spec) for each in transferred for spec in specs]
        source = TrainingSource.of(request)
        trained = ["plain", *(str(each) for one in chosen for each in one.alternatives)]
        names = [training_name(s, each) for s in drawn for each in trained]
        refits = asked.refit and request.dev is None  # else nothing is held out
        if refits:
            names += [f"{name}{ALL_ROWS}" for name in names]
        steps = Steps(shown_progress(progress), list(dict.fromkeys(names)))
        per_seed = [
            _SeedTrainings(
                replace(request, seed=s), source, specs, folder / f"seed-{s}", steps
            ).measure(chosen, test_data, refits=refits)
            for s in drawn
        ]
        steps.finish()
        measured = findings([each.values for each in per_seed])
        found = [*measured, *gains(per_seed, test_data), *counted(per_seed)]
        about = {
            **request.recorded(),
            "data": source.read.name,
            "test": test_data.name,
            "recipe": list(asked.recipe),
            "transfer": asked.transfer,
            "refit": refits,
            "on": specs,
            "seeds": list(drawn),
        }
        result = mitigations_result(about, found, list(chosen_lines(folder, asked.recipe)))
        write_result(folder, result, beside={"mitigations.md": render(result, "markdown")})
        return found, result


def held_out_scores(mitigation: Mitigation, folder: Path) -> dict[str, dict[str, float]]:
    """The scores of all settings to choose from, as their trainings measured them."""
    return {each.name: held_out_score(each.place(folder)) for each in mitigation.alternatives}


def chosen_lines(folder: Path, recipes: Sequence[str], on: Sequence[str] = ("",)) -> Iterator[str]:
    """Which settings were chosen in the trainings below a folder, a line per seed and grid."""
    for seed in sorted(folder.glob("seed-*")):
        for recipe, spec in product(recipes, on):
            mitigation = replace(Mitigation.parse(recipe), on=spec)
            if mitigation.choices and all(
                each.place(seed).exists() for each in mitigation.alternatives
            ):
                scores = held_out_scores(mitigation, seed)
                best = best_of(scores)
                yield (
                    f"{seed.name}: of {mitigation} {best} was best on held-out data (accuracy "
                    f"{scores[best]['accuracy']:.3f}, caught {scores[best]['caught']:.3f})"
                )


def _plain(name: str) -> Mitigation:
    return replace(Mitigation.parse("plain"), name=name)


@dataclass(frozen=True)
class _SeedTrainings:
    """All trainings of one seed."""

    request: TrainingRequest
    source: TrainingSource
    specs: Sequence[str]
    folder: Path
    steps: Steps

    suffix: str = ""  # of the names of its trainings

    def measure(
        self, chosen: Sequence[Mitigation], test: Dataset, *, refits: bool = False
    ) -> SeedFindings:
        """All mitigations and their controls, on the same texts; plain says which words matter."""
        tested = self.on_all_rows if refits else self
        plain = tested.plain()
        texts = tested.test_texts(test, plain.spec)
        rare = rare_orders(test)
        found = SeedFindings()
        arms = [
            (each, self.refitted(each) if refits and each.is_tuned else tested.chosen(each))
            for each in chosen
        ]
        controls: dict[str, TrainedArm] = {}
        for mitigation, arm in arms:
            if not mitigation.on:
                control = tested.control(arm, plain)
                controls[control.name] = control
                found.controls[mitigation.name] = control.name
        own = {str(mitigation) for mitigation, _ in arms}
        arms += [(_plain(name), arm) for name, arm in controls.items() if name not in own]
        for mitigation, arm in arms:
            judge = model_judge(arm.spec, test.task)
            measured = measure(judge, test, texts)
            if rare is not None:
                measured |= measure_rare(judge, rare)
            key = (mitigation.name, mitigation.on)
            found.values |= {(*key, *more): v for more, v in measured.items()}
            found.counts[key] = arm.counts
        return found

    @cached_property
    def on_all_rows(self) -> _SeedTrainings:
        """The same trainings on everything: what chooses here is only looked at there."""
        request = self.request
        reading = replace(request.reading, seed=request.seed, limit=request.limit)
        seen = held_out(selected_data(self.source.read, reading), request.seed)[1]
        request = replace(request, dev=seen, settings={**request.settings, "epoch": "last"})
        return replace(self, request=request, folder=self.folder / "all-rows", suffix=ALL_ROWS)

    def plain(self) -> TrainedArm:
        """The plain model."""
        return self.train(Mitigation.parse("plain"), self.request)

    def chosen(self, mitigation: Mitigation) -> TrainedArm:
        """The trained model; of several, the one that is best on held-out data."""
        plain = self.plain()
        trained = {}
        for each in mitigation.alternatives:
            arm = self.train(each, each.request(self.request, plain.spec, self.specs))
            if each.recipe.of_trained:
                arm = replace(arm, counts=arm.counts.after(plain.counts))
            trained[each.name] = arm
        if not mitigation.choices:
            return trained[mitigation.name]
        return trained[best_of(held_out_scores(mitigation, self.folder))]

    def refitted(self, mitigation: Mitigation) -> TrainedArm:
        """What held-out data chooses, trained on all rows; temperature and threshold stay those
        that were fitted on data that was not trained on.
        """
        name = self.chosen(mitigation).name
        [best] = [each for each in mitigation.alternatives if each.name == name]
        everything = self.on_all_rows
        arm = everything.chosen(best)
        copyfile(best.place(self.folder) / CALIBRATION, best.place(everything.folder) / CALIBRATION)
        return arm

    def control(self, arm: TrainedArm, plain: TrainedArm) -> TrainedArm:
        """The plain model, trained for at least as many updates."""
        by_epoch = plain.counts.n_updates / max(1, plain.counts.n_epochs)
        n_epochs = ceil(arm.counts.n_updates / by_epoch - 1e-9)
        if n_epochs <= plain.counts.n_epochs:
            return plain
        named = _plain(f"plain, {n_epochs} epochs")
        settings = {**self.request.settings, "epochs": n_epochs}
        return self.train(named, replace(self.request, settings=settings))

    def train(self, mitigation: Mitigation, request: TrainingRequest) -> TrainedArm:
        """Train it, or find it trained."""
        name = f"{training_name(request.seed, str(mitigation))}{self.suffix}"
        self.steps.begin(name)
        out = mitigation.place(self.folder)
        told = with_prefix(self.steps, name)
        spec = train_once(request, self.source, out=out, progress=told)
        return TrainedArm(mitigation.name, spec, TrainingCounts.of(out))

    def test_texts(self, test: Dataset, plain: str) -> TextsByKind:
        """Original texts, and those under each transformation that applies."""
        model = load(plain, task=test.task)
        context = RunContext(model, vocabulary(test), self.request.data_dir)
        originals = [example.texts for example in test.examples]
        texts: dict[str, tuple[Ints, Sequence[Texts]]] = {
            ORIGINAL: (np.arange(len(originals)), originals)
        }
        for spec in self.specs:
            found = perturbed_copies(
                test.examples, test.task, [spec], seed=self.request.seed, context=context
            )
            if found.texts:
                texts[spec] = (np.array(found.examples), found.texts)
        if len(texts) == 1:
            raise BadData(f"{test.name}: no text can be perturbed by {', '.join(self.specs)}")
        return texts
