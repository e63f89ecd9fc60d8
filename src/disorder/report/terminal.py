"""What does a person at a terminal see? The verdict first, then tables that fit eighty columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from disorder.report.wording import (
    COLUMNS,
    PERMUTATION_METRICS,
    interval,
    left_out,
    main_transformation,
    spread,
)
from disorder.runs.run import Record, Run

SECONDS = ("draw", "assemble", "forward", "cache", "write")
LEGEND = {
    "accuracy": "texts given the gold label; after a number its 95 % interval over examples",
    "same answer": "perturbed texts answered as the original text was (copies: with the default label)",
    "WOS": "word-order sensitivity: 0 = order ignored, 1 = falls to chance, above 1 = below it",
    "confidence": "mean probability of the answer given",
    "Ω_max, Ω_rand, Ω_1.0": "examples with one permutation that gets the gold label, with more than by chance, with all",
    "P_c, P_f": "permutations that get the gold label, of examples first answered right (D_c), wrong (D_f)",
    "entropy": "how undecided the answers to those permutations are, in nats",
    "models A, B, C": "what they would score: A rejects every perturbed text, B guesses, C is a bag of words",
    "needs=…": "only examples of the built-in data whose label order decides, or words alone",
}


def show(run: Run, console: Console, *, folder: str | None = None, profile: bool = False) -> None:
    """Print a finished run."""
    first, *rest = run.verdict.split("\n")
    console.print()
    console.print(Text(first, style="bold"))
    for line in rest:
        console.print(Text(f"  {line}"))
    console.print(Text(f"\n{about(run)}", style="dim"))
    _set_apart(console, _scores(run, "all"))
    if any(record.metric in PERMUTATION_METRICS for record in run.scores):
        _set_apart(console, _permutations(run))
    for group in run.groups:
        _set_apart(console, _scores(run, group))
    console.print()
    for name, meaning in _legend(run):
        console.print(Text(f"{name}: {meaning}", style="dim"))
    for line in left_out(run):
        console.print(Text(line))
    for line in [
        *_not_measured(run),
        *run.notes,
        *stopped_early(run),
        *(spent(run) if profile else []),
    ]:
        console.print(Text(line))
    if folder:
        console.print(Text(f"\nReport: {folder}/report.html", style="bold"), soft_wrap=True)


def about(run: Run) -> str:
    """What was audited, in one line."""
    of = f" of {run.n_available:,}" if run.n_available > run.n_examples else ""
    draws = sorted({count for count in run.variants.values() if count > 1}, reverse=True)
    variants = f", {' or '.join(map(str, draws))} variants of each" if draws else ""
    return f"{run.model} on {run.data}: {run.n_examples:,}{of} examples{variants}, seed {run.seed}"


def _set_apart(console: Console, table: Table) -> None:
    """A table after a blank line; its own edges would cost width."""
    console.print()
    console.print(table)


def _legend(run: Run) -> list[tuple[str, str]]:
    """What stands in the tables, in a line each."""
    shown = {r.metric for r in run.scores}
    present = {
        "accuracy": "accuracy",
        "same answer": "agreement",
        "WOS": "wos",
        "confidence": "confidence",
        "Ω_max, Ω_rand, Ω_1.0": "omega_max",
        "P_c, P_f": "p_c",
        "entropy": "entropy_c",
    }
    hidden = {name for name, metric in present.items() if metric not in shown}
    hidden |= {"models A, B, C"} if not run.references else set()
    hidden |= set() if any(group.startswith("needs=") for group in run.groups) else {"needs=…"}
    return [(name, meaning) for name, meaning in LEGEND.items() if name not in hidden]


def _not_measured(run: Run) -> list[str]:
    """Why a score that one would look for is missing."""
    return [
        f"not measured: {entry.metric}, {entry.transformation} ({entry.reason})"
        for entry in run.omitted
        if entry.group == "all" and entry.metric in ("wos", "p_c")
    ]


def stopped_early(run: Run) -> list[str]:
    """What --stop-when and --curtail saved."""
    lines = [
        f"{spec}: stopped after {s['n_examples']:,} examples, {s['metric']} in [{s['low']:.3f}, {s['high']:.3f}]"
        for spec, s in run.stopped.items()
    ]
    if saved := run.profile.get("saved"):
        asked = run.profile.get("asked", 0) + run.profile.get("cached", 0)
        lines.append(
            f"curtailed: {saved / (saved + asked):.2f} of the questions were decided without asking"
        )
    return lines


def spent(run: Run) -> list[str]:
    """Where the time went, and how many questions the model was asked."""
    total = max(run.seconds, 1e-9)
    shares = [
        f"{name} {run.profile.get(name, 0):.2f} s ({run.profile.get(name, 0) / total:.0%})"
        for name in SECONDS
    ]
    counts = [
        f"{name} {int(run.profile.get(name, 0)):,}"
        for name in ("asked", "saved", "cached", "resumed")
    ]
    return [f"time: {run.seconds:.2f} s: {', '.join(shares)}", f"questions: {', '.join(counts)}"]


def _scores(run: Run, group: str) -> Table:
    """One row a transformation."""
    present = [
        metric
        for metric in COLUMNS
        if any(r.metric == metric and r.group == group for r in run.scores)
    ]
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("all examples" if group == "all" else group, overflow="fold")
    table.add_column("n", justify="right")
    for metric in present:
        table.add_column(COLUMNS[metric], justify="right", no_wrap=True)
    for name, records in _by_transformation(run, group):
        n = records.get("accuracy", next(iter(records.values()))).n
        table.add_row(
            Text(name), f"{n:,}", *[spread(records[m]) if m in records else "" for m in present]
        )
    return table


def _permutations(run: Run) -> Table:
    """The permutation scores of the main transformation, beside the papers' imaginary models."""
    main = main_transformation(run)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
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
    found = (
        r for r in run.references[name] if (r.transformation, r.metric) == (transformation, metric)
    )
    return next((f"{record.value:.2f}" for record in found), "")
