"""The examples that the settings of a run choose from its data, with what it takes to score them:
how open answers are matched, which documents are ranked for a query, and what a guess scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from disorder.data import select, turn_of
from disorder.data.families import named_families
from disorder.errors import BadData, BadSetting, DisorderError, MissingPackage, UnknownName, option
from disorder.metrics.answer_match import MATCHES
from disorder.metrics.ranking_scores import RankingScore
from disorder.models import Similarity
from disorder.models.answering import GOLD, Match
from disorder.models.embed import embedder_in
from disorder.models.prompting.choosing import template_variables
from disorder.models.python import object_named
from disorder.requests.settings import Settings
from disorder.transformations import parse
from disorder.transformations.words import NATURAL
from disorder.types import Dataset, Example, Floats, Task, listed_segment
from disorder.types.corpus import Corpus

USUAL_SCORE = "ndcg@10"
N_CANDIDATES = 20
NOT_RANKED = "the document that is perturbed is not among the candidates"
FORM = "bm25:20 or embed:FOLDER:20"


def ranking_score(settings: Settings) -> RankingScore:
    """How a ranking is scored."""
    return RankingScore.named(settings.match or USUAL_SCORE)


def perturbed_segments(settings: Settings) -> list[str]:
    """The segments that `--on` and transformations name."""
    named = [] if settings.break_ == "text" else settings.break_.split(",")
    for spec in settings.transformations:
        named += [name for step in parse(spec).steps for name in step.on]
    return named


def with_ranked_documents(dataset: Dataset, settings: Settings) -> Dataset:
    """The dataset with the documents that are ranked for each query, and the score of a random
    order of them.
    """
    corpus = dataset.task.corpus
    assert corpus is not None
    if settings.candidates is not None:
        dataset = _with_candidates(dataset, corpus, settings.candidates)
    if "document" in perturbed_segments(settings):
        dataset = _of_one_document(dataset)
    score = ranking_score(settings)
    examples = [replace(each, guess=_guessed(each, corpus, score)) for each in dataset.examples]
    mean = float(np.mean([each.guess for each in examples]))
    return replace(dataset, examples=examples, task=replace(dataset.task, guess=mean))


def _of_one_document(dataset: Dataset) -> Dataset:
    """The dataset with the document that is perturbed as the only relevant one: others, which stay
    as they are, would be found without it, and so are not ranked.
    """
    examples = []
    for each in dataset.examples:
        segments = dict(each.segments)
        best, *others = listed_segment(segments, "relevant")
        segments |= {"relevant": (best,), "grades": listed_segment(segments, "grades")[:1]}
        if "candidates" in segments:
            candidates = listed_segment(segments, "candidates")
            if best not in candidates:
                continue
            segments["candidates"] = tuple(name for name in candidates if name not in others)
        elif others:
            assert dataset.task.corpus is not None
            segments["aside"] = tuple(name for name in others if name in dataset.task.corpus.place)
        examples.append(replace(each, segments=segments))
    n_out = len(dataset.examples) - len(examples)
    if not examples:
        raise BadData(f"{dataset.name}: no query can be used ({NOT_RANKED})")
    skipped = {**dataset.skipped, **({NOT_RANKED: n_out} if n_out else {})}
    return replace(dataset, examples=examples, skipped=skipped)


def _guessed(example: Example, corpus: Corpus, score: RankingScore) -> float:
    """What a random order of an example's documents scores."""
    grades = np.array([float(each) for each in listed_segment(example.segments, "grades")])
    names = listed_segment(example.segments, "relevant")
    candidates = listed_segment(example.segments, "candidates")
    n = len(candidates) or len(corpus) - len(listed_segment(example.segments, "aside"))
    known = candidates or corpus.place
    return score.by_chance(grades[[name in known for name in names]], grades, n)


def _with_candidates(dataset: Dataset, corpus: Corpus, spec: str) -> Dataset:
    """The dataset with the documents that another ranking puts first for each query as it is."""
    if any("candidates" in each.segments for each in dataset.examples):
        raise DisorderError(
            f"{option('candidates', spec)}: the rows of {dataset.name} name their own documents"
        )
    by, n = _parsed(spec)
    queries = [str(each.segments["query"]) for each in dataset.examples]
    scores = _by_words(corpus, queries) if by == "bm25" else _by_vectors(by, corpus, queries)
    examples = [
        replace(
            each,
            segments={
                **each.segments,
                "candidates": tuple(sorted(corpus.ids[i] for i in _first(row, n))),
            },
        )
        for each, row in zip(dataset.examples, scores, strict=True)
    ]
    n_found = sum(
        listed_segment(each.segments, "relevant")[0] in listed_segment(each.segments, "candidates")
        for each in examples
    )
    note = (
        f"{n:,} candidates of each query by {by}; for {n_found:,} of {len(examples):,} queries the "
        "most relevant document is among them"
    )
    return replace(dataset, examples=examples, notes=[*dataset.notes, note])


def _first(scores: Floats, n: int) -> list[int]:
    """The places of the n largest scores; of equal ones at the border the first."""
    if n >= len(scores):
        return list(range(len(scores)))
    least = scores[np.argpartition(-scores, n - 1)[n - 1]]
    above = np.flatnonzero(scores > least)
    return [*above.tolist(), *np.flatnonzero(scores == least)[: n - len(above)].tolist()]


def _parsed(spec: str) -> tuple[str, int]:
    """What ranks first, and how many documents it gives."""
    by, _, n = spec.rpartition(":")
    if not n.isdecimal():
        by, n = spec, str(N_CANDIDATES)
    is_embedder = by.startswith("embed:") and by != "embed:"
    if not (by == "bm25" or is_embedder) or not int(n):
        raise BadSetting(option("candidates"), candidates=spec, need=FORM)
    return by, int(n)


def _by_words(corpus: Corpus, queries: Sequence[str]) -> Iterator[Floats]:
    """The scores of all documents for each query in turn by BM25."""
    try:
        import bm25s
    except ImportError as error:
        raise MissingPackage(option("candidates", "bm25"), "bm25s", "rank") from error
    cut = partial(bm25s.tokenize, stopwords=None, show_progress=False)
    index = bm25s.BM25()
    index.index(cut(list(corpus.texts)), show_progress=False)
    tokens = cut(list(queries), return_ids=False)
    for own in tokens:
        yield index.get_scores(own) if own else np.zeros(len(corpus))


def _by_vectors(spec: str, corpus: Corpus, queries: Sequence[str]) -> Iterator[Floats]:
    """The same by the cosines of an embedder."""
    model = Similarity(embedder_in(spec.removeprefix("embed:")), Task("candidates"))
    documents = model.vectors(corpus.texts).T
    for vector in model.vectors(queries):
        yield vector @ documents


USUAL_MATCH = "f1"
SHIFTS = (1, 2, 3)  # to the questions whose answers are tried


def match_of(settings: Settings) -> Match:
    """How an open answer is scored: by name, or by a function of the user's."""
    name = settings.match or USUAL_MATCH
    if name in MATCHES:
        return MATCHES[name]
    if ":" not in name:
        raise UnknownName("match", name, [*MATCHES, "FILE.py:FUNCTION"])
    found: Match = object_named(name.removeprefix("python:"))
    return found


def guessed_score(examples: Sequence[Example], match: Match) -> float:
    """What the answers to other questions score: the chance of open answers."""
    gold = [listed_segment(each.segments, GOLD) for each in examples]
    n = len(gold)
    scores = [
        match(gold[(i + shift) % n][0], gold[i]) for i in range(n) for shift in SHIFTS if shift % n
    ]
    return sum(scores) / len(scores) if scores else 0.0


def wanted_columns(settings: Settings) -> list[str]:
    """Columns of the data that prompts, `--on` and transformations name."""
    named = perturbed_segments(settings)
    for prompt in settings.prompt:
        named += sorted(template_variables(prompt))
    return list(dict.fromkeys(named))


def selected_data(data: Any, settings: Settings, *, needs_gold: bool = True) -> Dataset:
    """The dataset that a verb works on; where a run may stop early, in random order, in a natural
    run family by family.
    """
    found = select(
        data,
        columns=settings.columns,
        data_dir=settings.data_dir,
        task=settings.task,
        language=settings.language,
        group_by=settings.group_by,
        family=settings.family,
        limit=settings.limit,
        seed=settings.seed,
        is_shuffled=settings.may_stop,
        needs_gold=needs_gold,
        wanted=wanted_columns(settings),
    )
    if found.task.kind == "ranking":
        found = with_ranked_documents(found, settings)
    elif settings.candidates is not None:
        raise DisorderError(
            f"{option('candidates', settings.candidates)} is for queries with documents; "
            f"{found.name} has none"
        )
    elif found.task.is_graded:
        guess = guessed_score(found.examples, match_of(settings))
        found = replace(found, task=replace(found.task, guess=guess))
    if not settings.may_stop or settings.fidelity != NATURAL:
        return found
    return in_turn(named_families(found), settings.seed)


OTHER_FORMS = {
    "choice": "questions with options of their own",
    "pair": "pairs of a better and a worse text",
    "text": "questions with open answers",
    "ranking": "queries with documents",
}


def check_has_labels(dataset: Dataset, verb: str) -> None:
    """Raise where a verb is about labels that all examples share, and the data has none."""
    form = OTHER_FORMS.get(dataset.task.kind)
    if form is not None:
        raise DisorderError(
            f"disorder {verb} is about texts with labels or numbers, and {dataset.name} has "
            f"{form}: use disorder audit, compare, gate and view for these"
        )


def in_turn(dataset: Dataset, seed: int) -> Dataset:
    """Examples with named families in an order that follows from seed and id alone, family by
    family: any first part of them is a random one, and the same for every model.
    """
    shuffled = sorted(dataset.examples, key=lambda example: turn_of(example, seed))
    turn: dict[str, int] = {}
    for example in shuffled:
        turn.setdefault(example.family, len(turn))
    shuffled.sort(key=lambda example: turn[example.family])
    return replace(dataset, examples=shuffled)
