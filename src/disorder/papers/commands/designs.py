"""`disorder designs`: what does a model lose when its training texts, its test texts, or both are
perturbed?
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli.folders import new_folder, resumable
from disorder.cli.output import print_json, show
from disorder.papers.requests import DesignsOptions, DesignsOutput
from disorder.registry import verb
from disorder.requests.option import declared_in

if TYPE_CHECKING:
    from disorder.results.result import Result

ComparisonData = Annotated[str, typer.Argument(help="Training data: mnli:train, FILE.jsonl")]
ComparisonTest = Annotated[
    str, typer.Argument(help="Test data, never trained on: mnli:matched, FILE.jsonl")
]


@verb(group="Change", python="disorder.papers.training:designs")
def designs(
    data: ComparisonData,
    test: ComparisonTest,
    *,
    options: DesignsOptions,
    output: DesignsOutput,
) -> None:
    """Perturb the training data, the test data, or both (NLI Data Sanity Check).

    Trains one model on original texts and one per --with; Δ is against the first on original texts,
    with a paired interval. The same command with the same --out resumes what was stopped.
    """
    from disorder.cli.progress import EpochBar
    from disorder.papers.training import FinishedDesigns
    from disorder.papers.training import designs as compare_designs

    folder = comparison_folder(DesignsOptions, options, data, output["out"])
    with resumable(folder, "seed-0"), EpochBar() as bar:
        compare_designs(data, test, output["with_"], out=folder, progress=bar, **options)
    show_models(FinishedDesigns.open(folder).result, folder, as_json=output["as_json"])


def show_models(result: Result, folder: Path, *, as_json: bool) -> None:
    """What trainings side by side found, and where they are."""
    if as_json:
        print_json(result.as_data())
    else:
        show(result, [f"Models and report.html: {folder}"])


def comparison_folder(
    request: type, options: Mapping[str, object], data: str, out: str | Path | None
) -> Path:
    """The folder of a comparison: the one that was named, or a new one."""
    model = options.get("model", declared_in(request)["model"].default)
    return Path(out or new_folder(str(model), data, "models"))
