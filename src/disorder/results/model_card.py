"""A run for a Hugging Face model card: metadata (`model-index`), a section, and `.eval_results`.

`.eval_results/*.yaml` names datasets by their id on the hub, so it is made only for those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from disorder.registry import DataPart, parts
from disorder.results.conclusion import PAGE
from disorder.results.markup import yaml_value
from disorder.results.result import Result
from disorder.results.run import Record, Run
from disorder.results.run_tables import about, by_transformation, score_grid
from disorder.results.writing import meaning_of, shown, title_of
from disorder.specs import split_spec
from disorder.types import ORIGINAL

TASK = "text-classification"


@dataclass(frozen=True)
class HubDataset:
    """A dataset on the hub."""

    id: str
    config: str
    split: str


def card_result(run: Run) -> Result:
    """A run as its card has it, to paste into the README of a model: the verdict with its caveats,
    the scores and what they mean, after the metadata of the hub.
    """
    columns = shown([record.metric for record in run.scores if record.group == "all"], "table")
    task = {"type": TASK, "name": run.task or TASK}
    metrics = [_metric(record) for record in _records(run)]
    found = {"task": task, "dataset": _dataset(run), "metrics": metrics}
    first, *rest = run.verdict.split("\n")
    how = [f"How conclusions are drawn: {PAGE} of disorder."] if run.conclusion is not None else []
    return replace(
        run.result,
        title="Word order",
        headline=first,
        lead=rest,
        about=f"{about(run)}. In brackets 95 % intervals over examples",
        grids=[score_grid(run, metrics=columns)],
        next_steps=(),
        notes=[
            *(f"{title_of(metric)}: {meaning_of(metric)}" for metric in columns),
            *how,
            f"Measured by disorder {run.versions.get('disorder', '')}",
        ],
        card={"model-index": [{"name": run.title, "results": [found]}]},
    )


def _dataset(run: Run) -> dict[str, str]:
    found = hub_dataset(run.data)
    if found is None:
        return {"type": run.data, "name": run.data}
    named = {"type": found.id, "name": run.data, "config": found.config, "split": found.split}
    return {key: value for key, value in named.items() if value}


def _records(run: Run) -> list[Record]:
    """What the tables show of all examples."""
    rows = list(by_transformation(run, "all"))
    columns = shown([m for _, records in rows for m in records], "table", "permutations")
    return [records[m] for _, records in rows for m in columns if m in records]


def _metric(record: Record) -> dict[str, object]:
    where = "original texts" if record.transformation == ORIGINAL else record.transformation
    return {
        "type": record.metric,
        "name": f"{title_of(record.metric)} ({where})",
        "value": record.value,
        "args": {
            "transformation": record.transformation,
            "low": record.low,
            "high": record.high,
            "n": record.n,
        },
    }


def eval_results(run: Run) -> str | None:
    """The content of `.eval_results/disorder.yaml`; None where the data is not from the hub."""
    found = hub_dataset(run.data)
    if found is None:
        return None
    return "".join(f"- {yaml_value(_result(run, found, record))}\n" for record in _records(run))


def _result(run: Run, dataset: HubDataset, record: Record) -> dict[str, object]:
    pieces = (dataset.config, dataset.split, record.transformation, record.metric)
    return {
        "dataset": {"id": dataset.id, "task_id": "/".join(filter(None, pieces))},
        "value": record.value,
        "date": run.started,
        "notes": (
            f"disorder {run.versions.get('disorder', '')}, 95 % interval {record.low} to "
            f"{record.high}, n = {record.n}, seed {run.seed}"
        ),
    }


def hub_dataset(data: str) -> HubDataset | None:
    """The dataset on the hub behind a data spec."""
    name, address = split_spec(data)
    if name == "hf":
        path, _, split = address.rpartition(":")
        return _on_hub(path, split)
    entry = parts(DataPart).get(name)
    if entry is None or not entry.hub:
        return None
    split = address or entry.default_split
    known = entry.splits.get(split)
    return _on_hub(entry.hub, known.hub if known else split)


def _on_hub(path: str, split: str) -> HubDataset | None:
    """OWNER/NAME or OWNER/NAME/CONFIG; a folder of this machine is none."""
    pieces = path.split("/")
    if path.startswith((".", "/", "~")) or not 2 <= len(pieces) <= 3:
        return None
    return HubDataset("/".join(pieces[:2]), "/".join(pieces[2:]), split)
