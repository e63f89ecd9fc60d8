"""A run in lines and tables: what was audited, its scores, what was left out, answered and spent,
and how to run it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from disorder.errors import UnknownName
from disorder.languages import language_name
from disorder.registry.own import function_name
from disorder.requests.audit import AuditOptions
from disorder.requests.option import changed, command_line
from disorder.results.conclusion import MAIN
from disorder.results.markup import name_of
from disorder.results.result import Cell, Column, Grid
from disorder.results.run import AGAIN, Omitted, Record, Run
from disorder.results.writing import fixed, place_of, shown, title_of
from disorder.types import CONTROL_OF, ORIGINAL

SECONDS = ("draw", "assemble", "forward", "cache", "write")
COUNTS = ("predicted", "saved", "cached", "resumed")
SHOWN_LABELS = 4
TELLING_KINDS = {
    "unmoved": "correct on the original, and the same label on every perturbed version",
    "rescued": "wrong on the original, correct on perturbed versions of it",
    "noticed": "correct on the original, another label on most perturbed versions",
}


def main_transformation(run: Run) -> str:
    """The transformation whose permutation scores are shown: `derange`, else the first that only
    changes the order of words, else the first that has such scores; empty where none has.
    """
    scored = {r.transformation for r in run.scores if place_of(r.metric) == "permutations"}
    ranked = [MAIN, *run.breaks_order, *run.transformations]
    return next((name for name in ranked if name in scored), "")


def left_out(run: Run) -> Sequence[str]:
    """One line for each reason why examples were left out."""
    return [
        f"left out of {'the data' if name == 'data' else name}: {count:,} ({reason})"
        for name, reasons in run.skips.items()
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ] + _without_answers(run)


def _without_answers(run: Run) -> list[str]:
    """How many texts got no answer; scores are of the others."""
    return [
        f"no answer under {name}: {sum(reasons.values()):,} texts "
        f"({', '.join(f'{reason}: {count:,}' for reason, count in reasons.items())})"
        for name, reasons in run.no_answers.items()
    ]


def prompt_lines(run: Run) -> list[str]:
    """What one should know about how a language model answered, one line each."""
    prompt = run.prompt
    lines = _server_lines(run)
    if "label_mass" in prompt:
        words = ", ".join(prompt["label_words"].values())
        lines.append(
            f"the label words ({words}) get {prompt['label_mass']:.3f} of the model's probability "
            "on average; predictions are their shares of it"
        )
    if "order_changes" in prompt:
        lines.append(
            f"{prompt['option_orders']} orders of the options: {prompt['order_changes']:.3f} of "
            "the predictions depend on the order; the option listed first gets "
            f"{prompt['first_listed']:.3f} on average, the one listed last "
            f"{prompt['last_listed']:.3f}"
        )
    return lines + [_spread_line(run, row) for row in main_spread(run)]


def _server_lines(run: Run) -> list[str]:
    """How the answers of a server were read, and what they cost."""
    prompt = run.prompt
    lines = []
    if "answers" in prompt:
        refused = "; ".join(f"{way}: {why}" for way, why in prompt["refused"].items())
        better = f" (not possible here: {refused})" if refused else ""
        lines.append(f"answers of {prompt['server']} are read by {prompt['answers']}{better}")
        if not prompt["gives_probabilities"]:
            lines.append(
                "this way gives labels without probabilities: confidence, entropy and calibration "
                "error say nothing here"
            )
    if run.spent:
        cost = f", cost {run.spent['cost']:.4g}" if run.spent["cost"] else ""
        tokens = ""
        if run.spent["tokens"]:
            sent, received = run.spent["tokens_in"], run.spent["tokens_out"]
            tokens = f", {sent:,.0f} tokens sent, {received:,.0f} received"
        lines.append(f"{run.spent['questions']:,.0f} questions{tokens}{cost}")
    return lines


def main_spread(run: Run) -> list[dict[str, Any]]:
    """The spread over prompts of the scores that tables show, for all examples."""
    return [
        row
        for row in run.prompt_spread
        if row["group"] == "all" and place_of(row["metric"]) in ("table", "permutations")
    ]


def _spread_line(run: Run, row: dict[str, Any]) -> str:
    return (
        f"over {len(row['values'])} prompts: {row['transformation']} {row['metric']} "
        f"{row['low']:.3f} to {row['high']:.3f}"
    )


def not_measured(run: Run) -> list[str]:
    """The scores that there was nothing to measure for: one line per reason, by the names that
    gates take.
    """
    return [
        f"not measured: {_named_scores(entries)} ({why})"
        for why, entries in by_reason(run.omitted).items()
    ]


def by_reason(omitted: Iterable[Omitted]) -> dict[str, list[Omitted]]:
    """Scores that there was nothing to measure for, by the reason."""
    found: dict[str, list[Omitted]] = {}
    for entry in omitted:
        found.setdefault(entry.reason, []).append(entry)
    return found


def _named_scores(entries: Sequence[Omitted]) -> str:
    metrics, specs, groups = (
        ", ".join(dict.fromkeys(getattr(entry, name) for entry in entries))
        for name in ("metric", "transformation", "group")
    )
    return f"{metrics} under {specs}" + (f" (groups: {groups})" if groups != "all" else "")


def command(run: Run, **changes: Any) -> str:
    """The command that repeats a run: every setting that differs from its default, or is changed.
    Controls are no part of it: an audit adds them by itself.
    """
    named = [spec for spec in run.transformations if not spec.startswith(CONTROL_OF)]
    settings = {**run.settings, "transformations": named, "seed": run.seed} | changes
    return command_line("audit", run.model, run.data, *changed(AuditOptions, settings))


def gain_lines(run: Run) -> list[str]:
    """How much each perturbation keeps of what its control loses, one line each."""
    return [
        f"relative gain: {each['transformation']} keeps {fixed(each['value'], 2)} "
        f"[{fixed(each['low'], 2)}, {fixed(each['high'], 2)}] of the accuracy that "
        f"{each['control']} costs ({each['n']:,} examples)"
        for each in run.gains
    ]


def about(run: Run) -> str:
    """What was audited, in one line."""
    of = f" of {run.n_available:,}" if run.n_available > run.n_examples else ""
    draws = sorted({count for count in run.variants.values() if count > 1}, reverse=True)
    variants = f", {' or '.join(map(str, draws))} variants of each" if draws else ""
    texts = f"{run.n_examples:,}{of} examples in {language_name(run.language)}"
    return f"{run.title} on {run.data}: {texts}{variants}, seed {run.seed}"


def answer_lines(run: Run) -> list[str]:
    """How often each label is given, before and after, in two lines."""
    main = main_transformation(run)
    found = run.answers.get(run.conclusion.transformation if run.conclusion else main)
    if not found:
        return []
    order = sorted(
        range(len(found["answers"])), key=lambda i: -found["before"][i] - found["after"][i]
    )[:SHOWN_LABELS]
    hidden = len(found["answers"]) - len(order)
    ending = f", {hidden} more" if hidden else ""
    lines = []
    for name in ("before", "after"):
        total = sum(found["gold"])
        shares = [f"{found['answers'][i]} {found[name][i] / total:.2f}" for i in order]
        lines.append(f"answers {name + ':':<7} {', '.join(shares)}{ending}")
    gold = [f"{found['gold'][i] / total:.2f}" if i < len(found["gold"]) else "–" for i in order]
    lines[0] += f" (gold {', '.join(gold)})"
    return lines


def baseline_lines(run: Run) -> list[str]:
    """How far words alone go on this data, beside the model."""
    return [
        f"{'balanced accuracy' if row.group == 'all' else row.group}: this model {row.model:.2f}, "
        f"a bag of words trained on this data {row.value:.2f} [{row.low:.2f}, {row.high:.2f}], "
        f"chance {row.chance:.2f}"
        for row in run.word_baselines
    ]


def stopped_early(run: Run) -> list[str]:
    """What --stop-when and --curtail saved."""
    lines = [
        f"{each.transformation}: stopped after {each.n_examples:,} examples, {each.metric} in "
        f"[{each.low:.3f}, {each.high:.3f}]"
        for each in run.stopped
        if each.low is not None and each.high is not None
    ]
    saved = run.profile.get("saved")
    if saved:
        made = run.profile.get("predicted", 0) + run.profile.get("cached", 0)
        share = saved / (saved + made)
        lines.append(f"curtailed: {share:.2f} of the predictions were not needed")
    return lines


def spent(run: Run) -> list[str]:
    """Where the time went, and how many predictions were made."""
    total = max(run.seconds, 1e-9)
    times = []
    for name in SECONDS:
        seconds = run.profile.get(name, 0)
        times.append(f"{name} {seconds:.2f} s ({seconds / total:.0%})")
    counts = [f"{name} {int(run.profile.get(name, 0)):,}" for name in COUNTS]
    return [f"time: {run.seconds:.2f} s: {', '.join(times)}", f"predictions: {', '.join(counts)}"]


def score_grid(
    run: Run,
    group: str = "all",
    *,
    metrics: Sequence[str],
    transformations: Sequence[str] = (),
    head: str = "texts",
    has_n: bool = False,
    cell: Callable[[Record | None], Cell] = Cell.of,
    caption: str = "",
) -> Grid:
    """The scores of a group of examples, one row per transformation that has one of them."""
    found = dict(by_transformation(run, group))
    named = transformations or list(found)
    names = [name for name in named if not found[name].keys().isdisjoint(metrics)]
    columns = [Column(head, "name"), *([Column("n")] if has_n else [])]
    rows = []
    for name in names:
        records = found[name]
        n = [Cell(f"{n_examples(records):,}")] if has_n else []
        rows.append([text_name(name), *n, *(cell(records.get(metric)) for metric in metrics)])
    return Grid([*columns, *(Column(title_of(metric)) for metric in metrics)], rows, caption)


MOST_SCORES = 4  # beside the names of texts, on a screen


def overview_grid(run: Run, main: str) -> Grid:
    """What a reader needs first: the main score and the skill kept, of original texts, of the
    surface control and of each transformation, the main one first.
    """
    own = map(function_name, run.settings.get("score") or ())
    metrics = list(dict.fromkeys([run.main_score, "skill_kept", *own]))[:MOST_SCORES]
    control = f"surface:of={main}"
    others = [name for name in run.transformations if not name.startswith("surface:")]
    names = dict.fromkeys([ORIGINAL, control, main, *others])
    rows = []
    used = originals_used(run, main)
    for name in names:
        records = [run.score(name, metric) for metric in metrics]
        is_used = name == "original" and used != records[0]
        if is_used:  # some examples are left out: the others are set beside their originals
            records[0] = used
        if any(records):
            head = Cell("surface control") if name == control else text_name(name)
            head = Cell("original texts used") if is_used else head
            rows.append([head, *map(Cell.of, records)])
    titles = {"skill_kept": "skill kept of original"}  # the headline's is of the surface control
    columns = [Column(titles.get(each) or title_of(each)) for each in metrics]
    return Grid([Column("texts", "name"), *columns], rows)


def originals_used(run: Run, spec: str, group: str = "all") -> Record | None:
    """The main score on original texts; of those that a transformation could use where it left some
    out, which would make it look like gain or loss.
    """
    every = run.score("original", run.main_score, group)
    used = run.score(spec, "accuracy_used", group)
    is_part = every is not None and used is not None and used.n < every.n
    return used if is_part and run.main_score == "accuracy" else every


def answer_grid(found: Mapping[str, Any]) -> Grid:
    """How many examples of each gold label get each answer, before and after."""
    answers = found["answers"]
    heads = [f"{answer}, {when}" for when in ("before", "after") for answer in answers]
    counts = [(f"all ({sum(found['gold']):,})", found["before"], found["after"])]
    if found.get("confusion"):
        by_label = zip(
            found["labels"],
            found["gold"],
            found["confusion"]["before"],
            found["confusion"]["after"],
            strict=True,
        )
        counts[:0] = [(f"{label} ({n:,})", before, after) for label, n, before, after in by_label]
    rows = [
        [Cell(name), *(Cell(f"{n:,.0f}") for n in before), *(Cell(f"{n:,.1f}") for n in after)]
        for name, before, after in counts
    ]
    return Grid([Column("gold label (examples)", "name"), *map(Column, heads)], rows)


def n_examples(records: Mapping[str, Record]) -> int:
    """How many examples the scores under a transformation rest on."""
    return records.get("accuracy", next(iter(records.values()))).n


def text_name(transformation: str) -> Cell:
    """How the texts of a transformation are called."""
    if transformation == ORIGINAL:
        return Cell("original texts")
    if transformation == AGAIN:
        return Cell("same texts again")
    return Cell(transformation, mark="code")


def permutation_grid(run: Run, main: str) -> Grid:
    """The permutation scores of the main transformation, beside the papers' imaginary models."""
    rows = []
    for metric, mine, others in permutation_rows(run, main):
        cell = Cell.of(mine, "none", f"n = {mine.n:,}" if mine else "")
        others_cells = ["–" if value is None else f"{value:.2f}" for value in others.values()]
        rows.append([Cell(title_of(metric)), cell, *map(Cell, others_cells)])
    columns = [Column(f"permutations ({main})", "name"), Column("this model")]
    return Grid([*columns, *map(Column, run.references)], rows)


def baseline_grid(run: Run) -> Grid:
    """How far a bag of words goes on this data, beside the model."""
    heads = ("n", "this model", "bag of words", "chance")
    rows = [
        [
            Cell(row.group),
            Cell(f"{row.n:,}"),
            Cell(f"{row.model:.3f}"),
            Cell.of(row),
            Cell(f"{row.chance:.3f}"),
        ]
        for row in run.word_baselines
    ]
    return Grid([Column("examples", "name"), *map(Column, heads)], rows)


def dev_r_grid(run: Run) -> Grid:
    """How many examples of each label word-order sensitivity rests on, step by step."""
    rows = [
        [Cell("" if i else name), Cell(step), *(Cell(f"{counts[each]:,}") for each in run.labels)]
        for name, steps in run.dev_r.items()
        for i, (step, counts) in enumerate(steps.items())
    ]
    columns = [Column("transformation", "name"), Column("step", "word")]
    return Grid([*columns, *map(Column, run.labels)], rows)


def prompt_grid(run: Run) -> Grid:
    """Scores over several prompts, with the smallest and the largest."""
    prompts = run.settings.get("prompt") or ()
    rows = [
        [
            Cell(row["transformation"]),
            Cell(title_of(row["metric"])),
            *(Cell(f"{value:.3f}") for value in row["values"]),
            Cell(f"{row['low']:.3f} to {row['high']:.3f}"),
        ]
        for row in main_spread(run)
    ]
    columns = [Column("texts", "name"), Column("score", "word"), *map(Column, prompts)]
    caption = f"Over {len(prompts)} prompts: smallest and largest value"
    return Grid([*columns, Column("range")], rows, caption)


def paper_grid(
    run: Run,
    *,
    metrics: Sequence[str] = (),
    transformations: Sequence[str] = (),
    group: str = "all",
    has_intervals: bool = True,
) -> Grid:
    """Scores of a run for a paper, one row per transformation; all that its tables show, or those
    named.
    """
    rows = dict(by_transformation(run, group))
    present = list(dict.fromkeys(name for records in rows.values() for name in records))
    _check("group of this run", [group], ["all", *run.groups])
    _check("transformation of this run", transformations, rows)
    _check("metric of this run", metrics, present)

    def cell(record: Record | None) -> Cell:
        found = Cell.of(record, "–")
        return found if has_intervals else Cell(found.text)

    only = "" if group == "all" else f", only `{group}`"
    intervals = "; 95 % intervals over examples in brackets" if has_intervals else ""
    grid = score_grid(
        run,
        group,
        metrics=list(metrics) or shown(present, "table"),
        transformations=transformations,
        cell=cell,
        caption=f"`{run.title}` on `{run.data}` ({run.n_examples:,} examples{only}), original and "
        f"perturbed texts{intervals}.",
    )
    return replace(grid, name=name_of(run.model, run.data))


def _check(kind: str, names: Sequence[str], known: Mapping[str, object] | Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)


def by_transformation(run: Run, group: str) -> Iterator[tuple[str, dict[str, Record]]]:
    """The scores of a group, by transformation and metric; the original texts first."""
    for name in [ORIGINAL, *run.transformations]:
        records = {r.metric: r for r in run.scores if r.transformation == name and r.group == group}
        if records:
            yield name, records
    if run.noise_floor and group == "all":
        yield AGAIN, {record.metric: record for record in run.noise_floor}


def permutation_rows(
    run: Run, main: str
) -> Iterator[tuple[str, Record | None, dict[str, float | None]]]:
    """Per metric of permutations: this model's score, and those of the reference models."""
    references = [r.metric for records in run.references.values() for r in records]
    for metric in shown([*measured(run), *references], "permutations"):
        mine = run.score(main, metric)
        others = {
            name: next(
                (r.value for r in records if (r.transformation, r.metric) == (main, metric)), None
            )
            for name, records in run.references.items()
        }
        if mine or any(value is not None for value in others.values()):
            yield metric, mine, others


def measured(run: Run) -> list[str]:
    """The metrics of a run, each once."""
    return list(dict.fromkeys(record.metric for record in run.scores))
