"""Names of models and data: in the rows of a table, in messages, and as names of folders."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disorder.papers.training import FinishedDesigns
from disorder.results.run import Run
from disorder.results.writing import short_name as without_folders
from disorder.verbs.train import folder_name


@dataclass(frozen=True)
class GivenRun:
    """The folder of a finished audit, given in place of a model and its data."""

    folder: Path
    run: Run

    @property
    def data(self) -> str:
        """The data it is about."""
        return self.run.data

    @property
    def limit(self) -> int | None:
        """How many examples were tested at most."""
        limit = self.run.settings.get("limit")
        return int(limit) if limit else None


@dataclass(frozen=True)
class GivenDesigns:
    """The folder of finished designs, given in place of a model, its training and its test data."""

    designs: FinishedDesigns

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.designs.folder

    @property
    def data(self) -> str:
        """The data that models were tested on."""
        return self.designs.about.test

    @property
    def limit(self) -> int | None:
        """How many examples were tested at most."""
        return self.designs.about.test_limit


Given = GivenRun | GivenDesigns  # what was finished before, and is shown again


@dataclass(frozen=True)
class NamedRows:
    """Data given as rows, and the name it has in the table."""

    name: str
    given: Any


@dataclass(frozen=True)
class OneLanguage(NamedRows):
    """The rows of one language, which the study has read itself; `source` names all of them."""

    source: str


def title_of(given: Any) -> str:
    """What a model or data is called in the table."""
    match given:
        case str():
            return given
        case GivenRun(run=run):
            return run.model
        case GivenDesigns(designs=designs):
            return designs.about.model
        case NamedRows(name=name):
            return name
    return str(getattr(given, "__name__", type(given).__name__))


def raw_data(data: Any) -> Any:
    """Data as the user gave it."""
    return data.given if isinstance(data, NamedRows) else data


def recorded_name(given: Any) -> str:
    """How result.json records a model or data: what was finished before as its folder."""
    return str(given.folder) if isinstance(given, Given) else title_of(given)


def short_name(given: Any) -> str:
    """The name of a model or data without the folders before its last part."""
    return without_folders(title_of(given))


def hashed_folder_name(*given: Any) -> str:
    """A folder name that says what is in it, and differs wherever a spec differs.

    >>> hashed_folder_name("hf:models/minilm", "mnli:matched")
    'hf-minilm--mnli-matched--c586ba'
    """
    words = [folder_name(short_name(each)).strip("-") for each in given]
    whole = "\0".join(title_of(each) for each in given).encode("utf-8", "surrogatepass")
    return "--".join([*words, blake2b(whole, digest_size=3).hexdigest()])
