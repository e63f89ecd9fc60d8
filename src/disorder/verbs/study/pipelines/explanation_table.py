"""Tables read from explanations: attention heads and important words, as in Out of Order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from disorder.errors import MissingData
from disorder.report.exhibits import Row, Table
from disorder.types import Score
from disorder.verbs.explain import RANDOM, WITHOUT, Explained
from disorder.verbs.study.explaining import explain_in_folder, pictures_of
from disorder.verbs.study.naming import short_name, title_of
from disorder.verbs.study.pipelines.explanation_figure import ExplanationFigure
from disorder.verbs.study.result import StepResult, StudyCell
from disorder.verbs.study.workbench import Workbench

SAMPLES = {
    "positives": "positives where heads match",
    "balanced": "random positives and negatives",
    "all": "all of dev-r",
}
HEADS = {WITHOUT: "matching", RANDOM: "random"}
GROUPS = {"shuffled": "dev-s", "original": "dev-s and dev-r"}
LEXICONS = {"Opinion Lexicon": "opinion_lexicon/words", "SentiWords": "sentiwords/v1.1"}
SUFFIXES = (".jsonl.gz", ".jsonl", ".csv", ".tsv")
POLARITY_COLUMNS = {
    "found": "found_share",
    "positive | positive": "p_positive",
    "negative | negative": "p_negative",
}

# what a row is about beside model and data, its column, and the number
CellValue = tuple[Mapping[str, str], str, Score | int]


def head_ablation(found: Explained) -> Iterator[CellValue]:
    """Table 3: accuracy without the heads that match words, and without as many others."""
    for name, score in found.scores.items():
        sample, _, kind = name.partition(", ")
        if kind in HEADS:
            yield {"sample": SAMPLES[sample], "heads_out": HEADS[kind]}, "accuracy", score


def tie_distances(found: Explained) -> Iterator[CellValue]:
    """Table A1: how near to each other the tied words are."""
    rows = _table(found, "heads_distances").rows
    for row in rows:
        limit = str(row["summed distance"]).removeprefix("≤ ").replace("total", "any")
        for name, group in GROUPS.items():
            about = {"distance_at_most": limit, "of": group}
            yield about, "examples", int(row[name])
            share = row[f"{name} share"]
            if share is not None:
                total = int(rows[-1][name])
                score = Score(share, row[f"{name} low"], row[f"{name} high"], total)
                yield about, "share", score


def matching_heads(found: Explained) -> Iterator[CellValue]:
    """Figure A1: which heads tie similar words together, layer by layer."""
    rows = [row for row in _table(found, "heads_layers").rows if row["examples"]]
    for row in rows:
        yield {"heads": row["heads"]}, "examples", int(row["examples"])
        yield {"heads": row["heads"]}, "share", _score(row)
    if rows:
        yield {"heads": "all"}, "examples", sum(int(row["examples"]) for row in rows)


def importance_drop(found: Explained) -> Iterator[CellValue]:
    """Section 3.3: how much less words weigh when shuffled, and how many predictions survive five
    shuffles.
    """
    change = found.scores["change"]
    drop = replace(change, value=-change.value, low=-change.high, high=-change.low)
    yield {}, "importance_drop", drop
    if "survivors" in found.scores:
        yield {}, "stable", found.scores["survivors"]


def word_polarity(found: Explained) -> Iterator[CellValue]:
    """Table A3: whether the polarity of the most important word tells the label."""
    for name, score in found.scores.items():
        if name in POLARITY_COLUMNS:
            yield {}, POLARITY_COLUMNS[name], score


def pictures_only(found: Explained) -> Iterator[CellValue]:
    """No cells: the item is a picture."""
    yield from ()


@dataclass(frozen=True)
class ExplanationTable(ExplanationFigure):
    """Explain every model on every set of data; `read` says which cells the findings fill."""

    read: Callable[[Explained], Iterator[CellValue]] = pictures_only
    transformation: str = "shuffle_ngrams:n=1"
    q: int | None = 5

    def cells(self, found: Explained, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The cells that the findings fill: scores with their intervals, and counts."""
        for more, column, value in self.read(found):
            row = {**about, **more}
            if isinstance(value, Score):
                yield StudyCell.of(row, column, value)
            else:
                yield StudyCell(row=row, column=column, value=value)


@dataclass(frozen=True)
class LexiconTable(ExplanationTable):
    """Look up the most important word in each word list that lies in the data folder."""

    read: Callable[[Explained], Iterator[CellValue]] = word_polarity

    def explained(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        """What is found with each list."""
        lists = _lexicons(bench.settings.data_dir)
        separator = "," if ":" in self.by else ":"
        by = [f"{self.by}{separator}lexicon={file}" for file in lists.values()]
        found, folder = explain_in_folder(
            bench, model, data, by, q=bench.q(self.q), transformation=self.transformation
        )
        what = f"{short_name(model)} on {short_name(data)}"
        result = StepResult(pictures=pictures_of(found, what))
        for name, section in zip(lists, found.sections, strict=True):
            about = {"dictionary": name, "model": title_of(model), "data": bench.name_of(data)}
            if section.found is None:
                result.notes.append(f"{what}, {name}: {section.reason}")
            else:
                result.cells += self.cells(section.found, about)
                result.notes.append(f"{what}, {name}: {section.found.finding}")
        result.links.append(bench.link(f"words: {what}", folder / "explain.html"))
        return result


def _lexicons(data_dir: str | None) -> dict[str, Path]:
    """The word lists with polarity in the data folder, by name."""
    folder = data_dir or os.environ.get("DISORDER_DATA")
    found = {}
    for name, stem in LEXICONS.items():
        paths = [Path(folder) / f"{stem}{suffix}" for suffix in SUFFIXES] if folder else []
        file = next((path for path in paths if path.is_file()), None)
        if file is not None:
            found[name] = file
    if not found:
        wanted = " or ".join(f"{stem}.jsonl" for stem in LEXICONS.values())
        raise MissingData(
            "words with their polarity must lie in the data folder "
            f"(--data-dir or DISORDER_DATA): {wanted}"
        )
    return found


def _table(found: Explained, name: str) -> Table:
    return next(table for table in found.tables if table.name == name)


def _score(row: Row) -> Score:
    return Score(row["value"], row["low"], row["high"], row["n"])
