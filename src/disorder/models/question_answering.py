"""Question answering models from transformers: can the question be answered from the passage, and
by which words? After the standard reading of SQuAD 2.0 models.

A span's score is that of its first token as a start plus that of its last as an end; the null score
is that of [CLS] as both. A long passage is read in overlapping windows: the best span of all
counts, and the lowest null score.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.hf_network import HFNetwork
from disorder.models.inputs.tokens import is_fast
from disorder.models.outputs import softmax
from disorder.types import Bools, Floats, Ints, Texts

ANSWERABLE = ("answerable", "unanswerable")
MAX_LENGTH = 384  # tokens of a window, as BERT's; less where a model holds less
LONGEST = 30  # tokens of an answer


@dataclass(frozen=True)
class Window:
    """A question and a part of its passage: tokens, and where in the passage they stand (−1 for all
    others).
    """

    owner: int  # which of the texts it is of
    ids: list[int]
    type_ids: list[int]
    places: Ints  # tokens × (first character, the one after the last)
    null: int  # the place of [CLS]

    @property
    def is_passage(self) -> Bools:
        """Which tokens an answer may be made of."""
        return np.asarray(self.places[:, 1] > self.places[:, 0])


@dataclass(frozen=True)
class BestSpans:
    """The best span of every text, where it stands in the passage, and how its score compares with
    the null score.
    """

    best: Floats
    null: Floats
    places: Ints  # texts × (first character, the one after the last)

    def spans(self, texts: Sequence[Texts]) -> list[tuple[str, int, int]]:
        """The words of the best spans and where they stand; a space that a token brought along is
        left out.
        """
        cut = [
            (str(passage), *place)
            for (_, passage), place in zip(texts, self.places.tolist(), strict=True)
        ]
        return [_trimmed(passage, first, last) for passage, first, last in cut]


@dataclass(frozen=True)
class Span:
    """An answer, empty where there is none; `margin` is how far the best span's score lies above
    what it takes.
    """

    text: str
    start: int
    end: int
    margin: float


def _trimmed(passage: str, first: int, last: int) -> tuple[str, int, int]:
    text = passage[first:last]
    first += len(text) - len(text.lstrip())
    return text.strip(), first, first + len(text.strip())


def windows(tokenizer: Any, texts: Sequence[Texts], max_length: int) -> list[Window]:
    """The windows of every question with its passage, in order; none depends on the other texts."""
    if not is_fast(tokenizer) or tokenizer.cls_token_id is None:
        raise BadModel("finding answers needs a fast tokenizer with a [CLS] token")
    if any(passage is None for _, passage in texts):
        raise BadModel(
            "this model looks for answers: it needs a question (text_a) and a passage (text_b)"
        )
    questions = [_shortened(tokenizer, question, max_length // 4) for question, _ in texts]
    given = tokenizer(
        questions,
        [passage for _, passage in texts],
        truncation="only_second",
        max_length=max_length,
        stride=max_length // 3,
        return_overflowing_tokens=True,
    )
    owners = given["overflow_to_sample_mapping"]
    return [
        _window(owner, each, tokenizer) for owner, each in zip(owners, given.encodings, strict=True)
    ]


def _shortened(tokenizer: Any, question: str, most: int) -> str:
    """A question that leaves room for the passage."""
    if len(question.encode("utf-8", "replace")) <= most:
        return question  # a token holds a byte at least
    ends = tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)[
        "offset_mapping"
    ]
    return question if len(ends) <= most else question[: ends[most - 1][1]]


def _window(owner: int, encoding: Any, tokenizer: Any) -> Window:
    is_passage = np.array([each == 1 for each in encoding.sequence_ids])
    places = np.where(is_passage[:, None], np.array(encoding.offsets).reshape(-1, 2), -1)
    return Window(
        owner, encoding.ids, encoding.type_ids, places, encoding.ids.index(tokenizer.cls_token_id)
    )


def best_spans(starts: Floats, ends: Floats, is_passage: Bools) -> tuple[Floats, Ints, Ints]:
    """The best span of each row: score, first and last token; −∞ where there is no passage."""
    begin, finish = (np.where(is_passage, scores, -np.inf) for scores in (starts, ends))
    rows = np.arange(len(begin))
    n = begin.shape[1]
    score = np.full(len(begin), -np.inf)
    first = np.zeros(len(begin), np.int64)
    last = np.zeros(len(begin), np.int64)
    for more in range(min(LONGEST, n)):
        sums = begin[:, : n - more] + finish[:, more:]
        place = sums.argmax(axis=1)
        is_better = sums[rows, place] > score
        score = np.where(is_better, sums[rows, place], score)
        first = np.where(is_better, place, first)
        last = np.where(is_better, place + more, last)
    return score, first, last


def gathered(read: Sequence[Window], logits: Sequence[Floats], n: int) -> BestSpans:
    """The best span and the lowest null score of each of n texts, from the logits of its windows
    (tokens × start, end).
    """
    found = BestSpans(np.full(n, -np.inf), np.full(n, np.inf), np.zeros((n, 2), np.int64))
    for window, (starts, ends) in zip(
        read, ((each[:, 0], each[:, 1]) for each in logits), strict=True
    ):
        scores, first, last = best_spans(starts[None], ends[None], window.is_passage[None])
        i = window.owner
        found.null[i] = min(found.null[i], starts[window.null] + ends[window.null])
        if scores[0] > found.best[i]:
            found.best[i] = scores[0]
            found.places[i] = window.places[first[0], 0], window.places[last[0], 1]
    return found


def is_question_answering(config: Any) -> bool:
    """Whether a model was saved with a head for spans."""
    architectures = getattr(config, "architectures", None) or ()  # a new configuration has none
    return any("ForQuestionAnswering" in name for name in architectures)


class QuestionAnswering(HFNetwork):
    """A model with a head for spans, used to decide whether there is one: the best span's score
    against the null score.

    `null_threshold` in its config.json (0 where it says none) is by how much the null score must be
    higher. It offers no `Gradients`: a prediction is a maximum over spans and windows.
    """

    def __init__(self, network: Any, tokenizer: Any, fingerprint: str, **more: Any) -> None:
        super().__init__(network, tokenizer, fingerprint, **more)
        self.labels = ANSWERABLE
        # our own additions to a configuration, which others lack
        self.threshold = float(getattr(network.config, "null_threshold", None) or 0.0)
        window = int(getattr(network.config, "window_length", None) or MAX_LENGTH)
        self.max_length = min(self.max_length, window)
        self.notes = [
            "a question counts as answerable where the best span's score is above the null score"
        ]

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities of answerable and unanswerable: a softmax of the best span's score and the
        null score.
        """
        found = self._best_spans(texts)
        return softmax(
            np.stack([np.maximum(found.best, -1e9), found.null - self.threshold], axis=1)
        )

    def spans(self, texts: Sequence[Texts], /) -> list[Span]:
        """The answer to every question and its place in the passage; empty where there is none."""
        found = self._best_spans(texts)
        margins = found.best - found.null + self.threshold
        answers = zip(found.spans(texts), margins.tolist(), strict=True)
        return [
            Span(*span, margin) if margin >= 0 else Span("", 0, 0, margin)
            for span, margin in answers
        ]

    def _best_spans(self, texts: Sequence[Texts]) -> BestSpans:
        began = time.perf_counter()
        read = windows(self.tokenizer, texts, self.max_length)
        batches = self.batches([len(window.ids) for window in read])
        feeds = [self.feed([read[i] for i in members]) for members in batches]
        self.input_seconds += time.perf_counter() - began
        logits: list[Any] = [None] * len(read)
        for members, outputs in zip(batches, self.each(self.forward, feeds), strict=True):
            for i, row in zip(members.tolist(), outputs, strict=True):
                logits[i] = row
        return gathered(read, logits, len(texts))

    def read_outputs(self, found: Any) -> Floats:
        """The logits of starts and ends, side by side."""
        import torch

        both: Floats = (
            torch.stack([found.start_logits, found.end_logits], dim=-1).float().cpu().numpy()
        )
        return both
