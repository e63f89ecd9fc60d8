"""The run: all that run.json holds, and what a user does with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from pydantic import (
    BaseModel,
    Field,
    FiniteFloat,
    NonNegativeInt,
    PrivateAttr,
    field_validator,
)
from pydantic.dataclasses import dataclass

from disorder.errors import BadData, DisorderError, UnknownName
from disorder.registry import loaded
from disorder.requests.settings import DECLARED, resume_line
from disorder.results.conclusion import AnswerTable, Conclusion, WordBaseline
from disorder.results.result import Picture
from disorder.results.row_export import data_frame
from disorder.safe_io import visible
from disorder.store.sample_parts import SampleParts
from disorder.store.storage import copy_folder, place
from disorder.types import ORIGINAL, Score, Task

if TYPE_CHECKING:
    from disorder.results.result import Result

SCHEMA_VERSION = 1
NEEDS = "needs="  # begins the groups of data that was made to know whether order decides
ABOUT_NEED = {"may_not_need_order", "order_need_unknown"}  # kinds of caveats
# what writes texts again from positions, which needs transformations: results know their address
EXAMPLE_TABLE = "disorder.verbs.rebuilt_texts:example_table"
WITH_TEXTS = "disorder.verbs.rebuilt_texts:with_texts"
AGAIN = "again"  # stands for the transformation of texts that are predicted again as they are
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


class EarlyStop(BaseModel):
    """A score that was watched until prediction could stop, with the interval that holds then."""

    transformation: str
    metric: str
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    n_examples: NonNegativeInt


class LastLook(EarlyStop):
    """The skill kept at the planned look that ended a run (`--until decided`): `z` is the normal
    point of its interval, `n_planned` how many examples there are.
    """

    z: FiniteFloat
    n_planned: NonNegativeInt


class Run(BaseModel):
    """A finished or unfinished audit: its settings, its scores, and where its folder lies.

    `run.scores` is a list of records, ready for a data frame; `run["derange", "p_c"]` is one of
    them. `run.conclusion` is what they say on word order (None where nothing that keeps the words
    was measured), `run.conclusions` the same by group, `run.verdict` both in words, `run.caveats`
    what a reader of it should know; `print(run)` shows them together. `run.folder` is None where
    nothing was kept on disk. `language_caveats` name tools that do not fit the language of the
    data.
    """

    schema_version: int = SCHEMA_VERSION
    status: Literal["started", "done", "failed"] = "started"
    model: str
    data: str
    task: str
    labels: list[str]
    breaks: Literal["a", "b", "both"] | None = None  # None in runs of older versions
    reject_label: str | None = None
    default_label: str | None = None
    language: str = "en"
    is_likelihood: bool = False
    kind: Literal["labels", "choice", "pair", "text", "ranking"] = "labels"
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
    n_families: int | None = None  # of these examples; None where intervals are over examples
    n_predictions: int = 0
    has_probabilities: bool | None = None  # None in runs of older versions
    profile: dict[str, float] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    prompt: dict[str, Any] = Field(default_factory=dict)  # of a language model
    prompt_spread: list[dict[str, Any]] = Field(default_factory=list)  # scores over several prompts
    stopped: list[LastLook | EarlyStop] = Field(default_factory=list)
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
    noise_floor: list[Record] = Field(default_factory=list)  # of the same texts predicted again
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

    @field_validator("stopped", mode="before")
    @classmethod
    def _is_list(cls, stopped: Any) -> Any:
        """Older versions had one per transformation, by its name."""
        if not isinstance(stopped, dict):
            return stopped
        return [
            {"transformation": spec} | each if isinstance(each, dict) else each
            for spec, each in stopped.items()
        ]

    def stopped_after(self, transformation: str) -> int | None:
        """How many examples were predicted when it could stop; None where it did not."""
        found = (e.n_examples for e in self.stopped if e.transformation == transformation)
        return next(found, None)

    @property
    def title(self) -> str:
        """What the model is called: the name that the user gave it, else its spec."""
        return str(self.settings.get("name") or self.model)

    @property
    def cut_short(self) -> LastLook | None:
        """The look at which the conclusion was decided, where examples were left."""
        looks = (each for each in self.stopped if isinstance(each, LastLook))
        return next((each for each in looks if each.n_examples < each.n_planned), None)

    @property
    def folder(self) -> Path | None:
        """Where run.json, samples and report lie."""
        return self._folder

    def placed_in(self, folder: Path, *, kept_alive: object = None) -> Run:
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
        where = "" if self.folder is None else f"; resume it: {resume_line(self.folder)}"
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
            self.kind,
            self.chance or 0.0 if self.kind in ("text", "ranking") else 0.0,
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

    @property
    def caveats(self) -> list[str]:
        """What a reader of the verdict should know; of a group only what "all" lacks."""
        if self.conclusion is None:
            return []
        general = {caveat.kind for caveat in self.conclusion.caveats}
        lines = [str(caveat) for caveat in self.conclusion.caveats]
        for group, found in self.conclusions.items():
            if group.startswith(NEEDS):
                general |= ABOUT_NEED  # which such a group is made to know
            lines += [f"{group}: {c}" for c in found.caveats if c.kind not in general]
        return lines

    def score(self, transformation: str, metric: str, group: str = "all") -> Record | None:
        """The record with this name, if it was measured."""
        wanted = (transformation, metric, group)
        return next(
            (r for r in self.scores if (r.transformation, r.metric, r.group) == wanted), None
        )

    @property
    def skill_kept(self) -> Score:
        """The skill kept that the conclusion is about, with its interval; raises where there is no
        skill to keep.
        """
        found = self.conclusion
        if found is None or found.value is None or found.low is None or found.high is None:
            why = "nothing was concluded" if found is None else found.because
            raise DisorderError(f"this run has no skill kept: {visible(why)}")
        return Score(found.value, found.low, found.high, found.n)

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
            ("transformation of this run", transformation, [ORIGINAL, *self.transformations]),
            ("metric of this run", metric, dict.fromkeys(r.metric for r in self.scores)),
            ("group of this run", group, ["all", *self.groups]),
        ):
            if name not in known:
                return UnknownName(kind, name, known)
        return DisorderError(f"{metric} was not measured under {transformation} in {group}")

    def to_frame(self) -> Any:
        """The scores as a pandas (or polars) data frame."""
        return data_frame([asdict(record) for record in self.scores])

    @property
    def examples(self) -> pa.Table:
        """One row per example, the most telling first: texts, gold answer, prediction, which share
        of its variants is right under each transformation, and one variant with its prediction.
        """
        found: pa.Table = loaded(EXAMPLE_TABLE)(self)
        return found

    def samples(self, *, texts: bool = False) -> pa.Table:
        """One row per variant: example, transformation, variant, segment, positions, outcome,
        label, probabilities; with `texts` also the texts that the model saw, and the gold label.
        """
        if self.folder is None:
            raise DisorderError("this run was not read from a folder, so that it has no samples")
        parts = SampleParts.open(
            self.folder, to_write=False, of=self.binding, n_labels=len(self.labels)
        )
        found = parts.table()
        return loaded(WITH_TEXTS)(self, found) if texts else found

    @property
    def binding(self) -> str:
        """A hash of all that decides the predictions: model, data, transformations, settings.

        Sample parts carry it, so that those of another run are never taken for one's own.
        """
        settings = {
            name: value
            for name, value in self.settings.items()
            if name not in DECLARED or DECLARED[name].option.changes_predictions
        }
        bound = [self.hashes, self.seed, self.transformations, settings]
        text = json.dumps(bound, sort_keys=True, default=str)
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def save(self, folder: str | Path) -> Path:
        """Copy the run folder to `folder`, on disk or at an address; gives its path."""
        from disorder.results.run_folder import write_report, write_run

        target = place(folder)
        if self.folder is None or not self.folder.exists():
            raise DisorderError("the folder of this run is not there, so that it cannot be copied")
        if target.exists():
            raise DisorderError(f"{target} is there already; choose another folder")
        copy_folder(self.folder, target)
        write_run(target, self)
        write_report(target, self)
        return target

    @property
    def result(self) -> Result:
        """The envelope, from which page, terminal and record are made."""
        from disorder.results.run_result import run_result

        return run_result(self)

    def as_data(self) -> dict[str, Any]:
        """All that the run holds, as plain data."""
        return self.model_dump(exclude={"schema_version"})

    def plot(self, name: str = "forest", transformation: str = "") -> Picture:
        """A picture of the report, as an object that a notebook displays."""
        from disorder.results.run_result import run_figure

        return Picture(run_figure(self, name, transformation).svg)

    def _repr_html_(self) -> str:
        from disorder.results.render import render

        return render(self.result, "frame")

    def __repr__(self) -> str:
        from disorder.results.run_result import said

        head = f"Run({self.title} on {self.data}, {self.n_examples:,} examples, {self.status})"
        return "\n".join([head, *said(self)])

    __str__ = __repr__
