"""Mitigations compared: what does each recipe against word salad catch, and what does it cost?
After Word Salad (Gupta et al., 2021), Table 12, with what the paper leaves out.

A mitigation is a recipe after which a model can abstain on a text: by a label of its own, or below
a threshold. Measured are how often it predicts original texts correctly (an abstention is not
correct), how often it abstains on perturbed ones, and whether it abstains on valid texts too, rare
but valid word orders among them. A model that always abstains is no mitigation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from disorder.data import vocabulary
from disorder.errors import BadData, check_keywords
from disorder.metrics import ORIGINAL
from disorder.models import load
from disorder.registry import RecipePart, part
from disorder.specs import listed, parse_part
from disorder.transformations import parse
from disorder.types import Dataset, Fidelity, Floats, Ints, Progress, Texts
from disorder.verbs.context import RunContext
from disorder.verbs.train.comparison import (
    TrainingSource,
    comparison_request,
    folder_name,
    read_test_data,
    seed_range,
    train_once,
    with_prefix,
)
from disorder.verbs.train.mitigation_scores import (
    Finding,
    FindingKey,
    TextsByKind,
    findings,
    measure,
    measure_rare,
    model_judge,
    rare_orders,
)
from disorder.verbs.train.perturbed_copies import perturbed_copies, salad_specs
from disorder.verbs.train.request import TrainingRequest, check_request
from disorder.verbs.train.training_settings import SETTING_NAMES, loop_setting_names

USUAL = ("plain", "threshold", "entropic", "invalid_class")


@dataclass(frozen=True)
class Mitigation:
    """A recipe with its own settings, and the transformation it is trained on (empty: all of them,
    mixed).
    """

    name: str  # as the user wrote it
    recipe: RecipePart
    settings: Mapping[str, str]
    on: str = ""

    @classmethod
    def parse(cls, spec: str) -> Mitigation:
        """Read `name:key=value,key=value`."""
        name, settings = parse_part(spec, kind="recipe")
        recipe = part(RecipePart, name)
        recipe.bind(settings)
        return cls(spec, recipe, settings)

    @property
    def starts_trained(self) -> bool:
        """Whether the paper starts it from a fine-tuned model."""
        return self.recipe.of_trained

    @property
    def needs_perturbed(self) -> bool:
        """Whether it trains on perturbed copies."""
        return self.recipe.perturbs

    def all_settings(self, shared: Mapping[str, Any]) -> dict[str, Any]:
        """The shared settings that fit, and its own; a model that is trained already keeps its
        network's.
        """
        fitting = dict(shared)
        if self.starts_trained:
            fitting = {name: shared[name] for name in shared if name in loop_setting_names()}
        if "learn" in self.recipe.settings:
            fitting["learn"] = "false"
        return {**fitting, **self.settings}

    def request(self, base: TrainingRequest, plain: str, specs: Sequence[str]) -> TrainingRequest:
        """What to train: from the plain model where the paper starts from a trained one, with the
        plain model as the one that says which words matter.
        """
        own = replace(base, recipe=self.recipe.name, settings=self.all_settings(base.settings))
        if self.needs_perturbed:
            own = replace(own, on=[self.on] if self.on else list(specs), asks=plain)
        if self.starts_trained:
            own = replace(own, model=plain)
        return own


@check_keywords(inside={"settings": SETTING_NAMES})
def mitigations(
    data: Any,
    test: Any,
    *,
    out: str | Path,
    model: str = "bilstm",
    recipe: str | Sequence[str] = USUAL,
    on: str | Sequence[str] = (),
    transfer: str | None = None,
    fidelity: Fidelity = "paper",
    seeds: int = 3,
    seed: int = 0,
    dev: Any = None,
    settings: Mapping[str, Any] | None = None,
    limit: int | None = None,
    test_limit: int | None = None,
    device: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    task: str | None = None,
    data_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Train each mitigation with several seeds, and test it on original, perturbed, and rare but
    valid texts.

    Args:
        data: training data: a spec (`mnli:train`), a file, or rows.
        test: test data, never trained on.
        out: folder of the models; those that are there already are reused.
        model: what is trained, as for `train`.
        recipe: the mitigations; each may carry settings (`max_entropy:lam=0.5`).
        on: transformations that make texts invalid; without any, Word Salad's.
        transfer: a recipe that is also trained on each transformation alone, and tested on all.
        fidelity: `paper`: transformations as described; `released`: as the authors' code does.
        seeds: trainings of each mitigation, with seeds `seed`, `seed` + 1, …
        seed: the first seed.
        dev: data that chooses the best epoch; without it, one training example in ten is held out.
        settings: of the loop and the network, for instance `{"lr": 2e-5, "epochs": 3}`.
        limit: train on this many examples, drawn at random by seed.
        test_limit: test on this many examples, drawn at random.
        device: `cpu`, `cuda` or `mps`; without it, the best there is.
        columns: which columns are which, for instance `{"premise": "text_a"}`.
        task: treat the data as this known task.
        data_dir: folder with the papers' datasets.
        progress: called with (stage, done, total, note) after every step.
    """
    given = dict(locals())
    chosen = [Mitigation.parse(spec) for spec in listed(recipe)]
    transferred = [Mitigation.parse(transfer)] if transfer else []
    specs = [parse(spec, fidelity=fidelity).tried().spec for spec in listed(on)]
    drawn = seed_range("mitigations", seed, seeds)
    request = comparison_request(given)
    for mitigation in [*chosen, *transferred]:
        own = mitigation.all_settings(request.settings)
        check_request(replace(request, recipe=mitigation.recipe.name, settings=own))
    test_data = read_test_data("mitigations", test, test_limit, request)
    specs = specs or _salad(test_data, fidelity)
    chosen += [replace(each, on=spec) for each in transferred for spec in specs]
    source = TrainingSource.of(request)
    per_seed = [
        _SeedTrainings(
            replace(request, seed=s), source, specs, Path(out) / f"seed-{s}", progress
        ).measure(chosen, test_data)
        for s in drawn
    ]
    return findings(per_seed)


def _salad(test: Dataset, fidelity: Fidelity) -> list[str]:
    usual = salad_specs(is_pair=test.examples[0].text_b is not None, has_model=True)
    return [parse(spec, fidelity=fidelity).spec for spec in usual]


@dataclass(frozen=True)
class _SeedTrainings:
    """All trainings of one seed."""

    request: TrainingRequest
    source: TrainingSource
    specs: Sequence[str]
    folder: Path
    progress: Progress | None

    def measure(self, chosen: Sequence[Mitigation], test: Dataset) -> dict[FindingKey, Floats]:
        """All mitigations, tested on the same texts; the plain model says which words matter."""
        plain = self.train(Mitigation.parse("plain"), self.request)
        texts = self.test_texts(test, plain)
        rare = rare_orders(test)
        values: dict[FindingKey, Floats] = {}
        for mitigation in chosen:
            spec = self.train(mitigation, mitigation.request(self.request, plain, self.specs))
            judge = model_judge(spec, test.task)
            measured = measure(judge, test, texts)
            if rare is not None:
                measured |= measure_rare(judge, rare)
            values |= {(mitigation.name, mitigation.on, *key): v for key, v in measured.items()}
        return values

    def train(self, mitigation: Mitigation, request: TrainingRequest) -> str:
        """The spec of the trained model."""
        name = f"seed {request.seed}, {mitigation.name} {mitigation.on}".strip()
        out = self.folder / folder_name(mitigation.name, mitigation.on)
        return train_once(request, self.source, out=out, progress=with_prefix(self.progress, name))

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
