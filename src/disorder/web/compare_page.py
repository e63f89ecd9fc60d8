"""What the pages that compare runs show: scores side by side, paired differences, and the examples
on which the runs differ most.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from disorder.errors import DisorderError
from disorder.results.result import Cell, Column, Grid
from disorder.results.run import Run
from disorder.results.run_tables import main_transformation
from disorder.results.writing import shown, title_of
from disorder.types import ORIGINAL
from disorder.web.run_library import FoundRun, RunLibrary
from disorder.web.run_page import n_pages
from disorder.web.sample_queries import PER_PAGE, SampleQueries

if TYPE_CHECKING:
    from disorder.results.comparison import Comparison

_comparing = Lock()


def compare_page(
    queries: SampleQueries, chosen: list[FoundRun], *, transformation: str, page: int
) -> dict[str, Any]:
    """The values of the page that compares runs."""
    runs = [found.run for found in chosen]
    choices = shared_transformations(runs)
    if not choices:
        raise DisorderError("these runs have no transformation in common")
    main = main_transformation(runs[0])
    spec = next(name for name in (transformation, main, choices[0]) if name in choices)
    page = max(1, page)
    total, rows = queries.most_different(chosen, spec, page)
    return {
        "chosen": chosen,
        "runs": runs,
        "choices": choices,
        "transformation": spec,
        "total": total,
        "rows": rows,
        "page": page,
        "pages": n_pages(total, PER_PAGE),
        "scores": side_by_side(chosen, spec),
        "caveats": caveats(runs, spec),
    }


def shared_transformations(runs: Sequence[Run]) -> list[str]:
    """The transformations of all runs, in the order of the first."""
    return [
        name for name in runs[0].transformations if all(name in run.transformations for run in runs)
    ]


def caveats(runs: Sequence[Run], transformation: str) -> list[str]:
    """What keeps the comparison from being fair, one line each."""
    lines = []
    if len({run.hashes.get("data") for run in runs}) > 1:
        lines.append(
            "The data differ; only examples with the same id, texts and label are compared."
        )
    if len({run.seed for run in runs}) > 1:
        lines.append("The seeds differ, so the perturbed texts of an example differ too.")
    if len({run.variants.get(transformation) for run in runs}) > 1:
        lines.append("The numbers of variants differ.")
    if any(run.settings.get("curtail") for run in runs):
        lines.append("A run was curtailed: shares are of the versions with a prediction.")
    if any(run.status != "done" for run in runs):
        lines.append("A run is not finished.")
    return lines


def side_by_side(chosen: Sequence[FoundRun], transformation: str) -> Grid:
    """One row per score, one column per run."""
    runs = [found.run for found in chosen]
    rows = [("accuracy, original texts", [run.score(ORIGINAL, "accuracy") for run in runs])]
    measured = [record.metric for run in runs for record in run.scores]
    for metric in shown(measured, "table", "permutations"):
        title = "accuracy, perturbed texts" if metric == "accuracy" else title_of(metric)
        rows.append((title, [run.score(transformation, metric) for run in runs]))
    cells = [
        [Cell(title), *(Cell.of(record, "–") for record in records)]
        for title, records in rows
        if any(records)
    ]
    columns = [Column("score", "name"), *(Column(found.name) for found in chosen)]
    return Grid(columns, cells, "Scores side by side")


def paired_differences(
    library: RunLibrary, chosen: Sequence[FoundRun], transformation: str
) -> dict[str, Any]:
    """The values of the paired differences, or why runs cannot be compared."""
    from disorder.results.comparison import result_of

    values: dict[str, Any] = {"transformation": transformation, "problem": "", "result": None}
    try:
        if any(library.has_links(found) for found in chosen):
            raise DisorderError(
                "a run folder has symbolic links, which are not followed here; use disorder compare"
            )
        comparison = compare_runs(tuple(chosen))
    except DisorderError as error:
        return values | {"problem": str(error).replace(f"{library.root}/", "")}
    return values | {"result": result_of(comparison, under=transformation)}


@lru_cache(maxsize=32)
def compare_runs(chosen: tuple[FoundRun, ...]) -> Comparison:
    """Paired differences of runs, computed once: large runs take long. All that they share,
    whatever is shown, so that p-values are those of `disorder compare`.
    """
    from disorder.verbs.compare import compare

    runs = [found.run for found in chosen]
    shared = shared_transformations(runs)
    is_all = all(run.transformations == shared for run in runs)
    with _comparing:
        return compare(*(found.folder for found in chosen), with_=[] if is_all else shared)
