"""How far is a run? The journal's lines against the parts that the run's settings ask for."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from disorder.metrics import ORIGINAL
from disorder.runs import Run
from disorder.runs.samples import JOURNAL
from disorder.web.library import Found, Library

QUIET = 300  # seconds without news after which a run may have been stopped


def progress(library: Library, found: Found) -> dict[str, Any]:
    """SampleParts done of those expected, by transformation, and when the last one came."""
    run = found.run
    assert run is not None
    expected, journal = expected_parts(run), found.folder / "samples" / JOURNAL
    is_there = library.is_inside(journal) and journal.is_file()
    done = Counter(_number(name) for name in (_finished(journal) if is_there else []))
    steps = [
        {
            "name": name,
            "done": n if run.status == "done" or name in run.stopped else min(done[i], n),
            "expected": n,
        }
        for i, (name, n) in enumerate(expected.items())
    ]
    last = journal.stat().st_mtime if is_there else found.stamp[0] / 1e9
    quiet = max(0.0, time.time() - max(last, found.stamp[0] / 1e9))
    return {
        "status": run.status,
        "steps": steps,
        "done": sum(step["done"] for step in steps),
        "expected": sum(expected.values()),
        "seconds_quiet": round(quiet),
        "is_quiet": run.status == "started" and quiet > QUIET,
    }


def expected_parts(run: Run) -> dict[str, int]:
    """How many parts each transformation is written in, as `audit` cuts them."""
    from disorder.verbs.audit import BLOCK, CURTAILED_BLOCK

    counts = {ORIGINAL: 1} | {name: run.variants.get(name, 1) for name in run.transformations}
    is_curtailed = bool(run.settings.get("curtail"))
    sizes = {
        name: CURTAILED_BLOCK if is_curtailed and n > 1 else max(1, BLOCK // n)
        for name, n in counts.items()
    }
    return {name: -(-run.n_examples // size) for name, size in sizes.items()}


def _finished(journal: Path) -> set[str]:
    """The parts that the journal names; the line being written is not one yet."""
    names = set()
    for line in journal.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("part"), str):
            names.add(entry["part"])
    return names


def _number(part: str) -> int:
    head = part.split("-", 1)[0]
    return int(head) if head.isdecimal() else -1
