"""The page of a board: one table that sorts and filters itself, from one self-contained file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib.resources import files
from typing import Any

from disorder.results.conclusion import NAMES, conclusion_rules
from disorder.results.render import framed, template
from disorder.results.row_export import data_frame
from disorder.results.run import Record
from disorder.results.writing import meaning_of, short_name, title_of

# conclusions that rank: the others have no skill that could be kept
RANKED = ("reads_order", "mixed", "bag_of_words", "undecided")
LEFT, RIGHT = -0.25, 1.25  # ends of the axis of skill kept


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

    def _repr_html_(self) -> str:
        return framed(page(self, is_still=True))


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


def page(board: Board, *, is_still: bool = False) -> str:
    """The board as HTML; a still one has no script."""
    script = files("disorder.results").joinpath("templates", "board.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(f"\n{script}".encode()).digest()).decode()
    rendered: str = template("board_page.html", place=place, short=short_name).render(
        board=board,
        rows=board.rows,
        titles={name: title_of(name) for name in board.metrics},
        meanings={name: meaning_of(name) for name in board.metrics},
        n_models=len({row.model for row in board.rows}),
        datasets=sorted({row.data for row in board.rows}),
        conclusions=list(dict.fromkeys(row.conclusion for row in board.rows)),
        script="" if is_still else script,
        digest=digest,
        rules=conclusion_rules({}),
    )
    return rendered


def place(value: float) -> str:
    """Where a share of skill stands on an axis 100 wide."""
    inside = min(max(value, LEFT), RIGHT)
    return f"{100 * (inside - LEFT) / (RIGHT - LEFT):.1f}"
