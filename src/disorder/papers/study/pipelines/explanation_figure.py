"""Figures drawn by an explanation: one per model and set of data, with its scores as cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from disorder.errors import DisorderError, option
from disorder.papers.study.explaining import explain_in_folder, pictures_of
from disorder.papers.study.naming import GivenRun, short_name, title_of
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.result import StepResult, StudyCell
from disorder.papers.study.workbench import Workbench
from disorder.verbs.explain import Explained

# what a score's row is about beside model and data, and its column
CellPlace = tuple[Mapping[str, str], str]


def own_column(name: str) -> CellPlace:
    """Every score in a column of its own name."""
    return {}, name


def by_overlap(name: str) -> CellPlace | None:
    """A range of BLEU-2 as what the row is about.

    >>> by_overlap("bleu2_0.00-0.15")
    ({'bleu2': '0-0.15'}, 'acceptance')
    """
    if not name.startswith("bleu2_"):
        return None
    low, high = name.removeprefix("bleu2_").split("-")
    return {"bleu2": f"{float(low):g}-{float(high):g}"}, "acceptance"


def at_thresholds(name: str) -> CellPlace:
    """Ω_0 is Ω_max."""
    return {}, {"omega@0": "omega_max"}.get(name, name)


def highest_overlap(name: str) -> CellPlace:
    """The highest BLEU of plain permutations, as what the text states about them."""
    if name.startswith("most_"):
        return {"transformation": "derange"}, name.removeprefix("most_")
    return {}, name


def by_word(name: str) -> CellPlace:
    """The score of one word, with the settings of Figure 7."""
    word = name.removeprefix("score of the word ")
    return ({"word": word, "k": "4", "r": "2"}, "minitree") if word != name else ({}, name)


def without_word(name: str) -> CellPlace | None:
    """All scores but that of the one word that is drawn."""
    return None if name.startswith("score of the word ") else ({}, name)


def by_length(name: str) -> CellPlace:
    """The first prediction and the length of examples, as what the row is about.

    >>> by_length("first predicted right, 10–17 words")
    ({'first predicted': 'right', 'words': '10–17'}, 'acceptance')
    """
    first, comma, words = name.removeprefix("first predicted ").partition(", ")
    if not comma:
        return {}, name
    return {"first predicted": first, "words": words.removesuffix(" words")}, "acceptance"


def by_side(name: str) -> CellPlace:
    """Which texts were perturbed, as what the row is about."""
    score, _, perturbed = name.partition(", ")
    return {"perturbed": perturbed}, {"Ω_max": "omega_max"}.get(score, "acceptance")


@dataclass(frozen=True)
class ExplanationFigure(Pipeline):
    """Explain every model on every set of data; `place` says which row and column a score fills.

    `reaches` are the cells that its scores can fill, where the paper states numbers about them.
    With `learns` the explanation learns from training data, which the item or the user names.
    """

    by: str
    transformation: str = "derange"
    place: Callable[[str], CellPlace | None] = own_column
    q: int | None = 100
    reaches: Sequence[Reach] = ()
    learns: bool = False

    kind = "explanation"
    takes_runs = True
    by_draws = ("stable",)

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return (
            f"explain each model on each set of data by {self.by}, "
            f"texts perturbed by {self.transformation}"
        )

    @property
    def needs_training_data(self) -> bool:  # type: ignore[override]
        """Whether the explanation learns from training data."""
        return self.learns

    @property
    def perturbs(self) -> Sequence[str]:
        """How texts are perturbed."""
        return (self.transformation,)

    @property
    def explains(self) -> Sequence[str]:
        """The explanations that it runs."""
        return (self.by,)

    @property
    def reach(self) -> Sequence[Reach]:
        """The cells that the scores can fill."""
        return self.reaches

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model and set of data."""
        if self.learns and bench.train is None:
            raise DisorderError(
                f"what is usual is learned from training data: say {option('train', 'DATA')}"
            )
        for model, data in bench.pairs():
            compute = partial(self.explained, bench, model, data)
            limit = bench.settings.limit
            if isinstance(model, GivenRun):
                made_of = {"run": json.dumps(model.run.hashes, sort_keys=True)}
            else:
                made_of = bench.made_of(model=model, data=data, limit=limit)
            yield bench.once(compute, model, data, made_of=made_of)

    def explained(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        """What the explanation finds for one model and set of data."""
        train = bench.name_of(bench.train) if self.learns else None
        found, folder = explain_in_folder(
            bench,
            model,
            data,
            [bench.spec_of(self.by, train=train)],
            q=bench.q(self.q),
            transformation=bench.spec_of(self.transformation),
        )
        about = {"model": title_of(model), "data": bench.name_of(data)}
        what = f"{short_name(model)} on {short_name(data)}"
        result = StepResult(pictures=pictures_of(found, what))
        for section in found.sections:
            if section.found is not None:
                result.cells += self.cells(section.found, about)
                lines = [section.found.finding, *section.found.notes]
                result.notes += [f"{what}: {line}" for line in lines]
            result.links.append(bench.link(f"{section.name}: {what}", folder / "explain.html"))
        return result

    def cells(self, found: Explained, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The cells that the scores fill."""
        for name, score in found.scores.items():
            place = self.place(name)
            if place is not None:
                more, column = place
                yield StudyCell.of({**about, **more}, column, score)
