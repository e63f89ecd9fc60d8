"""A run for a Hugging Face model card: metadata (`model-index`), a section, and `.eval_results`.

`.eval_results/*.yaml` names datasets by their id on the hub, so it is made only for those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from disorder.registry import DataPart, parts
from disorder.results.conclusion import PAGE
from disorder.results.grid import as_markdown
from disorder.results.markup import markdown_code, markdown_text, yaml_value
from disorder.results.run import Record, Run
from disorder.results.run_tables import by_transformation, score_grid
from disorder.results.wording import about, command
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


def model_card(run: Run) -> str:
    """Front matter in YAML, then the section, to paste into the README of a model."""
    return "\n".join([*_front_matter(run), "", *_section(run)]) + "\n"


def _front_matter(run: Run) -> Iterator[str]:
    yield "---"
    yield "model-index:"
    yield f"- name: {yaml_value(run.model)}"
    yield "  results:"
    yield f"  - task: {yaml_value({'type': TASK, 'name': run.task or TASK})}"
    yield f"    dataset: {yaml_value(_dataset(run))}"
    yield "    metrics:"
    for record in _records(run):
        yield f"    - {yaml_value(_metric(record))}"
    yield "---"


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


def _section(run: Run) -> Iterator[str]:
    yield "## Word order"
    yield ""
    first, *rest = run.verdict.split("\n")
    yield f"**{markdown_text(first)}**"
    yield ""
    for line in rest:
        yield f"- {markdown_text(line)}"
    for line in run.caveats:
        yield f"- Caveat: {markdown_text(line)}"
    if rest or run.conclusion is not None:
        yield ""
    yield f"{markdown_text(about(run))}. In brackets 95 % intervals over examples."
    yield ""
    columns = shown([record.metric for record in run.scores if record.group == "all"], "table")
    yield from as_markdown(score_grid(run, metrics=columns))
    yield ""
    for metric in columns:
        yield f"- {markdown_text(title_of(metric))}: {markdown_text(meaning_of(metric))}"
    yield ""
    if run.conclusion is not None:
        yield f"How conclusions are drawn: {markdown_code(PAGE)} of disorder."
        yield ""
    version = run.versions.get("disorder", "")
    yield f"Measured by disorder {version}; run it again: {markdown_code(command(run))}"


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
