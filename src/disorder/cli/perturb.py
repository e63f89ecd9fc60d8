"""`disorder perturb`: writes perturbed texts to a file, to look at or to use elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from disorder.cli.options import (
    Columns,
    DataDir,
    Fidelity,
    Labels,
    Seed,
    Short,
    SomeData,
    TaskName,
)
from disorder.cli.output import print_json, print_text

if TYPE_CHECKING:
    from disorder import types
    from disorder.verbs.perturb import Tally


def perturb(
    data: SomeData,
    out: Annotated[
        Path, typer.Option(help="File to write, one JSON object per line; - for standard output")
    ],
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            help="Transformation, e.g. derange or shuffle_ngrams:n=2+reverse; can be repeated",
        ),
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Set of transformations instead, e.g. alldrop")
    ] = None,
    q: Annotated[int, typer.Option(help="Variants of each example", min=1)] = 1,
    seed: Seed = 0,
    limit: Annotated[
        int | None, typer.Option(help="Take this many examples, drawn at random by seed", min=1)
    ] = None,
    fidelity: Fidelity = "paper",
    short: Short = "skip",
    columns: Columns = "",
    task: TaskName = None,
    data_dir: DataDir = None,
    model: Annotated[
        str | None,
        typer.Option(help="Model whose important words are looked for (drop_least and the like)"),
    ] = None,
    labels: Labels = "",
) -> None:
    """Write the perturbed texts of DATA to a file.

    Each line holds id, transformation, variant, text_a, text_b, label, positions_a, positions_b.
    """
    from disorder.cli.progress import News
    from disorder.verbs.perturb import perturb as perturb_texts

    News.show()
    texts = perturb_texts(
        data,
        with_=with_,
        suite=suite,
        q=q,
        seed=seed,
        limit=limit,
        fidelity=cast("types.Fidelity", fidelity),
        short=cast("Literal['skip', 'use']", short),
        columns=columns,
        task=task,
        data_dir=data_dir,
        model=model,
        labels=labels,
    )
    if str(out) == "-":
        for record in texts:
            print_json(record)
    else:
        texts.save(out)
    _say(texts.tally, out)


def _say(tally: Tally, out: Path) -> None:
    """What was written, removed and left out, on standard error."""
    if not tally.used:
        print_text(f"0 examples used, 0 variants written to {out}", is_error=True)
    for spec, n_used in tally.used.items():
        name = f"{spec}: " if len(tally.used) > 1 else ""
        n_written = tally.written[spec]
        print_text(
            f"{name}{n_used:,} examples used, {n_written:,} variants written to {out}",
            is_error=True,
        )
        removed = {side: n for side, n in tally.removed[spec].items() if n > 0}
        if removed:
            counts = " and ".join(f"{n:,} from text_{side}" for side, n in sorted(removed.items()))
            print_text(f"{name}words removed: {counts}", is_error=True)
    for spec, reasons in tally.skips.items():
        for reason, count in reasons.most_common():
            name = f"{spec}: " if len(tally.used) > 1 or spec == "data" else ""
            print_text(f"{name}left out: {count:,} ({reason})", is_error=True)
