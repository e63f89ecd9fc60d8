"""How does a data spec become examples? `builtin`, a file, `hf:…`, or the name of a paper's
dataset.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disorder.data import builtin, hf
from disorder.data.examples import Reader, Row
from disorder.data.files import READERS, reader_for
from disorder.data.tasks import BUILTIN, KNOWN, SETS, guess_task
from disorder.errors import BadData, BadModel, MissingPackage, UnknownName
from disorder.registry import parts
from disorder.types import Dataset, Example, Task


@dataclass(frozen=True)
class Source:
    """What a spec was found to mean: the rows, and what is known of them before they are read."""

    name: str
    rows: Iterator[Row]
    task: Task | None = None
    group_by: Sequence[str] = ()


def read(
    spec: Any,
    *,
    columns: Mapping[str, str] | None = None,
    data_dir: str | None = None,
    task: str | None = None,
    group_by: Sequence[str] = (),
) -> Dataset:
    """Load a dataset to audit: examples sorted by id, so that nothing depends on the order of the
    rows.
    """
    source, reader = _open(spec, columns, data_dir, task, group_by)
    spec = source.name if not isinstance(spec, str) else spec
    examples = sorted(reader.examples(source.rows), key=lambda example: example.id)
    if not examples:
        raise BadData(f"{spec}: no example can be used{_because(reader.skipped)}")
    known = source.task or guess_task(
        source.name,
        {example.label for example in examples},
        is_pair=examples[0].text_b is not None,
        is_question=examples[0].answers is not None,
    )
    for example in examples:
        check_label(spec, known, example)
    return Dataset(
        source.name, known, examples, dict(sorted(reader.skipped.items())), fingerprint(examples)
    )


def stream(
    spec: str,
    *,
    columns: Mapping[str, str] | None = None,
    data_dir: str | None = None,
    task: str | None = None,
) -> tuple[Task | None, Reader, Iterator[Example]]:
    """Hand on examples one by one in their own order; also the task, where it is known, and the
    reader that counts.
    """
    source, reader = _open(spec, columns, data_dir, task, ())
    return source.task, reader, reader.examples(source.rows)


def fingerprint(examples: Sequence[Example]) -> str:
    """A hash of the examples, whatever the order they were read in."""
    hashed = blake2b(digest_size=16)
    for example in examples:
        parts_ = (
            example.id,
            example.text_a,
            "\1" if example.text_b is None else example.text_b,
            example.label,
        )
        more = "" if example.answers is None else f"\0{example.answers}"
        hashed.update(("\0".join(parts_) + more).encode("utf-8", "surrogatepass") + b"\n")
    return hashed.hexdigest()


def check_label(spec: str, task: Task, example: Example) -> None:
    """Raise when an example's label is none that the task knows."""
    if task.labels and example.label not in task.labels:
        raise BadData(
            f"{spec}: label {example.label!r} (id {example.id}) is none of {', '.join(task.labels)}"
        )
    if task.is_regression:
        try:
            float(example.label)
        except ValueError:
            raise BadData(
                f"{spec}: label {example.label!r} (id {example.id}) is not a number"
            ) from None


def _open(
    spec: Any,
    columns: Mapping[str, str] | None,
    data_dir: str | None,
    task: str | None,
    group_by: Sequence[str],
) -> tuple[Source, Reader]:
    source = _source(spec, data_dir)
    if task is not None:
        if task not in KNOWN:
            raise UnknownName("task", task, KNOWN)
        source = replace(source, task=KNOWN[task])
    names = source.task.labels if source.task else ()
    title = spec if isinstance(spec, str) else source.name
    return source, Reader(
        title, dict(columns or {}), names, [*dict.fromkeys([*source.group_by, *group_by])]
    )


def _source(spec: Any, data_dir: str | None) -> Source:
    if not isinstance(spec, str):
        return Source("data", _rows_of(spec))
    if data_dir is not None and not Path(data_dir).is_dir():
        raise BadData(f"--data-dir {data_dir}: no such folder")
    name, _, address = spec.partition(":")
    if name == "builtin":
        known = BUILTIN[builtin.parse(address)[0]]
        return Source(spec, builtin.builtin(address), known, ("needs",))
    if name == "hf" and address:
        return Source(spec, hf.hf(address))
    if name in SETS:
        return _named(name, address, data_dir)
    path = Path(spec)
    if path.suffix.lower() in {*READERS, ".gz"} or os.path.exists(
        path
    ):  # pathlib raises on a name that is too long
        return Source(path.name.split(".")[0], reader_for(path)(path))
    plugins = {key: entry for key, entry in parts("data").items() if not entry.is_built_in}
    if name in plugins:
        return Source(spec, plugins[name].function(address))
    raise UnknownName(
        "data", spec, ["builtin", *SETS, *plugins, "FILE.jsonl", "FILE.csv", "hf:NAME/CONFIG:SPLIT"]
    )


def _rows_of(given: Any) -> Iterator[Row]:
    """Rows of a data frame, or of a list of dictionaries."""
    rows = given.to_dict("records") if hasattr(given, "to_dict") else given
    if not isinstance(rows, list):
        raise BadData(
            f"data cannot be a {type(given).__name__}; give a spec, a list of dictionaries or a data frame"
        )
    return ((f"row {number}", row) for number, row in enumerate(rows, start=1))


def _named(name: str, split: str, data_dir: str | None) -> Source:
    """A paper's dataset: from the local data folder if it is there, else from the hub."""
    named = SETS[name]
    split = split or named.usual
    hub_split = named.splits.get(split, (split, ()))[0]
    folder = data_dir or os.environ.get("DISORDER_DATA")
    title = f"{name}:{split}"
    if (path := _local(name, split, folder)) is not None:
        return Source(title, reader_for(path)(path), named.task)
    if folder and split not in named.splits:
        raise UnknownName(f"split of {name}", split, named.splits)
    return Source(title, _from_hub(title, f"{named.hub}:{hub_split}", folder), named.task)


def _local(name: str, split: str, folder: str | None) -> Path | None:
    """The file of a paper's dataset in the data folder, if it is there."""
    stems = SETS[name].splits.get(split, (split, (split,)))[1]
    names = [
        f"{stem}{suffix}"
        for stem in stems
        for suffix in (".jsonl.gz", ".jsonl", ".csv", ".tsv", ".parquet")
    ]
    paths = [Path(folder) / name / file for file in names] if folder else []
    return next((path for path in paths if path.exists()), None)


def train_spec(spec: Any, data_dir: str | None = None) -> str | None:
    """The training split that belongs to a data spec, from where the data itself is read; None
    where there is none.
    """
    name, _, address = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    if name == "builtin":
        task, split = builtin.parse(address)
        return f"builtin:{task}:train" if split != "train" else None
    if name not in SETS or address == "train" or "train" not in SETS[name].splits:
        return None
    folder = data_dir or os.environ.get("DISORDER_DATA")
    is_local = _local(name, address or SETS[name].usual, folder) is not None
    return f"{name}:train" if not is_local or _local(name, "train", folder) is not None else None


def at_hand(spec: str, *, data_dir: str | None = None) -> bool:
    """Whether data can be read without a hub: it is built in, a file, or a paper's dataset in the
    data folder.
    """
    if spec.partition(":")[0] in SETS:
        return _file_of(spec, data_dir) is not None
    return spec.partition(":")[0] == "builtin" or os.path.exists(spec)


def honest_name(spec: str, *, data_dir: str | None = None) -> str:
    """The spec, or where the file at hand is another than the paper's (a part of it, say), a spec
    that names that file.
    """
    name, _, split = spec.partition(":")
    path = _file_of(spec, data_dir) if name in SETS else None
    stem = "" if path is None else path.name.partition(".")[0]
    official = (
        SETS[name].splits.get(split or SETS[name].usual, ("", (stem,)))[1][0] if stem else stem
    )
    return spec if stem == official else f"{name}:{stem}"


def _file_of(spec: str, data_dir: str | None) -> Path | None:
    name, _, split = spec.partition(":")
    return _local(name, split or SETS[name].usual, data_dir or os.environ.get("DISORDER_DATA"))


def _from_hub(title: str, address: str, folder: str | None) -> Iterator[Row]:
    try:
        yield from hf.hf(address)
    except (BadData, BadModel, MissingPackage) as error:
        where = (
            f"not in {folder}"
            if folder
            else "neither --data-dir nor DISORDER_DATA says where it is"
        )
        name, _, split = title.partition(":")
        raise BadData(
            f"{title}: {where}, and {error}. Put it there as {name}/{split}.jsonl, or name a file"
        ) from None


def _because(skipped: Mapping[str, int]) -> str:
    reasons = ", ".join(f"{count} with {reason}" for reason, count in sorted(skipped.items()))
    return f" ({reasons})" if reasons else " (it is empty)"
