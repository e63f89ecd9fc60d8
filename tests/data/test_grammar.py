"""The built-in data is what it claims to be: balanced, stable, readable, and undecidable where it
should be.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from itertools import combinations, islice

import pytest

import grammar
from disorder.data.builtin import builtin
from disorder.errors import BadSetting, UnknownName
from grammar import nli_words
from grammar.draw import Draw
from grammar.surface import article, n_words, sentence, words

Row = dict[str, str | None]
TASKS = ("nli", "sentiment", "acceptability")
LABELS = {
    "nli": {"entailment", "neutral", "contradiction"},
    "sentiment": {"positive", "negative"},
    "acceptability": {"acceptable", "unacceptable"},
}
FUNCTION_WORDS = {
    "a",
    "after",
    "an",
    "any",
    "as",
    "at",
    "before",
    "by",
    "for",
    "from",
    "in",
    "its",
    "of",
    "on",
    "out",
    "the",
    "three",
    "to",
    "two",
    "under",
    "with",
    "without",
}


@pytest.fixture(scope="module")
def test_rows() -> dict[str, list[Row]]:
    return {task: list(grammar.rows(task, "test")) for task in TASKS}


def texts(row: Row) -> list[str]:
    return [text for text in (row["text_a"], row["text_b"]) if text is not None]


def groups(rows: list[Row], size: int) -> list[list[Row]]:
    order = [row for row in rows if row["needs"] == "order"]
    return [order[i : i + size] for i in range(0, len(order), size)]


def bag(text: str | None) -> Counter[str]:
    return Counter(re.findall(r"\w+|[^\w\s]", (text or "").lower()))


@pytest.mark.parametrize(
    ("task", "n"), [("nli", 4200), ("sentiment", 1200), ("acceptability", 1200)]
)
def test_halves_and_labels_are_balanced(test_rows: dict[str, list[Row]], task: str, n: int) -> None:
    counts = Counter((row["needs"], row["label"]) for row in test_rows[task])
    assert sum(counts.values()) == n
    assert counts == {
        (needs, label): n / 2 / len(LABELS[task])
        for needs in ("words", "order")
        for label in LABELS[task]
    }


def test_phenomena_of_order_take_equal_shares(test_rows: dict[str, list[Row]]) -> None:
    counts = Counter(row["phenomenon"] for row in test_rows["nli"] if row["needs"] == "order")
    assert counts == dict.fromkeys(("roles", "before_after", "comparative", "negation_scope"), 525)


@pytest.mark.parametrize("task", TASKS)
def test_texts_are_sentences_of_eight_words_or_more(
    test_rows: dict[str, list[Row]], task: str
) -> None:
    for text in (text for row in test_rows[task] for text in texts(row)):
        assert len(words(text)) >= 8, text
        assert re.fullmatch(r"[A-Z][\w ,-]+\.", text), text
        assert "  " not in text, text


@pytest.mark.parametrize("task", ["nli", "sentiment"])
def test_articles_agree(test_rows: dict[str, list[Row]], task: str) -> None:
    for text in (text for row in test_rows[task] for text in texts(row)):
        assert not re.search(r"\ba [aeio]|\ban [^aeiouh]", text.lower()), text


def test_nli_is_short_and_rich(test_rows: dict[str, list[Row]]) -> None:
    assert max(len(words(row["text_a"] or "")) for row in test_rows["nli"]) <= 18
    assert max(len(words(row["text_b"] or "")) for row in test_rows["nli"]) <= 15
    assert (
        len({word for row in test_rows["nli"] for text in texts(row) for word in words(text)})
        >= 1000
    )


@pytest.mark.parametrize("task", TASKS)
def test_rows_and_ids_are_unique(test_rows: dict[str, list[Row]], task: str) -> None:
    rows = test_rows[task]
    assert len({(row["text_a"], row["text_b"]) for row in rows}) == len(rows)
    assert [row["id"] for row in rows] == [f"{task}-test-{i:05d}" for i in range(len(rows))]


@pytest.mark.parametrize(
    ("task", "digest"),
    [
        ("nli", "51734bacab96aad708babbcc9b4d7208d24452a01d96f6ba34edfc8bca757b95"),
        ("sentiment", "f8e045fd70b1d0d6119ef7d324c54f3e323c87cff0f75eb7944b5023d5b05a6d"),
        ("acceptability", "fcdbd7fa4918e1ff3ffd7b3e9b86e3960db444cb5a4d91568333a041a41ae341"),
    ],
)
def test_output_is_pinned(test_rows: dict[str, list[Row]], task: str, digest: str) -> None:
    # A change here changes every published figure on the built-in data, and the built-in models
    # must be trained again.
    assert hashlib.sha256(json.dumps(test_rows[task]).encode()).hexdigest() == digest


@pytest.mark.parametrize("task", grammar.MAKERS)
def test_the_package_has_what_the_grammar_writes(task: str) -> None:
    kept = [row for _, row in builtin(task)]
    assert kept == list(grammar.rows(task, "test"))
    train = [row for _, row in builtin(f"{task}:train")]
    assert len(train) == grammar.N_TRAIN[task]
    assert train[:3000] == list(grammar.rows(task, "train", 3000))


def test_fewer_rows_are_a_prefix_of_more(test_rows: dict[str, list[Row]]) -> None:
    assert list(grammar.rows("nli", "test", 50)) == test_rows["nli"][:50]


def test_order_triples_are_anagrams_under_one_premise(test_rows: dict[str, list[Row]]) -> None:
    for triple in groups(test_rows["nli"], 3):
        assert {row["label"] for row in triple} == LABELS["nli"]
        assert len({row["text_a"] for row in triple}) == 1
        assert len({row["text_b"] for row in triple}) == 3
        assert bag(triple[0]["text_b"]) == bag(triple[1]["text_b"]) == bag(triple[2]["text_b"])


@pytest.mark.parametrize("task", ["sentiment", "acceptability"])
def test_order_pairs_are_anagrams_with_opposite_labels(
    test_rows: dict[str, list[Row]], task: str
) -> None:
    for pair in groups(test_rows[task], 2):
        assert {row["label"] for row in pair} == LABELS[task]
        assert bag(pair[0]["text_a"]) == bag(pair[1]["text_a"])


@pytest.mark.parametrize("task", TASKS)
def test_train_shares_no_first_text_with_test(test_rows: dict[str, list[Row]], task: str) -> None:
    train = {row["text_a"] for row in grammar.rows(task, "train", 12_000)}
    assert train.isdisjoint(row["text_a"] for row in test_rows[task])


@pytest.mark.parametrize("text", ["text_a", "text_b"])
def test_one_text_alone_does_not_give_the_label_away(
    test_rows: dict[str, list[Row]], text: str
) -> None:
    seen, n = defaultdict[str | None, Counter[str]](Counter), Counter[str | None]()
    for row in grammar.rows("nli", "train", 12_000):
        n[row["label"]] += 1
        seen[row["label"]].update(set(words(row[text] or "")))

    def guess(row: Row) -> str | None:
        present = set(words(row[text] or ""))
        return max(
            n,
            key=lambda label: sum(math.log((seen[label][w] + 1) / (n[label] + 2)) for w in present),
        )

    right = [guess(row) == row["label"] for row in test_rows["nli"]]
    assert sum(right) / len(right) < 0.42


@pytest.mark.parametrize("frame", nli_words.FRAMES)
def test_slots_of_a_frame_share_no_words(frame: nli_words.Frame) -> None:
    # Two slots with a common word would leave a bag of words in doubt about which of them it fills.
    options = nli_words._options(frame, "")
    slots = {
        "who": frame.who,
        "verb": (frame.verb,),
        "thing": (frame.thing,) if frame.thing else (),
        **options,
    }
    content = {
        slot: {
            word
            for domain in domains
            for head, specials in domain.lines
            for phrase in (head, *specials)
            for word in words(phrase)
        }
        - FUNCTION_WORDS
        for slot, domains in slots.items()
    }
    for one, other in combinations(content, 2):
        assert not content[one] & content[other], (one, other)


def test_any_number_of_training_rows_can_be_had() -> None:
    assert (
        len({row["text_a"] for row in islice(grammar.rows("sentiment", "train", 200_000), 30_000)})
        == 30_000
    )


def test_an_exhausted_grammar_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    example = next(iter(nli_words.pair(Draw("one"), label="neutral")))
    monkeypatch.setitem(grammar.MAKERS, "one", lambda block: [lambda draw: [example]])
    for _ in range(2):  # it says so again
        with pytest.raises(BadSetting, match="fewer rows"):
            list(grammar.rows("one", "test", 2))


@pytest.mark.parametrize(("task", "split"), [("nlii", "test"), ("nli", "dev")])
def test_unknown_names_are_errors(task: str, split: str) -> None:
    with pytest.raises(UnknownName):
        next(grammar.rows(task, split))


def test_surface() -> None:
    assert [
        article(word) for word in ("owl", "unicorn", "hour", "honest vet", "European", "red owl")
    ] == [
        "an owl",
        "a unicorn",
        "an hour",
        "an honest vet",
        "a European",
        "a red owl",
    ]
    assert sentence("it rained") == "It rained."
    assert words("Well-fed cats, I hear, don't.") == ["well-fed", "cats", "i", "hear", "don't"]
    assert n_words("It rained, again.") == 3
