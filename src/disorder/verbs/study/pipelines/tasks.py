"""Tables with a model for each task: a network or an encoder is trained for every set of data, then
asked about it.

Out of Order and Word Salad have such tables. A model that answers already is asked as it is, about
data whose labels it has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from disorder.data import named_set_of
from disorder.errors import BadModel, DisorderError, MissingData
from disorder.registry import NetworkPart, parts
from disorder.runs import Run
from disorder.verbs.study.given_specs import is_at_hand
from disorder.verbs.study.pipelines.audits import notes_of
from disorder.verbs.study.pipelines.training import Arm, over_seeds
from disorder.verbs.study.result import Cell, Portion
from disorder.verbs.study.workbench import Bench, short, title_of

CLASSIFIER = "ForSequenceClassification"
PLAIN = Arm()


class Question(Protocol):
    """What a model is asked, and which cells its run fills."""

    @property
    def transformations(self) -> Sequence[str]:
        """How texts are perturbed."""

    @property
    def q(self) -> int | None:
        """How often."""

    @property
    def does(self) -> str:
        """What it does, in one line."""

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[Cell]:
        """The cells that a run fills."""


@dataclass(frozen=True)
class Tasks:
    """Ask a question of every model on every set of data, each trained for it in every way of
    `arms` (under `key` in the rows).

    Without arms, a model that answers already is not trained: then `limit` is how many examples it
    is asked about. `settings` are the paper's, for hf: models.
    """

    question: Question
    arms: Mapping[str, Arm] = field(default_factory=dict)
    key: str = "recipe"
    settings: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    kind: str = "trainings"

    needs_model = True
    trains = True

    @property
    def q(self) -> int | None:
        """How many permutations the paper draws."""
        return self.question.q

    @property
    def does(self) -> str:
        """What it does, in one line."""
        ways = (
            f" in {len(self.arms)} ways ({', '.join(self.arms)})"
            if self.arms
            else ", unless it answers already"
        )
        return f"train each model for each set of data{ways}; then {self.question.does}"

    @property
    def _wanted(self) -> Sequence[str]:
        """The scores that are missed where a run could not give them; the columns of audits are
        original texts here.
        """
        return getattr(self.question, "metrics", ())

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """One portion a model, set of data and way."""
        for model, data in bench.pairs():
            if self.arms or not is_trained(model):
                bench.say(model, bench.train or f"the training part of {short(data)}", data)
            for name, arm in (self.arms or {"": PLAIN}).items():
                about = {"model": title_of(model), "data": bench.name_of(data)} | (
                    {self.key: name} if name else {}
                )
                try:
                    yield self._asked(bench, model, data, arm, about)
                except (BadModel, MissingData) as reason:
                    if len(bench.models) * len(bench.data) == 1:
                        raise
                    yield Portion(notes=[f"{short(model)} on {short(data)}: left out ({reason})"])

    def _asked(
        self, bench: Bench, model: Any, data: Any, arm: Arm, about: Mapping[str, str]
    ) -> Portion:
        portion, answers = Portion(), not self.arms and is_trained(model)
        for seed in bench.seeds()[: 1 if answers else None]:
            spec = model if answers else trained(bench, model, data, arm, seed, self.settings)
            q, limit = (
                bench.q(self.question.q),
                bench.asked.test_limit or (bench.asked.limit if answers else None),
            )
            run, folder = bench.audit(
                spec, data, self.question.transformations, q=q, limit=limit, short="use"
            )
            portion.cells += self.question.cells(run, folder, about)
            title = " ".join(
                filter(None, [short(model), arm.recipe, *arm.on, f"seed {seed} on", short(data)])
            )
            portion.links.append(bench.link(title, folder / "report.html"))
            portion.notes += [
                *notes_of(run, about, self._wanted),
                *skips_of(run, f"{short(model)} on {short(data)}"),
            ]
        portion.cells = over_seeds(portion.cells)
        return portion


def trained(
    bench: Bench,
    model: Any,
    data: Any,
    arm: Arm = PLAIN,
    seed: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> str:
    """The spec of a model trained for this data in one way; one that was trained so before is used
    again.
    """
    source, chosen = training_data(bench, data), bench.asked.seed if seed is None else seed
    way = " ".join([source, arm.recipe, *(f"{k}={v}" for k, v in arm.settings.items()), *arm.on])
    return replace(bench, train=source).trained(model, way, arm, chosen, settings or {})


def training_data(bench: Bench, data: Any) -> str:
    """The training part that goes with data to be asked about."""
    name, _, rest = title_of(data).partition(":")
    if bench.train:
        return bench.train
    if named_set_of(data) is not None:
        if not is_at_hand(f"{name}:train", bench.asked.data_dir):
            raise MissingData(f"{name}:train, to train on, is not at hand")
        return f"{name}:train"
    if isinstance(data, str) and name == "builtin":
        return f"builtin:{rest.partition(':')[0] or 'nli'}:train"
    raise DisorderError(
        f"what should be trained on, to be asked about {title_of(data)}? Say --train DATA"
    )


def is_trained(model: Any) -> bool:
    """Whether a model can be asked; the name of a network, or an encoder without an output layer,
    is to be trained first.
    """
    if not isinstance(model, str):
        return True
    name, _, address = model.partition(":")
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

        return list(AutoConfig.from_pretrained(address).architectures or ())
    except (OSError, ValueError):
        return []  # loading it will say what is wrong


def skips_of(run: Run, name: str) -> list[str]:
    """How many texts could not be perturbed, and why."""
    return [
        f"{name}: {n:,} texts are not perturbed by {spec} ({reason})"
        for spec, reasons in run.skips.items()
        if spec in run.transformations
        for reason, n in reasons.items()
    ]
