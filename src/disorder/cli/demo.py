"""The demo: models whose answer is known, on data that was made to know it, side by side.

The built-in data decides half of its labels by word order and half by words alone. So a bag of
words, a model that reads both halves, and the same model on the first half are three known answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from disorder.cli.folders import new_folder
from disorder.cli.output import show

if TYPE_CHECKING:
    from disorder.results.conclusion import Conclusion
    from disorder.results.result import Cell
    from disorder.results.run import Run

N_EXAMPLES = 300
Q = 5
ORDER = "needs=order"  # the half of the data whose labels order decides
OWN = "disorder audit hf:FOLDER_OR_NAME data.csv"


def demo() -> int:
    """Audit both built-in models and show what is known beside what was found."""
    from disorder.results.result import Column, Grid, NextStep, PlainBody, Result

    bag = _audited("builtin:bow")
    reader = _audited("builtin")
    cases = (
        ("a bag of words", "counts words, whatever their order", bag.conclusion),
        ("a mixed model", "needs order for half of its answers", reader.conclusion),
        ("a reader", "needs order for every answer", reader.conclusions.get(ORDER)),
    )
    rows = [_row(name, known, found) for name, known, found in cases if found is not None]
    texts = ("what is known", "what the audit says")
    columns = [
        Column("model", "name"),
        *(Column(title, "text") for title in texts),
        Column("skill left"),
    ]
    found = Result(
        verb="audit",
        about=f"{N_EXAMPLES} built-in texts, made so that the answer is known",
        headline="Three models whose answer is known",
        request={},
        body=PlainBody(),
        grids=[Grid(columns, rows)],
        notes=[
            "Skill left once every word has moved: 1 = a bag of words, 0 = reads order.",
            "The reader is the mixed model on the texts whose label only order decides.",
        ],
        next_steps=[NextStep(OWN, "your own model")],
    )
    show(found, [f"Report: {run.folder}/report.html" for run in (bag, reader)])
    return 0


def _audited(model: str) -> Run:
    from disorder.cli.progress import Bar
    from disorder.verbs.audit import audit

    folder = new_folder(model, "demo")
    with Bar() as bar:
        return audit(
            model,
            "builtin",
            out=folder,
            progress=bar,
            with_="derange",
            q=Q,
            limit=N_EXAMPLES,
            fidelity="natural",
        )


def _row(name: str, known: str, found: Conclusion) -> list[Cell]:
    from disorder.results.conclusion import figures
    from disorder.results.result import Cell
    from disorder.results.run_result import HEADLINES

    says = HEADLINES[found.kind].removeprefix("Your model ").rstrip(".")
    kept = Cell() if found.value is None else Cell(*figures(found).split(" ", 1))
    return [Cell(name), Cell(known), Cell(says), kept]
