"""What does a person at a terminal see? The verdict first, then tables that fit eighty columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from disorder.report.run import Record, Run
from disorder.report.wording import COLUMNS, PERMUTATION_METRICS, interval, left_out, main_transformation, spread

SECONDS = ("draw", "assemble", "forward", "cache", "write")
KEY = (
    "WOS: word-order sensitivity, 0 = order ignored, 1 = falls to chance. Ω_max, Ω_rand: share of examples with one "
    "permutation that gets the gold label, with more than by chance. P_c, P_f: share of such permutations, for examples "
    "first answered right, wrong. Brackets and ± are 95 % intervals over examples."
)


def show(run: Run, console: Console, *, folder: str | None = None, profile: bool = False) -> None:
    """Print a finished run."""
    first, *rest = run.verdict.split("\n")
    console.print()
    console.print(Text(first, style="bold"))
    for line in rest:
        console.print(Text(f"  {line}"))
    console.print(Text(f"\n{about(run)}", style="dim"))
    console.print(_scores(run, "all"))
    if any(record.metric in PERMUTATION_METRICS for record in run.scores):
        console.print(_permutations(run))
    for group in run.groups:
        console.print(_scores(run, group))
    console.print(Text(KEY, style="dim"))
    for line in left_out(run):
        console.print(Text(line))
    for line in [*run.notes, *stopped_early(run), *(spent(run) if profile else [])]:
        console.print(Text(line))
    if folder:
        console.print(Text(f"\nReport: {folder}/report.html", style="bold"), soft_wrap=True)


def about(run: Run) -> str:
    """What was audited, in one line."""
    of = f" of {run.n_available:,}" if run.n_available > run.n_examples else ""
    return f"{run.model} on {run.data}: {run.n_examples:,}{of} examples, q = {run.settings['q']}, seed {run.seed}"


def stopped_early(run: Run) -> list[str]:
    """What --stop-when and --curtail saved."""
    lines = [
        f"{spec}: stopped after {s['n_examples']:,} examples, {s['metric']} in [{s['low']:.3f}, {s['high']:.3f}]"
        for spec, s in run.stopped.items()
    ]
    if saved := run.profile.get("saved"):
        asked = run.profile.get("asked", 0) + run.profile.get("cached", 0)
        lines.append(f"curtailed: {saved / (saved + asked):.2f} of the questions were decided without asking")
    return lines


def spent(run: Run) -> list[str]:
    """Where the time went, and how many questions the model was asked."""
    total = max(run.seconds, 1e-9)
    shares = [f"{name} {run.profile.get(name, 0):.2f} s ({run.profile.get(name, 0) / total:.0%})" for name in SECONDS]
    counts = [f"{name} {int(run.profile.get(name, 0)):,}" for name in ("asked", "saved", "cached", "resumed")]
    return [f"time: {run.seconds:.2f} s: {', '.join(shares)}", f"questions: {', '.join(counts)}"]


def _scores(run: Run, group: str) -> Table:
    """One row a transformation."""
    present = [metric for metric in COLUMNS if any(r.metric == metric and r.group == group for r in run.scores)]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("all examples" if group == "all" else group)
    table.add_column("n", justify="right")
    for metric in present:
        table.add_column(COLUMNS[metric], justify="right", no_wrap=True)
    for name, records in _by_transformation(run, group):
        n = records.get("accuracy", next(iter(records.values()))).n
        table.add_row(Text(name), f"{n:,}", *[spread(records[m]) if m in records else "" for m in present])
    return table


def _permutations(run: Run) -> Table:
    """The permutation scores of the main transformation, beside the papers' imaginary models."""
    main = main_transformation(run)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(f"permutations ({main})")
    table.add_column("this model", justify="right", no_wrap=True)
    for name in run.references:
        table.add_column(name, justify="right")
    for metric, title in PERMUTATION_METRICS.items():
        mine = run.score(main, metric)
        theirs = [_reference(run, name, main, metric) for name in run.references]
        if mine or any(theirs):
            table.add_row(title, interval(mine) if mine else "none", *theirs)
    return table


def _by_transformation(run: Run, group: str) -> Iterator[tuple[str, dict[str, Record]]]:
    for name in ["original", *run.transformations]:
        records = {r.metric: r for r in run.scores if r.transformation == name and r.group == group}
        if records:
            yield name, records


def _reference(run: Run, name: str, transformation: str, metric: str) -> str:
    found = (r for r in run.references[name] if (r.transformation, r.metric) == (transformation, metric))
    return next((f"{record.value:.2f}" for record in found), "")
