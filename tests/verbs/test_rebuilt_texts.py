"""Rebuilt texts are exactly those that the model saw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import pairs
from disorder.types import Example
from disorder.verbs.rebuilt_texts import rebuild
from disorder.web.run_library import FoundRun, RunLibrary
from disorder.web.sample_queries import SampleQueries

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


class RecordingModel:
    """A model that records the texts it gets."""

    labels = ("entailment", "neutral", "contradiction")

    def __init__(self) -> None:
        self.texts: list[Any] = []

    def __call__(self, texts: Sequence[Any]) -> Any:
        self.texts += list(texts)
        return np.full((len(texts), 3), 1 / 3)


def readable(library: RunLibrary) -> FoundRun:
    entry = library.all()[0]
    assert isinstance(entry, FoundRun)
    return entry


@pytest.mark.parametrize("spec", SPECS)
def test_rebuilt_texts_are_those_the_model_saw(spec: str, tmp_path: Path) -> None:
    if "released" in spec:
        pytest.importorskip("nltk")
    model = RecordingModel()
    given = {"q": 5, "with_": [spec], "cache": "off", "seed": 3, "fidelity": "paper"}
    run = disorder.audit(model, pairs(4), out=tmp_path / "run", **given)
    library = RunLibrary(tmp_path)
    queries = SampleQueries(library)
    found = readable(library)
    spec = run.transformations[0]
    shown = []
    for number in range(4):
        row = queries.example(found, number)
        assert row is not None
        example = Example.of(row["id"], row["text_a"], row["text_b"], row["label"])
        versions, is_exact = rebuild(run, spec, example, queries.variants(found, example.id, spec))
        assert is_exact
        shown += [tuple(version.texts) for version in versions]
    assert len(shown) > 3
    assert sorted(shown) == sorted(tuple(texts) for texts in model.texts[4:])


def test_texts_that_cannot_be_drawn_again_come_from_the_positions(tmp_path: Path) -> None:
    run = disorder.audit(
        "uniform", pairs(2), q=3, with_=["derange"], cache="off", out=tmp_path / "run"
    )
    library = RunLibrary(tmp_path)
    queries = SampleQueries(library)
    found = readable(library)
    rows = queries.variants(found, "e0000", "derange")
    example = Example.of("e0000", pairs(1)[0]["text_a"], pairs(1)[0]["text_b"], "entailment")
    exact, is_exact = rebuild(run, "derange", example, rows)
    assert is_exact
    foreign, is_exact = rebuild(run, "a_plugin_that_is_not_here", example, rows)
    assert not is_exact
    assert {text for version in foreign for text in version.texts} == {
        None
    }  # how it splits words is not known
    other_seed, is_exact = rebuild(run.model_copy(update={"seed": 99}), "derange", example, rows)
    assert not is_exact
    assert [version.texts for version in other_seed] == [version.texts for version in exact]
    short = Example.of("e0000", "too short", "for that", "entailment")
    assert {
        text for version in rebuild(run, "derange", short, rows)[0] for text in version.texts
    } == {None}
