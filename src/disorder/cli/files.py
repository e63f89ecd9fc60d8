"""Files that an option names: written completely, or one line says why not."""

from __future__ import annotations

from pathlib import Path

from disorder.errors import DisorderError


def write(option: str, path: Path, text: str) -> None:
    """Write a file as UTF-8; half a character, which it cannot hold, is written as its number."""
    try:
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise DisorderError(
            f"{option} {path} cannot be written ({error.strerror or error})"
        ) from None
