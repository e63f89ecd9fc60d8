"""A language model behind a prompt, as a predictor: what all backends for language models share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from disorder.models.prompting.choice_prompt import ChoicePrompt
from disorder.models.prompting.prompt import Prompt, Question
from disorder.types import Costs, Floats, Segments, Texts
from disorder.types.predictions import ABSTAINED, Predictions


class PromptedModel:
    """Predicts the label whose word is the likeliest answer to a prompt.

    A backend gives `option_scores`; see `disorder.models.prompting`. `may_abstain` adds a column
    for answers that are none of the options; `gives_mass` says that scores are log-probabilities of
    all that the model could say, so that the share that the options get is worth knowing.
    """

    is_costly = True
    may_abstain = False
    gives_mass = True

    def __init__(self, prompt: Prompt, fingerprint: str) -> None:
        self.prompt = prompt
        self.fingerprint = f"{fingerprint}/{prompt.fingerprint}" if fingerprint else ""
        abstaining = (ABSTAINED,) if self.may_abstain and prompt.labels else ()
        self.labels = prompt.labels + abstaining
        self.notes: list[str] = []
        self.counts = Costs()

    def option_scores(self, questions: Sequence[Question], /) -> Floats:
        """The log-probability of each option, one row per question."""
        raise NotImplementedError

    def rendered(self, question: Question) -> str:
        """The question as the model gets it, for people to read."""
        return question.text

    def __call__(self, texts: Sequence[Texts], /) -> Floats | Predictions:
        """Probabilities, one row per text (one number per text where the options are numbers)."""
        return self.predict_questions(self.prompt.questions(texts))

    def predict_questions(self, questions: Sequence[Question], /) -> Floats | Predictions:
        """The same for whole questions, all orders of the options of a text in turn."""
        return self.predictions(self._rows_of(questions))

    def predict_segments(self, inputs: Sequence[Segments], /) -> Floats | Predictions:
        """The same for inputs of named segments."""
        return self.predict_questions(self.prompt.questions_about(inputs))

    def _rows_of(self, questions: Sequence[Question]) -> Floats:
        """The scores of the options, a column per label: questions with as many options together,
        since a backend gives a matrix.
        """
        n_options = np.array([len(question.options) for question in questions])
        rows = np.empty((len(questions), len(self.prompt.words)))
        for n in np.unique(n_options).tolist():
            places = np.flatnonzero(n_options == n).tolist()
            alike = [questions[i] for i in places]
            for i, question, scores in zip(places, alike, self.option_scores(alike), strict=True):
                rows[i] = self.prompt.row_of(question, scores)
        return rows

    def predictions(self, scores: Floats) -> Floats:
        """Predictions from the scores of the options, one row per question."""
        probabilities = self.prompt.by_order(scores, self._empty)
        self._count(scores, probabilities)
        predictions = self.prompt.predictions(probabilities)
        if len(self.labels) > len(self.prompt.labels):
            return np.column_stack([predictions, 1 - predictions.sum(axis=1)])
        return predictions

    @cached_property
    def _apart(self) -> list[int]:
        """The options that begin with no other: whoever says "no idea" has said "no"."""
        words = self.prompt.words
        return [
            i
            for i, word in enumerate(words)
            if not any(word != other and word.startswith(other) for other in words)
        ]

    @cached_property
    def _empty(self) -> Floats | None:
        """What the model says of a text without content."""
        if not self.prompt.calibrates:
            return None
        return self.option_scores(self.prompt.questions([self.prompt.empty]))

    @property
    def _by_likelihood(self) -> bool:
        return isinstance(self.prompt, ChoicePrompt) and self.prompt.by != "letter"

    def _count(self, scores: Floats, probabilities: Floats) -> None:
        """Count what the run tells of its questions, as sums that workers can add up."""
        self.counts["questions"] += len(scores)
        if self.gives_mass and not self._by_likelihood:
            self.counts["label_mass"] += float(np.exp(scores[:, self._apart]).sum())
        self.count_orders(probabilities)

    def count_orders(self, probabilities: Floats) -> None:
        """Count how far predictions depend on the order of the options: text × order × option."""
        listings = self.prompt.listings
        if len(listings) > 1:
            labels = probabilities.argmax(axis=2)
            self.counts["order_texts"] += len(probabilities)
            self.counts["order_questions"] += len(probabilities) * len(listings)
            self.counts["order_changes"] += int((labels != labels[:, :1]).any(axis=1).sum())
            for k, listing in enumerate(listings):
                first, last = (self.prompt.words.index(listing[i]) for i in (0, -1))
                self.counts["first_listed"] += float(probabilities[:, k, first].sum())
                self.counts["last_listed"] += float(probabilities[:, k, last].sum())

    def description(self, given: Segments) -> dict[str, Any]:
        """What run.json holds of the prompt, with the question about one example."""
        prompt = self.prompt
        asked = prompt.questions_about([given])
        names = prompt.labels or tuple(f"{number:g}" for number in prompt.numbers)
        return {
            "name": prompt.name,
            "label_words": dict(zip(names, prompt.words, strict=True)),
            "shots": len(prompt.shots),
            "option_orders": len(prompt.listings),
            "calibrate": "content-free" if prompt.calibrates else None,
            "rendered": self.rendered(asked[0]),
        }


def findings(counts: Costs) -> dict[str, float]:
    """What the counts of a run say of its questions: mean label mass, bias of option order."""
    found: dict[str, float] = {}
    questions = counts.get("questions", 0.0)
    n_known = counts.get("label_mass_of", questions)
    if n_known and "label_mass" in counts:
        found["label_mass"] = round(counts["label_mass"] / n_known, 4)
    texts = counts.get("order_texts", 0.0)
    if texts:
        found["order_changes"] = round(counts["order_changes"] / texts, 4)
        found["first_listed"] = round(counts["first_listed"] / counts["order_questions"], 4)
        found["last_listed"] = round(counts["last_listed"] / counts["order_questions"], 4)
    return found
