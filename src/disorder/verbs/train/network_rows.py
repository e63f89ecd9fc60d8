"""Rows of a network: inputs as it takes them, one row per text or per window of a long passage,
encoded once for all epochs, in batches of similar length, so that little is padded; and rows, loss
and scores of a head for spans: where an answer starts and ends, as SQuAD 2.0 has it.

No answer is [CLS] as start and end. A threshold on the null score decides when a question is left
without an answer. It is tuned on the dev data, so the scores shown are cross-fitted: each half of
the dev data is scored with the threshold of the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData
from disorder.metrics.answer_match import exact_match, f1
from disorder.metrics.statistics.intervals import mean
from disorder.models.question_answering import BestSpans, Window, gathered, windows
from disorder.randomness import generator
from disorder.types import Bools, Dataset, Example, Floats, Ints, Texts
from disorder.verbs.train.inputs import Inputs
from disorder.verbs.train.trainable import SPANS, TrainableModel

# batches that are sorted by length together; a larger pool means less padding and less chance
POOL = 64


def epoch_batches(lengths: Ints, batch_size: int, seed: int, *key: str) -> list[Ints]:
    """The batches of one epoch; the same for the same seed and key, whatever was drawn before."""
    rng = generator(seed, "batches", *key)
    order = rng.permutation(len(lengths))
    batches: list[Ints] = []
    for start in range(0, len(order), batch_size * POOL):
        pool = order[start : start + batch_size * POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def group_by_step(batches: Sequence[Ints], size: int) -> list[Sequence[Ints]]:
    """Batches by the step they belong to, `size` per step."""
    return [batches[i : i + size] for i in range(0, len(batches), size)]


def share_batches(batches: Sequence[Ints], rank: int, n_processes: int) -> list[tuple[Ints, bool]]:
    """The batches of one process, each with whether it counts: every process takes part in every
    step.
    """
    padded = [(batch, True) for batch in batches]
    padded += [(batches[i % len(batches)], False) for i in range(-len(batches) % n_processes)]
    return padded[rank::n_processes]


def to_tensors(arrays: Mapping[str, Any], device: Any) -> dict[str, Any]:
    """Arrays as tensors on a device."""
    import torch

    return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}


BATCH_SIZE = 128  # rows per batch when nothing is trained


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Encoded inputs with their targets and lengths, and whether they are perturbed copies."""

    encoded: list[Any]
    targets: NDArray[Any]
    is_perturbed: Bools
    lengths: Ints

    def __len__(self) -> int:
        return len(self.encoded)


def network_rows(
    model: TrainableModel, encoded: list[Any], targets: NDArray[Any], is_perturbed: Bools
) -> NetworkRows:
    """Rows, with their lengths as the model counts them."""
    return NetworkRows(encoded, targets, is_perturbed, _lengths(model, encoded))


def predict_batches(model: TrainableModel, encoded: Sequence[Any]) -> Iterator[tuple[Ints, Any]]:
    """Logits of the network as it stands, batch by batch, with the numbers of the rows."""
    import torch

    network = model.network.eval()
    device = next(network.parameters()).device
    order = np.argsort(_lengths(model, encoded), kind="stable")
    with torch.inference_mode():
        for batch in (order[i : i + BATCH_SIZE] for i in range(0, len(order), BATCH_SIZE)):
            arrays = model.collate([encoded[i] for i in batch.tolist()])
            yield batch, model.logits(network, to_tensors(arrays, device)).float()


def predict_rows(model: TrainableModel, encoded: Sequence[Any]) -> Floats:
    """Logits of the network as it stands, one line per encoded row."""
    logits = np.empty((len(encoded), max(1, len(model.labels))))
    for batch, part in predict_batches(model, encoded):
        logits[batch] = part.cpu().numpy()
    return logits


def predict_logits(model: TrainableModel, texts: Sequence[Texts]) -> Floats:
    """Logits of the network as it stands, one line per text."""
    return predict_rows(model, model.encode(texts))


def _lengths(model: TrainableModel, encoded: Sequence[Any]) -> Ints:
    return np.array([model.length(each) for each in encoded])


UNKNOWN = -1  # a target that no loss counts
NOT_THERE = "the answer does not stand in the passage"
GoldAnswers = tuple[tuple[str, int], ...]  # texts, each with where it starts in the passage
METRICS: dict[str, Callable[[str, Sequence[str]], float]] = {"f1": f1, "exact": exact_match}


@dataclass(frozen=True, eq=False)
class SpanScores:
    """The scores with the best span and without answer, and how far the null score lies above."""

    null_margin: Floats
    with_span: Mapping[str, Floats]
    without: Mapping[str, Floats]

    def at(self, metric: str, threshold: Floats | float) -> Floats:
        """One number per example, where those with a margin above the threshold get no answer."""
        is_left_out = self.null_margin > threshold
        return np.where(is_left_out, self.without[metric], self.with_span[metric])

    def best_threshold(self) -> float:
        """The threshold with the highest mean F1."""
        return tune_threshold(self.null_margin, self.with_span["f1"], self.without["f1"])

    def best_f1(self) -> float:
        """The mean F1 at the best threshold: what chooses the epoch."""
        return float(self.at("f1", self.best_threshold()).mean())

    def cross_fitted(self) -> dict[str, Floats]:
        """Scores by metric, each half of the examples with the threshold tuned on the other."""
        n = len(self.null_margin)
        half = generator(0, "halves", str(n)).permutation(n) % 2 == 0
        thresholds = np.zeros(n)
        for scored, other in ((half, ~half), (~half, half)):
            fitted = other if other.any() else scored
            thresholds[scored] = tune_threshold(
                self.null_margin[fitted], self.with_span["f1"][fitted], self.without["f1"][fitted]
            )
        return {metric: self.at(metric, thresholds) for metric in self.without}


def locate_answers(data: Dataset, *, drops: bool) -> Dataset:
    """The data with the place of every answer; where none is given, the first place where the
    answer stands.

    An answerable question whose answer stands nowhere cannot be trained on: with `drops` it is
    dropped and counted.
    """
    skipped = Counter(data.skipped)
    examples = []
    for example in data.examples:
        answers = tuple(
            (text, _locate(example, text, start)) for text, start in example.answers or ()
        )
        located = tuple(answer for answer in answers if answer[1] >= 0)
        if drops and answers and not located:
            skipped[NOT_THERE] += 1
        else:
            examples.append(replace(example, answers=located if drops else answers))
    if not examples:
        raise BadData(f"{data.name}: no answer stands in its passage")
    return replace(data, examples=examples, skipped=dict(sorted(skipped.items())))


def _locate(example: Example, text: str, start: int) -> int:
    passage = str(example.texts[1])
    if start < 0:
        return passage.find(text)
    if passage[start : start + len(text)] != text:
        raise BadData(
            f"example {example.id}: the answer {text!r} does not start at {start} of its passage"
        )
    return start


def span_rows(model: Any, inputs: Inputs) -> tuple[NetworkRows, list[Window]]:
    """One row per window, with the tokens that the answer starts and ends at."""
    read = windows(model.tokenizer, inputs.texts, model.max_length)
    owners = np.array([window.owner for window in read])
    targets = np.array([span_target(window, inputs.targets[window.owner]) for window in read])
    encoded = [_encode(model, window) for window in read]
    return network_rows(model, encoded, targets, inputs.is_perturbed[owners]), read


def _encode(model: Any, window: Window) -> dict[str, list[int]]:
    allowed = window.is_passage.astype(int)
    allowed[window.null] = 1
    encoded = {"input_ids": window.ids, "allowed": allowed.tolist()}
    if "token_type_ids" in model.tokenizer.model_input_names:
        encoded["token_type_ids"] = window.type_ids
    return encoded


def span_target(window: Window, answers: GoldAnswers) -> tuple[int, int]:
    """First and last token of the first answer; [CLS] where none is wholly in the window."""
    if not answers:
        return window.null, window.null
    text, first = answers[0]
    if first < 0:
        return UNKNOWN, UNKNOWN
    last = first + len(text)
    places = window.places
    tokens = np.flatnonzero(window.is_passage)
    if not len(tokens) or places[tokens, 0].min() > first or places[tokens, 1].max() < last:
        return window.null, window.null
    starts = tokens[places[tokens, 1] > first]
    ends = tokens[places[tokens, 0] < last]
    return int(starts[0]), int(ends[-1])


def span_loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """Cross-entropy of start and end over [CLS] and the tokens of the passage, their mean."""
    from torch.nn.functional import cross_entropy

    losses = [
        cross_entropy(logits[..., i], targets[:, i], ignore_index=UNKNOWN, reduction="sum")
        for i in range(len(SPANS))
    ]
    return sum(losses) / (len(SPANS) * (targets[:, 0] != UNKNOWN).sum().clamp(min=1))


def score_spans(
    model: Any, inputs: Inputs, rows: NetworkRows, read: list[Window]
) -> tuple[SpanScores, float]:
    """The scores of the network as it stands, and its mean loss per window."""
    import torch

    logits: list[Any] = [None] * len(rows)
    loss = 0.0
    for batch, part in predict_batches(model, rows.encoded):
        targets = torch.from_numpy(rows.targets[batch]).to(part.device)
        loss += float(span_loss(part, targets, None)) * len(batch)
        for i, row in zip(batch.tolist(), part.cpu().double().numpy(), strict=True):
            logits[i] = row[: rows.lengths[i]]
    return _span_scores(gathered(read, logits, len(inputs)), inputs), loss / len(rows)


def _span_scores(found: BestSpans, inputs: Inputs) -> SpanScores:
    gold = [[text for text, _ in answers] for answers in inputs.targets]
    spans = [text for text, *_ in found.spans(inputs.texts)]
    with_span = {
        name: np.array([metric(span, g) for span, g in zip(spans, gold, strict=True)])
        for name, metric in METRICS.items()
    }
    without = {name: np.array([metric("", g) for g in gold]) for name, metric in METRICS.items()}
    return SpanScores(np.clip(found.null - found.best, -1e9, 1e9), with_span, without)


def tune_threshold(null_margin: Floats, with_span: Floats, without: Floats) -> float:
    """The threshold up to which spans are given so that the mean score is highest."""
    order = np.argsort(null_margin, kind="stable")
    margins = null_margin[order]
    totals = np.concatenate([[0.0], np.cumsum((with_span - without)[order])])
    totals[1:-1][margins[1:] == margins[:-1]] = -np.inf  # equal margins cannot be separated
    middles = (margins[1:] + margins[:-1]) / 2
    edges = np.concatenate([[margins[0] - 1], middles, [margins[-1] + 1]])
    return float(edges[int(totals.argmax())])


def score_spans_after(dev: Inputs) -> Callable[[Any], dict[str, Any]]:
    """What to do when training ends: keep the threshold in the model, and score its answers."""

    def after(model: Any) -> dict[str, Any]:
        rows, read = span_rows(model, dev)
        scores, _ = score_spans(model, dev, rows, read)
        threshold = scores.best_threshold()
        config = {"null_threshold": threshold, "window_length": model.max_length}
        model.network.config.update(config)
        shown = _scores_by_kind(scores, dev)
        return {"spans": {"null_threshold": round(threshold, 6), "scores": shown}}

    return after


def _scores_by_kind(scores: SpanScores, dev: Inputs) -> dict[str, dict[str, Any]]:
    """Cross-fitted scores of all, answerable and unanswerable questions."""
    has_answer = np.array([bool(answers) for answers in dev.targets])
    kinds = {
        "all": np.ones(len(dev), dtype=bool),
        "answerable": has_answer,
        "unanswerable": ~has_answer,
    }
    fair = scores.cross_fitted()
    return {
        f"{metric}, {name}": {key: found[key] for key in ("value", "low", "high", "n")}
        for metric in METRICS
        for name, mask in kinds.items()
        if mask.any()
        for found in [asdict(mean(fair[metric][mask]))]
    }
