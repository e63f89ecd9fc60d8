"""What was trained once need not be trained again: a finished training in the same folder is used, a stopped one goes on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.train._folder import read_record
from disorder.train._loop import Listener
from disorder.train._run import Request, resume, train


def trained_once(recipe: str, data: Any, *, out: Path, listen: Listener | None = None, **asked: Any) -> str:
    """The spec of a model trained so; raises where the folder holds a training that was asked otherwise."""
    if not (out / "training.json").exists():
        return train(recipe, data, out=out, listen=listen, **asked).spec
    record = read_record(out)
    if isinstance(data, str) and _differs(record["request"], Request(recipe, data, **asked)):
        raise DisorderError(f"{out} holds another training; choose another --out")
    if record["status"] != "done":
        return resume(out, listen=listen).spec
    return f"{record['spec'].partition(':')[0]}:{out}"  # the folder may have moved since


def _differs(kept: Mapping[str, Any], asked: Request) -> bool:
    now = {**asked.__dict__, "on": list(asked.on), "settings": dict(asked.settings)}
    return any(kept.get(name) != now[name] for name in now if name not in ("columns", "device", "data_dir"))
