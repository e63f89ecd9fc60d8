"""Perturbed texts of some data, one record per text: what `disorder perturb` writes."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal, Unpack

from disorder.data import (
    declared_language,
    detected_language,
    drawing_key,
    local_files,
    named_language,
    read_data,
    stream,
    vocabulary,
)
from disorder.errors import DisorderError, DoesNotApply, option
from disorder.languages import AUTO
from disorder.models import load
from disorder.requests.fields import ExportFields, PerturbFields
from disorder.requests.perturb import ExportOptions, PerturbOptions
from disorder.requests.settings import Settings, takes_options
from disorder.results.result import Cell, Column, Grid, Result
from disorder.store.storage import cannot_write, default_cache_folder, replacing
from disorder.transformations import Transformation, parse
from disorder.transformations import suite as suite_specs
from disorder.types import ORIGINAL, Dataset, Example, Task, Texts, Variants
from disorder.types.predictions import ABSTAINED
from disorder.verbs.model_loading import RunContext
from disorder.verbs.perturb.exports import (
    TaskRows,
    file_name,
    records_of,
    write_inspect,
    write_lm_eval,
)
from disorder.verbs.prompting import prompt_of

EXPORTS = {"lm-eval": write_lm_eval, "inspect": write_inspect}
AS_WRITTEN: Any = {"encoding": "utf-8", "errors": "surrogatepass", "newline": "\n"}
CHUNK = 512  # examples perturbed together, so that taggers and models get batches


@takes_options(PerturbOptions)
def perturb(data: Any, **options: Unpack[PerturbOptions]) -> PerturbedTexts:
    """Perturb the texts of some data; iterate over the result, or save it.

    Each record is `{id, transformation, variant, text_a, text_b, label, positions_a,
    positions_b}`: `id` is that of the original example, `variant` counts from 0, and the positions
    are those of the words in the original text (None for texts with words of their own). Measures
    of disorder follow (`global_disorder`, `local_disorder`, …; None where they do not apply). Saved
    records can be read again as data.

    data: a spec ("builtin", "mnli:matched"), a path, a list of dictionaries, a data frame, or a
        `Dataset`.
    """
    asked = PerturbFields.of(options)
    if bool(asked.transformations) == bool(asked.suite):
        raise DisorderError(
            f"say how to perturb the texts: with {option('with_', 'TRANSFORMATION')} "
            f"or with {option('suite', 'NAME')}"
        )
    specs = asked.transformations or suite_specs(str(asked.suite))
    source = _Source(
        data=data,
        columns=asked.columns,
        task=asked.task,
        language=named_language(asked.language) or declared_language(data),
        data_dir=asked.data_dir,
        model=asked.model,
        labels=asked.labels,
    )
    # so that a mistake shows now and not when the first record is read
    transformations = [
        parse(spec, fidelity=asked.fidelity).tried(source.language) for spec in specs
    ]
    found = source.open().task.language
    return PerturbedTexts(
        transformations=[each.tried(found) for each in transformations],
        q=asked.q,
        seed=asked.seed,
        limit=asked.limit,
        short=asked.short,
        source=source,
    )


@dataclass
class Tally:
    """What was made and what was left out, by transformation.

    `written` counts variants and `used` the examples they are of; `removed` counts words per text,
    "a" and "b"; `skips` counts examples by reason, those left out when data was read under "data";
    `notes` are what was noticed of the data.
    """

    written: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    removed: dict[str, Counter[str]] = field(default_factory=dict)
    skips: dict[str, Counter[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, spec: str, variants: Variants) -> None:
        """Count the variants of one example; words removed are those of its first variant."""
        self.written[spec] += len(variants)
        self.used[spec] += 1
        removed = self.removed.setdefault(spec, Counter())
        for name, rows in zip("ab", variants.sides, strict=False):
            if rows.written is None:
                removed[name] += len(rows.sentence) - rows.positions.shape[1]

    def skip(self, spec: str, reason: str, n: int = 1) -> None:
        """Count examples that were left out."""
        self.skips.setdefault(spec, Counter())[reason] += n

    @property
    def result(self) -> Result:
        """The envelope of what was written."""
        told = f"{_counted(self.used.total(), 'example')} used, "
        columns = [Column("transformation", "name"), *map(Column, ("examples", "variants"))]
        columns += [Column(f"removed, text_{side}") for side in "ab"]
        rows = [
            [Cell(spec), *(Cell(f"{n:,}") for n in (self.used[spec], self.written[spec]))]
            + [Cell(f"{self.removed[spec][side]:,}") for side in "ab"]
            for spec in self.used
        ]
        is_short = len(self.used) < 2 and not any(map(Counter.total, self.removed.values()))
        return Result(
            verb="perturb",
            about=", ".join(self.used),
            headline=f"{told}{_counted(self.written.total(), 'variant')} written",
            request={},
            body=self,
            grids=[] if is_short else [Grid(columns, rows)],
            notes=[
                *self.notes,
                *(
                    f"{spec}: left out: {count:,} ({reason})"
                    for spec, reasons in self.skips.items()
                    for reason, count in reasons.most_common()
                ),
            ],
        )

    def as_data(self) -> dict[str, Any]:
        """The counts."""
        return {name: getattr(self, name) for name in ("written", "used", "removed", "skips")}


def _counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


@dataclass(frozen=True)
class _Opened:
    """The task of some data, the rows left out (counted while examples are read), the examples, and
    what was noticed.
    """

    task: Task
    skipped: Mapping[str, int]
    examples: Iterator[Example]
    notes: list[str]


@dataclass(frozen=True)
class _Source:
    """The examples to perturb, and the model that transformations may ask."""

    data: Any
    columns: Mapping[str, str]
    task: str | None
    language: str | None
    data_dir: str | None
    model: Any
    labels: Mapping[str, str]

    def open(self) -> _Opened:
        """The examples, of which the first ones are looked at for the language of all."""
        if isinstance(self.data, Dataset):
            data = self.data
            return _Opened(data.task, data.skipped, iter(data.examples), list(data.notes))
        task, reader, examples = stream(
            self.data, columns=self.columns, data_dir=self.data_dir, task=self.task
        )
        first = list(islice(examples, CHUNK))
        found = detected_language(first, self.language)
        is_single = not first or not first[0].is_pair
        guessed = Task("", breaks="a" if is_single else "b")
        if reader.task is not None:  # of another form than texts with labels
            guessed = replace(guessed, kind=reader.task.scored)
        known = replace(task or guessed, language=found.code)
        notes = [found.note] if found.note else []
        return _Opened(known, reader.skipped, chain(first, examples), notes)

    def dataset(self) -> Dataset:
        """All examples at once."""
        if isinstance(self.data, Dataset):
            return self.data
        return read_data(
            self.data,
            columns=self.columns,
            data_dir=self.data_dir,
            task=self.task,
            language=self.language or AUTO,
        )


@dataclass(eq=False, repr=False)
class PerturbedTexts:
    """Records of perturbed texts, made one by one while they are iterated over.

    Iterating again makes the same records again. `written`, `removed` and `skips` count what the
    last iteration made so far.
    """

    transformations: Sequence[Transformation]
    q: int
    seed: int
    limit: int | None
    short: str
    source: _Source
    tally: Tally = field(default_factory=Tally)

    def __repr__(self) -> str:
        specs = ", ".join(each.spec for each in self.transformations)
        return f"PerturbedTexts({specs}; q={self.q}, seed={self.seed})"

    @property
    def written(self) -> Counter[str]:
        """Variants made, by transformation."""
        return self.tally.written

    @property
    def removed(self) -> dict[str, Counter[str]]:
        """Words removed from text "a" and text "b", by transformation."""
        return self.tally.removed

    @property
    def skips(self) -> dict[str, Counter[str]]:
        """Examples left out, by transformation and reason; unusable rows under "data"."""
        return self.tally.skips

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.tally = tally = Tally()
        opened = self.source.open()
        task = opened.task
        tally.notes = opened.notes
        context = RunContext(data_dir=self.source.data_dir)
        if self.source.model is not None:
            # Its labels must meet those of the data: all rows are looked at first
            dataset = self.source.dataset()
            task = dataset.task
            context = self._context(dataset)
        drawn = iter(_drawn(opened.examples, self.limit, self.seed))
        while chunk := list(islice(drawn, CHUNK)):
            for transformation in self.transformations:
                found = transformation.apply_all(
                    chunk, task=task, q=self.q, seed=self.seed, short=self.short, context=context
                )
                for example, variants in zip(chunk, found, strict=True):
                    if isinstance(variants, DoesNotApply):
                        tally.skip(transformation.spec, str(variants))
                    else:
                        tally.add(transformation.spec, variants)
                        yield from records_of(example, transformation.spec, variants)
        for reason, n in opened.skipped.items():
            tally.skip("data", reason, n)

    def _context(self, dataset: Dataset) -> RunContext:
        model = load(
            self.source.model,
            task=dataset.task,
            labels=self.source.labels,
            cache=default_cache_folder(),
        )
        return RunContext(model, vocabulary(dataset), self.source.data_dir)

    def save(self, path: str | Path, *, as_: Literal["jsonl", "training"] = "jsonl") -> Path:
        """Write the records to a file, one JSON object per line; all of them or nothing.

        as_: `"training"` for `training_rows` instead.
        """
        path = Path(path)
        for file in local_files(self.source.data, data_dir=self.source.data_dir):
            if os.path.exists(path) and os.path.samefile(file, path):
                raise DisorderError(f"{path} is the data itself; write to another file")
        with _written(path) as written:
            self.write(written, self.training_rows() if as_ == "training" else self)
        return path

    def training_rows(self) -> Iterator[dict[str, Any]]:
        """Rows to train any model on, so that it notices perturbed texts: the original texts with
        their labels, then the perturbed ones with the label `invalid`.

        An audit takes that label as an abstention. `gold` is the label of the original text.
        """
        whole = self.source.dataset()
        if whole.task.kind != "labels":
            raise DisorderError(f"{option('as_', 'training')} is for texts with fixed labels")
        if whole.task.is_regression or ABSTAINED in whole.task.labels:
            has = "numbers" if whole.task.is_regression else f"a label {ABSTAINED!r} of its own"
            raise DisorderError(
                f"{option('as_', 'training')} gives perturbed texts the label {ABSTAINED!r}; "
                f"{whole.name} has {has}"
            )
        for example in _drawn(whole.examples, self.limit, self.seed):
            yield _row_to_learn(example.id, example.texts, example.label, example.label, ORIGINAL)
        for record in self:
            spec = record["transformation"]
            name = f"{record['id']}#{spec}#{record['variant']}"
            texts = (record["text_a"], record["text_b"])
            yield _row_to_learn(name, texts, ABSTAINED, record["label"], spec)

    @takes_options(ExportOptions)
    def export(
        self,
        folder: str | Path,
        *,
        as_: Literal["lm-eval", "inspect"],
        **options: Unpack[ExportOptions],
    ) -> str:
        """Write original and perturbed texts as tasks of another tool; gives what to run there.

        folder: A new folder for the task.
        as_: `"lm-eval"` for lm-evaluation-harness (the name of a group is returned), `"inspect"`
            for inspect_ai (the name of a file).
        """
        settings = Settings.among(
            ExportFields.of(options), seed=self.seed, data_dir=self.source.data_dir
        )
        if as_ == "lm-eval" and settings.chat == "on" and settings.shots:
            raise DisorderError(
                f"{option('chat', 'on')}: lm-eval writes the examples of a prompt into one turn, "
                f"and an audit each as turns of its own; leave {option('shots')} out"
            )
        whole = self.source.dataset()
        if whole.task.is_regression:
            raise DisorderError(f"{option('as_', as_)} is for labels; {whole.name} has numbers")
        dataset = replace(whole, examples=list(_drawn(whole.examples, self.limit, self.seed)))
        rows = TaskRows(
            f"disorder_{file_name(dataset.name)}",
            None if dataset.task.kind == "pair" else prompt_of(dataset, settings),
            list(dataset.examples),
            list(self),
        )
        return EXPORTS[as_](Path(folder), rows)

    def write(self, file: IO[str], records: Iterable[Mapping[str, Any]] | None = None) -> None:
        """Write the records, or other ones, to an open file, one JSON object per line."""
        for record in self if records is None else records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _row_to_learn(
    name: str, texts: Texts, label: str, gold: str, transformation: str
) -> dict[str, Any]:
    text_a, text_b = texts
    return {
        "id": name,
        "text_a": text_a,
        "text_b": text_b,
        "label": label,
        "gold": gold,
        "transformation": transformation,
    }


def _drawn(examples: Iterable[Example], limit: int | None, seed: int) -> Iterable[Example]:
    """At most `limit` examples, without holding the others."""
    if limit is None:
        return examples
    numbered = nsmallest(limit, enumerate(examples), key=lambda item: drawing_key(seed, item[1].id))
    return [example for _, example in sorted(numbered, key=lambda item: item[0])]


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """A file that takes its name only when all is written; nothing is touched if that fails."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device keeps its place
            with path.open("w", **AS_WRITTEN) as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(Path(os.path.realpath(path))) as content:
            file = io.TextIOWrapper(content, **AS_WRITTEN)
            yield file
            file.flush()
            file.detach()
    except OSError as error:
        raise cannot_write(path, error) from None
