"""`disorder perturb`: write broken texts to a file, to look at or to use elsewhere."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, cast

import typer

from disorder import types
from disorder.cli._options import Columns, DataDir, Fidelity, Seed, Short, SomeData, TaskName, mapping
from disorder.errors import DisorderError


def perturb(
    data: SomeData,
    with_: Annotated[str, typer.Option("--with", help="Transformation, e.g. derange or shuffle_ngrams:n=2+reverse")],
    out: Annotated[Path, typer.Option(help="File to write, one JSON object a line; - for standard output")],
    q: Annotated[int, typer.Option(help="Variants of each example", min=1)] = 1,
    seed: Seed = 0,
    fidelity: Fidelity = "paper",
    short: Short = "skip",
    columns: Columns = "",
    task: TaskName = None,
    data_dir: DataDir = None,
) -> None:
    """Write the broken texts of DATA to a file.

    Each line holds id, transformation, variant, text_a, text_b, label, positions_a, positions_b.
    """
    from disorder.ask import broken
    from disorder.cli._progress import News

    News.show()
    skips: Counter[str] = Counter()
    n_used = n_written = 0
    lines = broken(
        data, with_, q=q, seed=seed, fidelity=cast("types.Fidelity", fidelity), short=short,
        columns=mapping("--columns", columns), task=task, data_dir=data_dir, skips=skips,
    )  # fmt: skip
    with _written(out) as file:
        for record in lines:
            n_used += record["variant"] == 0
            n_written += 1
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    say = typer.echo
    say(f"{n_used:,} examples used, {n_written:,} variants written to {out}", err=True)
    for reason, count in skips.most_common():
        say(f"left out: {count:,} ({reason})", err=True)


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
