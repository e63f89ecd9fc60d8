"""Sources of data: the rows that a spec (`builtin`, a file, `hf:…`, a registered name) means, and
whether they are at hand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disorder.data.beir import beir, is_beir
from disorder.data.builtin import parse as parse_builtin
from disorder.data.examples import SourceRow
from disorder.data.files import READERS, reader_for
from disorder.data.objects import rows_of
from disorder.errors import BadData, BadModel, MissingPackage, UnknownName, option
from disorder.registry import DataPart, parts
from disorder.specs import spec_name, split_spec
from disorder.types import Task

LOCAL_SUFFIXES = (".jsonl.gz", ".jsonl", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class DataSource:
    """What a spec means: the rows, and what is known of them before they are read."""

    name: str
    rows: Iterator[SourceRow]
    task: Task | None = None
    language: str | None = None  # as the data set declares it; a task by name does not say it
    group_by: Sequence[str] = ()


def open_source(spec: Any, data_dir: str | Path | None) -> DataSource:
    """The rows that a spec names, or rows given as they are."""
    if not isinstance(spec, str | Path):
        return DataSource("data", rows_of(spec))
    if data_dir is not None and not Path(data_dir).is_dir():
        raise BadData(f"{option('data_dir', data_dir)}: no such folder")
    pieces = joined_specs(str(spec))
    if len(pieces) > 1:
        return _joined(str(spec), pieces, data_dir)
    name, address = split_spec(str(spec))
    sources = {key: entry for key, entry in parts(DataPart).items() if not _is_file_form(key)}
    if name in sources and (address or name != "hf"):
        entry = sources[name]
        if entry.splits:
            return _named(entry, address, data_dir)
        task = entry.task_for(address)
        return DataSource(
            str(spec), entry.function(address), task, _language_of(task), entry.groups
        )
    path = Path(spec)
    if is_beir(path):
        return DataSource(path.name, beir(str(path)))
    # os.path: pathlib raises on a name that is too long
    if path.suffix.lower() in {*READERS, ".gz"} or os.path.exists(path):
        return DataSource(path.name.split(".")[0], reader_for(path)(path))
    raise UnknownName(
        "data", str(spec), [*sources, "FILE.jsonl", "FILE.csv", "hf:NAME/CONFIG:SPLIT"]
    )


def joined_specs(spec: str) -> list[str]:
    """The sets that a spec puts together: `mnli:train+snli:train` names two; a file may have a `+`
    in its name.

    A split that is several others (`anli:dev`) is their list too.
    """
    pieces = [spec] if os.path.exists(spec) else spec.split("+")
    if len(pieces) > 1 and not all(map(_is_source, pieces)):
        pieces = [spec]
    return [every for piece in pieces for every in _splits_of(piece)]


def _is_source(spec: str) -> bool:
    name = spec_name(spec)
    return (name in parts(DataPart) and not _is_file_form(name)) or os.path.exists(spec)


def _splits_of(spec: str) -> list[str]:
    entry = named_set_of(spec)
    name, address = split_spec(spec)
    known = entry.splits.get(address or entry.default_split) if entry is not None else None
    return [f"{name}:{split}" for split in known.joins] if known and known.joins else [spec]


def _joined(spec: str, pieces: Sequence[str], data_dir: str | Path | None) -> DataSource:
    """Several sets as one: ids begin with the name of their set, labels must be the same."""
    sources = [open_source(piece, data_dir) for piece in pieces]
    tasks = [source.task for source in sources if source.task is not None]
    first = tasks[0] if tasks else None
    for piece, source in zip(pieces, sources, strict=True):
        if first is not None and source.task is not None and source.task.labels != first.labels:
            raise BadData(
                f"{spec}: {piece} has the labels {', '.join(source.task.labels) or 'of numbers'}, "
                f"{pieces[0]} has {', '.join(first.labels) or 'numbers'}; only data of one kind "
                "can be put together"
            )
    rows = (
        (f"{piece}, {where}", _with_prefix(piece, row))
        for piece, source in zip(pieces, sources, strict=True)
        for where, row in source.rows
    )
    languages = {source.language for source in sources}
    language = languages.pop() if len(languages) == 1 else None
    return DataSource(spec, rows, first, language, sources[0].group_by)


def _with_prefix(piece: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row under an id of its own; rows without one get their own by their texts."""
    has_id = isinstance(row, Mapping) and row.get("id") is not None
    return {**row, "id": f"{piece}/{row['id']}"} if has_id else row


def _is_file_form(name: str) -> bool:
    return name.startswith("FILE.")


def _named(entry: DataPart, split: str, data_dir: str | Path | None) -> DataSource:
    """A paper's dataset: from the local data folder if it is there, else from the hub."""
    split = split or entry.default_split
    folder = _data_folder(data_dir)
    title = f"{entry.name}:{split}"
    task = entry.task_for(split)
    path = _local(entry, split, folder)
    if path is not None:
        return DataSource(title, reader_for(path)(path), task, _language_of(task), entry.groups)
    if folder and split not in entry.splits:
        raise UnknownName(f"split of {entry.name}", split, entry.splits)
    rows = _from_hub(entry, split, folder)
    return DataSource(title, rows, task, _language_of(task), entry.groups)


def _language_of(task: Task | None) -> str | None:
    return None if task is None else task.language


def _data_folder(data_dir: str | Path | None) -> Path | None:
    """The folder with the papers' datasets, as an option or DISORDER_DATA says."""
    folder = data_dir or os.environ.get("DISORDER_DATA")
    return Path(folder) if folder else None


def _local(entry: DataPart, split: str, folder: Path | None) -> Path | None:
    """The file of a paper's dataset in the data folder, if it is there."""
    if folder is None:
        return None
    known = entry.splits.get(split)
    stems = known.files if known else (split,)
    names = [f"{stem}{suffix}" for stem in stems for suffix in LOCAL_SUFFIXES]
    paths = [folder / entry.name / name for name in names]
    return next((path for path in paths if path.exists()), None)


def named_set_of(spec: object) -> DataPart | None:
    """The paper's dataset that a spec names."""
    entry = parts(DataPart).get(spec_name(spec))
    return entry if entry is not None and entry.splits else None


def train_spec(spec: Any, data_dir: str | Path | None = None) -> str | None:
    """The training split that belongs to a data spec, read from the same place; None if there is
    none.
    """
    if not isinstance(spec, str):
        return None
    name, address = split_spec(spec)
    if name == "builtin":
        task, split = parse_builtin(address)
        return f"builtin:{task}:train" if split != "train" else None
    entry = named_set_of(spec)
    if entry is None or address == "train" or "train" not in entry.splits:
        return None
    folder = _data_folder(data_dir)
    is_local = _local(entry, address or entry.default_split, folder) is not None
    if is_local and not at_hand(f"{name}:train", data_dir=data_dir):
        return None
    return f"{name}:train"


def at_hand(spec: str, *, data_dir: str | Path | None = None) -> bool:
    """Whether data can be read without the hub: it is built in, a file, or in the data folder."""
    pieces = joined_specs(spec)
    if len(pieces) > 1:
        return all(at_hand(piece, data_dir=data_dir) for piece in pieces)
    if named_set_of(spec) is not None:
        return _file_of(spec, data_dir) is not None
    return spec_name(spec) == "builtin" or os.path.exists(spec)


def local_files(spec: Any, *, data_dir: str | Path | None = None) -> list[Path]:
    """The files on this machine that a data spec is read from."""
    if not isinstance(spec, str | Path):
        return []
    pieces = joined_specs(str(spec))
    files = [_file_of(piece, data_dir) or Path(piece) for piece in pieces]
    return [path for path in files if os.path.isfile(path)]


def honest_name(spec: str, *, data_dir: str | Path | None = None) -> str:
    """The spec; where the local file is not the paper's own (a part of it, say), a spec that names
    that file.
    """
    pieces = joined_specs(spec)
    if len(pieces) > 1:
        named = [honest_name(piece, data_dir=data_dir) for piece in pieces]
        return spec if named == pieces else "+".join(named)
    entry = named_set_of(spec)
    path = _file_of(spec, data_dir)
    if entry is None or path is None:
        return spec
    stem = path.name.partition(".")[0]
    known = entry.splits.get(split_spec(spec)[1] or entry.default_split)
    is_official = known is None or stem == known.files[0]
    return spec if is_official else f"{entry.name}:{stem}"


def _file_of(spec: str, data_dir: str | Path | None) -> Path | None:
    entry = named_set_of(spec)
    if entry is None:
        return None
    return _local(entry, split_spec(spec)[1] or entry.default_split, _data_folder(data_dir))


def _from_hub(entry: DataPart, split: str, folder: Path | None) -> Iterator[SourceRow]:
    try:
        yield from entry.function(split)
    except (BadData, BadModel, MissingPackage) as error:
        file = f"{entry.name}/{split}.jsonl"
        where, remedy = (
            (f"not in {folder}", f"put it there as {file}")
            if folder
            else (
                "no data folder is set",
                f"put it into a folder as {file} and say {option('data_dir')}",
            )
        )
        raise BadData(
            f"{entry.name}:{split}: {where}, and {error}; {remedy}, or name a file"
        ) from None
