"""Reading data: from rows to datasets of examples, whole, by language or one by one; and which of
them are used, in which order and groups, whatever the order of the rows.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from disorder.data.examples import LABELS, ExampleReader, SourceRow
from disorder.data.sources import DataSource, open_source
from disorder.data.tasks import guess_task, is_number, known_tasks, same_number_twice
from disorder.errors import BadData, DisorderError, UnknownName, option
from disorder.languages import (
    AUTO,
    UNSPACED_LANGUAGES,
    DetectedLanguage,
    detect,
    language_code,
    sampled,
    segments,
)
from disorder.randomness import digest
from disorder.registry import DataPart, TaskPart, parts
from disorder.requests.settings import takes_options
from disorder.specs import listed, parse_pairs, split_spec
from disorder.tasks import LETTERS
from disorder.tasks.ranking import RANKED
from disorder.types import Bools, Dataset, Example, Task, listed_segment
from disorder.types.corpus import Corpus

logger = logging.getLogger(__name__)
LIKELIHOOD = "likelihood"  # the task of texts without labels, for the likelihoods of a model
LANGUAGE_COLUMN = "language"  # that says of each row which one it is in
MAX_GROUPS = 100
RARE = 0.05  # the share of rows up to which -1 marks rows without a label
FEW = 5  # labels that an error names
ENOUGH = 20  # examples before a label counts as rare


@takes_options()
def read_data(
    spec: Any,
    *,
    columns: Mapping[str, str] | str | None = None,
    data_dir: str | Path | None = None,
    task: str | None = None,
    language: str = AUTO,
    group_by: str | Sequence[str] = (),
    family: str | None = None,
    needs_gold: bool = True,
    wanted: Sequence[str] = (),
) -> Dataset:
    """Load a dataset: examples sorted by id, so that nothing depends on the order of the rows.

    `spec` is a data spec, a path, a list of dictionaries or a data frame. `columns` says which of
    its columns are text_a, text_b, label and id; `task` names what its labels mean where they do
    not say it; `language` is the language of the texts ("de"), found out unless it is named;
    `data_dir` is the folder with the papers' datasets; `group_by` names columns that scores are
    split by, `family` one whose values rows share that are not independent. Without `needs_gold`
    rows may have no label, for what looks at texts alone. `wanted` names further columns to keep as
    segments of the examples.
    """
    source, reader = _open(spec, columns, data_dir, task, group_by)
    reader.needs_gold = needs_gold
    reader.family = family or ""
    reader.wanted = wanted
    title = spec if isinstance(spec, str) else source.name
    return _dataset(source, reader, title, named_language(language))


def read_by_language(
    spec: Any,
    *,
    columns: Mapping[str, str] | str | None = None,
    data_dir: str | Path | None = None,
    task: str | None = None,
) -> dict[str, Dataset]:
    """Rows with a column `language`, as one dataset for each language; nothing where they have no
    such column, or are known to be in one language.

    Translations of an example may have its id: ids need to differ within a language only.
    """
    source, reader = _open(spec, columns, data_dir, task, ())
    title = spec if isinstance(spec, str) else source.name
    if source.language is not None:
        return {}
    found: dict[str, Dataset] = {}
    for code, rows in _rows_by_language(source.rows, title).items():
        part = replace(source, name=f"{source.name}, {code}", rows=iter(rows))
        fresh = replace(reader, skipped=Counter(), _seen={}, _is_pair=None)
        found[code] = _dataset(part, fresh, f"{title}, {code}", code)
    return found if source.task else _with_all_labels(found, title)


def _with_all_labels(found: Mapping[str, Dataset], title: str) -> dict[str, Dataset]:
    """The same task in all languages: a language may lack a label that others have."""
    every = [example for dataset in found.values() for example in dataset.examples]
    if not every:
        return {}
    task = _guessed_task(title, every)
    return {
        code: replace(dataset, task=replace(task, name=dataset.name, language=code))
        for code, dataset in found.items()
    }


def _rows_by_language(rows: Iterator[SourceRow], title: str) -> dict[str, list[SourceRow]]:
    """The rows of each language by its code; none where the first row does not say it."""
    found: dict[str, list[SourceRow]] = {}
    for where, row in rows:
        if not isinstance(row, Mapping) or LANGUAGE_COLUMN not in row:
            if not found:
                return {}
            raise BadData(f"{title}, {where}: no column {LANGUAGE_COLUMN!r}, as other rows have it")
        try:
            code = language_code(str(row[LANGUAGE_COLUMN]))
        except UnknownName as error:
            raise BadData(f"{title}, {where}: {error}") from None
        found.setdefault(code, []).append((where, row))
    return dict(sorted(found.items()))


def _dataset(source: DataSource, reader: ExampleReader, title: str, named: str | None) -> Dataset:
    """All examples of a source; `named` is their language, where the user says it."""
    examples = sorted(reader.examples(list(source.rows)), key=lambda example: example.id)
    if not examples:
        raise BadData(f"{title}: no example can be used{_because(reader.skipped)}")
    if reader.needs_gold and not reader.is_known:
        _check_minus_one(title, examples, reader.n_minus_one)
    for reason, n in reader.skipped.items():
        n_rows = len(examples) + sum(reader.skipped.values())
        logger.info("%s: %s of %s rows left out (%s)", title, f"{n:,}", f"{n_rows:,}", reason)
    known = source.task or _guessed_task(
        title, examples, name=source.name, of=reader.task if reader.task else None
    )
    for example in examples:
        if example.label or reader.needs_gold:
            check_label(title, known, example)
    found = detected_language(examples, named or source.language)
    corpus = Corpus.of(reader.documents) if reader.documents else None
    return Dataset(
        source.name,
        replace(known, language=found.code, corpus=corpus),
        examples,
        dict(sorted(reader.skipped.items())),
        fingerprint(examples) + (f"/{corpus.fingerprint}" if corpus else ""),
        [found.note] if found.note else [],
    )


def _check_minus_one(title: str, examples: Sequence[Example], n: int) -> None:
    """Raise where -1, which many sets write for no label, may be a label as the others are."""
    labels = sorted({example.label for example in examples})
    if n < RARE * (len(examples) + n) or not all(map(is_number, labels)):
        return
    numbers = {float(label) for label in labels}
    if n and (min(numbers) < 0 or numbers in ({1}, {0, 1})):
        raise BadData(
            f"{title}: {n:,} rows have -1 beside {', '.join(labels[:FEW])}, which may be a label "
            f"or none: write labels as words, or type {option('task', LABELS)} to leave these rows "
            "out"
        )


def _guessed_task(
    title: str, examples: Sequence[Example], *, name: str = "", of: TaskPart | None = None
) -> Task:
    if of is not None:
        return _task_of(of, name or title, examples)
    labels = {example.label for example in examples} - {""}
    if not labels:  # texts alone
        return Task(name or title)
    found = guess_task(
        name or title,
        labels,
        is_pair=examples[0].is_pair,
        is_question=examples[0].answers is not None,
    )
    check_distinct(title, found)
    return found


def _task_of(entry: TaskPart, name: str, examples: Sequence[Example]) -> Task:
    """The task of data of another form than texts with labels."""
    if entry.scored == "pair":
        return Task(name, ("good", "bad"), "both", kind="pair")
    if entry.scored == "text":
        return Task(name, ("right", "wrong"), "a", kind="text")
    if entry.scored == "ranking":
        return Task(name, RANKED, "a", kind="ranking")
    most = max(len(example.options) for example in examples)
    return Task(name, LETTERS[:most], "a", kind="choice")


def named_language(language: str) -> str | None:
    """The code of the language that the user names; None for "auto"."""
    return None if language == AUTO else language_code(language)


def detected_language(examples: Sequence[Example], known: str | None = None) -> DetectedLanguage:
    """The language of some examples, unless it is known."""
    if known is not None:
        return DetectedLanguage(known)
    return detect([" ".join(filter(None, example.texts)) for example in sampled(examples)])


def declared_language(spec: object) -> str | None:
    """The language that a data set declares; None for files and rows, which do not say it."""
    if not isinstance(spec, str):
        return None
    name, address = split_spec(spec)
    entry = parts(DataPart).get(name)
    task = None if entry is None else entry.task_for(address)
    return None if task is None else task.language


def stream(
    spec: Any,
    *,
    columns: Mapping[str, str] | str | None = None,
    data_dir: str | Path | None = None,
    task: str | None = None,
    wanted: Sequence[str] = (),
) -> tuple[Task | None, ExampleReader, Iterator[Example]]:
    """Give examples one by one in their own order.

    Also the task, where it is known, and the reader that counts the rows it leaves out.
    """
    source, reader = _open(spec, columns, data_dir, task, ())
    reader.wanted = wanted
    return source.task, reader, reader.examples(source.rows)


def fingerprint(examples: Sequence[Example]) -> str:
    """A hash of the examples, whatever the order they were read in."""
    hashed = blake2b(digest_size=16)
    for example in examples:
        fields = [example.id, example.text_a, example.text_b, example.label]
        if example.answers is not None:
            fields.append(str(example.answers))
        others = {name: each for name, each in example.segments.items() if name not in example.on}
        if example.options:
            fields += [str(others.pop("ask", "")), *listed_segment(others, "options")]
            others.pop("options")
        if others:
            fields.append(str(sorted(others.items())))
        hashed.update(len(fields).to_bytes(8, "little"))
        # each with its length, so that no text can pass for the border between two
        for text in fields:
            content = b"" if text is None else text.encode("utf-8", "surrogatepass")
            length = -1 if text is None else len(content)
            hashed.update(length.to_bytes(8, "little", signed=True) + content)
    return hashed.hexdigest()


def check_distinct(spec: str, task: Task) -> None:
    """Raise when two labels are one number: a table that lost its types writes 1 as 1.0."""
    twice = same_number_twice(task.labels)
    if twice is not None:
        raise BadData(
            f"{spec}: labels {twice[0]!r} and {twice[1]!r} are the same number; write them alike"
        )


def check_label(spec: str, task: Task, example: Example) -> None:
    """Raise when an example's label is none that the task knows."""
    if task.labels and example.label not in task.labels:
        raise BadData(
            f"{spec}: label {example.label!r} (id {example.id}) is none of {', '.join(task.labels)}"
        )
    if task.is_regression and not is_number(example.label):
        raise BadData(f"{spec}: label {example.label!r} (id {example.id}) is not a number")


def _open(
    spec: Any,
    columns: Mapping[str, str] | str | None,
    data_dir: str | Path | None,
    task: str | None,
    group_by: Sequence[str],
) -> tuple[DataSource, ExampleReader]:
    source = open_source(spec, data_dir)
    of = None
    if task is not None:
        known = known_tasks()
        of = parts(TaskPart).get(task)
        if of is None and task not in (LABELS, LIKELIHOOD, *known):
            raise UnknownName("task", task, [LABELS, LIKELIHOOD, *parts(TaskPart), *known])
        source = replace(source, task=known.get(task))
    names = source.task.labels if source.task else ()
    title = spec if isinstance(spec, str) else source.name
    groups = [*dict.fromkeys([*source.group_by, *listed(group_by)])]
    is_known = task is not None or source.task is not None
    return source, ExampleReader(title, column_names(columns), names, groups, of, is_known)


def column_names(columns: Mapping[str, str] | str | None) -> dict[str, str]:
    """Which columns are which: a mapping, or written as on the command line."""
    if isinstance(columns, str):
        return parse_pairs(
            columns, form=f"{option('columns', columns)}: write it as name=name,name=name"
        )
    return dict(columns or {})


def _because(skipped: Mapping[str, int]) -> str:
    reasons = ", ".join(f"{count} with {reason}" for reason, count in sorted(skipped.items()))
    return f" ({reasons})" if reasons else " (it is empty)"


def select(
    data: Any,
    *,
    columns: Mapping[str, str] | str | None = None,
    data_dir: str | Path | None = None,
    task: str | None = None,
    language: str = AUTO,
    group_by: Sequence[str] = (),
    family: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    is_shuffled: bool = False,
    needs_gold: bool = True,
    wanted: Sequence[str] = (),
) -> Dataset:
    """A dataset, with at most `limit` of its examples, drawn at random by `seed`.

    `data` is a `Dataset`, or what `read_data` takes, with the same settings. Examples are sorted by
    id; `is_shuffled` puts them in random order, so that any first part of them is a random one.
    """
    dataset = data
    if isinstance(data, Dataset):
        named = None if language == AUTO else language
        _check_unread(columns=columns, task=task, language=named, group_by=group_by, family=family)
    else:
        dataset = read_data(
            data,
            columns=columns,
            data_dir=data_dir,
            task=task,
            language=language,
            group_by=group_by,
            family=family,
            needs_gold=needs_gold,
            wanted=wanted,
        )

    def key(example: Example) -> bytes | str:
        return turn_of(example, seed) if is_shuffled else example.id

    ordered = replace(dataset, examples=sorted(dataset.examples, key=key))
    selected = limited(ordered, limit, seed)
    _check_groups(selected)
    return selected


def turn_of(example: Example, seed: int) -> bytes:
    """What examples are sorted by where they come in random order."""
    return digest(seed, "order", example.id)


def _check_unread(**given: object) -> None:
    """Raise on a setting of reading where the data was read already."""
    for name, value in given.items():
        if value:
            raise DisorderError(
                f"{name}={value!r} is for reading data, and this is a Dataset, which was read "
                f"already: read_data(…, {name}=…)"
            )


def vocabulary(dataset: Dataset) -> list[str]:
    """The words of letters in the data, in alphabetical order; Chinese ones by character."""
    texts = (text for example in dataset.examples for text in example.texts if text)
    words = partial(_words_of, language=dataset.task.language)
    return sorted({found.lower() for text in texts for found in words(text)})


def _words_of(text: str, *, language: str) -> list[str]:
    if language == "zh":
        return re.findall(r"[^\W\d_]", text)
    if language not in UNSPACED_LANGUAGES:
        return re.findall(r"[^\W\d_]+", text)
    bounds = segments(text, "word")
    pieces = (text[i:j] for i, j in pairwise(bounds))
    return [piece for piece in pieces if piece[0].isalpha()]


def rare_labels(dataset: Dataset) -> list[str]:
    """A warning for each label that so few examples have that it may be a typo."""
    counts = Counter(example.label for example in dataset.examples)
    n = len(dataset.examples)
    if dataset.task.is_regression or n < ENOUGH:
        return []
    return [
        f"label {label!r} stands in {count} of {n:,} examples only; typo?"
        for label, count in sorted(counts.items())
        if count <= max(1, n // 200)
    ]


def drawing_key(seed: int, id: str) -> bytes:
    """Examples are drawn in the order of this key, whatever the order of the rows."""
    return digest(seed, "limit", id)


def limited(dataset: Dataset, limit: int | None, seed: int) -> Dataset:
    """A random part of the data, the same whatever the order of its rows."""
    if limit is None or limit >= len(dataset.examples):
        return dataset
    by_key = sorted(dataset.examples, key=lambda example: drawing_key(seed, example.id))
    kept = {example.id for example in by_key[:limit]}
    examples = [example for example in dataset.examples if example.id in kept]
    n_left_out = len(dataset.examples) - limit
    skipped = {**dataset.skipped, "not drawn (--limit)": n_left_out}
    return replace(dataset, examples=examples, skipped=skipped)


def _check_groups(dataset: Dataset) -> None:
    """Raise where a column to split scores by has too many values."""
    for column in dataset.examples[0].groups:
        n_values = len({example.groups[column] for example in dataset.examples})
        if n_values > MAX_GROUPS:
            raise DisorderError(
                f"{option('group_by', column)}: it has {n_values:,} values; {MAX_GROUPS} at most"
            )


def groups(
    used: Sequence[Example], everything: Sequence[Example]
) -> Iterator[tuple[str, Bools, int]]:
    """Each group: its name, which of the used examples are in it, and its size in all the data."""
    yield "all", np.ones(len(used), dtype=bool), len(everything)
    for column in everything[0].groups:
        counts = Counter(example.groups[column] for example in everything)
        for value in sorted(counts):
            mask = np.array([example.groups[column] == value for example in used], dtype=bool)
            if mask.any():
                yield f"{column}={value}", mask, counts[value]
