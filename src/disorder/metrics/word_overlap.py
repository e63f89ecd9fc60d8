"""Word overlap: which share of one text's words the other text has too.

The sanity check `overlap` and NDSC's Figure 2 both use it. They differ in what counts as one word
(`distinct`) and in how texts are split, which is left to the caller.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def word_overlap(
    first: Sequence[Hashable], second: Sequence[Hashable], *, distinct: bool
) -> float | None:
    """The share of the words of `second` that stand in `first`; None if `second` has no words.

    With `distinct` each different word counts once (the sanity check: a repeated word is no further
    evidence); without, each occurrence counts (NDSC's figure: what a reader of the text meets).

    >>> word_overlap("a b c".split(), "a a x".split(), distinct=False)
    0.6666666666666666
    >>> word_overlap("a b c".split(), "a a x".split(), distinct=True)
    0.5
    """
    known = set(first)
    counted = set(second) if distinct else second
    if not counted:
        return None
    return sum(word in known for word in counted) / len(counted)
