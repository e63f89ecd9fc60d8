"""Logs of lm-evaluation-harness: the files `samples_TASK_TIME.jsonl` of `--log_samples`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from disorder.data.files import jsonl
from disorder.errors import BadData
from disorder.models.outputs import softmax
from disorder.safe_io import read_json
from disorder.verbs.import_logs.logged import LoggedAnswer

NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d{2}-\d{2}T[\d\-.]+)\.jsonl")
FILES = "samples_*.jsonl"
GRADES = ("exact_match", "acc", "f1", "em")  # how open answers are graded, as tasks name it
Row = Mapping[str, Any]


def read(path: Path, *, id_column: str, scorer: str) -> Iterator[LoggedAnswer]:
    """The rows of a file of samples; of several filters of an answer the first."""
    named = NAME.fullmatch(path.name)
    task = named["task"] if named else path.stem
    model = _model(path, named["time"] if named else "")
    first = ""
    found = []
    for line, given in jsonl(path):
        where = f"{path}, {line}"
        row = _row(given, where)
        first = first or str(row.get("filter", ""))
        if str(row.get("filter", "")) == first:
            found.append(_answer(row, where, id_column, scorer, task, model))
    yield from _with_right_options(found)


def _row(row: Any, where: str) -> Row:
    if not isinstance(row, dict) or not {"doc", "target", "filtered_resps"} <= row.keys():
        raise BadData(f"{where}: no row of lm-eval's --log_samples")
    for name in ("filtered_resps", "metrics"):
        if not isinstance(row.get(name) or [], list | str):
            raise BadData(f"{where}: {name} is no list")
    return row


def _model(path: Path, time: str) -> str:
    """The model that the results beside the samples name."""
    results = path.with_name(f"results_{time}.json")
    found = read_json(results) if time and results.is_file() else {}
    config = found.get("config") if isinstance(found, dict) else None
    arguments = config.get("model_args", "") if isinstance(config, dict) else ""
    if isinstance(arguments, dict):
        arguments = arguments.get("pretrained", arguments.get("model", ""))
    named = re.search(r"(?:pretrained|model)=([^,]+)", str(arguments))
    return Path(named[1] if named else str(arguments)).name or path.parent.name


def _answer(
    row: Row, where: str, id_column: str, scorer: str, task: str, model: str
) -> LoggedAnswer:
    doc = row["doc"] if isinstance(row["doc"], dict) else {}
    if id_column and id_column not in doc:
        raise BadData(f"{where}: its doc has no {id_column!r}; it has {', '.join(doc)}")
    arguments = _arguments(row, where)
    identity = doc.get(id_column or "id", row.get("doc_id"))
    contexts = [str(context) for context, _ in arguments]
    found = LoggedAnswer(
        str(identity),
        contexts[0],
        "",
        transformation=str(doc.get("transformation", "")),
        variant=doc["variant"] if isinstance(doc.get("variant"), int) else None,
        source=str(where.rpartition(",")[0]),
        task=task,
        model=model,
    )
    if len(arguments) < 2:
        return _open(found, row, where, scorer)
    if len(set(contexts)) > 1:
        raise BadData(
            f"{where}: this task scores one ending after several beginnings; tasks with options "
            "after one beginning, and open answers, can be read"
        )
    return _chosen(found, row, where, [str(option).strip() for _, option in arguments])


def _chosen(found: LoggedAnswer, row: Row, where: str, options: list[str]) -> LoggedAnswer:
    """Options with their log-likelihoods, as shares."""
    try:
        scores = np.array([float(each[0]) for each in row["filtered_resps"]])
    except (TypeError, ValueError, LookupError, OverflowError):
        raise BadData(f"{where}: its log-likelihoods cannot be read") from None
    if len(scores) != len(options) or not np.isfinite(scores).all():
        raise BadData(f"{where}: {len(options)} options do not have {len(options)} likelihoods")
    logged = row.get("acc")
    return replace(
        found,
        gold=str(row["target"]).strip(),
        options=tuple(options),
        shares=tuple(softmax(scores[None])[0].tolist()),
        score=logged if isinstance(logged, int | float) else None,
    )


def _with_right_options(rows: list[LoggedAnswer]) -> list[LoggedAnswer]:
    """The rows of a log with their right options. A target is logged as a text, which may be the
    place of an option or the option itself: it is what fits all rows and the `acc` beside them.
    """
    asked = [row for row in rows if row.shares is not None]
    ways = [[read(row) for row in asked] for read in (_as_place, _as_option)]
    fitting = [places for places in ways if all(map(_is_as_graded, asked, places))]
    if not fitting:
        for row, *places in zip(asked, *ways, strict=True):
            if places == [None, None]:
                raise BadData(f"{row.source}: {row.id}: {row.gold!r} is none of its options")
        raise BadData(
            f"{asked[0].source}: its targets, as places of options or as their texts, do not give "
            "the acc that is logged; tasks with one right option can be read"
        )
    if fitting[0] != fitting[-1]:
        raise BadData(
            f"{asked[0].source}: its targets can be read as places of options and as their texts, "
            "which mean something else; rows with acc, as lm-eval logs it, would say which"
        )
    right = iter(fitting[0])
    return [row if row.shares is None else _with_right(row, next(right)) for row in rows]


def _as_place(row: LoggedAnswer) -> int | None:
    places = [str(i) for i in range(len(row.options))]
    return places.index(row.gold) if row.gold in places else None


def _as_option(row: LoggedAnswer) -> int | None:
    return row.options.index(row.gold) if row.gold in row.options else None


def _is_as_graded(row: LoggedAnswer, place: int | None) -> bool:
    """Whether the likeliest option is right or wrong as the log says it, where it does."""
    assert row.shares is not None
    is_right = place == int(np.argmax(row.shares))
    return place is not None and row.score in (None, float(is_right))


def _with_right(row: LoggedAnswer, place: int | None) -> LoggedAnswer:
    assert place is not None
    return replace(row, place=place, gold=row.options[place])


def _open(found: LoggedAnswer, row: Row, where: str, scorer: str) -> LoggedAnswer:
    """An answer in the model's own words, as the log grades it."""
    metrics = [str(name) for name in row.get("metrics") or ()]
    known = [name for name in (scorer, *GRADES, *metrics) if name in row]
    if scorer and scorer not in row:
        raise BadData(f"{where}: no score {scorer!r}; it has {', '.join(metrics)}")
    score = row[known[0]] if known else None
    if not isinstance(score, int | float) or not 0 <= score <= 1:
        raise BadData(f"{where}: no score from 0 to 1; name one of its scores (--scorer)")
    said = row["filtered_resps"][0] if row["filtered_resps"] else ""
    target = row["target"]
    gold = target[0] if isinstance(target, list) and target else target
    answer = said if isinstance(said, str) else None
    return replace(found, gold=str(gold).strip(), answer=answer, score=float(score))


def _arguments(row: Row, where: str) -> list[tuple[Any, Any]]:
    """Beginning and ending of each request, however a version writes them."""
    given = row.get("arguments")
    if isinstance(given, dict):
        given = [list(each.values()) for each in given.values() if isinstance(each, dict)]
    try:
        found = [(each[0], each[1] if len(each) > 1 else "") for each in given or ()]
    except (TypeError, IndexError, KeyError):
        found = []
    if not found:
        raise BadData(f"{where}: its requests (arguments) cannot be read")
    return found
