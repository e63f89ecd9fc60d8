"""The verdict: what a run says in one sentence, decided on the interval, not on the value."""

from __future__ import annotations

from disorder.report.metric_names import title_of
from disorder.runs.run import Record, Run

# Share of the skill above chance that survives the loss of word order: 1 for a bag of words, 0 for
# a model at chance
BAG = 0.8
HALF = 0.5
READER = 0.2
MAIN = "derange"


def verdict(run: Run) -> str:
    """One sentence, then one for each group where scores were split."""
    if run.chance is None:
        return _of_numbers(run)
    main = next(
        (t for t in [MAIN, *run.breaks_order] if t in run.breaks_order and kept(run, t, "all")),
        None,
    )
    if main is None:
        return _of_figures(run)
    lines = [_sentence(run, main, "all")]
    lines += [f"{group}: {_sentence(run, main, group, brief=True)}" for group in run.groups]
    return "\n".join(line for line in lines if line)


def _of_figures(run: Run) -> str:
    """Where no score says how a model reads (order was not perturbed, or prediction stopped once Ω
    was decided): the number itself.
    """
    perturbed = [r for r in run.scores if r.transformation != "original" and r.group == "all"]
    main = [r for r in perturbed if r.metric in ("agreement", "omega_max")]
    original = run.score("original", "accuracy")
    if not perturbed or original is None:
        return "No verdict: no transformation could be applied to any example."
    measured = (main or perturbed)[0]
    return (
        f"{_capitalised(title_of(measured.metric))} is {_figures(measured)} under "
        f"{measured.transformation}; accuracy on original texts is {original.value:.2f}."
    )


def _figures(record: Record) -> str:
    return f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def kept(run: Run, transformation: str, group: str) -> Record | None:
    """The score that says how many correct predictions survive: P_c where there are permutations,
    else agreement.
    """
    return run.score(transformation, "p_c", group) or run.score(transformation, "agreement", group)


def _sentence(run: Run, transformation: str, group: str, *, brief: bool = False) -> str:
    record = kept(run, transformation, group)
    if record is None or run.chance is None:
        return "" if brief else "No verdict: the model predicts no example correctly."
    original = run.score("original", "accuracy", group)
    floor = max(run.chance, run.majority if group == "all" else 0.0)
    if original is None or original.low <= floor:
        return _guesses(original, floor, brief=brief)
    name = behaviour(_above_chance(record.low, run.chance), _above_chance(record.high, run.chance))
    what = "correct predictions" if record.metric == "p_c" else "predictions"
    if brief:
        return f"{name}; {_figures(record)} of the {what} survive"
    return (
        f"{_capitalised(name)}: {_figures(record)} of its {what} survive {_loss(transformation)}; "
        f"chance is {run.chance:.2f}."
    )


def _above_chance(share: float, chance: float) -> float:
    """A share on the scale from chance (0) to all (1)."""
    return (share - chance) / (1 - chance) if chance < 1 else 1.0


def _guesses(original: Record | None, floor: float, *, brief: bool) -> str:
    """What to say when accuracy on original texts is not above chance: there is no skill that could
    be lost.
    """
    figures = "" if original is None else f" {_figures(original)}"
    is_undecided = original is not None and original.value > floor
    if brief:
        claim = "cannot be told from" if is_undecided else "is not above"
        return f"accuracy on original texts{figures} {claim} chance"
    if is_undecided:
        return (
            f"Too few examples for a verdict: accuracy{figures} cannot be told from one constant "
            f"prediction ({floor:.2f})."
        )
    return (
        f"No verdict on reading: accuracy{figures} on original texts is not above that of one "
        f"constant prediction ({floor:.2f})."
    )


def behaviour(low: float, high: float) -> str:
    """The name for an interval of the surviving share, 0 at chance and 1 for a bag of words."""
    if low >= BAG:
        return "behaves like a bag of words"
    if low >= HALF:
        return "relies on words more than on their order"
    if high <= READER:
        return "reads word order"
    if high <= HALF:
        return "reads word order in part"
    if low > READER and high < BAG:
        return "lies between a bag of words and a reader"
    return "cannot be told yet from so few examples"


def _loss(transformation: str) -> str:
    return "when every word is moved" if transformation == MAIN else f"under {transformation}"


def _of_numbers(run: Run) -> str:
    original = run.score("original", "spearman")
    measured = [run.score(spec, "spearman") for spec in run.transformations]
    perturbed = next(filter(None, measured), None)
    if original is None or perturbed is None:
        return "No verdict: rank correlation could not be measured."
    return (
        f"Rank correlation with gold goes from {original.value:.2f} to {_figures(perturbed)} under "
        f"{perturbed.transformation}."
    )
