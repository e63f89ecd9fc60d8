"""Models of a user and rows for them: one for each kind of screen that an audit shows."""

from __future__ import annotations

from typing import Any

import zoo
from disorder.results.run_result import HEADLINES

MODELS = """
import numpy as np
import zoo

reader = zoo.reads_order
bag = zoo.bag_of_tokens("quoted")
mixed = zoo.reads_or_counts
guesser = zoo.guesser
surface = zoo.wants_capital(zoo.reads_order)


def numbers(texts):
    return [[float(len(text) + (3 * len(text.split()[0])))] for text in texts]


def choices(questions):
    return [
        next(each for each in row["options"] if each in row["question"]) for row in questions
    ]


def better(texts):
    return [float("good" in text) for text in texts]


class Counts:
    fingerprint = "counts"

    def embed(self, texts):
        found = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        return np.array(found, float)


embedder = Counts()
"""


def number_rows(n: int) -> list[dict[str, Any]]:
    texts = [row["text"] for row in zoo.order_rows(n)]
    return [{"text": text, "label": len(text) + i % 7 + 0.25} for i, text in enumerate(texts)]


def choice_rows(n: int) -> list[dict[str, Any]]:
    named = ["forest", "desert", "castle", "bridge"]
    return [
        {
            "question": f"{row['text'][:-1]} beside the {named[i % 4]}?",
            "options": named,
            "answer": i % 4,
        }
        for i, row in enumerate(zoo.order_rows(n))
    ]


def pair_rows(n: int) -> list[dict[str, Any]]:
    texts = [row["text"] for row in zoo.order_rows(n)]
    return [{"good": f"{text} It was good.", "bad": f"{text} It was bad."} for text in texts]


def similar_rows(n: int) -> list[dict[str, Any]]:
    texts = [row["text"] for row in zoo.order_rows(2 * n)]
    return [
        {
            "text1": texts[i],
            "text2": f"Yes, {texts[i].lower()}" if i % 2 else texts[n + i],
            "label": ("different", "similar")[i % 2],
        }
        for i in range(n)
    ]


ROWS = {
    "reader": (zoo.order_rows(200), {"reads_order"}),
    "bag": (zoo.evidence_rows("quoted", 200), {"bag_of_words"}),
    "mixed": (zoo.half_order_rows(400), {"mixed", "mixed_or_bag", "reads_or_mixed"}),
    "guesser": (zoo.order_rows(120), {"no_skill", "undecided"}),
    "surface": (zoo.order_rows(200), {"surface"}),
    "numbers": (number_rows(120), {*HEADLINES}),
    "choices": (choice_rows(120), {"order_not_used"}),
    "better": (pair_rows(120), {*HEADLINES}),
    "embedder": (similar_rows(120), {"bag_of_words"}),
}
MORE: dict[str, tuple[object, ...]] = {
    "embedder": ("--labels", "different=different,similar=similar", "--threshold", "0.97"),
}
