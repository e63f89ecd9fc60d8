"""How do models answer word salad, and what mitigations them? Word Salad's questions, by transformation
and in the paper's means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from disorder.metrics import ORIGINAL, resampled
from disorder.metrics.agreement import unchanged
from disorder.metrics.confidence import top_probability
from disorder.runs import Run
from disorder.transformations import parse, suite
from disorder.types import Floats, Ints, Outcomes, Score
from disorder.verbs.study.pipelines.audits import score_of
from disorder.verbs.study.pipelines.order import outcomes_of
from disorder.verbs.study.pipelines.tasks import training_data
from disorder.verbs.study.pipelines.training import EXAMPLES_ALONE
from disorder.verbs.study.result import DIGITS, Cell, Portion
from disorder.verbs.study.workbench import Bench, title_of
from disorder.verbs.train import ALL, Finding

LEXICAL = ("sort", "reverse", "shuffle", "copy_sort")
GRADIENT = ("replace_least", "repeat_most", "drop_least", "copy_one")
SALAD = (*LEXICAL, *GRADIENT)
MEANS = {"mean of lexical": LEXICAL, "mean of gradient": GRADIENT, "mean of all": SALAD}
VALUES = {"agreement": unchanged, "confidence": top_probability}


@dataclass(frozen=True)
class Salad:
    """One metric under Word Salad's transformations, each with a row of its own (`single`), and
    their `means`.

    Where `is_named` is false the rows do not say which mean it is. PBSMT, which learns from other
    data first, is left out.
    """

    metric: str = "agreement"
    single: bool = True
    means: Sequence[str] = tuple(MEANS)
    is_named: bool = True
    transformations: Sequence[str] = SALAD
    q: int | None = 5

    @property
    def metrics(self) -> Sequence[str]:
        """What is measured."""
        return (self.metric,)

    @property
    def does(self) -> str:
        """What it does, in one line."""
        names = ", ".join(self.transformations)
        return f"measure {self.metric} under {names} (PBSMT is left out), q = {self.q} where texts are drawn"

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[Cell]:
        """Scores by transformation, then the means of those that apply."""
        for spec in self.transformations if self.single else ():
            score = score_of(run, folder, spec, self.metric)
            if score is not None:
                yield Cell.of({**about, "transformation": spec}, self.metric, score)
        held = dict(outcomes_of(folder, self.transformations))
        for name in self.means:
            some = [held[spec] for spec in MEANS[name] if spec in held]
            if some:
                row = {**about, "transformation": name} if self.is_named else about
                yield Cell.of(row, self.metric, mean_of_means(some, self.metric))


def mean_of_means(several: Sequence[Outcomes], metric: str) -> Score:
    """The mean over transformations of what each has on average; examples are resampled, all their
    texts together.
    """
    names = sorted({name for outcomes in several for name in outcomes.example.tolist()})
    place = {name: i for i, name in enumerate(names)}
    table: Floats = np.full((len(several), len(names)), np.nan)
    for row, outcomes in zip(table, several, strict=True):
        row[[place[name] for name in outcomes.example.tolist()]] = VALUES[metric](outcomes)

    def statistic(picks: Ints) -> Floats:
        return np.asarray(np.mean([_means(row[picks]) for row in table], axis=0))

    value = float(np.nanmean(table, axis=1).mean())
    low, high = resampled(statistic, len(names))
    return Score(value, min(low, value), max(high, value), len(names))


def _means(drawn: Floats) -> Floats:
    """The mean of each resample, over the examples that are there."""
    there = ~np.isnan(drawn)
    return np.asarray(np.where(there, drawn, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1))


@dataclass(frozen=True)
class Mitigations:
    """Teach every model to abstain perturbed texts, for every set of data: `disorder mitigations` as a table.

    With `transfer`, that recipe is trained on each transformation alone and asked about all.
    `settings` are the paper's, for hf: models.
    """

    recipes: Sequence[str] = ("plain", "threshold", "entropic", "invalid_class")
    transfer: str | None = None
    on: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(
        default_factory=lambda: {"accuracy": "percent", "caught": "percent"}
    )

    kind = "mitigations"
    needs_model = True
    trains = True
    q = None

    @property
    def does(self) -> str:
        """What it does, in one line."""
        if self.transfer:
            return f"train {self.transfer} on each transformation alone, and ask how many texts perturbed by the others it abstains"
        return f"train each model by {', '.join(self.recipes)}; ask about whole and perturbed texts (PBSMT is left out)"

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """One portion a model and set of data."""
        for model, data in bench.pairs():
            train = training_data(bench, data)
            bench.say(model, train, data)
            made_of = bench.made_of(data=data, train=train)
            yield bench.once(partial(self._made, bench, model, data), model, data, made_of=made_of)

    def _made(self, bench: Bench, model: Any, data: Any) -> Portion:
        found = bench.mitigations(
            model,
            training_data(bench, data),
            data,
            self.settings,
            recipe=self.recipes,
            on=self.on,
            transfer=self.transfer,
        )
        declared = {
            parse(spec, fidelity=bench.fidelity).spec: spec for spec in self.on or suite("salad")
        }
        named = [
            replace(
                each,
                texts=declared.get(each.texts, each.texts),
                trained_on=declared.get(each.trained_on, each.trained_on),
            )
            for each in found
        ]
        about = {"model": title_of(model), "data": bench.name_of(data)}
        notes = [EXAMPLES_ALONE] if bench.asked.seeds > 1 else []
        return Portion(
            cells=[cell for each in named if (cell := self._cell(each, about)) is not None],
            notes=notes,
        )

    def _cell(self, found: Finding, about: Mapping[str, str]) -> Cell | None:
        """The cell that a finding fills, if the table has one for it."""
        if found.group != ALL or (self.transfer and not found.trained_on):
            return None
        row = {**about, "recipe": found.mitigation} | (
            {"trained_on": found.trained_on} if found.trained_on else {}
        )
        if found.metric == "accuracy" and found.texts == ORIGINAL:
            column = "accuracy"
        elif (
            found.metric == "abstained"
            and (found.texts == ALL) != bool(self.transfer)
            and found.texts != ORIGINAL
        ):
            column = "caught"
            row |= {"transformation": found.texts} if self.transfer else {}
        else:
            return None
        if found.texts.startswith("order="):
            return None
        score = Score(found.value, found.low, found.high, found.n)
        return Cell.of(row, column, score).model_copy(
            update={"by_seed": [round(x, DIGITS) for x in found.by_seed]}
        )
