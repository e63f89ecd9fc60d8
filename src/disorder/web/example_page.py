"""What the page of one example shows: its perturbed versions, their predictions, and a chart of
where the words go.

The chart is plain SVG with attributes only, since the pages allow no inline style: colours are
classes, and each line carries its word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from disorder.results.run_tables import main_transformation
from disorder.store.sample_parts import example_of
from disorder.types import ORIGINAL, TEXT_NAMES, Example, Segment, Task
from disorder.verbs.rebuilt_texts import PlacedWord, RebuiltVersion, as_perturbed, rebuild
from disorder.web.run_library import FoundRun
from disorder.web.run_page import n_pages
from disorder.web.sample_queries import QueryRow, SampleQueries

PER_PAGE = 20  # perturbed versions on a page
WORDS = 400  # of each version that are shown at first
MOST_WORDS = 4_000  # that are ever shown: a page of more is no use to anyone
LETTERS = 8  # of a word, for texts that are not split into words
SHOWN = {
    "all": "all versions",
    "accepted": "those that get the gold label",
    "rejected": "those that do not",
}


def example_page(
    queries: SampleQueries,
    found: FoundRun,
    row: QueryRow,
    *,
    transformation: str,
    which: str,
    page: int,
    words: int = WORDS,
) -> dict[str, Any]:
    """The values of the page of one example; `row` is its row of the examples."""
    run = found.run
    example = example_of(row)
    choices = [name for name in queries.transformations(found) if name != ORIGINAL]
    spec = _chosen(transformation, main_transformation(run), choices)
    variants = queries.variants(found, example.id, spec) if spec else []
    originals = queries.variants(found, example.id, ORIGINAL)
    which = which if which in SHOWN else "all"
    wanted = [variant for variant in variants if _is_wanted(variant, which, example)]
    pages = n_pages(len(wanted), PER_PAGE)
    page = min(max(1, page), pages)
    shown = wanted[(page - 1) * PER_PAGE : page * PER_PAGE]
    versions: list[RebuiltVersion] = []
    is_exact = True
    if shown:
        versions, is_exact = rebuild(run, spec, example, shown)
    return {
        "found": found,
        "run": run,
        "example": example,
        "segments": _named_segments(example, run.full_task),
        "lists": _lists(as_perturbed(example, shown)),
        "groups": row["groups"] or {},
        "number": row["file_row_number"],
        "original": originals[0] if originals else None,
        "transformation": spec,
        "choices": choices,
        "which": which,
        "kinds": SHOWN,
        "n_all": len(variants),
        "n_accepted": sum(variant["label"] == example.label for variant in variants),
        "versions": list(zip(shown, versions, strict=True)),
        "is_exact": is_exact,
        "charts": _charts(versions, as_perturbed(example, shown)),
        "page": page,
        "pages": pages,
        "n_examples": run.n_examples,
        "n_charted": MAX_VERSIONS,
        "n_words": (n_words := min(max(1, words), MOST_WORDS)),
        "more_words": MOST_WORDS if n_words < MOST_WORDS else 0,
        "is_cut": _is_cut(example, versions, n_words),
    }


def _named_segments(example: Example, task: Task) -> list[tuple[str, Segment]]:
    """What the model is given, each with its name where that says more than the order does."""
    texts = dict(zip(TEXT_NAMES, task.labels if task.kind == "pair" else ("", ""), strict=False))
    return [(texts.get(name, name), each) for name, each in example.segments.items() if each]


def _lists(example: Example) -> list[bool]:
    """Of each perturbed segment, whether it is a list: its items move, not their words."""
    return [not isinstance(example.segments.get(name, ""), str) for name in example.on]


def _is_cut(example: Example, versions: Sequence[RebuiltVersion], n_words: int) -> bool:
    """Whether a text on the page is longer than what is shown of it."""
    own = any(len(text or "") > n_words * LETTERS for text in example.texts)
    return own or any(len(words) > n_words for version in versions for words in version.words)


def _chosen(wanted: str, main: str, choices: Sequence[str]) -> str:
    """The transformation to show: the wanted one, else the main one, else any."""
    return next((name for name in (wanted, main, *choices) if name in choices), "")


def _is_wanted(variant: QueryRow, which: str, example: Example) -> bool:
    is_accepted = bool(variant["label"] == example.label)
    return which == "all" or is_accepted == (which == "accepted")


def _charts(
    versions: Sequence[RebuiltVersion], example: Example
) -> list[tuple[str, dict[str, Any]]]:
    """One chart per text that was perturbed."""
    charts = []
    n_sides = max((len(version.words) for version in versions), default=0)
    for side in range(n_sides):
        orders = [
            (version.variant, version.words[side])
            for version in versions
            if version.is_changed[side] and version.words[side]
        ]
        chart = word_order_chart(versions[0].original[side], orders)
        if chart:
            charts.append((_chart_title(example, side), chart))
    return charts


def _chart_title(example: Example, side: int) -> str:
    if _lists(example)[side]:
        return f"the {example.on[side]}"
    return f"the words of text {'ab'[side]}" if example.is_pair else "the words of the text"


# sizes in pixels
ROW = 24
COLUMN = 110
TOP = 34
LETTER = 7.6
MAX_WORDS = 12  # beyond that the lines are a web; the texts mark moved words in place
MAX_VERSIONS = 6
MAX_LETTERS = 18
N_COLOURS = 6

WordPlaces = dict[int, list[int]]  # original place → places now


@dataclass(frozen=True)
class WordLine:
    """The path of one word: its segments, its dots, and its places in words."""

    word: str
    colour: int
    segments: list[tuple[float, float, float, float]]
    dots: list[tuple[float, float]]
    places: str


def word_order_chart(
    original: Sequence[PlacedWord], versions: Sequence[tuple[int, Sequence[PlacedWord]]]
) -> dict[str, Any] | None:
    """What the template draws, or None where there are no words, no versions, or too many words."""
    shown = versions[:MAX_VERSIONS]
    orders = [original, *(words for _, words in shown)]
    n_rows = max(len(words) for words in orders)
    if not original or not shown or n_rows > MAX_WORDS:
        return None
    columns = [_places(words) for words in orders]
    titles = ["original", *(f"version {number}" for number, _ in shown)]
    margin = LETTER * min(MAX_LETTERS, max(len(word) for word, _ in original)) + 16
    right = margin + COLUMN * len(shown)
    return {
        "width": round(right + margin),
        "height": TOP + ROW * n_rows,
        "heads": [(margin + COLUMN * i, title) for i, title in enumerate(titles)],
        "lines": [_line(word, place, columns, margin) for word, place in original],
        "left": [(margin - 10, _y(i), _short(word)) for i, (word, _) in enumerate(original)],
        "right": [(right + 10, _y(i), _short(word)) for i, (word, _) in enumerate(orders[-1])],
    }


def _line(word: str, origin: int, columns: Sequence[WordPlaces], margin: float) -> WordLine:
    segments = []
    dots = []
    before: list[int] = []
    for i, column in enumerate(columns):
        here = column.get(origin, [])
        x = margin + COLUMN * i
        dots += [(x, _y(place)) for place in here]
        if before:
            starts = [before[min(k, len(before) - 1)] for k in range(len(here))]
            segments += [
                (x - COLUMN, _y(start), x, _y(place))
                for start, place in zip(starts, here, strict=True)
            ]
        before = here
    places = [_in_words(column.get(origin, [])) for column in columns]
    return WordLine(word, (origin - 1) % N_COLOURS, segments, dots, ", ".join(places))


def _in_words(places: Sequence[int]) -> str:
    return "+".join(str(place + 1) for place in places) or "gone"


def _places(words: Sequence[PlacedWord]) -> WordPlaces:
    """Where each original word is now: nowhere, in one place, or in several."""
    places: WordPlaces = {}
    for place, (_, origin) in enumerate(words):
        places.setdefault(origin, []).append(place)
    return places


def _y(place: int) -> float:
    return TOP + ROW * place + ROW / 2


def _short(word: str) -> str:
    return word if len(word) <= MAX_LETTERS else f"{word[: MAX_LETTERS - 1]}…"
