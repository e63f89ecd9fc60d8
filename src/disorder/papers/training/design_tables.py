"""What designs found, as tables: Δ as in the paper's Table 2, and all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from disorder.results.comparison import signed
from disorder.results.result import Grid, PlainBody, Result
from disorder.results.writing import with_interval

if TYPE_CHECKING:
    from disorder.papers.training.corruption_designs import Design

MEANING = (
    "95 % intervals over test examples; they do not include the variation between seeds. "
    "Δ: accuracy minus that of the plain model of the same seed on the same test examples, "
    "unperturbed. Models of a seed learn from the same examples in as many updates; a training "
    "example that a transformation does not apply to stays as it is."
)


def seeds_text(n: int) -> str:
    """What a number is the mean of."""
    return f"Mean over {n} seeds" if n > 1 else "One seed"


def designs_result(about: dict[str, object], found: Sequence[Design]) -> Result:
    """The envelope of designs; `about` says what they were made of."""
    plain = found[0]
    return Result(
        verb="designs",
        about=f"{about['model']} trained on {about['train']}, tested on {about['test']}",
        headline=f"plain on original texts: accuracy {with_interval(plain.accuracy)}",
        request=about,
        body=PlainBody(designs=[asdict(each) for each in found]),
        grids=[delta_grid(found), design_grid(found)],
        notes=[f"{seeds_text(len(plain.accuracy_by_seed))}. {MEANING}"],
    )


def delta_grid(found: Sequence[Design]) -> Grid:
    """Δ as in the paper's Table 2: one row per transformation, one column per design."""
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


def design_grid(found: Sequence[Design]) -> Grid:
    """One row per design, with its accuracy, Δ, and Δ by seed."""
    heads = ["design", "trained on", "tested on", "n", "accuracy", "Δ to plain", "Δ by seed"]
    rows = [[*heads, "training examples", "unperturbed", "updates"]]
    for design in found:
        by_seed = ", ".join(map(signed, design.delta_by_seed or ()))
        cells = [f"{design.accuracy.n:,}", with_interval(design.accuracy), _delta(design), by_seed]
        names = [design.name, design.trained_on, design.tested_on]
        rows.append([*names, *cells, *_learned_from(design)])
    return Grid.of_texts(rows, "All numbers", 3)


def _delta(design: Design) -> str:
    delta = design.delta
    if delta is None:
        return ""
    return f"{signed(delta.value)} [{signed(delta.low)}, {signed(delta.high)}]"


def _learned_from(design: Design) -> list[str]:
    """Training examples, those left as they were, and updates; one number where seeds agree."""
    counts = (design.n_examples, design.n_unperturbed, design.n_updates)
    return [", ".join(f"{n:,}" for n in dict.fromkeys(by_seed)) for by_seed in counts]
