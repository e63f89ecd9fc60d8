"""Models of a few lines whose predictions follow from the letters of a text, on any machine."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Pairs = Sequence[tuple[str, str]]
LABELS = ("entailment", "neutral", "contradiction")
KILLED_AT = "RECORDED_KILLED_AT"  # the call in which `mortal` is killed
n_calls = 0


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def share(text: str) -> float:
    """A number from 0 up to 1 by a hash of the text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) / 2**32


def shared_words(pairs: Pairs) -> list[float]:
    """From 0 to 5 by the words and the pairs of neighbours that both texts have."""
    return [2 * _shared(words(a), words(b)) + 3 * _shared(_steps(a), _steps(b)) for a, b in pairs]


def _steps(text: str) -> list[str]:
    found = words(text)
    return [f"{first} {second}" for first, second in pairwise(found)]


def _shared(first: Sequence[str], second: Sequence[str]) -> float:
    together = {*first, *second}
    return len({*first} & {*second}) / max(1, len(together))


def by_first_word(texts: Sequence[str]) -> list[str]:
    """Good or bad: by the only word of the two that comes first."""
    return [next((word for word in words(t) if word in ("good", "bad")), "bad") for t in texts]


def chinese(texts: Sequence[str]) -> list[str]:
    """Good where a word of praise stands anywhere in the text."""
    return ["good" if any(word in t for word in ("好", "精彩", "可靠")) else "bad" for t in texts]


def hashed(pairs: Pairs) -> list[dict[str, float]]:
    """Scores of labels: half from the bag of words, half from the texts as written."""
    found = []
    for a, b in pairs:
        bag = " ".join(sorted(words(a))) + "|" + " ".join(sorted(words(b)))
        values = {label: share(label + bag) + share(f"{label}{a}|{b}") for label in LABELS}
        found.append({label: value / sum(values.values()) for label, value in values.items()})
    return found


def mortal(texts: Sequence[str]) -> list[str]:
    """`by_first_word`, in a process that is killed in the call that the environment names."""
    global n_calls
    n_calls += 1
    if str(n_calls) == os.environ.get(KILLED_AT):
        os.kill(os.getpid(), signal.SIGKILL)
    return by_first_word(texts)


class Guard:
    """`by_first_word` with a confidence; abstains on a quarter of the texts."""

    labels = ("bad", "good", "invalid")
    fingerprint = ""

    def __call__(self, texts: Sequence[tuple[str, None]]) -> NDArray[np.float64]:
        found = []
        for text, _ in texts:
            sure = 0.5 + share(text) / 2
            row = [sure, 1 - sure] if by_first_word([text]) == ["bad"] else [1 - sure, sure]
            is_abstained = share(f"abstain? {text}") < 1 / 4
            found.append([value * 0.4 for value in row] + [0.6] if is_abstained else [*row, 0.0])
        return np.array(found)


class Likelihoods:
    """Log-probabilities of texts: each pair of neighbours costs a number of its own."""

    labels: tuple[str, ...] = ()
    fingerprint = ""

    def __call__(self, pairs: Pairs) -> NDArray[np.float64]:
        raise AssertionError("only likelihoods are read")

    def log_likelihoods(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([sum(-1 - share(step) for step in _steps(text)) for text in texts])


guard = Guard()
likelihoods = Likelihoods()
