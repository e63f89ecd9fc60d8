"""Print scores of run folders as a Markdown table, for the pages in docs/results.

python scripts/results_table.py --metric agreement --metric confidence RUN...
"""

from __future__ import annotations

import argparse
from pathlib import Path

from disorder.results.run_folder import read_run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--metric", action="append", required=True)
    parser.add_argument("--group", default="all")
    parser.add_argument("--original", action="store_true", help="also a row for original texts")
    given = parser.parse_args()
    print("| transformation | " + " | ".join(given.metric) + " | n |")
    print("| --- |" + " ---: |" * (len(given.metric) + 1))
    for folder in given.runs:
        run = read_run(folder)
        for spec in [*(["original"] if given.original else []), *run.transformations]:
            scores = [run.score(spec, metric, given.group) for metric in given.metric]
            cells = [f"{s.value:.3f} ({s.low:.3f}–{s.high:.3f})" if s else "" for s in scores]
            n = max((s.n for s in scores if s), default=0)
            print(f"| `{spec}` | " + " | ".join(cells) + f" | {n} |")


if __name__ == "__main__":
    main()
