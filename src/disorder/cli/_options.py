"""Options that several verbs share, and how their values are read."""

from __future__ import annotations

from typing import Annotated

import typer

from disorder.errors import DisorderError

Columns = Annotated[str, typer.Option(help="Which columns are which: premise=text_a,hypothesis=text_b,gold=label")]
DataDir = Annotated[str | None, typer.Option(help="Folder with the papers' datasets (else DISORDER_DATA)")]
TaskName = Annotated[str | None, typer.Option("--task", help="Treat the data as this known task (disorder list data)")]
Seed = Annotated[int, typer.Option(help="Seed of every draw")]
Fidelity = Annotated[str, typer.Option(help="paper: as described; released: as the authors' code does")]
Short = Annotated[
    str, typer.Option(help="Examples with fewer than q distinct variants: skip them, or use those there are")
]


def mapping(option: str, text: str) -> dict[str, str]:
    """The pairs of `a=b,c=d`."""
    pairs = [item.partition("=") for item in text.split(",") if item.strip()]
    if any(not equals or not left.strip() or not right.strip() for left, equals, right in pairs):
        raise DisorderError(f"{option} {text!r}: write it as name=name,name=name")
    return {left.strip(): right.strip() for left, _, right in pairs}
