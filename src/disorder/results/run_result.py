"""The result of an audit: what a run says in plain words, its first table, one example and one
picture; then everything else, one section per question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from disorder.errors import DisorderError, UnknownName
from disorder.registry import TransformationPart, parts
from disorder.results import charts
from disorder.results.conclusion import MAIN, Conclusion, conclusion_rules, figures, of_groups
from disorder.results.next_steps import next_steps
from disorder.results.result import Cell, Figure, Grid, Result, Row, Section
from disorder.results.run import ABOUT_NEED, NEEDS, Record, Run
from disorder.results.run_tables import (
    TELLING_KINDS,
    about,
    answer_grid,
    answer_lines,
    baseline_grid,
    baseline_lines,
    command,
    dev_r_grid,
    gain_lines,
    left_out,
    main_transformation,
    not_measured,
    originals_used,
    overview_grid,
    permutation_grid,
    prompt_grid,
    prompt_lines,
    score_grid,
    stopped_early,
)
from disorder.results.writing import capitalised, meaning_of, named, sentence, shown, title_of
from disorder.types import ORIGINAL, SAME_WORDS, is_about_texts

HEADLINES = {
    "reads_order": "Your model needs word order: without it, its skill is gone.",
    "reads_or_mixed": "Your model uses word order for part or all of its skill.",
    "mixed": "Your model uses word order for part of its skill.",
    "mixed_or_bag": "Your model keeps part or all of its skill without word order.",
    "bag_of_words": "Your model hardly uses word order.",
    "bag_or_misled": "Your model loses nothing without word order.",
    "order_not_used": "Your model does not use the order of what was moved.",
    "misled_by_order": "Word order misleads your model: it does better without it.",
    "surface": "Your model loses its skill before a word moves.",
    "undecided": "Undecided: it is not shown how much your model uses word order.",
    "no_skill": "Your model has no skill on this data that it could lose.",
    "one_label": "Your model gives one answer to every text.",
    "one_gold_label": "All examples have one gold label: skill cannot be seen.",
}
STILL = ("bag_of_words", "bag_or_misled", "order_not_used", "mixed_or_bag", "misled_by_order")
TELLING = {"reads_order": "noticed", "reads_or_mixed": "noticed", "surface": "noticed"}
SKEWED = 0.1  # above chance, from which on the most frequent label is named
EXPLAINED = 0.995  # share of the skill that is all of it, as it is shown
FEWER = 0.9  # families per example below which both are named
REFERENCES = {  # by the letter that their names begin with
    "A": "rejects every perturbed text",
    "B": "guesses",
    "C": "is a bag of words",
}
CAPTIONS = {
    "forest": "{score} on original and perturbed texts, with 95 % intervals; the dotted line is "
    "chance{among}.",
    "omega": "Examples with more than a share x of permutations ({main}) that get the gold label: "
    "Ω_x. A bag of words draws a flat line at its accuracy; the dotted line marks chance{among}.",
    "acceptance": "Share of permutations ({main}) that get the gold label, for examples whose "
    "original text is predicted correctly, and wrongly. A bag of words has all of the first at 1 "
    "and all of the second at 0.",
    "confidence": "The confidence of the model's predictions before and after {main}.",
    "reliability": "How often predictions are correct, by their confidence, before and after "
    "{main}; larger points stand for more predictions. On the dotted line the model is calibrated; "
    "below it, it is overconfident.",
}
DRAWN = {
    "omega": charts.omega_curve,
    "acceptance": charts.acceptance,
    "confidence": charts.confidence,
    "reliability": charts.reliability,
}
PART = re.compile(r"(?:^|\+)([a-z]\w*)")  # names of transformations in a spec


def run_result(run: Run) -> Result:
    """The envelope of a run."""
    main = main_transformation(run)
    subject = main if run.conclusion is None else run.conclusion.transformation
    return Result(
        verb="audit",
        about=about(run),
        headline=headline(run),
        request={"model": run.model, "data": run.data, **run.settings},
        body=run,
        conclusion=None if run.conclusion is None else run.conclusion.model_dump(),
        records=[asdict(record) for record in run.scores],
        lead=list(lead(run)),
        caveats=_caveats(run),
        grids=[grid for grid in [overview_grid(run, subject)] if grid.rows],
        examples=_telling_example(run, subject),
        picture=_figure(run, "forest", main) if run.scores else None,
        sections=list(_sections(run, main)),
        notes=list(_notes(run)),
        next_steps=next_steps(run),
        links=_links(run),
        command=command(run),
        facts=_facts(run),
        is_summarised=True,
    )


def headline(run: Run) -> str:
    """What a run says, in one plain sentence."""
    if run.status != "done":
        return f"This run is not complete (status: {run.status}). {run.error}".rstrip()
    if run.conclusion is None or _is_told(run):
        return run.verdict.split("\n")[0]
    declined = [_declined(each.text) for each in run.conclusion.caveats if each.kind == "declines"]
    return " ".join([HEADLINES[run.conclusion.kind], *declined])


def _declined(caveat: str) -> str:
    """How many texts are declined, before and after; a model that declines notices."""
    _, _, shares = caveat.partition(": ")
    return f"{capitalised(shares)}."


def _is_told(run: Run) -> bool:
    """Whether the verdict is about something else than how texts are read."""
    return run.is_likelihood or not is_about_texts(run.settings.get("break_"))


def lead(run: Run) -> Iterator[str]:
    """What the headline rests on: right before and after, skill kept, what is known of the data,
    and the same by group.
    """
    found = run.conclusion
    if found is None or _is_told(run):
        yield from run.verdict.split("\n")[1:]
        return
    if found.kind == "surface":
        yield from _lost_before(run, found)
    elif found.value is None:
        yield f"{sentence(found.because)}.{_more_examples(found)}{_cut_short(run)}"
    else:
        yield _right_before_and_after(run, found)
        yield _skill_kept(found) + _cut_short(run)
        yield from _order_need(run)
    yield from of_groups(run)


def said(run: Run) -> list[str]:
    """The answer in words alone: the headline, what it rests on, what to know beside it."""
    return [headline(run), *lead(run), *(f"caveat: {line}" for line in _caveats(run))]


def _right_before_and_after(run: Run, found: Conclusion) -> str:
    others = f"{SAME_WORDS}=no"  # of pairs the conclusion is about these
    group = others if others in run.groups else "all"
    before = originals_used(run, found.transformation, group)
    after = run.score(found.transformation, run.main_score, group)
    how = "with words shuffled" if found.transformation == MAIN else f"under {found.transformation}"
    if before is None or after is None:
        return f"{sentence(found.because)}."
    if run.chance is None:
        title = title_of(run.main_score)
        return (
            f"{capitalised(title)} with the gold numbers {before.value:.2f}; {how} "
            f"{after.value:.2f} (0 = no relation)."
        )
    still = (
        "still on" if found.kind in STILL else "only on" if found.kind == "reads_order" else "on"
    )
    guessing = f"Guessing: {run.chance:.0%}."
    if run.kind == "labels" and run.majority > run.chance + SKEWED:
        guessing = f"Always the most frequent label: {run.majority:.0%}."
    if run.kind == "ranking":
        name = str(run.settings.get("match") or "ndcg@10").replace("ndcg", "nDCG")
        now = f"{still.removesuffix('on')}{after.value:.2f}"
        return (
            f"{name} is {before.value:.2f} for {before.n:,} queries; {how} {now}. A random order: "
            f"{run.chance:.2f}."
        )
    text = (
        f"Right on {before.value:.0%} of {_counted(run, before.n)}; {how} {still} "
        f"{after.value:.0%}. {guessing}"
    )
    return text.replace("%", " %")


def _lost_before(run: Run, found: Conclusion) -> Iterator[str]:
    """What is right before, with the damage alone, and after."""
    names = ("original", f"surface:of={found.transformation}", found.transformation)
    scores = [run.score(name, run.main_score) for name in names]
    before, control, after = (None if each is None else f"{each.value:.2f}" for each in scores)
    if before and control and after:
        yield (
            f"{capitalised(title_of(run.main_score))} is {before}; with the words in their old "
            f"order, but the capitals, marks and spaces of a moved text, {control}; with words "
            f"moved {after}.{_cut_short(run)}"
        )
    else:
        yield f"{sentence(found.because)}.{_cut_short(run)}"


def _skill_kept(found: Conclusion) -> str:
    text = f"{figures(found)} of its skill is left (1 = a bag of words, 0 = reads order)."
    return text + _more_examples(found)


def _more_examples(found: Conclusion) -> str:
    if found.more_examples is None:
        return ""
    return f" About {found.more_examples:,} more would decide it."


def _counted(run: Run, n: int) -> str:
    """So many texts, questions or pairs, and of how many families they are."""
    asked = {"choice": "questions", "text": "questions", "pair": "pairs"}.get(run.kind, "texts")
    is_fewer = run.n_families is not None and run.n_families < FEWER * n
    families = f" ({run.n_families:,} families of similar {asked})" if is_fewer else ""
    return f"{n:,} {asked}{families}"


def _cut_short(run: Run) -> str:
    """That the run ended as soon as it was decided."""
    cut = run.cut_short
    if cut is None:
        return ""
    told = f" Decided after {cut.n_examples:,} of {cut.n_planned:,} examples"
    return f"{told}." if cut.low is None else f"{told}: the value leans outward."


def _order_need(run: Run) -> Iterator[str]:
    """Whether the data needs order, as far as that is known."""
    known = {group.removeprefix(NEEDS): group for group in run.groups if group.startswith(NEEDS)}
    if known:
        counts = {
            what: record.n
            for what, group in known.items()
            if (record := run.score(ORIGINAL, run.main_score, group)) is not None
        }
        shares = ", ".join(f"{what} in {n:,}" for what, n in counts.items())
        yield f"This data was made to know it: what decides the label is {shares} examples."
        return
    row = next((row for row in run.word_baselines if row.group == "all"), None)
    if row is None or row.model <= row.chance:
        yield "Whether this data needs word order is not known."
        return
    share = min(1.0, max(0.0, row.value - row.chance) / (row.model - row.chance))
    part = "all" if share >= EXPLAINED else f"{share:.0%}".replace("%", " %")
    yield (
        f"Does this data need order? A bag of words trained on it reaches {row.value:.2f} (this "
        f"model {row.model:.2f}), which explains {part} of this model's skill; whether order has "
        "more to give is not known."
    )


def _caveats(run: Run) -> list[str]:
    """What a reader of the headline should know beside what the lead says of the data."""
    found = run.conclusion
    if found is None or found.value is None or _is_told(run):
        return run.caveats
    in_lead = {*ABOUT_NEED, "declines"}
    said = {str(caveat) for caveat in found.caveats if caveat.kind in in_lead}
    return [line for line in run.caveats if line not in said]


def _telling_example(run: Run, subject: str) -> list[Row]:
    """The example that shows the conclusion best."""
    kind = "" if run.conclusion is None else TELLING.get(run.conclusion.kind, "unmoved")
    return sorted(_examples(run, [subject]), key=lambda each: each["kind"] != kind)[:1]


def _examples(run: Run, specs: Sequence[str]) -> list[Row]:
    """The telling examples of some transformations, in their order, with why they are shown."""
    return [
        {**each, "why": TELLING_KINDS[each["kind"]]}
        for spec in dict.fromkeys(specs)
        for each in run.telling
        if each["transformation"] == spec
    ]


def _notes(run: Run) -> Iterator[str]:
    """Why one can believe it."""
    found = run.conclusion
    if found is not None and found.value is not None:
        yield f"{sentence(found.because)}."
        if run.score(f"surface:of={found.transformation}", run.main_score) is not None:
            yield (
                "The skill kept of the headline is a share of the skill on the surface control, "
                "those of the table are shares of the skill on original texts."
            )
    for floor in run.noise_floor:
        if floor.metric == "agreement":
            yield (
                f"Noise: {floor.n:,} texts were predicted again, in other batches; the prediction "
                f"was the same for {floor.value:.0%}.".replace("%", " %")
            )
    if run.n_families is not None:
        yield (
            f"Intervals are over the {run.n_families:,} families of {run.n_examples:,} examples: "
            "those that share a text, or nearly all words of one, are one family."
        )
    yield from answer_lines(run)
    yield from run.notes
    yield from stopped_early(run)


def _links(run: Run) -> dict[str, str]:
    if run.folder is None or not (run.folder / "explain.html").exists():
        return {}
    return {"What the model relies on instead: the explanations": "explain.html"}


def _facts(run: Run) -> dict[str, str]:
    facts = {
        "started": f"{run.started}, {run.seconds:.1f} s, {run.n_predictions:,} predictions",
        "data": f"{run.data} ({run.hashes.get('data', 'no hash')})",
        "model": f"{run.model} ({run.hashes.get('model') or 'no hash'})",
        "versions": ", ".join(f"{name} {number}" for name, number in run.versions.items()),
    }
    return facts | ({"git": run.git} if run.git else {})


def _sections(run: Run, main: str) -> Iterator[Section[None]]:
    """Everything else, folded under the question that it answers."""
    for each in _all_sections(run, main):
        shown_first = (each.grids, each.figures, each.findings, each.notes, each.terms)
        if any([*shown_first, each.examples, each.commands]):
            yield each


def _all_sections(run: Run, main: str) -> Iterator[Section[None]]:
    groups = run.groups
    over = "examples" if run.n_families is None else f"the {run.n_families:,} families of examples"
    yield _folded(
        "scores",
        "How does each transformation change the scores?",
        f"Every number has its 95 % interval over {over}; n is the number of examples it rests on "
        "(WOS rests on fewer, given below it).",
        grids=[_scores(run, "all")] if run.scores else [],
        notes=[f"after a number its 95 % interval over {over}"],
    )
    yield _folded(
        "groups",
        f"Is it the same in every group of examples ({', '.join(groups)})?",
        grids=[_scores(run, group) for group in groups],
    )
    yield from _about_answers(run, main)
    yield _folded(
        "words",
        "How far do words alone go on this data?",
        "Balanced accuracy on original texts, in which every label counts the same. The bag of "
        "words is trained on the audited data itself by cross-fitting: each example is predicted "
        "by a model that saw neither it nor any other with the same words. Where it comes near "
        "this model, the data may not need word order.",
        findings=baseline_lines(run),
        grids=[grid for grid in [baseline_grid(run)] if grid.rows],
    )
    doses = charts.dose_points(run)
    yield _folded(
        "dose",
        "How much can be moved before skill is lost?",
        "Skill kept by the share of the words that `derange` moves, with its 95 % interval.",
        figures=[Figure("dose", "", [], charts.dose_curve(doses))] if len(doses) > 1 else [],
        findings=[
            f"{share:.0%} of the words moved: {record.value:.2f} [{record.low:.2f}, "
            f"{record.high:.2f}] of the skill is kept".replace("-", "−")
            for share, record in doses
            if len(doses) > 1
        ],
    )
    yield from _about_permutations(run, main)
    yield _folded(
        "telling",
        "Which examples show it?",
        "Words that moved are underlined; the small number is the place they came from. A double "
        "bar marks a perturbed text that still got the gold label.",
        examples=_examples(run, [main, *run.transformations]),
    )
    yield _folded("gains", "How does it compare with the controls?", findings=gain_lines(run))
    yield from _about_measuring(run)
    if run.conclusion is not None:
        yield conclusion_rules(run.settings)
    yield from _about_prompt(run)


def _folded(name: str, asks: str, about: str = "", **more: Any) -> Section[None]:
    return Section(name, asks, about, is_folded=True, **more)


def _about_answers(run: Run, main: str) -> Iterator[Section[None]]:
    name = main if run.conclusion is None else run.conclusion.transformation
    found = run.answers.get(name)
    if found:
        yield _folded(
            "answers",
            "Which answers does it give, before and after?",
            f"How many examples of each gold label (rows) get each answer (columns), on original "
            f"texts and under {name}; there the variants of an example share its one vote.",
            grids=[answer_grid(found)],
        )


def _about_permutations(run: Run, main: str) -> Iterator[Section[None]]:
    letters = [name[:1] for name in run.references if name[:1] in REFERENCES]
    told = ", ".join(f"{letter} {REFERENCES[letter]}" for letter in letters)
    references = f"{', '.join(letters)}: what imaginary models would score; {told}"
    grid = permutation_grid(run, main)
    tables = run.figures.get(main, {})  # runs of older versions have fewer
    drawn = [_figure(run, name, main) for name in DRAWN if name in tables]
    yield _folded(
        "permutations",
        "How often does some order of the words still get the gold label?",
        f"Under {main}, beside the papers' imaginary models, given this model's predictions for "
        "the original texts: A takes every perturbed text for meaningless and rejects it, B "
        "guesses, C is a bag of words.",
        grids=[grid] if grid.rows else [],
        figures=drawn,
        notes=[references] if letters and grid.rows else [],
    )


def _about_measuring(run: Run) -> Iterator[Section[None]]:
    measured = shown([each.metric for each in run.scores], "table", "page", "permutations")
    known = parts(TransformationPart)
    names = [name for spec in run.transformations for name in PART.findall(spec)]
    summaries = {name: known[name].summary for name in names if name in known}
    yield _folded(
        "meanings",
        "What was measured, and what does it mean?",
        terms={**summaries, **{named(metric): meaning_of(metric) for metric in measured}},
    )
    yield _folded(
        "left_out",
        "What was left out, or could not be measured?",
        findings=list(left_out(run)),
        notes=not_measured(run),
    )
    grid = dev_r_grid(run)
    yield _folded(
        "dev_r",
        "Which examples does word-order sensitivity rest on (dev-r)?",
        "WOS is measured on examples whose perturbed text is one sentence of more than three "
        "words, that the model predicts right, with classes balanced by random removal.",
        grids=[grid] if grid.rows else [],
    )


def _about_prompt(run: Run) -> Iterator[Section[None]]:
    if not run.prompt and not run.spent:
        return
    words = run.prompt.get("label_words", {})
    told = ", ".join(f"{word} ({label})" for label, word in words.items())
    grid = prompt_grid(run)
    yield _folded(
        "prompt",
        "What is the model given, and how is its answer read?",
        f"The prompt {run.prompt['name']} for the first example; the answer is scored as one of: "
        f"{told}."
        if run.prompt
        else "",
        findings=prompt_lines(run),
        grids=[grid] if grid.rows else [],
        commands=[run.prompt["rendered"]] if run.prompt else [],
    )


def _scores(run: Run, group: str) -> Grid:
    """The scores of a group; WOS, which rests on fewer examples, says on how many."""
    return score_grid(
        run,
        group,
        metrics=shown([record.metric for record in run.scores], "table", "page"),
        has_n=True,
        cell=_score_cell,
        caption="All examples" if group == "all" else f"Only {group}",
    )


def _score_cell(record: Record | None) -> Cell:
    note = f"n = {record.n:,}" if record is not None and record.metric == "wos" else ""
    return Cell.of(record, note=note)


def _figure(run: Run, name: str, main: str) -> Figure:
    spec = charts.forest(run, run.main_score) if name == "forest" else DRAWN[name](run, main)
    return Figure("", caption(name, run, main), [], spec)


def run_figure(run: Run, name: str, transformation: str = "") -> Figure:
    """A picture of a run: `forest`, or one of a transformation, by default the main one."""
    pictures = {"omega_curve" if each == "omega" else each: each for each in DRAWN}
    if name == "forest":
        return _figure(run, name, main_transformation(run))
    if name not in pictures:
        raise UnknownName("picture", name, ["forest", *pictures])
    chosen = transformation or main_transformation(run)
    if chosen not in run.figures:
        raise UnknownName("transformation with pictures", chosen, run.figures)
    if pictures[name] not in run.figures[chosen]:
        raise DisorderError(f"there is no picture {name} of {chosen}: it was not measured there")
    return _figure(run, pictures[name], chosen)


def caption(name: str, run: Run, main: str) -> str:
    """What a picture of a run shows under a transformation."""
    score = title_of(run.main_score)
    among = "" if run.chance is None else f" among the {len(run.labels)} labels of the task"
    return CAPTIONS[name].format(score=score[0].upper() + score[1:], main=main, among=among)
