"""Tables of languages: audits with a row for every language of every set of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from disorder.data import read_by_language
from disorder.languages import AUTO
from disorder.papers.study.auditing import StudiedRun
from disorder.papers.study.naming import OneLanguage, raw_data, title_of
from disorder.papers.study.pipeline import Reach
from disorder.papers.study.pipelines.audit_table import AuditTable
from disorder.papers.study.result import StepResult
from disorder.papers.study.workbench import Workbench
from disorder.types import Dataset


@dataclass(frozen=True)
class LanguageTable(AuditTable):
    """Audit every model on every language of every set of data.

    Rows with a column `language` are sorted by it, and the words of each language found by its own
    rules; other data has the language that it declares, or that is found in it.
    """

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"{super().does}, one language at a time"

    @property
    def reach(self) -> Sequence[Reach]:
        """Its columns, for any language."""
        return [replace(each, rows={**each.rows, "language": None}) for each in super().reach]

    def step_names(self, bench: Workbench) -> Sequence[str]:
        """What each step is called: a model, and data in one language."""
        return super().step_names(by_language(bench))

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per run."""
        return super().__call__(by_language(bench))

    def about(self, each: StudiedRun) -> dict[str, str]:
        """What its rows say: model, data and language."""
        return {**each.about, "language": each.run.language}


def by_language(bench: Workbench) -> Workbench:
    """The same with a set of data for every language, where rows say which they are in."""
    return replace(bench, data=[part for data in bench.data for part in _languages(bench, data)])


def _languages(bench: Workbench, data: Any) -> Sequence[Any]:
    """The languages of some data; the data itself where its rows do not say, or the user does."""
    settings = bench.settings
    if settings.language != AUTO or isinstance(raw_data(data), Dataset):
        return [data]
    key = f"{title_of(data)} by language"
    if key not in bench.sources:
        bench.sources[key] = read_by_language(
            raw_data(data),
            columns=settings.columns,
            data_dir=settings.data_dir,
            task=settings.task,
        )
    found = bench.sources[key].items()
    name = bench.name_of(data)
    return [OneLanguage(f"{name}, {code}", part, name) for code, part in found] or [data]
