"""Made-up examples, outcomes and surroundings, whose answer is known or does not matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from disorder.transformations.words import split
from disorder.types import Example, Floats, Outcomes, Pair, Task, Texts, TokenUnit

NLI = Task("toy", ("entailment", "neutral", "contradiction"), "b", "neutral", "entailment")
CHINESE = replace(NLI, language="zh")
TEXTS = {
    "empty": "",
    "one word": "a",
    "equal words": "a a a",
    "one word and a mark": "Yes.",
    "four equal words": "a a a a",
    "emoji": "👩‍👩‍👧 hugs 👩‍❤️‍👨 and 🏳️‍🌈 again ❤️",
    "right to left": "הכלב רדף אחרי החתול, بسرعة كبيرة!",
    "Chinese": "我喜欢吃苹果，你呢？",
    "NUL": "a\0b c \0 d",
    "marks only": "... ?! --",
    "spaces only": " \t\r\n ",
    "sentence": '  "The dog, it seems, saw 3.5 well-known cats."  ',
    "lone surrogate": "half \ud83d of an emoji is here today",
    "10,000 words": " ".join(f"w{i}" for i in range(10_000)),
    "1,000 equal words": " ".join(["a"] * 1000),
}
CHINESE_TEXTS = {
    "empty": "",
    "one character": "我",
    "one word": "苹果",
    "equal characters": "哈哈哈哈",
    "one word and a mark": "好。",
    "marks only": "……？！——",
    "sentence": "因为下雨，小明和小红没去北京的公园；他们在家看书。",
    "mixed": "我用iPhone 15给Mary打了3.5次电话，OK？",
    "traditional": "雖然他很累，但是他還是來了。",
    "spaced": "我 喜欢 吃 苹果 。",
    "lone surrogate": "一半\ud83d的表情在这里",
    "1,000 words": "天地玄黄" * 500,
}
TASKS = {"en": NLI, "zh": CHINESE}
STRANGE = {"en": TEXTS, "zh": CHINESE_TEXTS}
PAIRS = {
    "en": (
        "The quick brown fox and the wolf jump over the lazy dog near a farm today.",
        "A slow red hen and her small chicks sit under one happy old cat near the barn.",
    ),
    "zh": (
        "小明和小红昨天在北京的公园里看见了三只白色的猫。",
        "张伟和李娜明天从上海坐火车去北京看他们的老朋友。",
    ),
}
STRANGE_PAIRS = (
    ("A dog barks.", "An animal is loud."),
    ("我", "你"),
    ("", ""),
    ("a\0b", "👩‍👩‍👧"),
    ("w " * 300, "w " * 300),
)


def pairs(
    n: int, labels: tuple[str, ...] = NLI.labels, *, n_words: int = 9
) -> list[dict[str, str]]:
    """Rows of made-up pairs with distinct words, so that every word order is another text."""
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "koi", "lynx"]
    return [
        {
            "id": f"e{i:04d}",
            "text_a": f"{' '.join(words[:n_words])} a{i}.",
            "text_b": f"{' '.join(reversed(words[:n_words]))} b{i}.",
            "label": labels[i % len(labels)],
        }
        for i in range(n)
    ]


class Surroundings:
    """What a transformation may need, without a model: longer words matter more, and training
    pairs are made up.
    """

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """The words of a text."""
        sentence = split(text)
        return list(zip(sentence.starts.tolist(), sentence.ends.tolist(), strict=True))

    def token_units(self, texts: Texts) -> list[list[TokenUnit]]:
        """A token per word."""
        return [
            [(*span, (i,)) for i, span in enumerate(self.pieces(text))]
            for text in texts
            if text is not None
        ]

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        """The length of each word."""
        return [
            [(side.ends - side.starts).astype(np.float64) for side in pair.sides] for pair in pairs
        ]

    def vocabulary(self) -> Sequence[str]:
        """A few words."""
        return ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]

    def training(self, spec: str) -> Iterator[Example]:
        """Sixty pairs, whatever the spec."""
        yield from (
            Example.of(row["id"], row["text_a"], row["text_b"], row["label"]) for row in pairs(60)
        )


def example(text_a: str, text_b: str | None = None, *, name: str = "1") -> Example:
    """An example whose label does not matter."""
    return Example.of(name, text_a, text_b, "neutral")


def outcomes(
    gold: Iterable[int],
    original: Iterable[int],
    answers: Iterable[Iterable[int]],
    *,
    labels: tuple[str, ...] = NLI.labels,
    sure: float = 1.0,
    **more: Any,
) -> Outcomes:
    """Outcomes of a model that predicts label numbers with probability `sure`; −1 is a variant that
    is not there.
    """
    m = len(labels)
    table = np.vstack(
        [np.eye(m) * sure + (1 - np.eye(m)) * (1 - sure) / max(1, m - 1), np.full((1, m), np.nan)]
    )
    first = np.array(list(original), dtype=int)
    second = np.array([list(row) for row in answers], dtype=int)
    given = {
        "transformation": "derange",
        "task": Task("toy", labels, "b", labels[min(1, m - 1)], labels[0]),
        "example": np.array([f"e{i}" for i in range(len(first))]),
        "gold": np.array(list(gold), dtype=int),
        "original": table[first],
        "predictions": table[second.reshape(len(first), -1)],
        "is_simple": np.ones(len(first), dtype=bool),
    }
    return Outcomes(**(given | more))
