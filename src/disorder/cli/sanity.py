"""`disorder sanity`: checks of a dataset, as a report and a dataset card."""

from __future__ import annotations

from pathlib import Path

from disorder.cli import options as o
from disorder.cli.folders import new_folder, resumable
from disorder.cli.output import print_json, show
from disorder.requests.sanity import SanityOptions, SanityOutput


def sanity(data: o.SomeData, *, options: SanityOptions, output: SanityOutput) -> None:
    """Does DATA need word order, both texts, all word classes, or can it be gamed?

    Trains a quick model on original and on perturbed texts, sets baselines beside it, looks for
    words that give labels away, for duplicates and for leaks; no model of yours is called. Ends in
    one verdict per question, with its interval: report.html, result.json, card.md.
    """
    from disorder.cli.progress import Bar
    from disorder.store.store import UNFINISHED
    from disorder.verbs.sanity import sanity as run_checks

    folder = Path(output["out"] or new_folder("sanity", data))
    with resumable(folder, UNFINISHED), Bar() as bar:
        found = run_checks(data, out=folder, progress=bar, **options)
    if output["as_json"]:
        print_json(found.result.as_data())
        return
    written = [
        f"Report: {folder}/report.html",
        f"Dataset card: {folder}/card.md   ({found.seconds:.0f} s)",
    ]
    show(found.result, written)
