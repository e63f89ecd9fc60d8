"""What may an explanation ask? The model, the data, and the answers to perturbed texts, each asked
once and shared by all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from disorder.data import vocabulary
from disorder.errors import DoesNotApply, NothingToMeasure
from disorder.models import LoadedModel
from disorder.runs.settings import Settings
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Dataset, Example, Floats, Ints, Outcomes, Progress, Task, Texts, Variants
from disorder.verbs.context import RunContext

CHUNK = 4096  # texts asked at a time: what progress is told in


@dataclass(frozen=True, eq=False)
class Broken:
    """The examples that a transformation applies to, their variants, the answers, and how many were
    left out by reason.
    """

    examples: Sequence[Example]
    variants: Sequence[Variants]
    outcomes: Outcomes
    skips: dict[str, int]

    def check_positions(self) -> None:
        """Raise unless every variant chooses words of the text that it stands for, by position."""
        for example, variants in zip(self.examples, self.variants, strict=True):
            sides = zip(variants.sides, example.texts, strict=False)
            if any(rows.written is not None or rows.sentence.text != text for rows, text in sides):
                name = self.outcomes.transformation
                raise NothingToMeasure(
                    f"{name} writes words or copies texts; this is for words chosen by position"
                )


@dataclass(eq=False)
class Subject:
    """The model and the data that are explained. `transformation` is how texts are perturbed unless an
    explanation has its own.
    """

    model: LoadedModel
    dataset: Dataset
    settings: Settings
    transformation: str = "derange"
    progress: Progress = lambda *_: None
    _kept: dict[tuple[str, int], Broken] = field(default_factory=dict)

    @property
    def task(self) -> Task:
        """What the data asks."""
        return self.dataset.task

    @property
    def examples(self) -> Sequence[Example]:
        """The examples that are looked at."""
        return self.dataset.examples

    @property
    def is_pairs(self) -> bool:
        """Whether examples have two texts."""
        return self.examples[0].text_b is not None

    def ask(self, texts: Sequence[Texts], *, stage: str = "") -> Floats:
        """Probabilities, one row a text; `stage` names what is shown as progress."""
        answers = []
        for start in range(0, len(texts), CHUNK):
            answers.append(self.model(texts[start : start + CHUNK]))
            if stage:
                self.progress(stage, min(start + CHUNK, len(texts)), len(texts), "")
        return np.concatenate(answers) if answers else np.empty((0, max(1, len(self.task.labels))))

    @cached_property
    def original(self) -> Floats:
        """The answers to the original texts."""
        return self.ask([example.texts for example in self.examples], stage="original texts")

    @cached_property
    def gold(self) -> Ints | Floats:
        """The gold label of each example as a number."""
        numbers = [
            float(e.label) if self.task.is_regression else self.task.labels.index(e.label)
            for e in self.examples
        ]
        return np.array(numbers)

    def perturbed(self, spec: str | None = None, *, q: int | None = None) -> Broken:
        """The examples perturbed by a transformation, and the answers; asked once, whoever wants them."""
        transformation = parse(spec or self.transformation, fidelity=self.settings.fidelity)
        key = transformation.spec, q or self.settings.q
        if key not in self._kept:
            self._kept[key] = self._ask_perturbed(*key)
        return self._kept[key]

    def variants(self, spec: str, *, q: int | None = None) -> list[Variants | DoesNotApply]:
        """The variants of every example, or why it has none; no question is asked."""
        chosen = parse(spec, fidelity=self.settings.fidelity)
        words = vocabulary(self.dataset) if "vocabulary" in chosen.needs else ()
        made = chosen.apply_all(
            self.examples,
            task=self.task,
            q=q or self.settings.q,
            seed=self.settings.seed,
            short=self.settings.short,
            context=RunContext(self.model, words, self.settings.data_dir),
        )
        return list(made)

    def _ask_perturbed(self, spec: str, q: int) -> Broken:
        made, skips = self.variants(spec, q=q), Counter[str]()
        skips.update(str(each) for each in made if isinstance(each, DoesNotApply))
        places = [i for i, each in enumerate(made) if not isinstance(each, DoesNotApply)]
        kept = [each for each in made if not isinstance(each, DoesNotApply)]
        if not kept:
            raise NothingToMeasure(
                f"{spec}: no example can be perturbed ({'; '.join(sorted(skips))})"
            )
        texts = [text for each in kept for text in variant_texts(each)]
        answers = _table(self.ask(texts, stage=spec), [len(each) for each in kept])
        examples = [self.examples[i] for i in places]
        outcomes = Outcomes(
            spec,
            self.task,
            np.array([e.id for e in examples]),
            self.gold[places],
            self.original[places],
            answers,
            np.ones(len(examples), dtype=bool),
            sum(skips.values()),
            self.settings.seed,
            self.settings.fidelity,
        )
        return Broken(examples, kept, outcomes, dict(sorted(skips.items())))


def _table(answers: Floats, counts: Sequence[int]) -> Floats:
    """Answers as examples × variants × labels, NaN where an example has fewer variants."""
    table = np.full((len(counts), max(counts), answers.shape[1]), np.nan)
    is_there = np.arange(max(counts)) < np.array(counts)[:, None]
    table[is_there] = answers
    return table
