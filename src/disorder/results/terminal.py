"""A run in the terminal: the verdict first, then tables that fit eighty columns."""

from __future__ import annotations

from functools import partial

from rich.console import Console
from rich.text import Text

from disorder.languages import language_name
from disorder.results.conclusion import PAGE
from disorder.results.grid import Cell, Grid
from disorder.results.run import Omitted, Run
from disorder.results.run_tables import (
    by_transformation,
    measured,
    n_examples,
    permutation_grid,
    permutation_rows,
    score_grid,
)
from disorder.results.terminal_table import print_table
from disorder.results.wording import (
    by_reason,
    gain_lines,
    left_out,
    main_transformation,
    prompt_lines,
)
from disorder.results.writing import meaning_of, named, place_of, shown
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
    print_table(console, _scores(run, "all"))
    main = main_transformation(run)
    if main:
        print_table(console, permutation_grid(run, main))
    for group in run.groups:
        print_table(console, _scores(run, group))
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
    found = shown(measured(run), "table")
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


def _scores(run: Run, group: str) -> Grid:
    """One row per transformation; n stands in the head where it is the same for all."""
    counts = {n_examples(records) for _, records in by_transformation(run, group)}
    is_same = len(counts) == 1
    head = "all examples" if group == "all" else group
    return score_grid(
        run,
        group,
        metrics=shown([record.metric for record in run.scores if record.group == group], "table"),
        head=f"{head} ({max(counts):,})" if is_same else head,
        has_n=not is_same,
        cell=Cell.short,
    )


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
