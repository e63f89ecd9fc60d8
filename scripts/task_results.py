"""The runs and the tables of docs/results/tasks.md: a language model on choices, pairs and open
answers.

python scripts/task_results.py OUT FOLDER [NAME[:LIMIT:Q]…]     (DISORDER_DATA names the data)

FOLDER is a causal model of transformers. Runs that are in OUT already are kept; the tables show
those that are there. Names limit what is run, `mmlu:30:2` to 30 rows with 2 permutations of each.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import disorder
from disorder.results.run import Run

NONE = "–"
MOVED = "shuffle_options"
SETS = {
    "arc": "arc/easy_test",
    "mmlu": "mmlu/test_half",
    "csqa": "csqa/dev",
    "xcopa-it": "xcopa/it_test",
    "xcopa-zh": "xcopa/zh_test",
}
PAIRS = {"blimp": "blimp/half", "sugarcrepe": "sugarcrepe/captions"}


def file_of(name: str) -> str:
    """The file of a set."""
    return str(Path(os.environ["DISORDER_DATA"]) / f"{name}.jsonl.gz")


def audits(folder: str) -> dict[str, dict[str, Any]]:
    """The arguments of every audit, by the name of its folder."""
    model = {"model": f"causal:{folder}", "with_": "derange", "seed": 0}
    found: dict[str, dict[str, Any]] = {}
    for name, file in SETS.items():
        found[name] = model | {"data": file_of(file), "limit": 200}
        found[f"{name}-likelihood"] = found[name] | {"choose_by": "likelihood"}
        found[f"{name}-options"] = found[name] | {
            "with_": None,
            "on": "options",
            "limit": 100,
            "q": 5,
        }
    found["blimp"] = model | {"data": file_of(PAIRS["blimp"]), "limit": 600, "q": 5}
    found["blimp"] |= {"group_by": "phenomenon"}
    found["sugarcrepe"] = model | {"data": file_of(PAIRS["sugarcrepe"]), "limit": 300, "q": 5}
    found["sugarcrepe"] |= {"group_by": "kind"}
    squad = {"data": file_of("squad2/dev"), "task": "text", "limit": 60, "q": 5}
    found["squad2"] = model | squad
    return found


def cell(run: Run | None, transformation: str, metric: str, group: str = "all") -> str:
    """A score with its interval."""
    record = run.score(transformation, metric, group) if run is not None else None
    if record is None:
        return NONE
    return f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"


def row_of(name: str, run: Run, group: str = "all") -> str:
    """One row of the table of skill kept."""
    conclusion = run.conclusions.get(group) if group != "all" else run.conclusion
    original = run.score("original", "accuracy", group)
    cells = [
        name,
        str(original.n) if original else NONE,
        f"{run.chance:.2f}" if run.chance is not None else NONE,
        cell(run, "original", "accuracy", group),
        cell(run, "derange", "accuracy", group),
        cell(run, "derange", "skill_kept", group),
        conclusion.kind if conclusion else NONE,
    ]
    return f"| {' | '.join(cells)} |"


def tables(out: Path) -> None:
    """Print the tables of what is there."""
    runs = {path.parent.name: disorder.read_run(path.parent) for path in out.glob("*/run.json")}
    done = {name: runs[name] for name in sorted(runs) if runs[name].status == "done"}
    print("| run | n | chance | accuracy | accuracy, deranged | skill kept | conclusion |")
    print("|---" * 7 + "|")
    for name, run in done.items():
        if "options" in name:
            continue
        print(row_of(name, run))
        for group in sorted({each.group for each in run.scores} - {"all"}):
            print(row_of(f"{name}, {group}", run, group))
    print("\n| run | n | follows the place | highest − lowest | without an effect | p |")
    print("|---" * 6 + "|")
    for name, run in done.items():
        places = run.figures.get(MOVED, {}).get("places")
        if places is not None:
            figures = [f"{places[key]:.3f}" for key in ("gap", "gap_without_effect", "p")]
            cells = [name, str(run.n_examples), cell(run, MOVED, "follows_place"), *figures]
            print(f"| {' | '.join(cells)} |")


def main() -> None:
    out, folder, *names = sys.argv[1:]
    known = audits(folder)
    for given in names or known:
        name, *sizes = given.split(":")
        smaller = dict(zip(("limit", "q"), map(int, sizes), strict=bool(sizes)))
        if not (Path(out) / name / "run.json").exists():
            disorder.audit(out=Path(out) / name, **known[name] | smaller)
    tables(Path(out))


if __name__ == "__main__":
    main()
