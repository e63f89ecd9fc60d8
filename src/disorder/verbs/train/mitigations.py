"""Does a mitigation work, and what does it cost? Word Salad's Table 12 (Gupta et al., 2021), and what it
leaves out.

A mitigation is a recipe after which a model can abstain a text: by a label of its own, or below a
threshold. Asked is how often it answers original texts right (a abstention is not right), how often it
abstains perturbed ones, and whether it abstains valid texts too, rare but valid orders among them, apart
for examples that need order and those that do not. To abstain all is no mitigation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from disorder.abstention import predicted_label
from disorder.data import read_data, vocabulary
from disorder.errors import BadData, DisorderError
from disorder.metrics import ORIGINAL
from disorder.metrics.statistics.intervals import mean
from disorder.models import load
from disorder.models.outputs.calibration import calibration_of
from disorder.registry import Part, RecipePart, part
from disorder.transformations import parse
from disorder.types import Bools, Dataset, Example, Fidelity, Floats, Ints, Progress, Task, Texts
from disorder.verbs.context import RunContext
from disorder.verbs.train.perturbed_copies import mixed, salad
from disorder.verbs.train.resuming import (
    Source,
    check_seeds,
    data_to_ask,
    folder_name,
    named,
    source,
    train_once,
)
from disorder.verbs.train.training import Request, check
from disorder.verbs.train.training_settings import LoopSettings

USUAL = ("plain", "threshold", "entropic", "invalid_class")
ALL = "all"  # every transformation together, or every example
RARE = {
    frozenset(("entailment", "neutral", "contradiction")): "rare_nli",
    frozenset(("negative", "positive")): "rare_sentiment",
}
PLAIN_ORDER = "plain"
MORE = "refused_more"  # than in plain order


@dataclass(frozen=True)
class Finding:
    """One number: a metric of a mitigation on texts of one kind, over examples and seeds; `by_seed` shows
    how seeds differ.
    """

    mitigation: str
    trained_on: str
    metric: str
    texts: str
    group: str
    value: float
    low: float
    high: float
    n: int
    by_seed: tuple[float, ...]


@dataclass(frozen=True)
class Mitigation:
    """A recipe with its own settings, and what it breaks texts by (empty: all transformations,
    mixed).
    """

    name: str  # as the user wrote it
    recipe: RecipePart
    settings: Mapping[str, str]
    on: str = ""

    @property
    def folder(self) -> str:
        """A name for its models."""
        return folder_name(self.name, self.on)


def mitigations(
    data: Any,
    test: str | Dataset,
    *,
    out: str | Path,
    recipes: Sequence[str] = USUAL,
    on: Sequence[str] = (),
    fidelity: Fidelity = "paper",
    seed: int = 0,
    seeds: int = 3,
    transfer: str | None = None,
    test_limit: int | None = None,
    progress: Progress | None = None,
    **asked: Any,
) -> list[Finding]:
    """Train each mitigation with several seeds and ask it about whole, perturbed, and rare but valid texts.

    `recipes` may carry settings (`max_entropy:lam=0.5`); `on` names the transformations (Word
    Salad's, unless said); `transfer` names a recipe that is also trained on each of them alone.
    There is a model of each kind for `seeds` seeds from `seed` on. Models lie in `out`; those that
    are there already are used again.
    """
    chosen = [_cure(spec) for spec in recipes]
    specs = [parse(spec, fidelity=fidelity).tried().spec for spec in on]
    several = _cure(transfer) if transfer else None
    check_seeds("mitigations", seeds)
    for mitigation in [*chosen, *([several] if several else [])]:
        check(
            Request(
                mitigation.recipe.name, data, **{**asked, "settings": _settings(mitigation, asked)}
            )
        )
    asked_about = data_to_ask("mitigations", test, test_limit, asked)
    if not specs:
        usual = salad(is_pair=asked_about.examples[0].text_b is not None, asks_model=True)
        specs = [parse(spec, fidelity=fidelity).spec for spec in usual]
    if several is not None:
        chosen += [
            Mitigation(several.name, several.recipe, several.settings, spec) for spec in specs
        ]
    given, drawn = source(data, asked), range(seed, seed + seeds)
    per_seed = [
        _one_seed(given, asked_about, chosen, specs, Path(out) / f"seed-{s}", s, progress, asked)
        for s in drawn
    ]
    found = {
        key: np.array([each[key] for each in per_seed])
        for key in per_seed[0]
        if all(key in each for each in per_seed)
    }
    return [_finding(key, values) for key, values in found.items() if not np.isnan(values).all()]


def _cure(spec: str) -> Mitigation:
    name, _, text = spec.partition(":")
    pairs = [item.partition("=") for item in text.split(",") if item]
    if any(not equals or not value for _, equals, value in pairs):
        raise DisorderError(f"recipe {spec!r}: write settings as name:key=value,key=value")
    recipe, settings = part(RecipePart, name), {key: value for key, _, value in pairs}
    recipe.bind(settings)
    return Mitigation(spec, recipe, settings)


Key = tuple[str, str, str, str, str]  # mitigation, trained on, metric, texts, group
Values = dict[Key, Floats]  # a number an example, NaN where there is none
Judge = Callable[[Sequence[Texts]], tuple[Ints, Floats]]


def _one_seed(
    data: Source,
    test: Dataset,
    chosen: Sequence[Mitigation],
    specs: Sequence[str],
    folder: Path,
    seed: int,
    progress: Progress | None,
    asked: Mapping[str, Any],
) -> Values:
    """All mitigations of one seed, asked about the same texts; the plain model says which words matter."""
    plain = _model(
        Mitigation("plain", part(RecipePart, "plain"), {}),
        data,
        folder,
        seed,
        progress,
        asked,
        asked.get("settings", {}),
    )
    context = RunContext(load(plain, task=test.task), vocabulary(test), asked.get("data_dir"))
    perturbed = {
        spec: mixed(test.examples, test.task, [spec], seed=seed, context=context) for spec in specs
    }
    texts = {ORIGINAL: (np.arange(len(test.examples)), [e.texts for e in test.examples])}
    texts |= {
        spec: (np.array(found.places), found.texts)
        for spec, found in perturbed.items()
        if found.texts
    }
    if len(texts) == 1:
        raise BadData(f"{test.name}: no text can be perturbed by {', '.join(specs)}")
    rare = _rare(test)
    values: Values = {}
    for mitigation in chosen:
        spec = _model(
            mitigation,
            data,
            folder,
            seed,
            progress,
            _given(mitigation, plain, specs, asked),
            _settings(mitigation, asked),
        )
        judge = _judge(spec, test.task)
        values |= _asked(mitigation, judge, test, texts)
        values |= {} if rare is None else _asked_rare(mitigation, judge, rare)
    return values


def _given(
    mitigation: Mitigation, plain: str, specs: Sequence[str], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """What to train with: from the plain model where the paper goes on from one, else from the
    start, asking the plain one.
    """
    perturbed = (
        {"on": [mitigation.on] if mitigation.on else list(specs), "asks": plain}
        if mitigation.recipe.perturbs
        else {}
    )
    return {
        **asked,
        **perturbed,
        **({"model": plain} if mitigation.recipe.of_trained else {}),
    }


def _settings(mitigation: Mitigation, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The shared settings that fit the mitigation, and its own; a model that is trained already keeps its
    network's.
    """
    shared, loop = asked.get("settings", {}), Part(name="train", function=LoopSettings).settings
    fitting = {
        name: v for name, v in shared.items() if not mitigation.recipe.of_trained or name in loop
    }
    return {
        **fitting,
        **({"learn": "false"} if "learn" in mitigation.recipe.settings else {}),
        **mitigation.settings,
    }


def _model(
    mitigation: Mitigation,
    data: Source,
    folder: Path,
    seed: int,
    progress: Progress | None,
    asked: Mapping[str, Any],
    settings: Any,
) -> str:
    """The spec of the trained model; one that was trained before in the same way is used again."""
    request = {**asked, "settings": settings, "seed": seed}
    spoken = named(progress, f"seed {seed}, {mitigation.name} {mitigation.on}".strip())
    return train_once(
        mitigation.recipe.name, data, out=folder / mitigation.folder, progress=spoken, **request
    )


def _asked(
    mitigation: Mitigation,
    judge: Judge,
    test: Dataset,
    texts: Mapping[str, tuple[Ints, Sequence[Texts]]],
) -> Values:
    """Refusals and right answers by kind of text and group of examples."""
    gold = np.array([test.task.labels.index(example.label) for example in test.examples])
    found: dict[tuple[str, str], Floats] = {}
    for name, (places, asked) in texts.items():
        labels, undecided = judge(asked)
        measured = {
            "abstained": labels < 0,
            "accuracy": labels == gold[places],
            "entropy": undecided,
        }
        for metric, values in measured.items():
            found[metric, name] = np.full(len(gold), np.nan)
            found[metric, name][places] = values
    for metric in ("abstained", "accuracy", "entropy"):
        stacked = np.array([found[metric, name] for name in texts if name != ORIGINAL])
        is_there = ~np.isnan(stacked)
        with np.errstate(invalid="ignore"):
            found[metric, ALL] = np.nansum(stacked, axis=0) / is_there.sum(axis=0)
    return {
        (mitigation.name, mitigation.on, metric, name, group): np.where(mask, values, np.nan)
        for group, mask in _groups(test.examples)
        for (metric, name), values in found.items()
        if group == ALL or name in (ORIGINAL, ALL)
    }


def _groups(examples: Sequence[Example]) -> Iterator[tuple[str, Bools]]:
    yield ALL, np.ones(len(examples), dtype=bool)
    for column in examples[0].groups:
        for value in sorted({example.groups[column] for example in examples}):
            yield (
                f"{column}={value}",
                np.array([example.groups[column] == value for example in examples]),
            )


def _judge(spec: str, task: Task) -> Judge:
    """What a model answers, −1 where it abstains, by its own label or its threshold; and its entropy
    as a share of the most.
    """
    predictor, calibration = load(spec, task=task), calibration_of(spec)
    threshold = 0.0 if calibration is None else calibration.threshold or 0.0

    def judge(texts: Sequence[Texts]) -> tuple[Ints, Floats]:
        found = predictor(texts)
        labels = np.where(found.max(axis=1) < threshold, -1, predicted_label(found))
        abstaining = np.maximum(1 - found.sum(axis=1), 0)[:, None]
        every = np.concatenate([found, abstaining], axis=1) if predictor.abstains else found
        nats = -(every * np.log(np.maximum(every, 1e-300))).sum(axis=1)
        return labels, np.clip(nats / np.log(every.shape[1]), 0, 1)

    return judge


def _rare(test: Dataset) -> Dataset | None:
    """Rare but valid orders for this task, where our grammar has them."""
    name = RARE.get(frozenset(test.task.labels))
    is_pair = test.examples[0].text_b is not None
    if name is None or is_pair != (name == "rare_nli"):
        return None
    return read_data(f"builtin:{name}", group_by=["phenomenon"])


def _asked_rare(mitigation: Mitigation, judge: Judge, rare: Dataset) -> Values:
    """Refusals by order, a number a statement; `rare` is the mean of the orders that are not plain,
    MORE that minus plain.
    """
    abstained = judge([example.texts for example in rare.examples])[0] < 0
    names = [example.groups["phenomenon"] for example in rare.examples]
    orders = list(dict.fromkeys(names))
    table = {order: abstained[[name == order for name in names]].astype(float) for order in orders}
    others = np.mean([table[order] for order in orders if order != PLAIN_ORDER], axis=0)
    found = {
        ("abstained", f"order={order}"): values
        for order, values in {**table, "rare": others}.items()
    }
    found[MORE, "order=rare"] = others - table[PLAIN_ORDER]
    return {
        (mitigation.name, mitigation.on, metric, texts, ALL): values
        for (metric, texts), values in found.items()
    }


def _finding(key: Key, stacked: Floats) -> Finding:
    """The mean over seeds and examples; the interval resamples examples, all seeds of one together."""
    is_there = ~np.isnan(stacked).all(axis=0)
    values = np.nanmean(stacked[:, is_there], axis=0)
    lowest, size = (-1, 2) if key[2] == MORE else (0, 1)  # a difference lies between −1 and 1
    score = mean((values - lowest) / size)
    value, low, high = (
        round(number * size + lowest, 6) for number in (score.value, score.low, score.high)
    )
    by_seed = tuple(round(float(np.nanmean(each[is_there])), 6) for each in stacked)
    return Finding(*key, value, low, high, score.n, by_seed)
