"""The conclusion of a run: as data (kind, number, reason, what to mind), and in words.

The verdict of a run is that of all examples, then one line for each group; docs/conclusions.md says
how conclusions are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, FiniteFloat, NonNegativeInt, model_validator

from disorder.requests.settings import Settings
from disorder.results.result import Section
from disorder.results.writing import MINUS, capitalised, title_of
from disorder.types import ORIGINAL, Score, is_about_texts

if TYPE_CHECKING:
    from disorder.results.run import Record, Run

MAIN = "derange"  # what conclusions and rules are about where it was measured: every word moves
ConclusionKind = Literal[
    "reads_order",
    "reads_or_mixed",
    "mixed",
    "mixed_or_bag",
    "bag_of_words",
    "bag_or_misled",
    "order_not_used",
    "misled_by_order",
    "surface",
    "undecided",
    "no_skill",
    "one_label",
    "one_gold_label",
]


class AnswerTable(BaseModel):
    """How many examples get each answer, before and after a transformation, by gold label."""

    labels: list[str]
    answers: list[str]
    gold: list[NonNegativeInt]
    before: list[FiniteFloat]
    after: list[FiniteFloat]
    confusion: dict[Literal["before", "after"], list[list[FiniteFloat]]] | None = None

    @model_validator(mode="after")
    def has_one_shape(self) -> AnswerTable:
        """One row per label, one column per answer, and at least one example."""
        rows, columns = len(self.labels), len(self.answers)
        tables = (
            []
            if self.confusion is None
            else [self.confusion.get("before"), self.confusion.get("after")]
        )
        if any(
            table is None or len(table) != rows or any(len(row) != columns for row in table)
            for table in tables
        ):
            raise ValueError("a confusion matrix of another shape than its labels")
        if len(self.gold) != rows or not len(self.before) == len(self.after) == columns:
            raise ValueError("answers of another number than their labels")
        if not sum(self.gold):
            raise ValueError("answers to no example")
        return self


class Caveat(BaseModel):
    """Something about the data or the run that a reader of the conclusion should know."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


class Conclusion(BaseModel):
    """What a run says about one group of examples under one transformation.

    `value`, `low` and `high` are those of `skill_kept`, None where there is no skill to keep.
    `more_examples` says about how many more would decide what is undecided.
    """

    kind: ConclusionKind
    value: float | None = None
    low: float | None = None
    high: float | None = None
    because: str
    caveats: list[Caveat] = Field(default_factory=list)
    group: str = "all"
    transformation: str
    n: int
    more_examples: int | None = None

    @model_validator(mode="after")
    def has_its_interval(self) -> Conclusion:
        """A value stands with both ends of its interval, or there is none."""
        if len({each is None for each in (self.value, self.low, self.high)}) > 1:
            raise ValueError("a value without its interval, or an interval without its value")
        return self


class WordBaseline(BaseModel):
    """Balanced accuracy on original texts of a bag of words trained on the same data by
    cross-fitting, beside the model's own.
    """

    group: str = "all"
    value: float
    low: float
    high: float
    n: int
    model: float
    chance: float


PAGE = "docs/conclusions.md"  # how conclusions are drawn
NAMES = {
    "reads_order": "reads word order",
    "reads_or_mixed": "loses its skill without word order, in part or all of it",
    "mixed": "uses word order in part",
    "mixed_or_bag": "keeps its skill without word order, in part or all of it",
    "bag_of_words": "behaves like a bag of words",
    "bag_or_misled": "loses nothing without word order",
    "order_not_used": "does not use the order of what was moved",
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
# of audits that are not about how texts are read
PARTS = {
    "instruction": "the word order of the instruction",
    "system": "the word order of the system message",
    "shots": "its examples as they are",
}
SURVIVES = 0.95  # agreement from which on a perturbed part is not needed
RANK = "order_rank"
FOLLOWS = "follows_place"


def verdict(run: Run) -> str:
    """One sentence, then what it rests on, then a line for each group where scores were split; one
    alone on a perturbed prompt and on likelihoods.
    """
    told = prompt_verdict(run) or rank_verdict(run)
    if told:
        return told
    if run.conclusion is None:
        return _of_figures(run)
    return "\n".join([*_sentences(run.conclusion), *of_groups(run)])


def of_groups(run: Run) -> list[str]:
    """The conclusion of each group in half a line, but for one that is the whole conclusion."""
    whole = run.conclusion
    return [
        f"{group}: {brief(found)}"
        for group, found in run.conclusions.items()
        if whole is None or (found.because, found.n) != (whole.because, whole.n)
    ]


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


def figures(found: Conclusion | Record | Score) -> str:
    """A value with its interval; a minus is a true minus."""
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]".replace("-", MINUS)


def loss(transformation: str) -> str:
    """What was done to the words."""
    return "when every word is moved" if transformation == MAIN else f"under {transformation}"


def _of_figures(run: Run) -> str:
    """Where nothing can be concluded on word order (no transformation kept the words, or prediction
    stopped once Ω was decided): the number itself.
    """
    perturbed = [r for r in run.scores if r.transformation != ORIGINAL and r.group == "all"]
    main = [r for r in perturbed if r.metric in ("agreement", "omega_max", "spearman")]
    original = run.score(ORIGINAL, "accuracy") or run.score(ORIGINAL, "spearman")
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


def conclusion_rules(settings: Mapping[str, Any]) -> Section[None]:
    """How conclusions are drawn: with the limits of a run, else the usual ones."""
    limits = asdict(Settings()) | dict(settings)
    about = (
        "From the skill that is kept: balanced accuracy above chance on perturbed texts, divided "
        "by the same on original texts (for numbers, the ratio of rank correlations). Its whole "
        "95 % interval decides, never the value alone:"
    )
    terms = {
        "reads word order": f"the interval ends at {limits['reads_below']} or below: the skill is "
        "lost with the order. It does not mean that the model reads as people do",
        "behaves like a bag of words": f"it begins at {limits['bag_above']} or above. That is no "
        "fault where words alone can answer",
        "uses word order in part": "it lies between the two, or so far above 1 that order misleads "
        "the model",
        "undecided": "it includes a limit; or skill on original texts cannot be told from none; or "
        "words that stood side by side mostly still do, so that the skill that is kept may rest on "
        "their order",
        "no skill to lose": "balanced accuracy on original texts is not above that of one constant "
        "answer",
        "one answer for every text, one gold label only": "there is nothing to tell skill by",
        "loses its skill without word order, in part or all of it": "with natural units: it ends "
        f"below {limits['bag_above']}",
        "keeps its skill without word order, in part or all of it": "with natural units: it begins "
        f"above {limits['reads_below']}",
        "loses nothing without word order": "with natural units: it begins at "
        f"{limits['bag_above']} or above, and may lie above 1.2",
        "word order misleads it": "with natural units: it begins above 1.2",
        "loses its skill before a word moves": "with natural units: the surface control, which has "
        f"the words in their order, keeps less than {limits['bag_above']} of the skill",
        "does not use the order of what was moved": "with natural units: as for a bag "
        "of words, where one of two texts stayed as it was",
    }
    note = (
        "The page docs/conclusions.md of disorder has all rules and caveats, and how often "
        "conclusions are wrong on models whose answer is known."
    )
    return Section(
        "conclusions",
        "How conclusions are drawn",
        about,
        terms=terms,
        notes=[note],
        is_folded=True,
    )


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
        if any(run.score(spec, "agreement") for spec in run.transformations):
            return (
                "No verdict: what an answer follows is known from orders that are drawn anew for "
                "each variant (shuffle_options)."
            )
        return "No verdict: no question has two answered orders of its options."
    figures = f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]".replace("-", "−")
    claim = "follows" if record.low > 0 else "is not shown to follow"
    legend = "0 = the content decides or it guesses, 1 = always the same letter"
    claim = "does not follow" if record.high < 0 else claim
    figures_of = run.figures.get(record.transformation, {})
    if len(run.labels) == 2 or figures_of.get("is_of_two_orders"):
        legend = "1 = always the same letter, −1 = always the same content, 0 = a guess"
    told = f"Its answer {claim} the position of the option: {figures} ({legend})."
    places = figures_of.get("places")
    return f"{told}\n{_places_in_words(places)}" if places else told


def _places_in_words(places: Mapping[str, Any]) -> str:
    """How often it is right by the place of the right option, beside what no effect would give."""
    each = zip(ascii_uppercase, places["accuracy"], places["n"], strict=False)
    shown = ", ".join(f"{letter} {accuracy:.2f}" for letter, accuracy, n in each if n)
    return (
        f"Accuracy by the place of the right option: {shown}. The highest minus the lowest is "
        f"{places['gap']:.2f}; it would be {places['gap_without_effect']:.2f} on average if places "
        f"had no effect (permutation test: p = {places['p']:.3f})."
    )


def _only_answer(answered: Mapping[str, Any]) -> str:
    """The one label that a model gives before anything is perturbed; empty where it gives more."""
    counts = zip(answered.get("answers", ()), answered.get("before", ()), strict=True)
    given = [label for label, n in counts if n]
    return given[0] if len(given) == 1 else ""


def rank_verdict(run: Run) -> str:
    """What an audit of likelihoods says in one sentence; empty for any other."""
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
