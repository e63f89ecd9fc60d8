"""Truncation: does a model read its texts to the end?

What a model does not read cannot be moved away: words that leave the part that it sees look like
order. A model that we do not tokenise for is probed: the last third of some long texts is replaced
by that of another text, then the first third.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from disorder.types import Floats, Texts

N_PROBED = 20
FEWEST_WORDS = 100  # of a text; no model is known to read less
PARTS = 3
N_TEXTS = PARTS * N_PROBED  # that are predicted at most

Predict = Callable[[Sequence[Texts]], Floats]


def reads_beginning_only(predict: Predict, texts: Sequence[Texts], gold: Sequence[str]) -> bool:
    """Whether no prediction for the longest texts moves with their last third, and some do with
    their first; False where no text is long. Only the longer text of a pair is looked at.
    """
    longest = sorted(range(len(texts)), key=lambda i: -_n_words(texts[i]))[:N_PROBED]
    probed = [i for i in longest if _n_words(texts[i]) >= FEWEST_WORDS]
    if len(probed) < 2:
        return False
    donors = [_donor(i, probed, gold) for i in probed]
    given = [texts[i] for i in probed]
    other_end, other_start = (
        [
            _with_part_of(texts[donor], texts[i], part)
            for i, donor in zip(probed, donors, strict=True)
        ]
        for part in (PARTS - 1, 0)
    )
    found = predict([*given, *other_end, *other_start])
    before, ends, starts = np.split(found, [len(given), 2 * len(given)])
    moves_at_end = not np.array_equal(before, ends, equal_nan=True)
    moves_at_start = not np.array_equal(before, starts, equal_nan=True)
    return moves_at_start and not moves_at_end


def _donor(i: int, probed: Sequence[int], gold: Sequence[str]) -> int:
    """Another of the texts, with another gold label if there is one."""
    at = probed.index(i)
    others = [*probed[at + 1 :], *probed[:at]]
    return next((other for other in others if gold[other] != gold[i]), others[0])


def _with_part_of(donor: Texts, texts: Texts, part: int) -> Texts:
    """The texts with one of three parts of the longer one replaced by that of another text."""
    is_second = _is_second_longer(texts)
    own = _longer(texts).split()
    others = _longer(donor).split()
    start, end = part * len(own) // PARTS, (part + 1) * len(own) // PARTS
    from_other = others[part * len(others) // PARTS : (part + 1) * len(others) // PARTS]
    # as many words as there were, so that what stands behind them is where it was
    filled = (from_other * (1 + (end - start) // max(1, len(from_other))))[: end - start]
    changed = " ".join([*own[:start], *filled, *own[end:]])
    return (texts[0], changed) if is_second else (changed, texts[1])


def _longer(texts: Texts) -> str:
    return str(texts[1]) if _is_second_longer(texts) else texts[0]


def _is_second_longer(texts: Texts) -> bool:
    return texts[1] is not None and len(texts[1].split()) > len(texts[0].split())


def _n_words(texts: Texts) -> int:
    return len(_longer(texts).split())
