"""`disorder perturb`: write perturbed texts to a file, to look at or to use elsewhere."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, cast

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
    mapping,
)
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from disorder import types
    from disorder.verbs.perturb import Tally


def perturb(
    data: SomeData,
    out: Annotated[
        Path, typer.Option(help="File to write, one JSON object a line; - for standard output")
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
        typer.Option(help="Model whose important words are sought (drop_least and its kin)"),
    ] = None,
    labels: Labels = "",
) -> None:
    """Write the perturbed texts of DATA to a file.

    Each line holds id, transformation, variant, text_a, text_b, label, positions_a, positions_b.
    """
    from disorder.cli.progress import News
    from disorder.transformations import suite as suite_named
    from disorder.verbs.perturb import Tally, perturbed

    News.show()
    if bool(with_) == bool(suite):
        raise DisorderError(
            "say how to break the texts, with --with TRANSFORMATION or with --suite NAME"
        )
    tally, used = Tally(), Counter[str]()
    lines = perturbed(
        data,
        with_ or suite_named(str(suite)),
        q=q,
        seed=seed,
        limit=limit,
        fidelity=cast("types.Fidelity", fidelity),
        short=short,
        columns=mapping("--columns", columns),
        task=task,
        data_dir=data_dir,
        model=model,
        labels=mapping("--labels", labels),
        tally=tally,
    )
    with _written(out) as file:
        for record in lines:
            used[record["transformation"]] += record["variant"] == 0
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    _say(tally, used, out)


def _say(tally: Tally, used: Counter[str], out: Path) -> None:
    """What was written, removed and left out, a line each on standard error."""
    if not used:
        typer.echo(f"0 examples used, 0 variants written to {out}", err=True)
    for spec in used:
        name = f"{spec}: " if len(used) > 1 else ""
        typer.echo(
            f"{name}{used[spec]:,} examples used, {tally.written[spec]:,} variants written to {out}",
            err=True,
        )
        removed = {side: n for side, n in tally.removed[spec].items() if n > 0}
        if removed:
            counts = " and ".join(f"{n:,} from text_{side}" for side, n in sorted(removed.items()))
            typer.echo(f"{name}words removed: {counts}", err=True)
    for spec, reasons in tally.skips.items():
        for reason, count in reasons.most_common():
            name = f"{spec}: " if len(used) > 1 or spec == "data" else ""
            typer.echo(f"{name}left out: {count:,} ({reason})", err=True)


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """A file that takes its name only when all is written; nothing is touched when something fails."""
    if str(path) == "-":
        yield sys.stdout
        return
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            yield file
        if path.is_file() or not path.exists():
            beside.replace(path)
        else:
            path.write_bytes(beside.read_bytes())
    except OSError as error:
        raise DisorderError(f"--out {path} cannot be written ({error.strerror or error})") from None
    finally:
        beside.unlink(missing_ok=True)
