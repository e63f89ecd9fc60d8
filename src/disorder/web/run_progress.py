"""How far a run is: the parts in its journal, of those that its settings need."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

from disorder.errors import BadData
from disorder.metrics import ORIGINAL
from disorder.runs import Run
from disorder.runs.sample_parts import JOURNAL
from disorder.untrusted_files import MAX_JSON, parse_json, read_file
from disorder.web.run_library import FoundRun, RunLibrary

QUIET = 300  # seconds without a new part after which a run may have been stopped


def run_progress(library: RunLibrary, found: FoundRun) -> dict[str, Any]:
    """Parts done of those expected, per transformation, and when the last one was written."""
    run = found.run
    journal = found.folder / "samples" / JOURNAL
    has_journal = library.is_inside(journal) and journal.is_file()
    n_done = Counter(_number(name) for name in _finished(journal)) if has_journal else Counter()
    steps = []
    for number, (name, n_expected) in enumerate(expected_parts(run).items()):
        is_complete = run.status == "done" or run.stopped_after(name) is not None
        done = n_expected if is_complete else min(n_done[number], n_expected)
        steps.append({"name": name, "done": done, "expected": n_expected})
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


def expected_parts(run: Run) -> dict[str, int]:
    """How many parts each transformation is written in, as `audit` splits them."""
    from disorder.verbs.audit import BLOCK, CURTAILED_BLOCK

    n_variants = {ORIGINAL: 1} | {name: run.variants.get(name, 1) for name in run.transformations}
    is_curtailed = bool(run.settings.get("curtail"))
    expected = {}
    for name, n in n_variants.items():
        size = CURTAILED_BLOCK if is_curtailed and n > 1 else max(1, BLOCK // n)
        expected[name] = -(-run.n_examples // size)
    return expected


def _finished(journal: Path) -> set[str]:
    """The parts that the journal names; the line that is being written is not one yet."""
    names = set()
    for line in read_file(journal, max_bytes=MAX_JSON).split(b"\n"):
        try:
            entry = parse_json(line, JOURNAL)
        except BadData:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("part"), str):
            names.add(entry["part"])
    return names


def _number(part: str) -> int:
    head = part.split("-", 1)[0]
    return int(head) if head.isdecimal() else -1
