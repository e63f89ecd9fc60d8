"""From which cosine on is a pair similar? Chosen for an embedder on data that is not audited."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from disorder.data import stream, train_spec
from disorder.errors import BadData, option
from disorder.models import LoadedModel, Similarity
from disorder.randomness import digest
from disorder.requests.settings import Settings
from disorder.types import Bools, Dataset, Example, Floats

N_PAIRS = 1000  # that a threshold is chosen on


def choose_threshold(
    loaded: LoadedModel, predictor: Similarity, dataset: Dataset, settings: Settings
) -> list[str]:
    """Give an embedder its threshold, where its task has labels and the user named none; notes say
    where it comes from. Without other data it stays without: predicting labels says so.
    """
    if not predictor.knows_labels:
        return []
    source = settings.threshold_from or _training_split(dataset, settings)
    if predictor.threshold is not None or source is None or loaded.columns is None:
        return []
    similar = loaded.labels[int(loaded.columns[1].argmax())]
    others = _others(source, dataset, settings)
    drawn = sorted(others, key=lambda each: digest(settings.seed, "threshold", each.id))
    chosen = drawn[:N_PAIRS]
    is_similar = np.array([example.label == similar for example in chosen], dtype=bool)
    if is_similar.all() or not is_similar.any():
        raise BadData(
            f"{option('threshold_from', source)}: needs pairs of both labels that are not audited"
        )
    cosines = predictor.cosines([example.texts for example in chosen])
    predictor.threshold, accuracy = best_threshold(cosines, is_similar)
    return [
        f"the threshold of the cosine is chosen on {len(chosen):,} other pairs ({source}), of "
        f"which it gets {accuracy:.2f} right, both labels counting alike"
    ]


def best_threshold(cosines: Floats, is_similar: Bools) -> tuple[float, float]:
    """The cosine that tells similar pairs from others best, and its balanced accuracy; the middle
    of those that do it equally well.

    >>> best_threshold(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, False, True, True]))
    (0.5, 1.0)
    """
    order = np.argsort(cosines, kind="stable")
    found = cosines[order]
    similar = is_similar[order]
    others_below = np.concatenate([[0], np.cumsum(~similar)]) / (~similar).sum()
    similar_above = 1 - np.concatenate([[0], np.cumsum(similar)]) / similar.sum()
    accuracy = (others_below + similar_above) / 2
    edges = np.concatenate([[found[0] - 0.01], found, [found[-1] + 0.01]])
    accuracy[1:-1][found[1:] == found[:-1]] = -1  # no cut lies between equal cosines
    best = np.flatnonzero(accuracy > accuracy.max() - 1e-12)
    cut = int(best[len(best) // 2])
    return float((edges[cut] + edges[cut + 1]) / 2), float(accuracy[cut])


def _training_split(dataset: Dataset, settings: Settings) -> str | None:
    is_named = ":" in dataset.name or dataset.name == "builtin"
    return train_spec(dataset.name, settings.data_dir) if is_named else None


def _others(source: str, dataset: Dataset, settings: Settings) -> Iterator[Example]:
    """The pairs of a source that share no text with an audited row."""
    audited = {text for example in dataset.examples for text in example.texts}
    for example in stream(source, data_dir=settings.data_dir, columns=settings.columns)[2]:
        if not example.is_pair or example.label not in dataset.task.labels:
            raise BadData(
                f"{option('threshold_from', source)}: needs pairs with the labels "
                f"{', '.join(dataset.task.labels)} (id {example.id})"
            )
        if audited.isdisjoint(example.texts):
            yield example
