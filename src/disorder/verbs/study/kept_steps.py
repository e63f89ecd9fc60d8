"""Kept steps: what a study computed before is read back, if data and model are still the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from disorder.errors import BadData, DisorderError
from disorder.runs import make_folder, write_atomically
from disorder.untrusted_files import read_json, validated
from disorder.verbs.study.result import StepResult


def compute_once(
    path: Path, compute: Callable[[], StepResult], *, made_of: Mapping[str, str]
) -> StepResult:
    """What `compute` finds, or what it found before, kept in `path`.

    `made_of` are the fingerprints of the data and the model.
    """
    if path.exists():
        kept = _read(path)
        check_made_of(path, kept.made_of, made_of)
        return kept
    result = compute().model_copy(update={"made_of": dict(made_of)})
    make_folder(path.parent)
    text = result.model_dump_json(indent=1)
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
    return result


def _read(path: Path) -> StepResult:
    try:
        step: StepResult = validated(StepResult, read_json(path), str(path))
    except BadData as error:
        raise BadData(f"{error}; remove it and start again") from None
    return step


def check_made_of(path: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raise unless what was kept is known to be made from the same data and model."""
    changed = [
        f"another {name}" if name == "model" else f"other {name}"
        for name in now
        if before.get(name) != now[name]
    ]
    if changed:
        raise DisorderError(f"{path} was made from {' and '.join(changed)}; choose another --out")
    if "" in now.values():
        raise DisorderError(
            f"{path} was made from a model that cannot be told from others of its kind; "
            "choose another --out"
        )
