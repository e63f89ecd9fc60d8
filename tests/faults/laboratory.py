"""Tools of the laboratory: commands in a process of their own, small runs, counts of faults."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import disorder
from disorder.errors import DisorderError
from faults.forked import forked

SOURCE = Path(disorder.__file__).parent.parent
HOW_MUCH = os.environ.get("DISORDER_FAULTS", "small")  # small, full, or a share of full: 0.5
IS_FULL = HOW_MUCH != "small"
LOG = os.environ.get("DISORDER_FAULTS_LOG")
PATIENCE = 120.0  # seconds after which a command hangs


def size(small: int, full: int) -> int:
    """How much of a test is done: a little in `make test`, all of it in `make test-faults`, or a
    share of that, drawn by the same seeds.
    """
    if HOW_MUCH in ("small", "full"):
        return small if HOW_MUCH == "small" else full
    return max(small, math.ceil(float(HOW_MUCH) * full))


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> str:
        return self.out + self.err

    def is_one_line(self, *words: str) -> bool:
        """Whether it ended as a user's mistake should: exit code 2, one line, no traceback."""
        last = self.err.strip().splitlines()[-1:] or [""]
        is_told = all(word in last[0] for word in words)
        return self.code == 2 and last[0].startswith("disorder: ") and is_told and self.is_clean

    @property
    def is_clean(self) -> bool:
        return "Traceback" not in self.told


def environment(**more: str) -> dict[str, str]:
    """The environment of a command, with our source first."""
    paths = [str(SOURCE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    kept = {name: value for name, value in os.environ.items() if name != "DISORDER_FAULTS_LOG"}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def disorder_command(*words: object) -> list[str]:
    return [sys.executable, "-m", "disorder", *map(str, words)]


def run(
    *words: object,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    typed: bytes | None = None,
    encoding: str = "utf-8",
) -> Done:
    """Run a command to its end: forked, without a start-up, where it needs no other environment."""
    if env is None and typed is None and hasattr(os, "fork"):
        return _forked(words, cwd)
    done = subprocess.run(
        disorder_command(*words),
        cwd=cwd,
        env=environment(**(env or {})),
        input=typed,
        stdin=None if typed is not None else subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Done(
        done.returncode,
        done.stdout.decode(encoding, "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


def _forked(words: Sequence[object], cwd: Path) -> Done:
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        ended = forked([*map(str, words)], out, err=err, cwd=cwd)
        told = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
    return Done(ended.code, *told)


def small_run(out: Path, **more: Any) -> Path:
    """A finished run of the built-in bag of words, in milliseconds."""
    from disorder.verbs.audit import audit

    audit("builtin:bow", "builtin", limit=30, q=4, out=out, cache="off", **more)
    return out


def copied(run: Path, to: Path) -> Path:
    shutil.copytree(run, to)
    return to


def changed(run: Path, to: Path, change: Any) -> Path:
    """A copy of a run whose result.json was changed."""
    copied(run, to)
    raw = json.loads((to / "result.json").read_text())
    found = change(raw)
    (to / "result.json").write_text(json.dumps(raw if found is None else found))
    return to


def scores_of(folder: Path) -> str:
    return json.dumps(json.loads((folder / "run.json").read_text())["scores"])


def samples_of(folder: Path) -> dict[str, bytes]:
    parts = sorted((folder / "samples").glob("*.parquet"))
    return {path.name: path.read_bytes() for path in parts}


@cache
def commit() -> str:
    """The commit that is tested, marked where its files were changed."""
    words = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(words, cwd=SOURCE, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def note(kind: str, injected: int, *, survived: int, lost: int = 0, what: str = "") -> None:
    """Count faults for the table of docs/results/reliability.md."""
    if LOG is None:
        return
    record = {"kind": kind, "injected": injected, "survived": survived, "lost": lost, "what": what}
    record["commit"] = commit()
    with Path(LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def check_one_line(error: BaseException) -> None:
    """A fault is told in one line; the command line does so itself for errors of the system."""
    assert isinstance(error, DisorderError) or getattr(error, "errno", None) is not None
    assert len(str(error).splitlines()) == 1


def rows(n: int = 12, labels: Sequence[str] = ("no", "yes")) -> list[dict[str, str]]:
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]
    return [
        {"id": f"e{i}", "text_a": " ".join([*words, f"w{i}"]), "label": labels[i % len(labels)]}
        for i in range(n)
    ]
