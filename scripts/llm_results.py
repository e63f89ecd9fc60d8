"""The runs and the table of docs/results/llm.md: one language model on four datasets.

python scripts/llm_results.py MODEL_FOLDER OUT [N_EXAMPLES Q]     (DISORDER_DATA names the data)

Runs that are in OUT already are kept; the table shows those that are there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import disorder
from disorder.results.run import Run

SHOTS = 4
NONE = "–"


def datasets() -> dict[str, dict[str, Any]]:
    """Each dataset with where its shots come from."""
    paws = str(Path(os.environ["DISORDER_DATA"]) / "paws_wiki" / "dev.jsonl.gz")
    return {
        "mnli": {"data": "mnli:matched"},
        "sst2": {"data": "sst2"},
        "cola": {"data": "cola"},
        "paws": {"data": paws, "shots_from": paws},
    }


def audits(model: str, n: int, q: int) -> dict[str, dict[str, Any]]:
    """The arguments of every audit, by the name of its folder."""
    found: dict[str, dict[str, Any]] = {}
    for name, given in datasets().items():
        common = {"model": model, "data": given["data"], "limit": n, "q": q, "short": "use"}
        asked = {"shots": SHOTS, "shots_from": given.get("shots_from")}
        found[name] = common | asked | {"with_": "derange"}
        found[f"{name}-rank"] = common | {"with_": "derange", "score": "order_rank"}
        found[f"{name}-instruction"] = found[name] | {"on": "instruction"}
        found[f"{name}-shots"] = common | asked | {"on": "shots"}
    # the texts themselves first, so that a table of part of the runs has them
    return dict(sorted(found.items(), key=lambda item: item[0].count("-")))


def cell(run: Run | None, transformation: str, metric: str) -> str:
    """A score with its interval."""
    record = run.score(transformation, metric) if run is not None else None
    if record is None:
        return NONE
    return f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"


def label_mass(run: Run | None) -> str:
    """The share of the probability that label words get; unknown where all came from the cache."""
    mass = run.prompt.get("label_mass") if run is not None else None
    return NONE if mass is None else f"{mass:.2f}"


def table(out: Path) -> None:
    """Print one row per dataset."""
    runs = {path.parent.name: disorder.read_run(path.parent) for path in out.glob("*/run.json")}
    done = {name: run for name, run in runs.items() if run.status == "done"}
    print(
        "| data | n | label mass | accuracy | accuracy, deranged | skill kept | conclusion | "
        "order rank | unchanged: instruction deranged | shots reordered | answers dealt again |"
    )
    print("|---" * 11 + "|")
    for name in datasets():
        run = done.get(name)
        shots = done.get(f"{name}-shots")
        row = [
            name,
            str(run.n_examples) if run else NONE,
            label_mass(run),
            cell(run, "original", "accuracy"),
            cell(run, "derange", "accuracy"),
            cell(run, "derange", "skill_kept"),
            run.conclusion.kind if run and run.conclusion else NONE,
            cell(done.get(f"{name}-rank"), "derange", "order_rank"),
            cell(done.get(f"{name}-instruction"), "derange:side=a", "agreement"),
            cell(shots, "shuffle_shots", "agreement"),
            cell(shots, "shuffle_answers", "agreement"),
        ]
        print(f"| {' | '.join(row)} |")


def main() -> None:
    folder, out = sys.argv[1], Path(sys.argv[2])
    n, q = (int(each) for each in sys.argv[3:5]) if len(sys.argv) > 4 else (200, 10)
    for name, arguments in audits(f"causal:{folder}", n, q).items():
        if not (out / name / "run.json").exists():
            disorder.audit(out=out / name, **arguments)
    table(out)


if __name__ == "__main__":
    main()
