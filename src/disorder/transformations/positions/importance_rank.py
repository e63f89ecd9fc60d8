"""Which words matter least to a model? The bottom share by importance, punctuation counted as words
like any other.

Word Salad (Gupta et al., 2021) scores a word by embedding · gradient of the gold label's loss and
calls high scores important (`by=loss`). A high score marks a word that *raises* the loss, so
`by=support` turns the sign (important is what speaks for the gold label) and `by=size` takes the
number without its sign.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from disorder.errors import BadSetting, DoesNotApply
from disorder.types import Bools, Fidelity, Floats, Ints, Sentence

By = Literal["loss", "support", "size"]
DIGITS = 6  # the last bits of a gradient depend on the batch it was computed in


def ranked(sentence: Sentence, by: By) -> Ints:
    """Positions from the most to the least important word; among equals the earlier one first."""
    assert sentence.importance is not None
    rounded = np.round(sentence.importance, DIGITS)
    found: dict[str, Floats] = {"loss": rounded, "support": -rounded, "size": abs(rounded)}
    return np.argsort(-found[by], kind="stable")


def is_kept(part: str, sentence: Sentence, share: float, by: By, fidelity: Fidelity) -> Bools:
    """Which words stay when the least important share goes; skips a text of which none would go.

    The released code keeps tokens by kind and not by place: a token stays when an equal one does.
    """
    if not 0 < share < 1:
        raise BadSetting(part, share=share, need="a share above 0 and below 1")
    n_gone = int(len(sentence) * share + 1e-9)
    kept = np.ones(len(sentence), dtype=bool)
    kept[ranked(sentence, by)[len(sentence) - n_gone :]] = False
    if fidelity == "released":
        kept |= np.isin(sentence.kinds, sentence.kinds[kept])
    if kept.all():
        raise DoesNotApply("too few words to change some of them")
    return kept


def rewritten(sentence: Sentence, words: list[str]) -> str:
    """The text with these words in place of its own, the space between them as it was."""
    text, starts, ends = sentence.text, sentence.starts.tolist(), sentence.ends.tolist()
    found = [_gap(text[: starts[0]], ""), words[0]]
    for i in range(1, len(words)):
        apart = " " if sentence.is_spaced[i - 1] and sentence.is_spaced[i] else ""
        is_next = ends[i - 1] <= starts[i]
        gap = _gap(text[ends[i - 1] : starts[i]], apart) if is_next else apart
        is_new = words[i - 1 : i + 1] != sentence.words[i - 1 : i + 1]
        if is_new and words[i - 1][-1].isalnum() and words[i][0].isalnum():
            gap = gap or apart  # a word in the place of a mark does not cling as the mark did
        found += [gap, words[i]]
    return "".join(found) + _gap(text[ends[-1] :], "")


def _gap(between: str, otherwise: str) -> str:
    """White space, or what stands for words that an earlier step took away."""
    return otherwise if between.strip() else between
