"""Integrated gradients: which words does the prediction rest on? For transformers models.

After Sundararajan et al. (2017), from mask tokens to the words; the scores add up to the change of
the probability between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from disorder.errors import BadSetting
from disorder.models import integrated_gradients
from disorder.registry import explanation
from disorder.types import Floats, Ints, Pair
from disorder.verbs.explain.result import Explained
from disorder.verbs.explain.subject import Subject
from disorder.verbs.explain.word_importance import RIGHT, Among, importance, weighing_calls

TOGETHER = 64  # examples per step of progress


@explanation(
    asks="Which words does the prediction rest on, by integrated gradients?",
    paper="after OOO §3.3",
    calls=lambda subject, steps, **given: weighing_calls(subject, steps, **given),
    needs="an hf: model",
)
def gradients(
    subject: Subject,
    *,
    steps: int = 50,
    n: int = 100,
    q: int = 5,
    among: Among = RIGHT,
    lexicon: str = "",
) -> Explained:
    """Weigh words by integrated gradients on original texts and on shuffled ones."""
    if steps < 1:
        raise BadSetting("gradients", steps=steps, need="1 or more")
    return importance(
        subject,
        partial(by_gradients, steps=steps),
        "gradients",
        n=n,
        q=q,
        among=among,
        lexicon=lexicon,
    )


def by_gradients(
    subject: Subject, pairs: Sequence[Pair], columns: Ints, *, steps: int
) -> list[list[Floats]]:
    """What each word adds to the probability of the label in `columns`."""
    found: list[list[Floats]] = []
    for start in range(0, len(pairs), TOGETHER):
        part = slice(start, start + TOGETHER)
        found += integrated_gradients(subject.model, pairs[part], columns[part], n_steps=steps)
        subject.progress("integrated gradients", len(found), len(pairs), "")
    return found
