"""The figures of the fault laboratory, as the table of docs/results/reliability.md, from files that
its tests wrote (DISORDER_FAULTS_LOG).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

NUMBERS = ("injected", "survived", "lost")
Records = list[dict[str, Any]]


def records_of(paths: list[Path]) -> Records:
    """All faults that were counted, by kind."""
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(map(json.loads, lines), key=lambda record: str(record["kind"]))


def group_of(record: dict[str, Any]) -> str:
    """What a kind of fault is counted under: kills, write faults, hostile inputs, …"""
    kind = str(record["kind"])
    return "hostile inputs" if kind.startswith("hostile") else kind.partition(":")[0]


def row(name: str, counts: dict[str, int], what: str = "") -> str:
    numbers = " | ".join(f"{counts[name]:,}" for name in NUMBERS)
    return f"| {name} | {numbers} | {what} |"


def main(paths: list[Path]) -> None:
    """Print one row per kind of fault, the sum of each group, and what commit they are from."""
    records = records_of(paths)
    sums: dict[str, Counter[str]] = {}
    print("| fault | injected | survived | lost | |")
    print("| --- | ---: | ---: | ---: | --- |")
    for record in records:
        print(row(str(record["kind"]), record, str(record["what"])))
        sums.setdefault(group_of(record), Counter()).update(
            {name: int(record[name]) for name in NUMBERS}
        )
    for group, counts in sums.items():
        print(row(f"**{group}**", {name: counts[name] for name in NUMBERS}))
    commits = ", ".join(sorted({str(record["commit"]) for record in records}))
    print(f"\nCommit: {commits}.")


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]])
