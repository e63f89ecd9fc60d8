"""Where does an answer start and end? Question answering as SQuAD 2.0 asks it: rows, loss and
judgement of a head for spans.

No answer is [CLS] as start and end. When a question is left without one is decided by a threshold
on the null score. It is tuned on the dev data, so the scores shown are cross-fitted: each half of
the dev data is judged by the threshold of the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disorder.errors import BadData
from disorder.metrics.answer_match import exact_match, f1
from disorder.metrics.statistics.intervals import mean
from disorder.models.outputs.answer_spans import BestSpans, Window, gathered, windows
from disorder.randomness import generator
from disorder.types import Dataset, Example, Floats, Score
from disorder.verbs.train.learner import SPANS
from disorder.verbs.train.network_rows import Rows, asked, rows_of
from disorder.verbs.train.recipe_plan import Inputs

UNKNOWN = -1  # a target that no loss counts
NOT_THERE = "the answer does not stand in the passage"
Answers = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Judged:
    """How well every question would be answered by the best span, and by none; `doubt` speaks for
    none.
    """

    doubt: Floats
    answered: Mapping[str, Floats]
    left: Mapping[str, Floats]

    def scores(self, metric: str, threshold: Floats | float) -> Floats:
        """One number an example, where those of more doubt than the threshold are left without an
        answer.
        """
        return np.where(self.doubt > threshold, self.left[metric], self.answered[metric])


def located(data: Dataset, *, drops: bool) -> Dataset:
    """The data with every answer's place; one that is not said is the first place where the answer
    stands.

    An answerable question whose answer stands nowhere cannot be learned from: it is dropped and
    counted.
    """
    skipped, examples = Counter(data.skipped), []
    for example in data.examples:
        answers = tuple(
            (text, _place(example, text, start)) for text, start in example.answers or ()
        )
        known = tuple(answer for answer in answers if answer[1] >= 0)
        if drops and answers and not known:
            skipped[NOT_THERE] += 1
        else:
            examples.append(replace(example, answers=(known if drops else answers)))
    if not examples:
        raise BadData(f"{data.name}: no answer stands in its passage")
    return replace(data, examples=examples, skipped=dict(sorted(skipped.items())))


def _place(example: Example, text: str, start: int) -> int:
    passage = str(example.text_b)
    if start < 0:
        return passage.find(text)
    if passage[start : start + len(text)] != text:
        raise BadData(
            f"example {example.id}: the answer {text!r} does not start at {start} of its passage"
        )
    return start


def span_rows(learner: Any, inputs: Inputs) -> tuple[Rows, list[Window]]:
    """A row a window, with the tokens that the answer starts and ends at."""
    read = windows(learner.tokenizer, inputs.texts, learner.max_length)
    targets = np.array([_target(window, inputs.targets[window.owner]) for window in read])
    owners = np.array([window.owner for window in read])
    return rows_of(
        learner,
        [_encoded(learner, window) for window in read],
        targets,
        inputs.is_perturbed[owners],
    ), read


def _encoded(learner: Any, window: Window) -> dict[str, list[int]]:
    allowed = window.is_passage.astype(int)
    allowed[window.null] = 1
    found = {"input_ids": window.ids, "allowed": allowed.tolist()}
    return found | (
        {"token_type_ids": window.type_ids}
        if "token_type_ids" in learner.tokenizer.model_input_names
        else {}
    )


def _target(window: Window, answers: Answers) -> tuple[int, int]:
    """First and last token of the first answer; [CLS] where there is none, or none that is wholly
    in the window.
    """
    if not answers:
        return window.null, window.null
    text, first = answers[0]
    if first < 0:
        return UNKNOWN, UNKNOWN
    last, places, tokens = first + len(text), window.places, np.flatnonzero(window.is_passage)
    if not len(tokens) or places[tokens, 0].min() > first or places[tokens, 1].max() < last:
        return window.null, window.null
    starts = tokens[places[tokens, 1] > first]
    ends = tokens[places[tokens, 0] < last]
    return int(starts[0]), int(ends[-1])


def span_loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """Cross-entropy of the start and of the end over [CLS] and the tokens of the passage, their
    mean.
    """
    from torch.nn.functional import cross_entropy

    losses = [
        cross_entropy(logits[..., i], targets[:, i], ignore_index=UNKNOWN, reduction="sum")
        for i in range(len(SPANS))
    ]
    return sum(losses) / (len(SPANS) * (targets[:, 0] != UNKNOWN).sum().clamp(min=1))


def judged(learner: Any, inputs: Inputs, rows: Rows, read: list[Window]) -> tuple[Judged, float]:
    """What the network as it stands finds for every question, and the mean loss of a window."""
    import torch

    logits: list[Any] = [None] * len(rows)
    cost = 0.0
    for batch, part in asked(learner, rows.encoded):
        targets = torch.from_numpy(rows.targets[batch]).to(part.device)
        cost += float(span_loss(part, targets, None)) * len(batch)
        for i, row in zip(batch.tolist(), part.cpu().double().numpy(), strict=True):
            logits[i] = row[: rows.lengths[i]]
    return _judged(gathered(read, logits, len(inputs)), inputs), cost / len(rows)


def _judged(found: BestSpans, inputs: Inputs) -> Judged:
    gold, given = (
        [[text for text, _ in answers] for answers in inputs.targets],
        found.spans(inputs.texts),
    )
    metrics: dict[str, Callable[..., float]] = {"f1": f1, "exact": exact_match}
    answered = {
        name: np.array([m(text, g) for (text, *_), g in zip(given, gold, strict=True)])
        for name, m in metrics.items()
    }
    left = {name: np.array([m("", g) for g in gold]) for name, m in metrics.items()}
    return Judged(np.clip(found.null - found.best, -1e9, 1e9), answered, left)


def tuned(doubt: Floats, answered: Floats, left: Floats) -> float:
    """The threshold under which answers are given so that their mean score is highest; half-way to
    the next doubt.
    """
    order = np.argsort(doubt, kind="stable")
    sorted_ = doubt[order]
    totals = np.concatenate([[0.0], np.cumsum((answered - left)[order])])
    totals[1:-1][sorted_[1:] == sorted_[:-1]] = -np.inf  # equal doubts are answered together
    n = int(totals.argmax())
    edges = np.concatenate([[sorted_[0] - 1], (sorted_[1:] + sorted_[:-1]) / 2, [sorted_[-1] + 1]])
    return float(edges[n])


def dev_f1(found: Judged) -> float:
    """The F1 with the best threshold: what chooses the epoch."""
    threshold = tuned(found.doubt, found.answered["f1"], found.left["f1"])
    return float(found.scores("f1", threshold).mean())


def settled(dev: Inputs) -> Callable[[Any], dict[str, Any]]:
    """What to do when training ends: keep the threshold in the model, and say how well it answers."""

    def after(learner: Any) -> dict[str, Any]:
        rows, read = span_rows(learner, dev)
        found, _ = judged(learner, dev, rows, read)
        threshold = tuned(found.doubt, found.answered["f1"], found.left["f1"])
        learner.network.config.update(
            {"null_threshold": threshold, "window_length": learner.max_length}
        )
        has_answer = np.array([bool(answers) for answers in dev.targets])
        kinds = {
            "all": np.ones(len(dev), dtype=bool),
            "answerable": has_answer,
            "unanswerable": ~has_answer,
        }
        fair = _cross_fitted(found)
        scores = {
            f"{metric}, {name}": _numbers(mean(fair[metric][mask]))
            for metric in ("f1", "exact")
            for name, mask in kinds.items()
            if mask.any()
        }
        return {"spans": {"null_threshold": round(threshold, 6), "scores": scores}}

    return after


def _cross_fitted(found: Judged) -> dict[str, Floats]:
    """Each half of the examples judged by the threshold that suits the other."""
    n = len(found.doubt)
    half = generator(0, "halves", str(n)).permutation(n) % 2 == 0
    thresholds = np.zeros(n)
    for mine, others in ((half, ~half), (~half, half)):
        fitted = others if others.any() else mine
        thresholds[mine] = tuned(
            found.doubt[fitted], found.answered["f1"][fitted], found.left["f1"][fitted]
        )
    return {metric: found.scores(metric, thresholds) for metric in found.left}


def _numbers(score: Score) -> dict[str, Any]:
    return {name: getattr(score, name) for name in ("value", "low", "high", "n")}
