"""What is an item? One table or figure of a paper, declared: what it needs, and the pipeline that
makes it again.

Every file of this folder whose name has no underscore is a paper, with its items in `ITEMS`.
"""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

from disorder.errors import DisorderError
from disorder.types import Fidelity
from disorder.verbs.study.published_numbers import Section, published
from disorder.verbs.study.result import Portion
from disorder.verbs.study.workbench import Bench

PAPERS = ("unli", "ooo", "ws", "ndsc")


class Pipeline(Protocol):
    """How an item is made: a small declaration that can be called; it hands on what it finds step
    by step.
    """

    @property
    def kind(self) -> str:
        """What kind of item it makes, in a word or two."""

    @property
    def needs_model(self) -> bool:
        """Whether a model is asked or trained."""

    @property
    def trains(self) -> bool:
        """Whether the model is trained on the way."""

    @property
    def q(self) -> int | None:
        """How many permutations the paper draws, where that matters."""

    @property
    def units(self) -> Mapping[str, str]:
        """How columns that the paper has no numbers for are shown, where they are no shares."""

    @property
    def does(self) -> str:
        """What it does, in one line."""

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """Make the item."""


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper.

    `models` are the paper's own (spec → its name in the published table), `data` and `train` its
    data. `shows` says what it shows where the published numbers have no title for it. `section`
    names the published numbers that stand beside ours, if not its own. `subject` is the model that
    they are about where their rows do not say; `unlike` says why no row of ours is the same as
    theirs, where that is so. `fidelity` is whose definitions it is made by unless the user says
    otherwise, `by_code` what was printed as the released code has it (column or `key=value` of a
    row → what the code does), `takes` a class of time on a CPU, `commands` what people are to type.
    """

    name: str
    pipeline: Pipeline
    models: Mapping[str, str] = field(default_factory=dict)
    data: Sequence[str] = ()
    train: str | None = None
    extras: Sequence[str] = ()
    takes: str = "minutes"
    shows: str = ""
    section: str = ""
    subject: str = ""
    unlike: str = ""
    fidelity: Fidelity = "paper"
    by_code: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()

    @property
    def paper(self) -> str:
        """The paper's short name."""
        return self.name.partition("/")[0]

    @property
    def own(self) -> Section:
        """What the paper prints in this very item."""
        return published(self.paper).get(self.name.partition("/")[2], Section())

    @property
    def published(self) -> Section:
        """The printed numbers that stand beside ours."""
        return published(self.paper).get(self.section, Section()) if self.section else self.own

    @property
    def title(self) -> str:
        """What it shows, in one line."""
        return self.shows or self.own.title


@lru_cache
def items() -> dict[str, Item]:
    """All items of all papers by name, in the order of the papers."""
    found: list[Item] = []
    for info in pkgutil.iter_modules([str(Path(__file__).parent / "items")]):
        found += import_module(f"disorder.verbs.study.items.{info.name}").ITEMS
    known = {item.name: item for item in found}
    return dict(
        sorted(
            known.items(),
            key=lambda pair: (
                PAPERS.index(pair[1].paper) if pair[1].paper in PAPERS else len(PAPERS)
            ),
        )
    )


def item(name: str) -> Item:
    """The item of that name, or an error with the nearest ones."""
    known = items()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}?" if close else "see disorder study --list"
    raise DisorderError(f"unknown item {name!r}; {hint}")
