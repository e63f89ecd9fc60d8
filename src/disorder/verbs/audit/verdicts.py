"""Verdicts in one sentence on audits that are not about how texts are read: of a perturbed prompt,
and of likelihoods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disorder.results.conclusion import MAIN
from disorder.results.run import Run
from disorder.types import is_about_texts

PARTS = {
    "instruction": "the word order of the instruction",
    "system": "the word order of the system message",
    "shots": "its examples as they are",
}
SURVIVES = 0.95  # agreement from which on a perturbed part is not needed
RANK = "order_rank"
FOLLOWS = "follows_place"


def prompt_verdict(run: Run) -> str:
    """What an audit of a prompt says in one sentence; empty for an audit of texts."""
    part = str(run.settings.get("break_", "text"))
    if is_about_texts(part):
        return ""
    if part == "options":
        return _option_verdict(run)
    measured = [run.score(spec, "agreement") for spec in run.transformations]
    record = next(filter(None, measured), None)
    if record is None:
        return f"No verdict: {PARTS[part]} could not be perturbed."
    only = _only_answer(run.answers.get(record.transformation, {}))
    if only:
        return (
            f"No verdict: the model answers {only} to every text, so that nothing shows whether it "
            f"needs {PARTS[part]}."
        )
    figures = f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"
    if record.low >= SURVIVES:
        claim = f"The model hardly needs {PARTS[part]}"
    elif record.high < SURVIVES:
        claim = f"The model depends on {PARTS[part]}"
    else:
        claim = f"Undecided whether the model needs {PARTS[part]}"
    return f"{claim}: {figures} of its predictions are unchanged under {record.transformation}."


def _option_verdict(run: Run) -> str:
    """How far answers follow the place of an option."""
    measured = [run.score(spec, FOLLOWS) for spec in run.transformations]
    record = next(filter(None, measured), None)
    if record is None:
        return "No verdict: no question has two answered orders of its options."
    figures = f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]".replace("-", "−")
    claim = "follows" if record.low > 0 else "is not shown to follow"
    return (
        f"Its answer {claim} the position of the option: {figures} (0 = the content decides or it "
        "guesses, 1 = always the same letter)."
    )


def _only_answer(answered: Mapping[str, Any]) -> str:
    """The one label that a model gives before anything is perturbed; empty where it gives more."""
    counts = zip(answered.get("answers", ()), answered.get("before", ()), strict=True)
    given = [label for label, n in counts if n]
    return given[0] if len(given) == 1 else ""


def rank_verdict(run: Run) -> str:
    """What such an audit says in one sentence; empty for any other."""
    if not run.is_likelihood:
        return ""
    ranked = [spec for spec in [MAIN, *run.breaks_order] if run.score(spec, RANK)]
    if not ranked:
        return "No verdict: no transformation keeps the words and changes their order."
    record = run[ranked[0], RANK]
    figures = f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"
    if record.low > 0.5:
        claim = "Word order matters to its likelihoods"
    elif record.high < 0.5:
        claim = "It prefers the wrong order"
    else:
        claim = "Its likelihoods do not show that word order matters"
    return (
        f"{claim}: in {figures} of the cases the original text is likelier than the same words in "
        f"another order ({record.transformation})."
    )
