"""Arguments that several commands take, and the new folder of a command that is told none."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from disorder.errors import DisorderError
from disorder.store.storage import short_name

_new_folders: list[Path] = []


def option(text: str, *names: str, **more: int) -> typer.models.OptionInfo:
    """An option: its help, and its names where they do not follow from the parameter."""
    found: typer.models.OptionInfo = typer.Option(*names, help=text, **more)  # type: ignore[arg-type]
    return found


Model = Annotated[
    str,
    typer.Argument(
        help="Model spec: builtin, hf:FOLDER, causal:FOLDER, openai:MODEL, python:MODULE:FUNCTION"
    ),
]
ModelOrUsual = Annotated[
    str | None,
    typer.Argument(
        help="Model spec: builtin, hf:FOLDER, onnx:FOLDER, bow, python:MODULE:FUNCTION",
        show_default="builtin",
    ),
]
Data = Annotated[
    str | None, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]
SomeData = Annotated[
    str, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]


def new_folder(model: str, data: str, home: str = "runs") -> Path:
    """A new folder whose name says what was made of which data and when."""
    words = [Path(spec).name.split(".")[0] if "/" in spec else spec for spec in (model, data)]
    name = "-".join(
        "".join(char if char.isalnum() else "-" for char in word).strip("-") for word in words
    )
    first = Path(home) / f"{datetime.now():%Y%m%d-%H%M%S}-{short_name(name)}"
    for number in count(1):
        folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()  # in one step: another command may have taken the name just now
        except FileExistsError:
            continue
        except OSError as error:
            raise DisorderError(f"{folder} cannot be made ({error.strerror or error})") from None
        _new_folders.append(folder)
        return folder
    raise AssertionError("numbers do not end")


def remove_empty_folders() -> None:
    """Remove the folders that were made for a command which then wrote nothing."""
    while _new_folders:
        folder = _new_folders.pop()
        for each in (folder, folder.parent):
            try:
                each.rmdir()
            except OSError:  # something is in it
                break
