"""Arguments that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer


def option(text: str, *names: str, **more: int) -> typer.models.OptionInfo:
    """An option: its help, and its names where they do not follow from the parameter."""
    found: typer.models.OptionInfo = typer.Option(*names, help=text, **more)  # type: ignore[arg-type]
    return found


Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL|RUN",
        help="Model spec: builtin, hf:FOLDER, openai:MODEL, python:MODULE:FUNCTION; or a run "
        "folder, for its model and data",
    ),
]
SomeModel = Annotated[
    str, typer.Argument(help="Model spec: builtin, hf:FOLDER, openai:MODEL, FILE.py:FUNCTION")
]
ModelOrUsual = Annotated[
    str | None,
    typer.Argument(
        help="Model spec: builtin, hf:FOLDER, onnx:FOLDER, sklearn:FILE (with --allow-pickle), "
        "python:MODULE:FUNCTION",
        show_default="builtin",
    ),
]
Data = Annotated[
    str | None, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]
SomeData = Annotated[
    str, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]
