"""English function words, which a text keeps in their places where a transformation leaves them."""

from __future__ import annotations

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
