"""NDSC's figures: does the number of removed or shared words explain what a model loses?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from disorder.errors import DoesNotApply
from disorder.metrics import mean
from disorder.metrics.answer_match import word_overlap
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.pipelines.audit_table import AuditTable
from disorder.papers.study.pipelines.count_table import removed_words, tally_of
from disorder.papers.study.pipelines.designs_table import DesignsTable
from disorder.papers.study.published_tables import SCALES
from disorder.papers.study.result import StepResult, StudyCell, StudyPicture
from disorder.papers.study.table_lines import title
from disorder.papers.study.workbench import GivenDesigns, Workbench, short_name
from disorder.results.charts import BLUE
from disorder.results.drawing import svg
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.transformations.words import split
from disorder.types import ORIGINAL, Dataset, Score


@dataclass(frozen=True)
class LossAgainstRemovedWords(Pipeline):
    """What each design loses, against the words removed from its training data."""

    designs: DesignsTable

    kind = "designs"
    trains = True
    takes_designs = True
    counts_training_data = True
    units = MappingProxyType({"accuracy": "percent", "hypotheses": "count"})

    says = (
        "{self.designs.does}; set the change of accuracy against the words removed from the "
        "training data"
    )

    @property
    def reach(self) -> Sequence[Reach]:
        """Words removed and what is lost, for each transformation."""
        columns = ("premises", "hypotheses", "accuracy", "delta")
        return [Reach(columns, {"transformation": self.designs.transformations})]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """The designs, then the counts, then the picture."""
        for (model, _), result in zip(bench.pairs(), self.designs(bench), strict=True):
            train, limit = bench.train, bench.settings.limit
            if isinstance(model, GivenDesigns):  # which know their own
                train, limit = model.designs.about.train, model.designs.about.limit
            counted = bench.once(
                partial(self._counts, bench, train, limit),
                train,
                "words removed",
                *([str(limit)] if isinstance(model, GivenDesigns) else []),
                made_of=bench.made_of(train=train),
            )
            first = result.cells[0].row
            shared = {"model": first["model"], "data": first["data"]}
            counts = [_with_row(cell, {**shared, **cell.row}) for cell in counted.cells]
            for cell in result.cells:
                cell.row.pop("design")
            result.cells = [*counts, *result.cells]
            unit = self.designs.units["delta"]
            result.pictures.append(scatter(result.cells, "premises", "delta", unit))
            yield result

    def _counts(self, bench: Workbench, train: Any, limit: int | None) -> StepResult:
        dataset = bench.read(train, limit=limit)
        result = StepResult()
        for spec in self.designs.transformations:
            canonical = parse(bench.spec_of(spec), fidelity=bench.fidelity).spec
            tally = tally_of(bench, dataset, canonical, q=1)
            counts = removed_words(dataset, tally, canonical)
            for name in ("premises", "hypotheses"):
                row = {"transformation": spec}
                result.cells.append(StudyCell(row=row, column=name, value=counts[name]))
        return result


@dataclass(frozen=True)
class AccuracyAgainstOverlap(Pipeline):
    """Accuracy on perturbed texts, against the words of the second text that the first has."""

    audits: AuditTable

    kind = "audits"
    takes_runs = True

    says = "{self.audits.does}; set accuracy against the words that both texts share"

    @property
    def reach(self) -> Sequence[Reach]:
        """The audits' columns and the words shared, for each transformation."""
        columns = (*self.audits.columns, "overlap")
        return [Reach(columns, {"transformation": tuple(self.audits.transformations)})]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """The audits, each with the words that its texts share."""
        for (_, data), result in zip(bench.pairs(), self.audits(bench), strict=True):
            shared = bench.once(
                partial(self._overlaps, bench, data),
                data,
                "words shared",
                made_of=bench.made_of(data=data),
            )
            model = {"model": result.cells[0].row["model"]}
            result.cells += [_with_row(cell, {**model, **cell.row}) for cell in shared.cells]
            result.pictures.append(scatter(result.cells, "overlap", "accuracy", "share"))
            yield result

    def _overlaps(self, bench: Workbench, data: Any) -> StepResult:
        dataset = bench.read(data, limit=bench.settings.limit)
        result = StepResult()
        for spec in self.audits.transformations:
            row = {"data": bench.name_of(data), "transformation": spec}
            named = bench.spec_of(spec)
            canonical = parse(named, fidelity=bench.fidelity).spec if spec != ORIGINAL else spec
            score = mean_overlap(dataset, canonical, bench.settings.seed)
            result.cells.append(StudyCell.of(row, "overlap", score))
        return result


@dataclass(frozen=True)
class AcceptanceAgainstAccuracy(Pipeline):
    """Every score of audits against the accuracy on original texts, one point per model and set."""

    audits: AuditTable

    kind = "audits"
    takes_runs = True
    has_forests = False

    says = "{self.audits.does}; set each score against accuracy"

    @property
    def reach(self) -> Sequence[Reach]:
        """The audits' columns."""
        return self.audits.reach

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """The audits; the pictures come with the last of them."""
        cells: list[StudyCell] = []
        left = len(list(bench.pairs()))
        for result in self.audits(bench):
            cells += result.cells
            left -= 1
            if not left:
                scores = [name for name in self.audits.columns if not name.startswith("accuracy")]
                result.pictures += [scatter(cells, "accuracy", name, "share") for name in scores]
            yield result


def _with_row(cell: StudyCell, row: Mapping[str, str]) -> StudyCell:
    return cell.model_copy(update={"row": dict(row)})


def mean_overlap(dataset: Dataset, spec: str, seed: int) -> Score:
    """The mean word overlap of pairs perturbed by a transformation, whatever the case of words."""
    texts: Sequence[Any] = [example.texts for example in dataset.examples]
    if spec != ORIGINAL:
        made = parse(spec).apply_all(
            dataset.examples, task=dataset.task, q=1, seed=seed, short="use", context=None
        )
        texts = [variant_texts(each)[0] for each in made if not isinstance(each, DoesNotApply)]
    shares = [
        word_overlap(overlap_words(first), overlap_words(second or ""), distinct=False)
        for first, second in texts
    ]
    return mean(np.array([share for share in shares if share is not None]))


def overlap_words(text: str) -> list[str]:
    """The words of a text in small letters; punctuation is none.

    >>> overlap_words("Yes, it is.")
    ['yes', 'it', 'is']
    """
    sentence = split(text)
    return [sentence.words[i].casefold() for i in sentence.movable.tolist()]


def scatter(cells: Sequence[StudyCell], across: str, up: str, unit: str) -> StudyPicture:
    """One point per transformation, or per model and set of data: one column against another."""
    axis = {"type": "quantitative", "scale": {"zero": False}}
    x_axis = {"field": "x", "title": title(across), **axis}
    y_axis = {"field": "value", "title": title(up), **axis}
    interval = {"x": x_axis, "y": y_axis | {"field": "low"}, "y2": {"field": "high"}}
    point = {"x": x_axis, "y": y_axis}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "rule", "color": BLUE}, "encoding": interval},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "color": BLUE, "opacity": 1},
            "encoding": point,
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 11},
            "encoding": {**point, "text": {"field": "name"}},
        },
    ]
    is_by_text = "transformation" in cells[0].row
    kind = "transformation" if is_by_text else "model and set of data"
    return StudyPicture(
        name=f"{up}-against-{across}",
        caption=f"{title(up)} against {title(across)}, one point per {kind}, with 95 % intervals.",
        svg=svg({"data": {"values": _points(cells, across, up, unit)}, "layer": layers}),
    )


def _points(cells: Sequence[StudyCell], across: str, up: str, unit: str) -> list[dict[str, Any]]:
    by_place = {(_point_name(cell), cell.column): cell for cell in cells}
    scale = SCALES[unit]
    points = []
    for name in dict.fromkeys(map(_point_name, cells)):
        x = by_place.get((name, across))
        y = by_place.get((name, up))
        if x is None or y is None:
            continue
        low, high = y.bounds
        points.append(
            {
                "name": name.rpartition("=")[2],
                "x": x.value,
                "value": y.value / scale,
                "low": low / scale,
                "high": high / scale,
            }
        )
    return points


def _point_name(cell: StudyCell) -> str:
    row = cell.row
    return row.get("transformation") or " · ".join(map(short_name, (row["model"], row["data"])))
