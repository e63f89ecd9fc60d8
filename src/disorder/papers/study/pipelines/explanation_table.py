"""Figures drawn by an explanation, one per model and set of data, with its scores as cells; and
tables read from explanations: attention heads and important words, as in Out of Order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import DisorderError, MissingData, option
from disorder.metrics import share
from disorder.papers.study.part_settings import with_settings
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.result import StepResult, StudyCell
from disorder.papers.study.verbs_used import explain_in_folder, pictures_of
from disorder.papers.study.workbench import GivenRun, Workbench, short_name, title_of
from disorder.results.result import Table
from disorder.specs import split_spec
from disorder.types import Score
from disorder.verbs.explain import LIMITS, RANDOM, WITHOUT, Explained

# what a score's row is about beside model and data, and its column
CellPlace = tuple[Mapping[str, str], str]


def by_overlap(name: str) -> CellPlace | None:
    """A range of BLEU-2 as what the row is about.

    >>> by_overlap("bleu2_0.00-0.15")
    ({'bleu2': '0-0.15'}, 'acceptance')
    """
    if not name.startswith("bleu2_"):
        return None
    low, high = name.removeprefix("bleu2_").split("-")
    return {"bleu2": f"{float(low):g}-{float(high):g}"}, "acceptance"


def at_thresholds(name: str) -> CellPlace:
    """Ω_0 is Ω_max."""
    return {}, {"omega@0": "omega_max"}.get(name, name)


def highest_overlap(name: str) -> CellPlace:
    """The highest BLEU of plain permutations, as what the text states about them."""
    if name.startswith("most_"):
        return {"transformation": "derange"}, name.removeprefix("most_")
    return {}, name


def by_word(name: str) -> CellPlace:
    """The score of one word, with the settings of Figure 7."""
    word = name.removeprefix("score of the word ")
    return ({"word": word, "k": "4", "r": "2"}, "minitree") if word != name else ({}, name)


def without_word(name: str) -> CellPlace | None:
    """All scores but that of the one word that is drawn."""
    return None if name.startswith("score of the word ") else ({}, name)


def by_length(name: str) -> CellPlace:
    """The first prediction and the length of examples, as what the row is about.

    >>> by_length("first predicted right, 10–17 words")
    ({'first predicted': 'right', 'words': '10–17'}, 'acceptance')
    """
    first, comma, words = name.removeprefix("first predicted ").partition(", ")
    if not comma:
        return {}, name
    return {"first predicted": first, "words": words.removesuffix(" words")}, "acceptance"


def by_side(name: str) -> CellPlace:
    """Which texts were perturbed, as what the row is about."""
    score, _, perturbed = name.partition(", ")
    return {"perturbed": perturbed}, {"Ω_max": "omega_max"}.get(score, "acceptance")


@dataclass(frozen=True)
class ExplanationFigure(Pipeline):
    """Explain every model on every set of data; `place` says which row and column a score fills,
    `reaches` which it can, `learns` that there must be training data.
    """

    by: str
    transformation: str = "derange"
    place: Callable[[str], CellPlace | None] = lambda name: ({}, name)  # in its own column
    q: int | None = 100
    reaches: Sequence[Reach] = ()
    learns: bool = False

    kind = "explanation"
    takes_runs = True
    by_draws = ("stable",)

    says = (
        "explain each model on each set of data by {self.by}, texts perturbed by "
        "{self.transformation}"
    )

    @property
    def needs_training_data(self) -> bool:  # type: ignore[override]
        """Whether the explanation learns from training data."""
        return self.learns

    @property
    def explains(self) -> Sequence[str]:
        """The explanations that it runs."""
        return (self.by,)

    @property
    def reach(self) -> Sequence[Reach]:
        """The cells that the scores can fill."""
        return self.reaches

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model and set of data."""
        if self.learns and bench.train is None:
            raise DisorderError(
                f"what is usual is learned from training data: say {option('train', 'DATA')}"
            )
        for model, data in bench.pairs():
            compute = partial(self.explained, bench, model, data)
            limit = bench.settings.limit
            if isinstance(model, GivenRun):
                made_of = {"run": json.dumps(model.run.hashes, sort_keys=True)}
            else:
                made_of = bench.made_of(model=model, data=data, limit=limit)
            yield bench.once(compute, model, data, made_of=made_of)

    def explained(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        """What the explanation finds for one model and set of data."""
        train = bench.name_of(bench.train) if self.learns else None
        found, folder = explain_in_folder(
            bench,
            model,
            data,
            [bench.spec_of(self.by, train=train)],
            q=bench.q(self.q),
            transformation=bench.spec_of(self.transformation),
        )
        about = {"model": title_of(model), "data": bench.name_of(data)}
        what = f"{short_name(model)} on {short_name(data)}"
        result = StepResult(pictures=pictures_of(found, what))
        for section in found.sections:
            if section.found is not None:
                result.cells += self.cells(section.found, about)
                lines = [section.found.finding, *section.found.notes]
                result.notes += [f"{what}: {line}" for line in lines]
            result.links.append(bench.link(f"{section.name}: {what}", folder / "explain.html"))
        return result

    def cells(self, found: Explained, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The cells that the scores fill."""
        for name, score in found.scores.items():
            place = self.place(name)
            if place is not None:
                more, column = place
                yield StudyCell.of({**about, **more}, column, score)


SAMPLES = {
    "positives": "positives where heads match",
    "random": "random positives",
    "both": "random positives and negatives",
    "dev-r": "all of dev-r",
}
HEADS = {WITHOUT: "matching", RANDOM: "random"}
GROUPS = {"shuffled": "dev-s", "original": "dev-s and dev-r"}
LEXICONS = {"Opinion Lexicon": "opinion_lexicon/words", "SentiWords": "sentiwords/v1.1"}
SUFFIXES = (".jsonl.gz", ".jsonl", ".csv", ".tsv")
POLARITY = (
    "examples",
    "positive",
    "negative",
    "not_found",
    "not_found_share",
    "found",
    "found_share",
    "positive_hits",
    "positive_words",
    "p_positive",
    "negative_hits",
    "negative_words",
    "p_negative",
)
LAST_EARLY = 2  # the layer up to which the paper sums
N_TOP = 3  # heads that it names

# what a row is about beside model and data, its column, and the number
CellValue = tuple[Mapping[str, str], str, Score | int]


def head_ablation(found: Explained) -> Iterator[CellValue]:
    """Table 3: accuracy without the heads that match words, and without as many others."""
    for name, score in found.scores.items():
        sample, _, kind = name.partition(", ")
        if sample not in SAMPLES:
            continue
        if kind in HEADS:
            yield {"sample": SAMPLES[sample], "heads_out": HEADS[kind]}, "accuracy", score
        if kind == WITHOUT:  # all were predicted right with every head in place
            whole = share(np.ones(score.n, dtype=bool))
            yield {"sample": SAMPLES[sample], "heads_out": "none"}, "accuracy", whole


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
        about = {"layer": str(row["layer"]), "heads": row["heads"]}
        yield about, "examples", int(row["examples"])
        yield about, "share", Score(row["value"], row["low"], row["high"], row["n"])
    total = sum(int(row["examples"]) for row in rows)
    if not rows:
        return
    yield {"layer": "all", "heads": "all"}, "examples", total
    yield {"layer": "all", "heads": "all"}, "share", _of(total, total)
    early = sum(int(row["examples"]) for row in rows if row["layer"] <= LAST_EARLY)
    upto = f"0 to {LAST_EARLY}"
    yield {"layer": upto, "heads": f"layers {upto}"}, "share", _of(early, total)
    winners = [row for row in _table(found, "heads_winners").rows if row["examples"]]
    top = sorted(winners, key=lambda row: (-row["examples"], row["layer"], row["head"]))[:N_TOP]
    names = sorted((int(row["layer"]), int(row["head"])) for row in top)
    heads = ", ".join(f"({layer}, {head})" for layer, head in names)
    of_top = sum(int(row["examples"]) for row in top)
    yield {"layer": "three heads", "heads": heads}, "share", _of(of_top, total)


def _of(n: int, total: int) -> Score:
    return share(np.arange(total) < n)


def importance_drop(found: Explained) -> Iterator[CellValue]:
    """Section 3.3: how much less words weigh when shuffled, and what survives five shuffles."""
    change = found.scores["change"]
    drop = replace(change, value=-change.value, low=-change.high, high=-change.low)
    yield {}, "importance_drop", drop
    if "survivors" in found.scores:
        yield {}, "stable", found.scores["survivors"]


def word_polarity(found: Explained) -> Iterator[CellValue]:
    """Table A3: whether the polarity of the most important word tells the label; all counts."""
    rows = _table(found, "lime_lexicon").rows
    polarity = np.array([row["polarity"] for row in rows])
    label = np.array([row["label"] for row in rows])
    yield {}, "examples", len(rows)
    is_known = polarity != ""
    for name, claims in (("found", is_known), ("not_found", ~is_known)):
        yield {}, name, int(claims.sum())
        yield {}, f"{name}_share", share(claims)
    for name in ("positive", "negative"):
        yield {}, name, int((label == name).sum())
        words = polarity == name
        hits = (label == name) & words
        yield {}, f"{name}_words", int(words.sum())
        yield {}, f"{name}_hits", int(hits.sum())
        if words.any():
            yield {}, f"p_{name}", share(label[words] == name)


COUNTED = ("examples", "share")
ABLATED = {"sample": tuple(SAMPLES.values()), "heads_out": ("none", *HEADS.values())}
DISTANCES = {"distance_at_most": (*map(str, LIMITS), "any"), "of": tuple(GROUPS.values())}
READS: Mapping[Callable[[Explained], Iterable[CellValue]], Reach] = {
    head_ablation: Reach(("accuracy",), ABLATED),
    tie_distances: Reach(COUNTED, DISTANCES),
    matching_heads: Reach(COUNTED, {"layer": None}),
    importance_drop: Reach(("importance_drop", "stable")),
    word_polarity: Reach(POLARITY, {"dictionary": tuple(LEXICONS)}),
}  # what each reader finds in an explanation


@dataclass(frozen=True)
class ExplanationTable(ExplanationFigure):
    """Explain every model on every set of data; `read` says which cells the findings fill, and its
    declaration in READS which those are.
    """

    read: Callable[[Explained], Iterable[CellValue]] = lambda found: ()  # a picture has no cells
    transformation: str = "shuffle_ngrams:n=1"
    q: int | None = 5

    @property
    def reach(self) -> Sequence[Reach]:
        """The cells that the findings can fill."""
        own = [READS[self.read]] if self.read in READS else []
        return (*own, *self.reaches)

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

    read: Callable[[Explained], Iterable[CellValue]] = word_polarity

    def explained(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        """What is found with each list."""
        what = f"{short_name(model)} on {short_name(data)}"
        result = StepResult()
        by = split_spec(self.by)[0]
        for name, file in _lexicons(bench.settings.data_dir).items():
            found, folder = explain_in_folder(
                bench,
                model,
                data,
                [with_settings(bench.spec_of(self.by), {by: {"lexicon": str(file)}})],
                q=bench.q(self.q),
                transformation=bench.spec_of(self.transformation),
                names=[name],
            )
            about = {"dictionary": name, "model": title_of(model), "data": bench.name_of(data)}
            [section] = found.sections
            result.pictures += pictures_of(found, f"{what}, {name}")
            if section.found is None:
                result.notes.append(f"{what}, {name}: {section.reason}")
            else:
                result.cells += self.cells(section.found, about)
                result.notes.append(f"{what}, {name}: {section.found.finding}")
            result.links.append(bench.link(f"{name}: {what}", folder / "explain.html"))
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
            f"({option('data_dir')} or DISORDER_DATA): {wanted}"
        )
    return found


def _table(found: Explained, name: str) -> Table:
    return next(table for table in found.tables if table.name == name)
