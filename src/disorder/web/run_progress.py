"""How far a run is: the examples that its journal has under each transformation, of all."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from disorder.errors import BadData
from disorder.store.sample_parts import SampleParts
from disorder.store.store import JOURNAL
from disorder.types import ORIGINAL
from disorder.web.run_library import FoundRun, RunLibrary

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
