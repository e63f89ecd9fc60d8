"""`disorder designs`: what does a model lose when its training texts, its test texts, or both are
perturbed?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli.folders import new_folder, resumable, write
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json
from disorder.cli.tables import markdown, print_line, seeds_text, signed, with_interval
from disorder.papers.requests import DesignsOptions, DesignsOutput
from disorder.registry import verb
from disorder.requests.option import declared_in

if TYPE_CHECKING:
    from disorder.papers.training import Design
    from disorder.results.result import Grid

ComparisonData = Annotated[str, typer.Argument(help="Training data: mnli:train, FILE.jsonl")]
ComparisonTest = Annotated[
    str, typer.Argument(help="Test data, never trained on: mnli:matched, FILE.jsonl")
]
MEANING = (
    "95 % intervals over test examples; they do not include the variation between seeds. "
    "Δ: accuracy minus that of the plain model of the same seed on the same test examples, "
    "unperturbed. Models of a seed learn from the same examples in as many updates; a training "
    "example that a transformation does not apply to stays as it is."
)


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
    with a paired interval. The same command with the same --out resumes what was stopped. Leaves
    designs.json and designs.md.
    """
    from disorder.cli.progress import EpochBar
    from disorder.papers.training import designs as compare_designs
    from disorder.results.terminal import print_table

    folder = comparison_folder(DesignsOptions, options, data, output["out"])
    with resumable(folder, "seed-0"), EpochBar() as bar:
        found = compare_designs(data, test, output["with_"], out=folder, progress=bar, **options)
    note = f"{seeds_text(len(found[0].accuracy_by_seed))}. {MEANING}"
    write("--out", folder / "designs.md", markdown([delta_grid(found), design_grid(found)], note))
    if output["as_json"]:
        print_json([asdict(each) for each in found])
        return
    console = new_console()
    print_line(console, f"plain on original texts: accuracy {_accuracy(found[0])}")
    print_table(console, delta_grid(found))
    console.print()
    console.print(note, style="dim", highlight=False, markup=False)
    print_line(console, f"Models, designs.json and designs.md: {folder}")


def comparison_folder(
    request: type, options: Mapping[str, object], data: str, out: str | Path | None
) -> Path:
    """The folder of a comparison: the one that was named, or a new one."""
    model = options.get("model", declared_in(request)["model"].default)
    return Path(out or new_folder(str(model), data, "models"))


def delta_grid(found: list[Design]) -> Grid:
    """Δ as in the paper's Table 2: one row per transformation, one column per design."""
    from disorder.results.result import Grid

    titles = {
        "corrupt-train": "Δ, perturbed training",
        "corrupt-test": "Δ, perturbed test",
        "corrupt-both": "Δ, both",
    }
    heads = ["perturbed by", "n", *titles.values(), "trained on", "unperturbed", "updates"]
    rows = [heads]
    specs = dict.fromkeys(design.tested_on for design in found[1:] if design.name == "corrupt-test")
    for spec in specs:
        own = {
            design.name: design for design in found if spec in (design.trained_on, design.tested_on)
        }
        n = own["corrupt-test"].accuracy.n
        deltas = [_delta(own[name]) for name in titles]
        rows.append([spec, f"{n:,}", *deltas, *_learned_from(own["corrupt-train"])])
    return Grid.of_texts(rows, "Δ to plain")


def design_grid(found: list[Design]) -> Grid:
    """One row per design, with its accuracy, Δ, and Δ by seed."""
    from disorder.results.result import Grid

    heads = ["design", "trained on", "tested on", "n", "accuracy", "Δ to plain", "Δ by seed"]
    rows = [[*heads, "training examples", "unperturbed", "updates"]]
    for design in found:
        by_seed = ", ".join(map(signed, design.delta_by_seed or ()))
        cells = [f"{design.accuracy.n:,}", _accuracy(design), _delta(design), by_seed]
        names = [design.name, design.trained_on, design.tested_on]
        rows.append([*names, *cells, *_learned_from(design)])
    return Grid.of_texts(rows, "All numbers", 3)


def _accuracy(design: Design) -> str:
    score = design.accuracy
    return with_interval(score.value, score.low, score.high)


def _delta(design: Design) -> str:
    delta = design.delta
    if delta is None:
        return ""
    return f"{signed(delta.value)} ({signed(delta.low)} to {signed(delta.high)})"


def _learned_from(design: Design) -> list[str]:
    """Training examples, those left as they were, and updates; one number where seeds agree."""
    counts = (design.n_examples, design.n_unperturbed, design.n_updates)
    return [", ".join(f"{n:,}" for n in dict.fromkeys(by_seed)) for by_seed in counts]
