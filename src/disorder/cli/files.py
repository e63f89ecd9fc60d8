"""Files that an option names: written completely, or one line says why not."""

from __future__ import annotations

from pathlib import Path

from disorder.errors import CannotWrite


def write(option: str, path: Path, text: str) -> None:
    """Write a file as UTF-8; half a character, which it cannot hold, is written as its number."""
    from disorder.store.storage import write_named_file

    try:
        write_named_file(path, text.encode("utf-8", "backslashreplace"))
    except CannotWrite as error:
        raise CannotWrite(f"{option} {error}") from None
