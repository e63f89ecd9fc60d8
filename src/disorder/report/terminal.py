"""A run in the terminal: the verdict first, then tables that fit eighty columns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rich.console import Console
from rich.text import Text

from disorder.languages import language_name
from disorder.report.conclusions import PAGE
from disorder.report.fitted_tables import Cell, NamedRow, ScoreTable, fitted
from disorder.report.metric_names import meaning_of, named, place_of, shown, title_of
from disorder.report.wording import (
    by_reason,
    gain_lines,
    interval,
    left_out,
    main_transformation,
    prompt_lines,
    spread,
)
from disorder.runs.run import Omitted, Record, Run
from disorder.visible_text import visible

SECONDS = ("draw", "assemble", "forward", "cache", "write")
COUNTS = ("predicted", "saved", "cached", "resumed")
SHOWN_LABELS = 4
REFERENCES = {  # by the letter that their names begin with
    "A": "rejects every perturbed text",
    "B": "guesses",
    "C": "is a bag of words",
}
NEEDS = "needs=…: only examples of the built-in data whose label order decides, or words alone"


def show(run: Run, console: Console, *, folder: str | None = None, profile: bool = False) -> None:
    """Print a finished run."""
    first, *rest = run.verdict.split("\n")
    console.print()
    console.print(Text(first, style="bold"))
    for line in [*rest, *caveat_lines(run)]:
        _print_indented(console, visible(line))
    console.print(Text(f"\n{about(run)}", style="dim"))
    for line in [*answer_lines(run), *baseline_lines(run)]:
        console.print(Text(visible(line), style="dim"))
    _print_table(console, _scores(run, "all"))
    main = main_transformation(run)
    if main:
        _print_table(console, _permutations(run, main))
    for group in run.groups:
        _print_table(console, _scores(run, group))
    console.print()
    for line in gain_lines(run):
        console.print(Text(line))
    for line in _legend(run):
        console.print(Text(line, style="dim"))
    notes = [*run.notes, *prompt_lines(run), *stopped_early(run)]
    for line in [*left_out(run), *_not_measured(run), *notes]:
        console.print(Text(line))
    if profile:
        for line in spent(run):
            console.print(Text(line))
    if folder:
        console.print(Text(f"\nReport: {folder}/report.html", style="bold"), soft_wrap=True)


def about(run: Run) -> str:
    """What was audited, in one line."""
    of = f" of {run.n_available:,}" if run.n_available > run.n_examples else ""
    draws = sorted({count for count in run.variants.values() if count > 1}, reverse=True)
    variants = f", {' or '.join(map(str, draws))} variants of each" if draws else ""
    texts = f"{run.n_examples:,}{of} examples in {language_name(run.language)}"
    return f"{run.model} on {run.data}: {texts}{variants}, seed {run.seed}"


def _print_indented(console: Console, text: str) -> None:
    """A text wrapped two letters from the edge, without spaces at the ends of lines."""
    for line in Text(text).wrap(console, console.width - 2):
        console.print(Text(f"  {line.plain.rstrip()}"), soft_wrap=True)


def _print_table(console: Console, table: ScoreTable) -> None:
    """A table after a blank line, in the width that there is."""
    console.print()
    for line in fitted(table, console.width):
        console.print(line, soft_wrap=True)


def _measured(run: Run) -> list[str]:
    """The metrics of a run, each once."""
    return list(dict.fromkeys(record.metric for record in run.scores))


def _legend(run: Run) -> list[str]:
    """What stands in the tables, one line each."""
    lines = ["after a number its 95 % interval over examples"]
    lines += [f"{named(metric)}: {meaning_of(metric)}" for metric in _in_tables(run)]
    letters = [name[:1] for name in run.references if name[:1] in REFERENCES]
    if letters and main_transformation(run):
        told = ", ".join(f"{letter} {REFERENCES[letter]}" for letter in letters)
        lines.append(f"{', '.join(letters)}: what imaginary models would score; {told}")
    if any(group.startswith("needs=") for group in run.groups):
        lines.append(NEEDS)
    if run.conclusion is not None:
        lines.append(f"how conclusions are drawn: {PAGE}, and #conclusions in the report")
    return lines


def _in_tables(run: Run) -> list[str]:
    """The metrics that stand in some table, in the order of tables."""
    main = main_transformation(run)
    found = shown(_measured(run), "table")
    return [*found, *(metric for metric, *_ in permutation_rows(run, main))]


def _not_measured(run: Run) -> list[str]:
    """Why scores are missing in the tables, one line per reason; by the names that gates take."""
    missed = filter(partial(_is_missed, main_transformation(run)), run.omitted)
    lines = []
    for reason, entries in by_reason(missed).items():
        metrics = ", ".join(dict.fromkeys(entry.metric for entry in entries))
        specs = list(dict.fromkeys(entry.transformation for entry in entries))
        under = "" if {*run.transformations} <= {*specs} else f" under {', '.join(specs)}"
        lines.append(f"not measured: {metrics}{under} ({reason})")
    return lines


def _is_missed(main: str, entry: Omitted) -> bool:
    """Whether a table has, or would have, a place for a score that was not measured."""
    place = place_of(entry.metric)
    is_shown = place in ("table", "page") or (
        place == "permutations" and entry.transformation == main
    )
    return is_shown and entry.group == "all"


def stopped_early(run: Run) -> list[str]:
    """What --stop-when and --curtail saved."""
    lines = [
        f"{each.transformation}: stopped after {each.n_examples:,} examples, {each.metric} in "
        f"[{each.low:.3f}, {each.high:.3f}]"
        for each in run.stopped
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


def _scores(run: Run, group: str) -> ScoreTable:
    """One row per transformation; n stands in the head where it is the same for all."""
    present = [record.metric for record in run.scores if record.group == group]
    columns = shown(present, "table")
    found = list(by_transformation(run, group))
    counts = [records.get("accuracy", next(iter(records.values()))).n for _, records in found]
    head = "all examples" if group == "all" else group
    rows = [
        NamedRow(name, [_cell(records.get(metric)) for metric in columns])
        for name, records in found
    ]
    titles = list(map(title_of, columns))
    if len(set(counts)) == 1:
        return ScoreTable(f"{head} ({counts[0]:,})", titles, rows)
    numbered = [
        NamedRow(row.name, [Cell(f"{n:,}"), *row.cells])
        for row, n in zip(rows, counts, strict=True)
    ]
    return ScoreTable(head, ["n", *titles], numbered)


def _cell(record: Record | None) -> Cell:
    """A score with its interval; nothing where there is none."""
    return Cell(*spread(record).split(" ", 1)) if record else Cell()


def caveat_lines(run: Run) -> list[str]:
    """What a reader of the verdict should know."""
    return [f"caveat: {caveat}" for caveat in run.caveats]


def baseline_lines(run: Run) -> list[str]:
    """How far words alone go on this data, beside the model."""
    return [
        f"{'balanced accuracy' if row.group == 'all' else row.group}: this model {row.model:.2f}, "
        f"a bag of words trained on this data {row.value:.2f} [{row.low:.2f}, {row.high:.2f}], "
        f"chance {row.chance:.2f}"
        for row in run.word_baselines
    ]


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


def _permutations(run: Run, main: str) -> ScoreTable:
    """The permutation scores of the main transformation, beside the papers' imaginary models."""
    rows = [
        NamedRow(
            title_of(metric),
            [
                Cell(*interval(mine).split(" ", 1)) if mine else Cell("none"),
                *(Cell("" if value is None else f"{value:.2f}") for value in others.values()),
            ],
        )
        for metric, mine, others in permutation_rows(run, main)
    ]
    return ScoreTable(f"permutations ({main})", ["this model", *run.references], rows)


def by_transformation(run: Run, group: str) -> Iterator[tuple[str, dict[str, Record]]]:
    """The scores of a group, by transformation and metric; the original texts first."""
    for name in ["original", *run.transformations]:
        records = {r.metric: r for r in run.scores if r.transformation == name and r.group == group}
        if records:
            yield name, records


def permutation_rows(
    run: Run, main: str
) -> Iterator[tuple[str, Record | None, dict[str, float | None]]]:
    """Per metric of permutations: this model's score, and those of the reference models."""
    references = [r.metric for records in run.references.values() for r in records]
    for metric in shown([*_measured(run), *references], "permutations"):
        mine = run.score(main, metric)
        others = {
            name: next(
                (r.value for r in records if (r.transformation, r.metric) == (main, metric)), None
            )
            for name, records in run.references.items()
        }
        if mine or any(value is not None for value in others.values()):
            yield metric, mine, others
