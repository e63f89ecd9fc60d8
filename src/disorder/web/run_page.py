"""What the page of one run shows: its report, how far it is, and the examples that pass filters."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Any

from disorder.errors import BadData, DisorderError
from disorder.results.render import template
from disorder.results.run import Run
from disorder.results.run_tables import main_transformation
from disorder.safe_io import visible
from disorder.store.sample_parts import SampleParts
from disorder.store.store import JOURNAL
from disorder.types import ORIGINAL
from disorder.web.run_library import FoundRun, RunLibrary
from disorder.web.sample_queries import (
    ORDERS,
    PER_PAGE,
    PREDICTED,
    ExampleFilters,
    QueryRow,
    SampleQueries,
)

_drawing = Lock()


def run_page(
    library: RunLibrary,
    queries: SampleQueries,
    found: FoundRun,
    form: Mapping[str, str],
    explained: str,
) -> dict[str, Any]:
    """The values of the page of one run; `form` holds the filters as they were submitted."""
    run = found.run
    return {
        "found": found,
        "run": run,
        "result": shown_result(found, explained),
        "has_confidence": run.has_probabilities is not False,  # older runs do not say
        "progress": run_progress(library, found) if run.status == "started" else None,
        "form": form,
        "orders": ORDERS,
        "predicted": PREDICTED,
        "per_page": PER_PAGE,
        **_examples(queries, found, form),
    }


def _examples(queries: SampleQueries, found: FoundRun, form: Mapping[str, str]) -> dict[str, Any]:
    """The examples that pass the filters, or why they cannot be shown."""
    choices: list[str] = []
    filters = ExampleFilters(ORIGINAL)
    total = 0
    rows: list[QueryRow] = []
    problem = ""
    try:
        choices = queries.transformations(found)
        filters = _filters(form, found.run, choices)
        total, rows = queries.page(found, filters)
    except BadData as error:
        problem = str(error)
    return {
        "choices": choices,
        "filters": filters,
        "total": total,
        "rows": rows,
        "problem": problem,
        "damaged": queries.damaged(found),
        "pages": n_pages(total, PER_PAGE),
    }


def _filters(form: Mapping[str, str], run: Run, choices: Sequence[str]) -> ExampleFilters:
    """The filters of a form; an unknown name becomes the default."""
    main = main_transformation(run)
    perturbed = [name for name in [main, *choices] if name in choices and name != ORIGINAL]
    default = perturbed[0] if perturbed else ORIGINAL
    return ExampleFilters(
        transformation=_one_of(form, "transformation", choices) or default,
        label=_one_of(form, "label", run.labels),
        original=_one_of(form, "original", list(PREDICTED)),
        group=_one_of(form, "group", run.groups),
        least=_number(form, "least"),
        most=_number(form, "most"),
        shortest=_whole_number(form, "shortest"),
        longest=_whole_number(form, "longest"),
        text=form.get("text", "").strip(),
        order=_one_of(form, "order", list(ORDERS)) or "data",
        page=max(1, _whole_number(form, "page") or 1),
    )


def _one_of(form: Mapping[str, str], name: str, known: Sequence[str]) -> str:
    """The one of some values that a form names, or ""; pages show them with control characters made
    visible.
    """
    wanted = form.get(name, "")
    return next((value for value in known if wanted in (value, visible(value))), "")


def _number(form: Mapping[str, str], name: str) -> float | None:
    text = form.get(name, "").strip()
    try:
        return float(text) if text else None
    except ValueError:
        raise DisorderError(f"{name}: {visible(text)!r} is not a number") from None


def _whole_number(form: Mapping[str, str], name: str) -> int | None:
    text = form.get(name, "").strip()
    if text and (not text.isdecimal() or len(text) > 9):
        raise DisorderError(f"{name}: {visible(text)!r} is not a whole number")
    return int(text) if text else None


def n_pages(total: int, size: int) -> int:
    """How many pages of a size are needed; at least one."""
    return max(1, -(-total // size))


@lru_cache(maxsize=64)
def shown_result(found: FoundRun, explained: str) -> str:
    """The report of a run as part of a page, drawn once; `explained` is where its explanations
    are.
    """
    result = found.run.result
    links = dict.fromkeys(result.links, explained) if explained else {}
    macros = template("exhibits.html").module
    with _drawing:
        html: str = macros.body(replace(result, links=links), in_folder=True, has_contents=True)
    return html


QUIET = 300  # seconds without a new part after which a run may have been stopped


def run_progress(library: RunLibrary, found: FoundRun) -> dict[str, Any]:
    """Examples done per transformation, and when the last part was written."""
    run = found.run
    journal = found.folder / "samples" / JOURNAL
    has_journal = library.is_inside(journal) and journal.is_file()
    n_done = _examples_done(found) if has_journal else Counter()
    steps = []
    for name in (ORIGINAL, *run.transformations):
        is_complete = run.status == "done" or run.stopped_after(name) is not None
        done = run.n_examples if is_complete else min(n_done[name], run.n_examples)
        steps.append({"name": name, "done": done, "expected": run.n_examples})
    changed = found.stamp[0] / 1e9
    if has_journal:
        changed = max(changed, journal.stat().st_mtime)
    seconds_quiet = max(0.0, time.time() - changed)
    return {
        "status": run.status,
        "steps": steps,
        "done": sum(step["done"] for step in steps),
        "expected": sum(step["expected"] for step in steps),
        "seconds_quiet": round(seconds_quiet),
        "is_quiet": run.status == "started" and seconds_quiet > QUIET,
    }


def _examples_done(found: FoundRun) -> Counter[str]:
    """How many examples the journal has, by transformation; older versions did not say."""
    try:
        known = SampleParts.open(found.folder, to_write=False).known
    except BadData:
        return Counter()
    counts: Counter[str] = Counter()
    for entry in known.values():
        counts[entry.get("transformation", "")] += entry.get("examples", 0)
    return counts
