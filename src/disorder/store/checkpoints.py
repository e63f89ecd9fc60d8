"""Checkpoints: the state of a training that is under way, of which the newest one counts.

A checkpoint is a folder. It is written beside the last one, then the name of the newest is changed
in one step, so that a kill at any moment leaves a complete one.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disorder.errors import BadData
from disorder.safe_io import read_json
from disorder.store.storage import sync_tree, write_atomically

NEWEST = "newest.json"
NAME = re.compile(r"[0-9]+(-[0-9]+)*")  # of a checkpoint


@dataclass
class Checkpoints:
    """The checkpoints in a folder."""

    folder: Path

    def write(self, name: str, fill: Callable[[Path], None]) -> None:
        """Have one written by `fill`, then remove the one before."""
        new = self.folder / name
        shutil.rmtree(new, ignore_errors=True)
        fill(new)
        sync_tree(new)
        write_atomically(self.folder / NEWEST, json.dumps(name).encode())
        for other in self.folder.iterdir():
            if NAME.fullmatch(other.name) and other.name != name:
                shutil.rmtree(other)

    def newest(self) -> Path | None:
        """The folder of the newest one; None where work was stopped before the first."""
        if not (self.folder / NEWEST).exists():
            return None
        return self.folder / _plain_name(read_json(self.folder / NEWEST))

    def clear(self) -> None:
        """Remove them all: training is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _plain_name(name: Any) -> str:
    """The name of a folder beside, and of none elsewhere."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadData(f"{NEWEST} names no checkpoint")
    return name
