"""Finished designs on disk: what `designs` found, and what it was asked for, so that a study can
show them without training again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from disorder.safe_io import read_json, validated
from disorder.store.storage import write_atomically
from disorder.types import Score

FOUND = "designs.json"
ABOUT = "request.json"


@dataclass(frozen=True)
class Design:
    """One design: what models were trained and tested on, the mean accuracy over seeds, and Δ; and
    both by seed.

    All models of a seed are trained on the same examples for as many updates; `n_unperturbed` of
    the examples stayed as they were, since the transformation does not apply to them.
    """

    name: str
    trained_on: str
    tested_on: str
    accuracy: Score
    delta: Score | None  # None for plain on plain
    accuracy_by_seed: tuple[float, ...]
    delta_by_seed: tuple[float, ...] | None
    n_examples: tuple[int, ...] = ()  # to train on, by seed
    n_unperturbed: tuple[int, ...] = ()
    n_updates: tuple[int, ...] = ()


@dataclass(frozen=True)
class DesignsRequest:
    """What designs were made of: the model, data to train and to test on, how much, and seeds."""

    model: str
    train: str
    test: str
    limit: int | None
    test_limit: int | None
    seeds: tuple[int, ...]
    settings: dict[str, str]


@dataclass(frozen=True)
class FinishedDesigns:
    """The designs in a folder."""

    folder: Path
    about: DesignsRequest
    found: tuple[Design, ...]

    @staticmethod
    def are_in(folder: Path) -> bool:
        """Whether a folder holds finished designs."""
        return (folder / FOUND).is_file() and (folder / ABOUT).is_file()

    @classmethod
    def open(cls, folder: Path) -> FinishedDesigns:
        """Those of a folder."""
        about = validated(DesignsRequest, read_json(folder / ABOUT), str(folder / ABOUT))
        found = validated(tuple[Design, ...], read_json(folder / FOUND), str(folder / FOUND))
        return cls(folder, about, found)


def write_designs(folder: Path, about: DesignsRequest, found: Sequence[Design]) -> None:
    """Leave designs in a folder, as the command and `FinishedDesigns` read them."""
    results = json.dumps([asdict(each) for each in found], indent=1) + "\n"
    write_atomically(folder / FOUND, results.encode())
    write_atomically(folder / ABOUT, (json.dumps(asdict(about), indent=1) + "\n").encode())
