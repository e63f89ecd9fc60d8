"""Is Chinese perturbed as Chinese: by word or by character, joined without spaces, every character
kept?
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from conftest import CHINESE, SHARED, RunContext, example
from disorder.data import read_data
from disorder.errors import DoesNotApply, MissingData, MissingPackage
from disorder.registry import TransformationPart, parts
from disorder.transformations import Transformation, parse
from disorder.transformations.rendering import render, variant_texts
from disorder.transformations.words import split
from disorder.types import Dataset, Variants

N_ROWS = 40
TEXT = "小明在北京吃了三个苹果。"
UNTRAINED = [
    name for name, part in parts(TransformationPart).items() if "training data" not in part.needs
]


@pytest.fixture(scope="module")
def ocnli(shared_data: object) -> Dataset:
    """Some rows of OCNLI."""
    pytest.importorskip("rjieba", reason="needs rjieba")
    dataset = read_data(str(SHARED / "data" / "ocnli" / "dev.jsonl.gz"), task="ocnli")
    return replace(dataset, examples=dataset.examples[:N_ROWS])


def perturb_all(transformation: Transformation, dataset: Dataset) -> list[Variants | DoesNotApply]:
    try:
        found = transformation.apply_all(
            dataset.examples, task=dataset.task, q=5, seed=0, short="use", context=RunContext()
        )
        return list(found)
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))


def test_the_known_set_is_chinese(ocnli: Dataset) -> None:
    assert ocnli.task.language == "zh"


@pytest.mark.parametrize("words", ["simple", "jieba"])
def test_the_identity_gives_the_text_back(ocnli: Dataset, words: str) -> None:
    for text in [text for e in ocnli.examples for text in (e.text_a, str(e.text_b))]:
        sentence = split(text, words=words)
        assert render(sentence, np.arange(len(sentence))[None, :]) == [text]


@pytest.mark.parametrize("fidelity", ["paper", "released"])
@pytest.mark.parametrize("name", UNTRAINED)
def test_every_transformation_applies_or_says_why_and_brings_no_spaces(
    ocnli: Dataset, name: str, fidelity: str
) -> None:
    transformation = parse(name, fidelity=fidelity)  # type: ignore[arg-type]
    n_perturbed = 0
    for original, perturbed in zip(ocnli.examples, perturb_all(transformation, ocnli), strict=True):
        if isinstance(perturbed, DoesNotApply):
            assert str(perturbed)
            continue
        n_perturbed += 1
        if name == "replace_least":  # its words are English here
            continue
        for a, b in variant_texts(perturbed):
            old = f"{original.text_a}{original.text_b}"
            assert f"{a}{b}".count(" ") <= 2 * old.count(" ") + sum(
                char.isascii() and char.isalnum() for char in old
            )
            if transformation.keeps_words:
                assert Counter(f"{a}{b}".lower().replace(" ", "")) == Counter(
                    old.lower().replace(" ", "")
                )
    assert n_perturbed > N_ROWS / 4


def test_words_and_characters_are_moved_as_asked() -> None:
    pytest.importorskip("rjieba", reason="needs rjieba")

    def moved(spec: str) -> list[str]:
        return [
            text
            for text, _ in variant_texts(
                parse(spec).apply(example(TEXT), task=CHINESE, q=20, seed=0, short="use")
            )
        ]

    by_word, by_character = moved("derange:words=jieba"), moved("derange")
    assert all(word in text for text in by_word for word in ("小明", "北京", "苹果"))
    assert any("苹果" not in text for text in by_character)
    for text in by_word + by_character:
        assert sorted(text) == sorted(TEXT)
        assert text.endswith("。")


@pytest.mark.parametrize("name", ["drop_pos", "keep_pos"])
def test_a_class_that_is_dropped_is_gone(ocnli: Dataset, name: str) -> None:
    n_checked = 0
    for perturbed in perturb_all(parse(f"{name}:tags=NOUN"), ocnli):
        if isinstance(perturbed, DoesNotApply):
            continue
        for rows in perturbed.sides:
            assert rows.sentence.tags is not None
            left = rows.sentence.tags[rows.positions[0]]
            assert (np.isin(left, ["NOUN", "PROPN"]) == (name == "keep_pos")).all()
            n_checked += 1
    assert n_checked > N_ROWS
