"""Are the texts on the page those that the model was asked, to the letter? And where do words go in
the chart?
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import pairs
from disorder.types import Example
from disorder.web.bump_chart import bump_chart
from disorder.web.library import Library
from disorder.web.perturbed_texts import rebuilt
from disorder.web.sample_queries import Samples

SPECS = [
    "derange",
    "reverse",
    "sort",
    "shuffle_ngrams:n=2",
    "clump",
    "copy_sort",
    "swap_texts",
    "empty",
    "drop_text:side=a",
    "derange:side=a",
    "shuffle:words=spaces",
    "shuffle_ngrams:n=2+reverse",
    "sort:fidelity=released",
]


class Listening:
    """A model that remembers what it was asked."""

    labels = ("entailment", "neutral", "contradiction")

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __call__(self, texts: Sequence[Any]) -> Any:
        self.asked += list(texts)
        return np.full((len(texts), 3), 1 / 3)


@pytest.mark.parametrize("spec", SPECS)
def test_rebuilt_texts_are_those_the_model_was_asked(spec: str, tmp_path: Path) -> None:
    pytest.importorskip("nltk") if "released" in spec else None
    model = Listening()
    run = disorder.audit(
        model, pairs(4), q=5, with_=[spec], cache="off", seed=3, out=tmp_path / "run"
    )
    library = Library(tmp_path)
    samples, found = Samples(library), library.all()[0]
    spec = run.transformations[0]
    shown = []
    for number in range(4):
        row = samples.example(found, number)
        assert row is not None
        example = Example(row["id"], row["text_a"], row["text_b"], row["label"])
        versions, is_exact = rebuilt(run, spec, example, samples.variants(found, example.id, spec))
        assert is_exact
        shown += [tuple(version.texts) for version in versions]
    assert len(shown) > 3
    assert sorted(shown) == sorted(tuple(texts) for texts in model.asked[4:])


def test_without_the_draw_texts_come_from_the_positions(tmp_path: Path) -> None:
    run = disorder.audit(
        "uniform", pairs(2), q=3, with_=["derange"], cache="off", out=tmp_path / "run"
    )
    library = Library(tmp_path)
    samples, found = Samples(library), library.all()[0]
    rows = samples.variants(found, "e0000", "derange")
    example = Example("e0000", pairs(1)[0]["text_a"], pairs(1)[0]["text_b"], "entailment")
    exact, is_exact = rebuilt(run, "derange", example, rows)
    assert is_exact
    foreign, is_exact = rebuilt(run, "a_plugin_that_is_not_here", example, rows)
    assert not is_exact
    assert {text for version in foreign for text in version.texts} == {
        None
    }  # nobody knows how it cut words
    other_seed, is_exact = rebuilt(run.model_copy(update={"seed": 99}), "derange", example, rows)
    assert not is_exact
    assert [version.texts for version in other_seed] == [version.texts for version in exact]
    short = Example("e0000", "too short", "for that", "entailment")
    assert {
        text for version in rebuilt(run, "derange", short, rows)[0] for text in version.texts
    } == {None}


def test_the_chart_follows_each_word() -> None:
    original = [("a", 1), ("b", 2), ("c", 3)]
    chart = bump_chart(original, [(0, [("c", 3), ("a", 1), ("b", 2)]), (1, [("b", 2), ("b", 2)])])
    assert chart is not None
    a, b, c = chart["lines"]
    assert [line.places for line in (a, b, c)] == ["1, 2, gone", "2, 3, 1+2", "3, 1, gone"]
    assert [len(line.segments) for line in (a, b, c)] == [1, 3, 1]
    assert [len(line.dots) for line in (a, b, c)] == [2, 4, 2]
    first = a.segments[0]
    assert first[1] < first[3], "a went down"
    assert [word for _, _, word in chart["right"]] == ["b", "b"]


def test_there_is_no_chart_of_nothing_or_of_a_whole_page() -> None:
    assert bump_chart([], [(0, [])]) is None
    assert bump_chart([("a", 1)], []) is None
    many = [("w", i) for i in range(1, 200)]
    assert bump_chart(many, [(0, many)]) is None
