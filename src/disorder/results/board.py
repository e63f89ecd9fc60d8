"""The page of a board: one table that sorts and filters itself, from one self-contained file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib.resources import files
from typing import Any

from disorder.results.conclusion import NAMES, conclusion_rules
from disorder.results.render import render
from disorder.results.result import Cell, Column, Grid, Result
from disorder.results.row_export import data_frame
from disorder.results.run import Record
from disorder.results.writing import meaning_of, short_name, title_of

# conclusions that rank: the others have no skill that could be kept
RANKED = ("reads_order", "mixed", "bag_of_words", "undecided")


@dataclass(frozen=True)
class BoardRow:
    """One run on the board; `first` to `last` is its rank among the models on its data."""

    model: str
    data: str
    kind: str
    verdict: str
    kept: Record | None
    accuracy: Record | None
    transformation: str
    n_examples: int
    started: str
    link: str = ""
    is_newest: bool = True
    first: int | None = None
    last: int | None = None
    n_ranked: int = 0
    scores: Mapping[str, Record | None] = field(default_factory=dict)

    @property
    def is_ranked(self) -> bool:
        """Whether it has skill that could be kept."""
        return self.kept is not None and self.kind in RANKED

    @property
    def rank(self) -> str:
        """Its rank in words: "2", or "2–4" where intervals overlap."""
        if self.first is None or self.last is None:
            return ""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    @property
    def conclusion(self) -> str:
        """What the run says, in a few words."""
        return NAMES.get(self.kind, "not measured")

    @property
    def day(self) -> str:
        """The day it was started."""
        return self.started[:10]


@dataclass(frozen=True)
class Board:
    """Runs side by side; displays itself in a notebook."""

    title: str
    rows: list[BoardRow] = field(repr=False)
    metrics: list[str] = field(default_factory=list)

    def to_frame(self) -> Any:
        """The rows as a pandas (or polars) data frame."""
        return data_frame([_flat(row) for row in self.rows])

    @property
    def result(self) -> Result:
        """The envelope, from which page and terminal are made."""
        n_models = len({row.model for row in self.rows})
        n_data = len(self.datasets)
        return Result(
            verb="board",
            about=self.title,
            headline=f"{_counted(len(self.rows), 'run')} of {_counted(n_models, 'model')} on "
            f"{_counted(n_data, 'dataset')}: how much of a model's skill is left when the words "
            "of the text are in another order?",
            request={"title": self.title, "score": self.metrics},
            body=self,
            grids=[self._grid()],
            sections=[conclusion_rules({})],
            template="board.html",
        )

    def _grid(self) -> Grid:
        heads = ("rank", "skill kept", "accuracy", *map(title_of, self.metrics))
        rows = []
        for row in self.rows:
            scores = [row.kept if row.is_ranked else None, row.accuracy]
            scores += [row.scores[name] for name in self.metrics]
            name = f"{short_name(row.model)} on {short_name(row.data)}"
            mark = "" if row.is_newest else "soft"
            rows.append([Cell(name, mark=mark), Cell(row.rank or "–")])
            rows[-1] += [Cell.of(score, "–") for score in scores]
        return Grid([Column("model", "name"), *map(Column, heads)], rows)

    def as_data(self) -> dict[str, Any]:
        """The rows as plain data."""
        return {"title": self.title, "rows": [_flat(row) for row in self.rows]}

    @property
    def datasets(self) -> list[str]:
        """The data of the runs, each once."""
        return sorted({row.data for row in self.rows})

    @property
    def conclusions(self) -> list[str]:
        """What the runs conclude, each once."""
        return list(dict.fromkeys(row.conclusion for row in self.rows))

    @property
    def titles(self) -> dict[str, str]:
        """How its further scores are called."""
        return {name: title_of(name) for name in self.metrics}

    @property
    def meanings(self) -> dict[str, str]:
        """What its further scores say."""
        return {name: meaning_of(name) for name in self.metrics}

    @property
    def script(self) -> str:
        """What sorts and filters the page."""
        return files("disorder.results").joinpath("templates", "board.js").read_text("utf-8")

    @property
    def digest(self) -> str:
        """The only script that the page may run."""
        return b64encode(sha256(f"\n{self.script}".encode()).digest()).decode()

    def _repr_html_(self) -> str:
        return render(self.result, "frame")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _flat(row: BoardRow) -> dict[str, Any]:
    flat = {k: v for k, v in asdict(row).items() if k not in ("kept", "accuracy", "scores")}
    shown = {"skill_kept": row.kept, "accuracy": row.accuracy, **row.scores}
    for name, record in shown.items():
        flat |= {
            name: None if record is None else record.value,
            f"{name}_low": None if record is None else record.low,
            f"{name}_high": None if record is None else record.high,
        }
    return flat
