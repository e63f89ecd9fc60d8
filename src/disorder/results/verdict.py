"""Conclusions in words: one sentence per conclusion, made from its data.

The verdict of a run is that of all examples, then one line for each group.
"""

from __future__ import annotations

from disorder.results.conclusion import MAIN, Conclusion
from disorder.results.metric_names import title_of
from disorder.results.number_text import MINUS
from disorder.results.run import Record, Run

PAGE = "docs/conclusions.md"  # how conclusions are drawn
NAMES = {
    "reads_order": "reads word order",
    "reads_or_mixed": "loses its skill without word order, in part or all of it",
    "mixed": "uses word order in part",
    "mixed_or_bag": "keeps its skill without word order, in part or all of it",
    "bag_of_words": "behaves like a bag of words",
    "bag_or_misled": "loses nothing without word order",
    "order_not_used": "does not use the order of the words that were moved",
    "misled_by_order": "word order misleads it",
    "surface": "loses its skill before a word moves",
    "undecided": "undecided",
    "no_skill": "no skill to lose",
    "one_label": "one answer for every text",
    "one_gold_label": "one gold label only",
}
# what follows from a kind that says nothing on word order
NOTHING = {
    "no_skill": "so nothing can be said on word order",
    "one_label": "so nothing can be said on word order",
    "one_gold_label": "and skill cannot be told from one constant answer",
}


def verdict(run: Run) -> str:
    """One sentence, then what it rests on, then a line for each group where scores were split."""
    if run.conclusion is None:
        return _of_figures(run)
    groups = [f"{group}: {brief(found)}" for group, found in run.conclusions.items()]
    return "\n".join([*_sentences(run.conclusion), *groups])


def sentence(found: Conclusion) -> str:
    """A conclusion in one or two full sentences."""
    return " ".join(_sentences(found))


def _sentences(found: Conclusion) -> list[str]:
    """The conclusion, and the numbers it rests on where they are not part of it."""
    name = capitalised(NAMES[found.kind])
    if found.value is None:
        ending = f", {NOTHING[found.kind]}" if found.kind in NOTHING else ""
        return [f"{name}: {found.because}{ending}{_more(found)}."]
    kept = f"{figures(found)} of its skill above chance is left {loss(found.transformation)}"
    return [f"{name}: {kept}{_more(found)}.", f"{capitalised(found.because)}."]


def brief(found: Conclusion) -> str:
    """A conclusion in half a line, for a group.

    >>> brief(
    ...     Conclusion(
    ...         kind="mixed",
    ...         value=0.5,
    ...         low=0.42,
    ...         high=0.58,
    ...         because="…",
    ...         transformation="sort",
    ...         n=900,
    ...     )
    ... )
    'uses word order in part; 0.50 [0.42, 0.58] of its skill is left'
    """
    if found.value is None:
        return f"{NAMES[found.kind]}; {found.because}{_more(found)}"
    return f"{NAMES[found.kind]}; {figures(found)} of its skill is left{_more(found)}"


def _more(found: Conclusion) -> str:
    """How many more examples would decide it, where that is known."""
    if found.more_examples is None:
        return ""
    plural = "" if found.more_examples == 1 else "s"
    return f"; about {found.more_examples:,} more example{plural} would decide it"


def figures(found: Conclusion | Record) -> str:
    """A value with its interval; a minus is a true minus."""
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]".replace("-", MINUS)


def loss(transformation: str) -> str:
    """What was done to the words."""
    return "when every word is moved" if transformation == MAIN else f"under {transformation}"


def _of_figures(run: Run) -> str:
    """Where nothing can be concluded on word order (no transformation kept the words, or prediction
    stopped once Ω was decided): the number itself.
    """
    perturbed = [r for r in run.scores if r.transformation != "original" and r.group == "all"]
    main = [r for r in perturbed if r.metric in ("agreement", "omega_max", "spearman")]
    original = run.score("original", "accuracy") or run.score("original", "spearman")
    if not perturbed or original is None:
        return "No conclusion: no transformation could be applied to any example."
    measured = (main or perturbed)[0]
    none = ""
    if run.settings.get("curtail"):
        none = "No conclusion, since --curtail does not predict every variant. "
    return (
        f"{none}{capitalised(title_of(measured.metric))} is {figures(measured)} under "
        f"{measured.transformation}; {title_of(original.metric)} on original texts is "
        f"{original.value:.2f}."
    )


def capitalised(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
