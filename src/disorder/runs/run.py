"""The run: all that run.json holds, and how it is read from a folder and written to one.

A run folder has run.json, examples.parquet and samples/*.parquet, written as the run goes.
"""

from __future__ import annotations

import json
import platform
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, PrivateAttr, field_validator
from pydantic.dataclasses import dataclass

from disorder.errors import BadData, DisorderError, UnknownName
from disorder.runs.conclusion import AnswerTable, Conclusion, WordBaseline
from disorder.runs.frames import data_frame
from disorder.runs.run_checks import binding, check_run
from disorder.runs.samples import SampleParts, storable
from disorder.runs.storage import copy_folder, place, write_atomically
from disorder.types import Dataset, Example, Score, Task
from disorder.untrusted_files import MAX_REASON, read_json, read_parquet, validated
from disorder.visible_text import one_line, visible

if TYPE_CHECKING:
    from disorder.report.exhibits import Picture

SCHEMA_VERSION = 1
PACKAGES = ("disorder", "numpy", "onnxruntime", "tokenizers")
EXAMPLES = pa.schema(
    [
        ("id", pa.string()),
        ("text_a", pa.string()),
        ("text_b", pa.string()),
        ("label", pa.string()),
        ("groups", pa.map_(pa.string(), pa.string())),
    ]
)
DIGITS = 6  # scores are rounded, so that the last bits of a sum do not show


@dataclass(kw_only=True)
class Record:
    """One score in the flat list of a run."""

    transformation: str
    metric: str
    group: str = "all"
    value: float
    low: float
    high: float
    n: int
    skipped: int

    @classmethod
    def of(cls, transformation: str, metric: str, group: str, score: Score) -> Record:
        """A record of a score."""
        value, low, high = (
            round(float(x), DIGITS) + 0.0 for x in (score.value, score.low, score.high)
        )
        return cls(
            transformation=transformation,
            metric=metric,
            group=group,
            value=value,
            low=low,
            high=high,
            n=score.n,
            skipped=score.skipped,
        )


class Omitted(BaseModel):
    """A score that there was nothing to measure for."""

    transformation: str
    metric: str
    group: str
    reason: str


class Run(BaseModel):
    """A finished or unfinished audit: its settings, its scores, and where its folder lies.

    `run.scores` is a list of records, ready for a data frame; `run["derange", "p_c"]` is one of
    them. `run.conclusion` is what they say on word order (None where nothing that keeps the words
    was measured), `run.conclusions` the same by group, `run.verdict` both in words. `run.folder` is
    None where nothing was kept on disk. `language_caveats` name tools that do not fit the language
    of the data.
    """

    schema_version: int = SCHEMA_VERSION
    status: Literal["started", "done", "failed"] = "started"
    model: str
    data: str
    task: str
    labels: list[str]
    breaks: Literal["a", "b"] | None = None  # None in runs of older versions
    reject_label: str | None = None
    default_label: str | None = None
    language: str = "en"
    is_likelihood: bool = False
    chance: float | None
    majority: float = 0.0
    transformations: list[str]
    breaks_order: list[str] = Field(default_factory=list)
    variants: dict[str, int] = Field(default_factory=dict)
    settings: dict[str, Any]
    seed: int
    started: str
    seconds: float = 0.0
    n_examples: int
    n_available: int
    n_predictions: int = 0
    profile: dict[str, float] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    prompt: dict[str, Any] = Field(default_factory=dict)  # of a language model
    prompt_spread: list[dict[str, Any]] = Field(default_factory=list)  # scores over several prompts
    stopped: dict[str, dict[str, Any]] = Field(default_factory=dict)
    spent: dict[str, float] = Field(default_factory=dict)  # questions, tokens, money; all sessions
    gate: dict[str, Any] = Field(default_factory=dict)  # the decision of --fail-if
    versions: dict[str, str] = Field(default_factory=dict)
    git: str | None = None
    hashes: dict[str, str] = Field(default_factory=dict)
    taggers: list[str] = Field(default_factory=list)
    splitters: dict[str, str] = Field(default_factory=dict)
    conclusion: Conclusion | None = None
    conclusions: dict[str, Conclusion] = Field(default_factory=dict)
    language_caveats: list[str] = Field(default_factory=list)
    verdict: str = ""
    answers: dict[str, Any] = Field(default_factory=dict)
    word_baselines: list[WordBaseline] = Field(default_factory=list)
    gains: list[dict[str, Any]] = Field(default_factory=list)
    scores: list[Record] = Field(default_factory=list)
    references: dict[str, list[Record]] = Field(default_factory=dict)
    omitted: list[Omitted] = Field(default_factory=list)
    skips: dict[str, dict[str, int]] = Field(default_factory=dict)
    no_answers: dict[str, dict[str, int]] = Field(default_factory=dict)  # texts, by reason
    dev_r: dict[str, dict[str, dict[str, int]]] = Field(default_factory=dict)
    figures: dict[str, Any] = Field(default_factory=dict)
    telling: list[dict[str, Any]] = Field(default_factory=list)
    error: str = ""
    _folder: Path | None = PrivateAttr(default=None)
    _kept_alive: object = PrivateAttr(default=None)  # a temporary folder lives as long as its run

    @field_validator("answers")
    @classmethod
    def _are_tables(cls, answers: dict[str, Any]) -> dict[str, Any]:
        for table in answers.values():
            AnswerTable.model_validate(table)
        return answers

    @property
    def folder(self) -> Path | None:
        """Where run.json, samples and report lie."""
        return self._folder

    def lies_in(self, folder: Path, *, kept_alive: object = None) -> Run:
        """The run itself, told where its folder is."""
        self._folder = folder
        self._kept_alive = kept_alive
        return self

    def check_done(self) -> None:
        """Raise where the audit failed or was stopped, with the command that resumes it."""
        if self.status == "done":
            return
        what = "failed" if self.status == "failed" else "is not finished"
        if self.error:
            what += f" ({visible(self.error)})"
        where = "" if self.folder is None else f"; resume it: disorder audit --resume {self.folder}"
        raise DisorderError(f"{self.folder or 'this run'} {what}{where}")

    @property
    def full_task(self) -> Task:
        """The task of the data with its labels and language; `task` is only its name."""
        if self.breaks is None:
            raise BadData(
                f"{self.folder or 'this run'} was made by an older version, which did not store "
                "the task; audit it again"
            )
        return Task(
            self.task,
            tuple(self.labels),
            self.breaks,
            self.reject_label,
            self.default_label,
            self.language,
            self.is_likelihood,
        )

    def usual_words(self, transformation: str) -> str:
        """The splitter that a transformation used in this run; `simple` in runs of older versions,
        which did not store it.
        """
        return self.splitters.get(transformation, "simple")

    @property
    def main_score(self) -> str:
        """The score that is drawn for every transformation."""
        if self.is_likelihood:
            return "order_rank"
        return "spearman" if self.chance is None else "accuracy"

    @property
    def groups(self) -> list[str]:
        """The groups that scores were split by."""
        return list(dict.fromkeys(record.group for record in self.scores if record.group != "all"))

    def score(self, transformation: str, metric: str, group: str = "all") -> Record | None:
        """The record with this name, if it was measured."""
        wanted = (transformation, metric, group)
        return next(
            (r for r in self.scores if (r.transformation, r.metric, r.group) == wanted), None
        )

    def __getitem__(self, key: tuple[str, str] | tuple[str, str, str]) -> Record:
        """`run["derange", "p_c"]`, or with a group `run["derange", "p_c", "needs=order"]`."""
        is_names = isinstance(key, tuple) and all(isinstance(name, str) for name in key)
        if not is_names or len(key) not in (2, 3):
            raise DisorderError('write run["derange", "p_c"], or with a group as third')
        transformation, metric = key[0], key[1]
        group = key[2] if len(key) == 3 else "all"
        found = self.score(transformation, metric, group)
        if found is None:
            raise self._missing(transformation, metric, group)
        return found

    def _missing(self, transformation: str, metric: str, group: str) -> DisorderError:
        """Why there is no such score."""
        for gone in self.omitted:
            if (gone.transformation, gone.metric, gone.group) == (transformation, metric, group):
                return DisorderError(f"{transformation} {metric} was not measured: {gone.reason}")
        for kind, name, known in (
            ("transformation of this run", transformation, ["original", *self.transformations]),
            ("metric of this run", metric, dict.fromkeys(r.metric for r in self.scores)),
            ("group of this run", group, ["all", *self.groups]),
        ):
            if name not in known:
                return UnknownName(kind, name, known)
        return DisorderError(f"{metric} was not measured under {transformation} in {group}")

    def to_frame(self) -> Any:
        """The scores as a pandas (or polars) data frame."""
        return data_frame([asdict(record) for record in self.scores])

    def samples(self) -> pa.Table:
        """One row per variant: example, transformation, variant, side, positions, label,
        probabilities.
        """
        if self.folder is None:
            raise DisorderError("this run was not read from a folder, so that it has no samples")
        return SampleParts.open(self.folder, to_write=False, of=self.binding).table()

    @property
    def binding(self) -> str:
        """A hash of all that decides the predictions; sample parts carry it."""
        return binding(self)

    def save(self, folder: str | Path) -> Path:
        """Copy the run folder to `folder`, on disk or at an address; gives its path."""
        from disorder.report.page import write_report

        target = place(folder)
        if self.folder is None or not self.folder.exists():
            raise DisorderError("the folder of this run is not there, so that it cannot be copied")
        if target.exists():
            raise DisorderError(f"{target} is there already; choose another folder")
        copy_folder(self.folder, target)
        write_report(target, self)
        return target

    def plot(self, name: str = "forest", transformation: str = "") -> Picture:
        """A picture of the report, as an object that a notebook displays."""
        from disorder.report.display import run_picture

        return run_picture(self, name, transformation)

    def _repr_html_(self) -> str:
        from disorder.report.display import run_html

        return run_html(self)

    def __repr__(self) -> str:
        head = f"Run({self.model} on {self.data}, {self.n_examples:,} examples, {self.status})"
        return "\n".join([head, *self.verdict.splitlines()])

    __str__ = __repr__


def make_folder(folder: Path) -> None:
    """Make the folder of a run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DisorderError(f"--out {folder} cannot be made ({error.strerror or error})") from None


def new_run(
    model: str,
    data: str,
    dataset: Dataset,
    transformations: Sequence[str],
    settings: Mapping[str, Any],
    seed: int,
) -> Run:
    """A run that has just begun."""
    task = dataset.task
    labels = Counter(example.label for example in dataset.examples)
    return Run(
        model=model,
        data=data,
        task=task.name,
        labels=list(task.labels),
        breaks=task.breaks,
        reject_label=task.reject_label,
        default_label=task.default_label,
        language=task.language,
        is_likelihood=task.is_likelihood,
        chance=None if task.is_regression else task.chance,
        majority=labels.most_common(1)[0][1] / len(dataset.examples),
        transformations=list(transformations),
        settings=dict(settings),
        seed=seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        n_examples=len(dataset.examples),
        n_available=len(dataset.examples) + sum(dataset.skipped.values()),
        versions={name: version(name) for name in PACKAGES} | {"python": platform.python_version()},
        git=_git(),
        skips={"data": dict(dataset.skipped)},
    )


def _git() -> str | None:
    """The commit of the folder the user works in, if it is a repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def write_run(folder: Path, run: Run) -> None:
    """Write run.json in one step."""
    text = json.dumps(run.model_dump(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(folder / "run.json", text.encode("utf-8", "backslashreplace"))


def read_run(folder: str | Path) -> Run:
    """The run in a folder, on disk or at an address like s3://bucket/run."""
    is_path = hasattr(folder, "joinpath")  # shared storage has paths of its own class
    if not isinstance(folder, str) and not is_path:
        raise BadData(f"a run is read from a folder, not from {type(folder).__name__}")
    where = place(folder)
    path = where / "run.json"
    try:
        raw = read_json(path)
    except FileNotFoundError:
        raise BadData(f"{folder} is no run folder: it has no run.json") from None
    if not isinstance(raw, dict):
        raise BadData(f"{path} is damaged: it holds no object")
    found = raw.get("schema_version")
    if found != SCHEMA_VERSION:
        told = one_line(found)[:MAX_REASON]
        raise BadData(f"{path}: schema version {told}; this disorder reads {SCHEMA_VERSION}")
    run: Run = validated(Run, raw, str(path))
    check_run(run, str(path))
    return run.lies_in(where)


def write_examples(folder: Path, examples: Sequence[Example]) -> None:
    """Write the examples of a run, so that its texts can be rebuilt from positions anywhere."""
    table = pa.table(
        {
            "id": [storable(e.id) for e in examples],
            "text_a": [storable(e.text_a) for e in examples],
            "text_b": pa.array(
                [None if e.text_b is None else storable(e.text_b) for e in examples], pa.string()
            ),
            "label": [e.label for e in examples],
            "groups": pa.array(
                [list(e.groups.items()) for e in examples], pa.map_(pa.string(), pa.string())
            ),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_atomically(folder / "examples.parquet", sink.getvalue().to_pybytes())


def read_examples(folder: Path) -> list[Example]:
    """The examples of a run, in the order in which they were used."""
    try:
        table = read_parquet(folder / "examples.parquet", schema=EXAMPLES)
    except (FileNotFoundError, BadData) as error:
        why = "it is missing" if isinstance(error, FileNotFoundError) else error
        raise BadData(f"{folder}/examples.parquet: {why}; audit it again") from None
    rows = table.to_pylist()
    if any(row["id"] is None or row["text_a"] is None or row["label"] is None for row in rows):
        raise BadData(f"{folder}/examples.parquet: an id, a text or a label is missing")
    return [
        Example(row["id"], row["text_a"], row["text_b"], row["label"], dict(row["groups"] or ()))
        for row in rows
    ]
