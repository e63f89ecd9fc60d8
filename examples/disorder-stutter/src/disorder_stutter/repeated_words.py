"""A sanity check: how many rows already say a word twice in a row."""

from __future__ import annotations

import numpy as np

from disorder.metrics import share
from disorder.registry import check
from disorder.verbs.sanity import CheckInput, CheckResult, Verdict


@check(asks="Do texts stutter already?", trains=False, position=90)
def repeated_words(given: CheckInput) -> CheckResult:
    """Count rows in which a word stands twice in a row."""
    stutters = np.array([_stutters(f"{e.text_a} {e.text_b or ''}") for e in given.examples])
    found = share(stutters)
    answer = "found" if found.value else "not found"
    because = f"A word stands twice in a row in {found.value:.3f} of {found.n:,} rows"
    return CheckResult([Verdict("stuttering", answer, because, found)])


def _stutters(text: str) -> bool:
    words = text.lower().split()
    return any(first == second for first, second in zip(words, words[1:], strict=False))
