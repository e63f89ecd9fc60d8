"""Words ranked by their importance to a model; the least important share is dropped or replaced.

Word Salad (Gupta et al., 2021) scores a word by embedding · gradient of the gold label's loss and
calls high scores important (`by=loss`). A high score marks a word that *raises* the loss, so
`by=support` turns the sign (important is what speaks for the gold label) and `by=size` takes the
number without its sign. Punctuation counts as words like any other.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from disorder.errors import BadSetting, DoesNotApply
from disorder.types import Bools, Fidelity, Floats, Ints, Sentence

LISTED = """
a an the this that these those some any no each every either neither both all
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
myself yourself himself herself itself ourselves themselves who whom whose which what
am is are was were be been being do does did doing done have has had having
will would shall should can could may might must
and or but nor so if because although though while whereas unless until since than as whether
of in on at by to from with without within into onto over under above below between among
through during before after against about around across along near off out up down for
not there here then when where why how again once only own same such too very just also
"""
WORDS = frozenset(LISTED.split())
MARKS = ".,;:!?\"'()"


def is_stop_word(word: str) -> bool:
    """Whether a word is a function word, whatever its case and the marks on it.

    >>> is_stop_word("The"), is_stop_word("them,"), is_stop_word("dog")
    (True, True, False)
    """
    return word.strip(MARKS).casefold() in WORDS


RankedBy = Literal["loss", "support", "size"]
DIGITS = 6  # the last bits of a gradient depend on the batch it was computed in


def ranked(sentence: Sentence, by: RankedBy) -> Ints:
    """Positions from the most to the least important word; among equals the earlier one first."""
    assert sentence.importance is not None
    rounded = np.round(sentence.importance, DIGITS)
    found: dict[str, Floats] = {"loss": rounded, "support": -rounded, "size": abs(rounded)}
    return np.argsort(-found[by], kind="stable")


def is_kept(part: str, sentence: Sentence, share: float, by: RankedBy, fidelity: Fidelity) -> Bools:
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
