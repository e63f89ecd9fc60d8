"""Is what a model loses explained by how many words were taken, or by how many the two texts still
share? NDSC's figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from disorder.errors import DoesNotApply
from disorder.metrics import ORIGINAL, mean
from disorder.report.charts import BLUE, svg
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Dataset, Score
from disorder.verbs.study.pipelines.audits import Audits
from disorder.verbs.study.pipelines.counts import removed, tallied
from disorder.verbs.study.pipelines.training import Designs
from disorder.verbs.study.published_numbers import SCALES
from disorder.verbs.study.result import Cell, Picture, Portion
from disorder.verbs.study.table_lines import title
from disorder.verbs.study.workbench import Bench


@dataclass(frozen=True)
class AgainstRemoved:
    """Set what each design loses beside the words that its transformation removes from the training
    data.
    """

    designs: Designs
    units: Mapping[str, str] = field(
        default_factory=lambda: {"accuracy": "percent", "hypotheses": "count"}
    )

    kind = "designs"
    needs_model = True
    trains = True
    q = None

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"{self.designs.does}; set the change of accuracy against the words removed from the training data"

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """The designs, then the counts, then the picture."""
        portions = list(self.designs(bench))
        made_of = bench.made_of(train=bench.train)
        counted = bench.once(
            partial(self._counted, bench), bench.train, "words removed", made_of=made_of
        )
        for portion in portions:
            shared = {
                key: value
                for key, value in portion.cells[0].row.items()
                if key in ("model", "data")
            }
            counts = [
                cell.model_copy(update={"row": {**shared, **cell.row}}) for cell in counted.cells
            ]
            deltas = [
                cell.model_copy(update={"row": _without_design(cell.row)}) for cell in portion.cells
            ]
            portion.cells = [*counts, *deltas]
            portion.pictures.append(
                scatter(portion.cells, "premises", "delta", self.designs.units["delta"])
            )
            yield portion

    def _counted(self, bench: Bench) -> Portion:
        dataset, cells = bench.read(bench.train, limit=bench.asked.limit), []
        for spec in self.designs.on:
            canonical = parse(spec, fidelity=bench.fidelity).spec
            counts = removed(dataset, tallied(bench, dataset, canonical, q=1), canonical)
            cells += [
                Cell(row={"transformation": spec}, column=name, value=n)
                for name, n in counts.items()
                if name != "total"
            ]
        return Portion(cells=cells)


@dataclass(frozen=True)
class AgainstOverlap:
    """Set accuracy on perturbed texts beside the share of the second text's words that the first has
    too.
    """

    audits: Audits
    units: Mapping[str, str] = field(default_factory=dict)

    kind = "audits"
    needs_model = True
    trains = False
    q = None

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"{self.audits.does}; set accuracy against the words that both texts share"

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """The audits, each with the words that its texts share."""
        for (_, data), portion in zip(bench.pairs(), self.audits(bench), strict=True):
            made_of = bench.made_of(data=data)
            shared = bench.once(
                partial(self._shared, bench, data), data, "words shared", made_of=made_of
            )
            model = {"model": portion.cells[0].row["model"]}
            more = [cell.model_copy(update={"row": {**model, **cell.row}}) for cell in shared.cells]
            portion.cells += more
            portion.pictures.append(scatter(portion.cells, "overlap", "accuracy", "share"))
            yield portion

    def _shared(self, bench: Bench, data: Any) -> Portion:
        dataset, cells = bench.read(data, limit=bench.asked.limit), []
        for spec in self.audits.transformations:
            row = {"data": bench.name_of(data), "transformation": spec}
            cells.append(
                Cell.of(
                    row,
                    "overlap",
                    overlap(dataset, parse(spec, fidelity=bench.fidelity).spec, bench.asked.seed),
                )
            )
        return Portion(cells=cells)


def overlap(dataset: Dataset, spec: str, seed: int) -> Score:
    """The share of the second text's words that stand in the first too, whatever their case; the
    mean over examples.
    """
    texts: Sequence[Any] = [example.texts for example in dataset.examples]
    if spec != ORIGINAL:
        made = parse(spec).apply_all(
            dataset.examples, task=dataset.task, q=1, seed=seed, short="use", context=None
        )
        texts = [variant_texts(each)[0] for each in made if not isinstance(each, DoesNotApply)]
    return mean(
        np.array([_share(first, second or "") for first, second in texts if (second or "").split()])
    )


def _share(first: str, second: str) -> float:
    known = {word.casefold() for word in first.split()}
    words = [word.casefold() for word in second.split()]
    return sum(word in known for word in words) / len(words)


def scatter(cells: Sequence[Cell], across: str, up: str, unit: str) -> Picture:
    """One point a transformation: one column against another."""
    values = {(cell.row["transformation"], cell.column): cell for cell in cells}
    rows = []
    for name in dict.fromkeys(cell.row["transformation"] for cell in cells):
        if (x := values.get((name, across))) and (y := values.get((name, up))):
            low, high = (y.value if bound is None else bound for bound in (y.low, y.high))
            scaled = {
                key: value / SCALES[unit]
                for key, value in (("value", y.value), ("low", low), ("high", high))
            }
            rows.append({"name": name.rpartition("=")[2], "x": x.value, **scaled})
    x_axis = {
        "field": "x",
        "type": "quantitative",
        "title": title(across),
        "scale": {"zero": False},
    }
    y_axis = {
        "field": "value",
        "type": "quantitative",
        "title": title(up),
        "scale": {"zero": False},
    }
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rule", "color": BLUE},
            "encoding": {"x": x_axis, "y": y_axis | {"field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "color": BLUE, "opacity": 1},
            "encoding": {"x": x_axis, "y": y_axis},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 11},
            "encoding": {"x": x_axis, "y": y_axis, "text": {"field": "name"}},
        },
    ]
    caption = f"{title(up)} against {title(across)}, a point a transformation, with 95 % intervals."
    return Picture(
        name=f"{up}-against-{across}",
        caption=caption,
        svg=svg({"data": {"values": rows}, "layer": layers}),
    )


def _without_design(row: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in row.items() if key != "design"}
