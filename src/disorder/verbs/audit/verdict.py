"""What is the answer in one sentence? Decided on the interval, not on the point."""

from __future__ import annotations

from disorder.runs.run import Record, Run

# Share of the skill above chance that survives the loss of word order: 1 for a bag of words, 0 for
# a model at chance
BAG, HALF, READER = 0.8, 0.5, 0.2
MAIN = "derange"
TITLES = {
    "agreement": "same answer",
    "omega_max": "Ω_max",
    "omega_rand": "Ω_rand",
    "omega_all": "Ω_1.0",
}


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
    """Where no score speaks of reading (order was not perturbed, or asking stopped once Ω was
    decided): the number itself.
    """
    perturbed = [r for r in run.scores if r.transformation != "original" and r.group == "all"]
    measured = next(
        (r for r in perturbed if r.metric in ("agreement", "omega_max")),
        next(iter(perturbed), None),
    )
    whole = run.score("original", "accuracy")
    if measured is None or whole is None:
        return "No verdict: no transformation could be applied to any example."
    figures = f"{measured.value:.2f} [{measured.low:.2f}, {measured.high:.2f}]"
    name = TITLES.get(measured.metric, measured.metric).capitalize()
    return f"{name} is {figures} under {measured.transformation}; accuracy on original texts is {whole.value:.2f}."


def kept(run: Run, transformation: str, group: str) -> Record | None:
    """The score that says how many right answers survive: P_c where there are permutations, else
    agreement.
    """
    return run.score(transformation, "p_c", group) or run.score(transformation, "agreement", group)


def _sentence(run: Run, transformation: str, group: str, *, brief: bool = False) -> str:
    record = kept(run, transformation, group)
    if record is None or run.chance is None:
        return "" if brief else "No verdict: the model answered no example right."
    whole = run.score("original", "accuracy", group)
    floor = max(run.chance, run.majority if group == "all" else 0.0)
    if whole is None or whole.low <= floor:
        return _guesses(whole, floor, brief=brief)
    low, high = (
        (bound - run.chance) / (1 - run.chance) if run.chance < 1 else 1.0
        for bound in (record.low, record.high)
    )
    name = behaviour(low, high)
    what = "right answers" if record.metric == "p_c" else "answers"
    figures = f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"
    if brief:
        return f"{name}; {figures} of the {what} survive"
    return f"{name[0].upper()}{name[1:]}: {figures} of its {what} survive {_loss(transformation)}; chance is {run.chance:.2f}."


def _guesses(whole: Record | None, floor: float, *, brief: bool) -> str:
    """What to say when the original texts are answered no better than by chance: there is no skill
    that could be lost.
    """
    figures = "" if whole is None else f" {whole.value:.2f} [{whole.low:.2f}, {whole.high:.2f}]"
    is_open = whole is not None and whole.value > floor
    if brief:
        return f"accuracy on original texts{figures} is {'not yet surely' if is_open else 'not'} above chance"
    if is_open:
        return f"Too few examples for a verdict: accuracy{figures} cannot be told from one constant answer ({floor:.2f})."
    return f"No verdict on reading: accuracy{figures} on original texts is not above that of one constant answer ({floor:.2f})."


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
    whole = run.score("original", "spearman")
    perturbed = next((r for t in run.transformations if (r := run.score(t, "spearman"))), None)
    if whole is None or perturbed is None:
        return "No verdict: rank correlation could not be measured."
    figures = f"{perturbed.value:.2f} [{perturbed.low:.2f}, {perturbed.high:.2f}]"
    return f"Rank correlation with gold goes from {whole.value:.2f} to {figures} under {perturbed.transformation}."
