"""What Out of Order found by looking inside: the cells that explanations of heads and of words
fill.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from disorder.errors import MissingData
from disorder.report.exhibits import Row, Table
from disorder.types import Score
from disorder.verbs.explain.head_ablation import RANDOM, WITHOUT
from disorder.verbs.explain.result import Explained as Found
from disorder.verbs.study.pipelines.explanations import Explained
from disorder.verbs.study.result import Cell, Portion
from disorder.verbs.study.workbench import Bench, pictures_of, short, title_of

SAMPLES = {
    "positives": "positives where heads match",
    "balanced": "random positives and negatives",
    "all": "all of dev-r",
}
HEADS = {WITHOUT: "matching", RANDOM: "random"}
GROUPS = {"shuffled": "dev-s", "original": "dev-s and dev-r"}
FIRST = 3  # layers that the paper counts together
LEXICONS = {"Opinion Lexicon": "opinion_lexicon/words", "SentiWords": "sentiwords/v1.1"}
Placed = tuple[Mapping[str, str], str, Score | int]


def ablated(found: Found) -> Iterator[Placed]:
    """Table 3: accuracy without the heads that match words, and without as many others."""
    for name, score in found.scores.items():
        sample, _, kind = name.partition(", ")
        if kind in HEADS:
            yield {"sample": SAMPLES[sample], "heads_out": HEADS[kind]}, "accuracy", score


def distances(found: Found) -> Iterator[Placed]:
    """Table A1: how near the tied words are."""
    for row in _table(found, "heads_distances").rows:
        limit = str(row["summed distance"]).removeprefix("≤ ").replace("total", "any")
        for name, group in GROUPS.items():
            about = {"distance_at_most": limit, "of": group}
            yield about, "examples", int(row[name])
            if row[f"{name} share"] is not None:
                total = int(_table(found, "heads_distances").rows[-1][name])
                yield (
                    about,
                    "share",
                    Score(row[f"{name} share"], row[f"{name} low"], row[f"{name} high"], total),
                )


def layers(found: Found) -> Iterator[Placed]:
    """Figure A1: which heads tie like words together, layer by layer."""
    rows = [row for row in _table(found, "heads_layers").rows if row["examples"]]
    for row in rows:
        yield {"heads": row["heads"]}, "examples", int(row["examples"])
        yield {"heads": row["heads"]}, "share", _score(row)
    if rows:
        yield {"heads": "all"}, "examples", sum(int(row["examples"]) for row in rows)


def weights(found: Found) -> Iterator[Placed]:
    """Section 3.3: how much less words weigh when shuffled, and how many answers outlast five
    shuffles.
    """
    change = found.scores["change"]
    yield (
        {},
        "importance_drop",
        replace(change, value=-change.value, low=-change.high, high=-change.low),
    )
    if "survivors" in found.scores:
        yield {}, "stable", found.scores["survivors"]


def polarity(found: Found) -> Iterator[Placed]:
    """Table A3: whether the polarity of the word that weighs most tells the label."""
    columns = {
        "found": "found_share",
        "positive | positive": "p_positive",
        "negative | negative": "p_negative",
    }
    yield from (
        ({}, columns[name], score) for name, score in found.scores.items() if name in columns
    )


def nothing(found: Found) -> Iterator[Placed]:
    """Only the pictures count."""
    yield from ()


@dataclass(frozen=True)
class Looked(Explained):
    """Explain every model on every set of data; `read` says which cells the findings fill."""

    read: Callable[[Found], Iterator[Placed]] = nothing
    transformation: str = "shuffle_ngrams:n=1"
    q: int | None = 5

    def cells(self, found: Found, about: Mapping[str, str]) -> Iterator[Cell]:
        """The cells that the findings fill: scores with their intervals, and counts."""
        for more, column, value in self.read(found):
            row = {**about, **more}
            yield (
                Cell.of(row, column, value)
                if isinstance(value, Score)
                else Cell(row=row, column=column, value=value)
            )


@dataclass(frozen=True)
class Lexicons(Looked):
    """Look the word that weighs most up in each word list that lies in the data folder."""

    read: Callable[[Found], Iterator[Placed]] = polarity

    def explained(self, bench: Bench, model: Any, data: Any) -> Portion:
        """What is found with each list."""
        lists = {
            name: file
            for name, stem in LEXICONS.items()
            if (file := _file(stem, bench.asked.data_dir))
        }
        if not lists:
            wanted = " or ".join(f"{stem}.jsonl" for stem in LEXICONS.values())
            raise MissingData(
                f"words with their polarity must lie in the data folder (--data-dir or DISORDER_DATA): {wanted}"
            )
        by = [f"{self.by}{',' if ':' in self.by else ':'}lexicon={file}" for file in lists.values()]
        found, folder = bench.explain(
            model, data, by, q=bench.q(self.q), transformation=self.transformation
        )
        what = f"{short(model)} on {short(data)}"
        portion = Portion(pictures=pictures_of(found, what))
        for name, section in zip(lists, found.sections, strict=True):
            about = {"dictionary": name, "model": title_of(model), "data": bench.name_of(data)}
            portion.cells += self.cells(section.found, about) if section.found else ()
            portion.notes.append(
                f"{what}, {name}: {section.found.finding if section.found else section.reason}"
            )
        portion.links.append(bench.link(f"words: {what}", folder / "explain.html"))
        return portion


def _file(stem: str, data_dir: str | None) -> Path | None:
    folder = data_dir or os.environ.get("DISORDER_DATA")
    paths = (
        [Path(folder) / f"{stem}{suffix}" for suffix in (".jsonl.gz", ".jsonl", ".csv", ".tsv")]
        if folder
        else []
    )
    return next((path for path in paths if path.is_file()), None)


def _table(found: Found, name: str) -> Table:
    return next(table for table in found.tables if table.name == name)


def _score(row: Row) -> Score:
    return Score(row["value"], row["low"], row["high"], row["n"])
