"""Whether a model reads its texts to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import zoo
from disorder.models.hf_network import word_tokens
from disorder.models.inputs.tokens import readable
from disorder.types import Floats, Texts
from disorder.verbs.audit.behaviour import reads_beginning_only

ROWS = zoo.long_rows(60)
TEXTS: list[Texts] = [(row["text"], None) for row in ROWS]
GOLD = [row["label"] for row in ROWS]


def predicting(answer: zoo.Answer) -> Callable[[Sequence[Texts]], Floats]:
    def predict(texts: Sequence[Texts]) -> Floats:
        found = answer([max((a, b or ""), key=len) for a, b in texts])
        return np.array([[label == zoo.YES, label == zoo.NO] for label in found], dtype=float)

    return predict


def test_a_model_that_sees_the_first_words_is_found() -> None:
    model = zoo.truncated(zoo.bag_of_tokens("plain"), 64)
    assert reads_beginning_only(predicting(model), TEXTS, GOLD)


def test_a_model_that_reads_on_is_not() -> None:
    def counts(texts: Sequence[str]) -> list[str]:
        return [zoo.YES if text.split().count("the") % 2 else zoo.NO for text in texts]

    assert not reads_beginning_only(predicting(counts), TEXTS, GOLD)


def test_a_model_that_never_changes_is_not() -> None:
    assert not reads_beginning_only(predicting(lambda texts: [zoo.YES] * len(texts)), TEXTS, GOLD)


def test_short_texts_are_not_probed() -> None:
    texts: list[Texts] = [(row["text"], None) for row in zoo.evidence_rows("plain", 40)]
    first_word = zoo.truncated(zoo.guesser, 1)
    assert not reads_beginning_only(predicting(first_word), texts, GOLD[:40])


@pytest.mark.parametrize("n_words", [45, 90, 240])
def test_texts_with_lines_and_double_spaces_that_are_cut_at_a_letter(n_words: int) -> None:
    """What stands before the part that is replaced must not move by a letter."""
    rows = zoo.with_double_space(zoo.in_lines(zoo.long_rows(60, n_words, n_evident=12)))
    texts: list[Texts] = [(row["text"], None) for row in rows]
    bag = zoo.bag_of_tokens("plain")

    def model(given: Sequence[str]) -> list[str]:
        return bag([text[:120] for text in given])

    assert reads_beginning_only(predicting(model), texts, [row["label"] for row in rows])


def test_a_script_without_spaces() -> None:
    rng = np.random.default_rng(0)
    words = ["我们", "今天", "图书馆", "看书", "电影", "朋友", "吃饭", "学校"]
    gold = [(zoo.YES, zoo.NO)[i % 2] for i in range(40)]
    texts: list[Texts] = []
    for i in range(40):
        filler = "".join(rng.choice(words, 120).tolist())
        texts.append((f"今天{('精彩', '糟糕')[i % 2]}{filler}", None))

    def model(given: Sequence[str]) -> list[str]:
        return [zoo.YES if "精彩" in text[:64] else zoo.NO for text in given]

    assert reads_beginning_only(predicting(model), texts, gold)


def test_few_labels_that_change_are_no_proof() -> None:
    """Of four long texts none changes with its end by chance; a probability would show it."""
    texts, gold = TEXTS[:4], GOLD[:4]
    bag = zoo.truncated(zoo.bag_of_tokens("plain"), 64)
    assert not reads_beginning_only(predicting(bag), texts, gold)

    def sure(given: Sequence[Texts]) -> Floats:
        return np.abs(predicting(bag)(given) - 0.1)

    assert reads_beginning_only(sure, texts, gold)


def test_the_longer_text_of_a_pair_is_probed() -> None:
    pairs: list[Texts] = [("Topic", text) for text, _ in TEXTS]
    model = zoo.truncated(zoo.bag_of_tokens("plain"), 64)
    assert reads_beginning_only(predicting(model), pairs, GOLD)


class TestReadable:
    """Texts cut at a word, where we tokenise."""

    @staticmethod
    def letters(word: str) -> tuple[int, int]:
        """A token per letter, and one more at the start of a text."""
        return len(word) + 1, len(word)

    def test_what_fits_is_left_as_it_is(self) -> None:
        assert readable(("ab  cd", None), self.letters, 6) == ("ab  cd", None)

    def test_a_text_is_cut_at_a_word(self) -> None:
        assert readable(("ab  cd ef", None), self.letters, 6) == ("ab  cd", None)
        assert readable(("abc  d ef", None), self.letters, 4, from_start=True) == ("d ef", None)

    def test_the_longer_text_of_a_pair_is_cut_first(self) -> None:
        found = readable(("ab cd ef gh ij", "kl mn"), self.letters, 10)
        assert found == ("ab cd", "kl mn")

    def test_one_word_is_always_left(self) -> None:
        assert readable(("abcdefgh ij", None), self.letters, 4) == ("abcdefgh", None)

    def test_a_script_without_spaces_is_cut_at_its_words(self) -> None:
        text = "我们今天去图书馆看书" * 5
        cut, _ = readable((text, None), self.letters, 32)
        assert text.startswith(cut)
        assert len(cut) in (30, 31)

    def test_every_order_of_the_words_fits(self, tiny_bert: Path) -> None:
        from transformers import AutoTokenizer

        tokens = word_tokens(AutoTokenizer.from_pretrained(tiny_bert), 32)
        assert tokens is not None
        rng = np.random.default_rng(0)
        for text, _ in TEXTS[:10]:
            cut, _ = tokens.readable((text, None))
            words = cut.split()
            assert text.startswith(cut)
            assert 1 < len(words) < len(text.split())
            for _ in range(5):
                moved = " ".join(rng.permutation(words))
                with tokens._untruncated():
                    assert len(tokens.tokenizer.encode(moved).ids) <= 32
