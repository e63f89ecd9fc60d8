"""Tasks of lm-evaluation-harness: the rows that a task asks about, as questions with options, pairs
or open answers.

The task's YAML file is read; Python code that it names is not run. Rows keep their own columns,
which say more than a rendered prompt; what they do not show is taken from the task's templates.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sized
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disorder.data.examples import SourceRow
from disorder.data.files import READERS, reader_for
from disorder.data.hf import hf
from disorder.errors import BadData, MissingPackage
from disorder.registry import data
from disorder.safe_io import read_file, reason
from disorder.tasks import LETTERS, folded, recognised
from disorder.tasks.choice import ANSWER, CONTEXT, QUESTION
from disorder.tasks.layouts import as_list, laid_out

SPLITS = ("test_split", "validation_split", "training_split")
FILES = ("json", "csv", "parquet")
READERS_HERE = (*FILES, "arrow", "imagefolder", "audiofolder", "pandas", "sql", "text", "xml")
NO_VALUES = (ValueError, LookupError, AttributeError, TypeError, ArithmeticError, RecursionError)
MAX_BYTES = 1024**2
MAX_INCLUDES = 8
FRAME = re.compile(r"\A(?:Question|Q): |\n+(?:Answer|A):\s*\Z")


class Code:
    """A place of a task where Python code would be run."""


@data(form="lm-eval:[FOLDER/]TASK", needs="pyyaml")
def lm_eval(address: str) -> Iterator[SourceRow]:
    """A task of lm-evaluation-harness: of a folder (its --include_path), or one it comes with."""
    folder, _, name = address.rpartition("/")
    root = _folder(folder)
    file = _file_of(root, name)
    config = _config(file, root)
    for where, row in _rows(config, file.parent, root, name):
        if not isinstance(row, Mapping):
            raise BadData(f"lm-eval:{name}, {where}: expected an object with columns")
        try:
            asked = _asked(config, row, name)
        except BadData as error:
            raise BadData(f"{error} ({where})") from None
        yield f"{name}, {where}", asked


def _folder(named: str) -> Path:
    if named:
        if not Path(named).is_dir():
            raise BadData(f"lm-eval:{named}/…: no such folder")
        return Path(named)
    found = find_spec("lm_eval")
    if found is None or found.origin is None:
        raise MissingPackage("lm-eval: data without a folder", "lm_eval", "peers")
    return Path(found.origin).parent / "tasks"


def _file_of(folder: Path, name: str) -> Path:
    """The file that declares a task; a group of one task stands for that task."""
    wanted = re.compile(rf"^\"?(task|group)\"?:[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*$", re.M)
    groups = []
    for path in sorted(folder.rglob("*.yaml")):
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            continue  # no task of theirs is as large
        found = wanted.search(read_file(path, max_bytes=MAX_BYTES).decode("utf-8", "replace"))
        if found and found[1] == "task":
            return path
        groups += [path] if found else []
    if groups:
        members = _config(groups[0], folder).get("task")
        listed = ", ".join(map(str, members)) if isinstance(members, list) else "several tasks"
        raise BadData(f"lm-eval:{name} is a group; name one of its tasks: {listed}")
    raise BadData(f"lm-eval:{name}: no task of this name in {folder}")


def _config(path: Path, root: Path, depth: int = 0) -> dict[str, Any]:
    """What a task's file says, with the files of its folder that it includes."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingPackage("lm-eval: data", "yaml", "hf") from error

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Values only: a `!function` becomes a mark."""

    Loader.add_constructor("!function", lambda loader, node: Code())
    try:
        found = yaml.load(read_file(_inside(path, root), max_bytes=MAX_BYTES), Loader)
    except FileNotFoundError:
        raise BadData(f"{path}: no such file") from None
    except (yaml.YAMLError, *NO_VALUES) as error:
        raise BadData(f"{path}: not YAML ({reason(error)})") from None
    _check_size(found, path)
    if not isinstance(found, dict):
        raise BadData(f"{path}: not a task of lm-evaluation-harness")
    base = found.pop("include", None)
    if base is None:
        return found
    if depth == MAX_INCLUDES:
        raise BadData(f"{path}: files include each other more than {MAX_INCLUDES} deep")
    return _config(path.parent / str(base), root, depth + 1) | found


def _check_size(found: Any, path: Path) -> None:
    """Raise where a file says more than it could hold, by lists that stand in it many times (`*a`)
    or in themselves.
    """
    left, size = [found], 0
    while left and size <= MAX_BYTES:
        each = left.pop()
        if isinstance(each, Mapping):
            each = [*each, *each.values()]
        size += 1 + (len(each) if isinstance(each, Sized) else 0)
        left += each if isinstance(each, list | tuple | set) else ()
    if size > MAX_BYTES:
        raise BadData(f"{path}: with its aliases (*) it holds more than {MAX_BYTES:,} letters")


def _inside(path: Path, root: Path) -> Path:
    """The path of a file that a task names; raises where it is none of the task's folder."""
    if os.path.exists(path) and not path.resolve().is_relative_to(root.resolve()):
        raise BadData(
            f"{path} is outside {root}, and a task is read with the files of its folder alone: "
            "copy it there, or name a folder that holds both"
        )
    return path


def _rows(config: Mapping[str, Any], folder: Path, root: Path, name: str) -> Iterator[SourceRow]:
    """The rows of the split that is tested."""
    _check_no_code(config, ("dataset_path", "process_docs", "class"), name)
    for key in ("metadata", "dataset_kwargs"):
        if not isinstance(config.get(key) or {}, Mapping):
            raise BadData(f"lm-eval:{name}: its {key} has no names")
    split = next((str(config[key]) for key in SPLITS if config.get(key)), "test")
    file = (config.get("metadata") or {}).get("file")
    if isinstance(config.get("custom_dataset"), Code):
        path = folder / f"{file}.jsonl"  # as `disorder perturb --as lm-eval` writes it
        if not file or not os.path.exists(path):  # pathlib raises on a name that is too long
            raise BadData(f"lm-eval:{name}: Python code makes its rows, which is not run")
        return _of_file(_inside(path, root))
    files = (config.get("dataset_kwargs") or {}).get("data_files")
    source = str(config.get("dataset_path", ""))
    if source in FILES and files:
        one = files.get(split) if isinstance(files, Mapping) else files
        named = str(one[0] if isinstance(one, list) and one else one)
        paths = (folder / named, Path(named))
        return _of_file(_inside(next(filter(os.path.exists, paths), paths[0]), root))
    config_name = config.get("dataset_name")
    on_hub = f"{source}{f'/{config_name}' if config_name else ''}"
    if source in READERS_HERE or any(map(os.path.exists, (source, on_hub))):
        raise BadData(
            f"lm-eval:{name}: its dataset_path, {source!r}, reads files of this machine, which a "
            "task may only do by data_files in its own folder"
        )
    of_hub: Iterator[SourceRow] = hf(f"{on_hub}:{split}")
    return of_hub


def _of_file(path: Path) -> Iterator[SourceRow]:
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    reader = reader_for(path) if ending in READERS else READERS[".jsonl"]
    rows: Iterator[SourceRow] = reader(path)
    return rows


def _asked(config: Mapping[str, Any], row: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A row as a question with options, a pair or an open question."""
    known = recognised(laid_out(row))
    has_options = config.get("output_type") == "multiple_choice"
    if known is not None and not (has_options and known.scored == "text"):
        return dict(row)
    _check_no_code(config, ("doc_to_text", "doc_to_target", "doc_to_choice"), name)
    text = FRAME.sub("", str(_filled(config.get("doc_to_text", ""), row, name)))
    target = _filled(config.get("doc_to_target"), row, name)
    used = {folded(each) for each in (*CONTEXT, *QUESTION, *ANSWER)}
    rest = {key: value for key, value in row.items() if folded(str(key)) not in used}
    if not has_options:
        answers = as_list(target) if str(target)[:1] == "[" else target  # as lm-eval takes it
        return {**rest, "question": text, "answers": answers}
    options = _options(config.get("doc_to_choice"), row, name)
    is_column = str(config.get("doc_to_target")) in row and config.get("dataset_path") != "csv"
    place = _place(target, options, name, is_text=is_column)
    if place is None:
        return {**rest, "question": text, "options": options, "answer": None}
    if not text.strip() and len(options) == 2:
        return {**rest, "good": options[place], "bad": options[1 - place]}
    return {**rest, "question": text, "options": options, "answer": LETTERS[place]}


def _options(template: Any, row: Mapping[str, Any], name: str) -> list[str]:
    """The options of a row: a list, the values of a mapping, or a template that writes a list."""
    found = _filled(template, row, name)
    if isinstance(found, str):
        found = as_list(found)
    if isinstance(found, Mapping):
        found = list(found.values())
    if not isinstance(found, list | tuple):
        raise BadData(f"lm-eval:{name}: its doc_to_choice gives no list of options")
    if not all(isinstance(each, str | int | float) for each in found):
        raise BadData(f"lm-eval:{name}: its doc_to_choice gives options that are no texts")
    return [str(each) for each in found]


def _place(target: Any, options: list[str], name: str, *, is_text: bool) -> int | None:
    """The place of the right option, from its text or its number; None where the gold is hidden.

    As lm-eval has it, digits that a template writes are a place, also where they are the text of
    another option; those of a text in a column are a text. (Columns of a CSV file have no types.)
    """
    are_digits = isinstance(target, str) and target.isdigit() and not is_text
    if target in options and not are_digits:
        return options.index(target)
    try:
        place = int(target)
    except (TypeError, ValueError, OverflowError):
        place = len(options)
    if not -1 <= place < len(options) or (isinstance(target, float) and target != place):
        raise BadData(f"lm-eval:{name}: its doc_to_target, {target!r}, is none of the options")
    return None if place < 0 else place


def _filled(template: Any, row: Mapping[str, Any], name: str) -> Any:
    """What a template gives for a row: the value of a column, or a text."""
    if not isinstance(template, str):
        return template
    if template in row:
        return row[template]
    from disorder.safe_io.templates import TEMPLATE_ERRORS, joined, limited

    try:
        with limited():
            return joined(_template(template).generate(dict(row)))
    except TEMPLATE_ERRORS as e:
        told = f"{type(e).__name__}: {reason(e)}"
        raise BadData(f"lm-eval:{name}: a template cannot be filled ({told})") from None


@lru_cache(maxsize=64)
def _template(source: str) -> Any:
    from disorder.safe_io.templates import LimitedEnvironment

    environment = LimitedEnvironment()
    environment.keep_trailing_newline = True
    return environment.from_string(source)


def _check_no_code(config: Mapping[str, Any], keys: tuple[str, ...], name: str) -> None:
    for key in keys:
        if isinstance(config.get(key), Code):
            raise BadData(
                f"lm-eval:{name}: its {key} is Python code, which is not run; name the file of "
                "its rows instead"
            )
