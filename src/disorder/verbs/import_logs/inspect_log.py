"""Logs of inspect_ai: JSON as it is, `.eval` files through inspect's own reader, here or in another
environment (`inspect log dump`).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from disorder.errors import BadData, DisorderError, option
from disorder.safe_io import read_json
from disorder.tasks import LETTERS
from disorder.verbs.import_logs.logged import MARK, LoggedAnswer

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # as inspect writes correct, incorrect, partial
PATIENCE = 600  # seconds for inspect to read a log
Row = Mapping[str, Any]


def read(path: Path, *, id_column: str, scorer: str, inspect: str) -> Iterator[LoggedAnswer]:
    """The samples of a log; of several epochs the first."""
    log = read_json(path) if path.suffix == ".json" else _dumped(path, inspect)
    about = log.get("eval") if isinstance(log, dict) else None
    samples = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(about, dict) or not isinstance(samples, list):
        raise BadData(f"{path} is no log of inspect_ai, or holds no samples")
    named = {"task": str(about.get("task", path.stem)), "model": str(about.get("model", ""))}
    for number, sample in enumerate(samples, start=1):
        if isinstance(sample, dict) and (sample.get("epoch", 1) == 1 or _marked(sample)):
            yield _answer(sample, f"{path}, sample {number}", id_column, scorer, str(path), named)


def _marked(sample: Row) -> Row:
    """What our solver notes of a perturbation; empty where another asked."""
    metadata = sample.get("metadata")
    found = metadata.get(MARK) if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _dumped(path: Path, inspect: str) -> Any:
    """An `.eval` file as data."""
    if inspect:
        return _dumped_by(inspect, path)
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise DisorderError(
            f"{path.name} is read by inspect_ai itself, which is not installed here: name the "
            f"program of another environment ({option('inspect', 'PATH')}), or write JSON logs "
            "(inspect eval --log-format json)"
        ) from None
    return json.loads(read_eval_log(str(path)).model_dump_json())


def _dumped_by(inspect: str, path: Path) -> Any:
    command = [inspect, "log", "dump", str(path.resolve())]  # "-x.eval" would be an option
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=PATIENCE, check=False, encoding="utf-8"
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise BadData(f"{option('inspect', inspect)} cannot be run: {error}") from None
    try:
        return json.loads(done.stdout)
    except (ValueError, RecursionError):
        why = (done.stderr.strip().splitlines() or ["it wrote no JSON"])[-1]
        raise BadData(f"{' '.join(command)} failed: {why}") from None


def _answer(
    sample: Row, where: str, id_column: str, scorer: str, source: str, named: dict[str, str]
) -> LoggedAnswer:
    given = sample.get("metadata")
    metadata = {**(given if isinstance(given, dict) else {}), **_marked(sample)}
    if id_column and id_column not in metadata:
        raise BadData(f"{where}: its metadata has no {id_column!r}")
    is_ours = "transformation" in metadata and "id" in metadata
    identity = metadata[id_column or "id"] if id_column or is_ours else sample.get("id")
    target = sample.get("target")
    gold = str(target[0] if isinstance(target, list) and target else target).strip()
    options = tuple(str(each) for each in _items(sample.get("choices")))
    said, score = ("", None) if sample.get("error") else _graded(sample, where, scorer)
    failure = "an error in the log" if score is None else ""
    if not metadata.get("is_perturbed", True):
        failure = "it cannot be perturbed"
    right = _place(gold, options)
    if options:
        if right is None:
            raise BadData(f"{where}: its target is none of its choices")
        answered = _place(said, options)
        gold, said = options[right], said if answered is None else options[answered]
    return LoggedAnswer(
        str(identity),
        str(_marked(sample).get("text") or _text(sample.get("input"))),
        gold,
        options,
        right,
        answer=said,
        score=score,
        transformation=str(metadata.get("transformation", "")),
        variant=metadata["variant"] if isinstance(metadata.get("variant"), int) else None,
        failure=failure,
        source=source,
        task=named["task"],
        model=named["model"],
    )


def _text(given: Any) -> str:
    """What was asked, as one text."""
    if isinstance(given, str):
        return given
    turns = [each.get("content", "") for each in _items(given) if isinstance(each, dict)]
    return "\n".join(_content(each) for each in turns)


def _content(given: Any) -> str:
    if isinstance(given, str):
        return given
    parts = [part.get("text", "") for part in _items(given) if isinstance(part, dict)]
    return "\n".join(str(part) for part in parts)


def _items(given: Any) -> list[Any]:
    """What a list holds; anything else holds nothing."""
    return given if isinstance(given, list) else []


def _graded(sample: Row, where: str, scorer: str) -> tuple[str, float | None]:
    """What was answered, and its score from 0 to 1; None where it was not scored."""
    scores = sample.get("scores")
    if not isinstance(scores, dict) or not scores:
        return "", None
    if scorer and scorer not in scores:
        raise BadData(f"{where}: no scorer {scorer!r}; it has {', '.join(scores)}")
    found = scores[scorer or next(iter(scores))]
    value = found.get("value") if isinstance(found, dict) else None
    score = GRADES.get(value) if isinstance(value, str) else value
    if isinstance(score, bool | int | float) and 0 <= score <= 1:
        output = sample.get("output")
        completion = output.get("completion", "") if isinstance(output, dict) else ""
        answer = found.get("answer")
        return str(completion if answer is None else answer), float(score)
    raise BadData(f"{where}: {value!r} is no score from 0 to 1; name another ({option('scorer')})")


def _place(written: str, options: tuple[str, ...]) -> int | None:
    """The place of an option that is written as its letter or as it is; None for anything else."""
    letters = LETTERS[: len(options)]
    found = next((known for known in (letters, options) if written.strip() in known), ())
    return found.index(written.strip()) if found else None
