"""Chinese is perturbed as Chinese: by word or by character, joined without spaces, every character
kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from conftest import CHINESE, RunContext, example
from disorder.data import read_data
from disorder.errors import DoesNotApply, MissingData, MissingPackage
from disorder.registry import TransformationPart, parts
from disorder.transformations import Transformation, parse
from disorder.transformations.rendering import render, variant_texts
from disorder.transformations.words import split
from disorder.types import Dataset, Example, Variants

Fidelity = Literal["paper", "released"]
FIDELITIES: tuple[Fidelity, ...] = ("paper", "released")
N_ROWS = 40
TEXTS = (
    "小明昨天在北京的公园里看见了三只白色的猫，然后回家吃饭。",
    "我妹妹每天早上七点起床，喝一杯牛奶，再坐地铁去学校。",
    "因为下雨，老师和学生们都没有去动物园，而是在教室里看电影。",
    "这本书的作者写了很多关于中国历史的故事，孩子们非常喜欢。",
    "他用手机给在上海工作的姐姐打了两次电话，可是一直没有人接。",
    "如果明天天气好，我们就骑自行车去河边，带上水果和面包。",
    "那家小饭馆的面条又便宜又好吃，所以中午总是坐满了客人。",
    "医生告诉爷爷少抽烟、多散步，爷爷却说：“我已经八十岁了！”",
)  # our own, so that Chinese is tested without the papers' data
TEXT = "小明在北京吃了三个苹果。"
UNTRAINED = [
    name
    for name, part in parts(TransformationPart).items()
    if "training data" not in part.needs and part.perturbs == "words"  # not for prompts' examples
]


@pytest.fixture
def own() -> Dataset:
    """Pairs of our own sentences."""
    pytest.importorskip("rjieba", reason="needs rjieba")
    examples = [
        Example.of(f"{i}", first, second, "neutral")
        for i, (first, second) in enumerate(permutations(TEXTS, 2))
    ]
    return Dataset("own", CHINESE, examples[:N_ROWS], {}, "own")


@pytest.fixture(scope="module")
def ocnli(shared_data: Path) -> Dataset:
    """Some rows of OCNLI."""
    pytest.importorskip("rjieba", reason="needs rjieba")
    dataset = read_data(str(shared_data / "ocnli" / "dev.jsonl.gz"), task="ocnli")
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


def check_identity(dataset: Dataset, words: str) -> None:
    for text in [text for e in dataset.examples for text in (e.text_a, str(e.text_b))]:
        sentence = split(text, words=words)
        assert render(sentence, np.arange(len(sentence))[None, :]) == [text]


@pytest.mark.parametrize("words", ["simple", "jieba"])
def test_the_identity_gives_the_text_back(own: Dataset, words: str) -> None:
    check_identity(own, words)


@pytest.mark.parametrize("words", ["simple", "jieba"])
def test_the_identity_gives_the_text_back_on_ocnli(ocnli: Dataset, words: str) -> None:
    check_identity(ocnli, words)


@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("name", UNTRAINED)
def test_every_transformation_applies_or_says_why_and_brings_no_spaces(
    own: Dataset, name: str, fidelity: Fidelity
) -> None:
    check_spaces(own, name, fidelity)


def test_every_transformation_applies_or_says_why_and_brings_no_spaces_to_ocnli(
    ocnli: Dataset,
) -> None:
    for name in UNTRAINED:
        for fidelity in FIDELITIES:
            check_spaces(ocnli, name, fidelity)


def check_spaces(dataset: Dataset, name: str, fidelity: Fidelity) -> None:
    transformation = parse(name, fidelity=fidelity)
    n_perturbed = 0
    made = perturb_all(transformation, dataset)
    for original, perturbed in zip(dataset.examples, made, strict=True):
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
    if not name.endswith("_letters"):  # hardly a word has two letters between its ends
        assert n_perturbed > N_ROWS / 4, name


def test_words_and_characters_are_moved_as_asked() -> None:
    pytest.importorskip("rjieba", reason="needs rjieba")

    def moved(spec: str) -> list[str]:
        return [
            text
            for text, _ in variant_texts(
                parse(spec).apply(example(TEXT), task=CHINESE, q=20, seed=0, short="use")
            )
        ]

    by_word, by_character = moved("derange"), moved("derange:words=simple")
    assert all(word in text for text in by_word for word in ("小明", "北京", "苹果"))
    assert any("苹果" not in text for text in by_character)
    for text in by_word + by_character:
        assert sorted(text) == sorted(TEXT)
        assert text.endswith("。")


@pytest.mark.parametrize("name", ["drop_pos", "keep_pos"])
def test_a_class_that_is_dropped_is_gone(own: Dataset, name: str) -> None:
    check_classes(own, name)


@pytest.mark.parametrize("name", ["drop_pos", "keep_pos"])
def test_a_class_that_is_dropped_is_gone_from_ocnli(ocnli: Dataset, name: str) -> None:
    check_classes(ocnli, name)


def check_classes(dataset: Dataset, name: str) -> None:
    n_checked = 0
    for perturbed in perturb_all(parse(f"{name}:tags=NOUN"), dataset):
        if isinstance(perturbed, DoesNotApply):
            continue
        for rows in perturbed.sides:
            assert rows.sentence.tags is not None
            left = rows.sentence.tags[rows.positions[0]]
            assert (np.isin(left, ["NOUN", "PROPN"]) == (name == "keep_pos")).all()
            n_checked += 1
    assert n_checked > N_ROWS
