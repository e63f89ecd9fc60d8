"""A disk that counts the calls that write below one folder, and makes one of them fail."""

from __future__ import annotations

import builtins
import errno
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
# once: before the call did anything; torn: after half of it; lasting: and every call after it;
# slow: it only takes its time
Kind = Literal["once", "torn", "lasting", "slow"]
KINDS: tuple[Kind, ...] = ("once", "torn", "lasting", "slow")


@dataclass
class Disk:
    """Opening to write, writing, syncing, moving and making folders below `root` go through it."""

    root: Path
    fails_at: int = -1
    code: int = errno.ENOSPC
    kind: Kind = "once"
    calls: list[str] = field(default_factory=list)

    def step(self, what: str) -> None:
        """Count a call; raise where it is the one that fails."""
        number = len(self.calls)
        self.calls.append(what)
        if self.kind == "slow":
            if number == self.fails_at:
                time.sleep(0.02)
            return
        is_later = self.kind == "lasting" and 0 <= self.fails_at < number
        if number == self.fails_at or is_later:
            raise OSError(self.code, os.strerror(self.code), what)

    def holds(self, path: object) -> bool:
        if isinstance(path, int):
            try:
                path = os.readlink(f"/proc/self/fd/{path}")
            except OSError:
                return False
        try:
            return str(os.fspath(path)).startswith(str(self.root))  # type: ignore[call-overload]
        except TypeError:
            return False


class _Raw(io.FileIO):
    """A file whose writes go through the disk."""

    disk: Disk

    def write(self, content: Any, /) -> int:
        try:
            self.disk.step(f"write {self.name}")
        except OSError:
            if self.disk.kind == "torn":
                super().write(bytes(content)[: len(content) // 2])
            raise
        return int(super().write(content) or 0)


@contextmanager
def failing(disk: Disk) -> Iterator[Disk]:
    """Everything that Python writes below the disk's folder goes through it."""
    opened = io.open
    plain = {name: getattr(os, name) for name in ("open", "replace", "mkdir", "fsync")}

    def through(file: Any, mode: str = "r", buffering: int = -1, *given: Any, **more: Any) -> Any:
        if not set(mode) & set("wxa+") or not disk.holds(file):
            return opened(file, mode, buffering, *given, **more)
        disk.step(f"open {file}")
        where = file if isinstance(file, int) else os.fspath(file)
        raw = _Raw(where, mode.replace("b", "").replace("t", ""))
        raw.disk = disk
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *given, **more)

    def counted(name: str) -> Any:
        def call(path: Any, *given: Any, **more: Any) -> Any:
            is_reading = name == "open" and not (given and given[0] & WRITES)
            if not is_reading and disk.holds(path):
                disk.step(f"{name} {path}")
            return plain[name](path, *given, **more)

        return call

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(io, "open", through)
        patched.setattr(builtins, "open", through)
        for name in plain:
            patched.setattr(os, name, counted(name))
        yield disk
