"""The figures of the fault laboratory, as the table of docs/reliability.md, from faults.jsonl."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(path: Path) -> None:
    """Print one row per kind of fault, and the sums."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    print("| fault | injected | survived | lost | |")
    print("| --- | ---: | ---: | ---: | --- |")
    totals = {"injected": 0, "survived": 0, "lost": 0}
    for record in sorted(records, key=lambda record: str(record["kind"])):
        numbers = [f"{record[name]:,}" for name in totals]
        print(f"| {record['kind']} | {' | '.join(numbers)} | {record['what']} |")
        for name in totals:
            totals[name] += record[name]
    print(f"| **all** | {' | '.join(f'{n:,}' for n in totals.values())} | |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
