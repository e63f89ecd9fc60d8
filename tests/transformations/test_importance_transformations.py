"""Do the transformations that rest on importance change the words they should, and no others?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import NLI
from disorder.errors import BadSetting, DoesNotApply
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.transformations.words import split
from disorder.types import Example, Floats, Pair, Variants

FIRST = "A nurse sang."
SECOND = "The big dog, it barked."
SCORES = {
    "A": 0.1,
    "nurse": -0.9,
    "sang": 0.4,
    "The": -0.2,
    "big": 0.3,
    "dog": 0.9,
    ",": 0.0,
    "it": -0.8,
    "barked": 0.5,
}


class Told:
    """A context whose model finds words as important as it is told; other words count 0."""

    def pieces(self, text: str) -> list[tuple[int, int]]:
        sentence = split(text)
        return list(zip(sentence.starts.tolist(), sentence.ends.tolist(), strict=True))

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        return [
            [np.array([SCORES.get(word, 0.0) for word in side.words]) for side in pair.sides]
            for pair in pairs
        ]

    def vocabulary(self) -> Sequence[str]:
        return ["one", "two", "three", "four", "five"]

    def training(self, spec: str) -> Iterator[Example]:
        raise AssertionError


def perturbed(
    spec: str, a: str = FIRST, b: str | None = SECOND, *, q: int = 4, seed: int = 0
) -> Variants:
    return parse(spec).apply(
        Example.of("1", a, b, "neutral"), task=NLI, q=q, seed=seed, short="use", context=Told()
    )


class TestByHand:
    """dog .9, barked .5, big .3, the comma 0, the full stop 0, The −.2, it −.8: of seven words
    ceil(7/2) = 4 stay.
    """

    @pytest.mark.parametrize(
        ("spec", "text"),
        [
            ("drop_least", "big dog, barked"),
            ("drop_least:by=support", "The, it."),
            ("drop_least:by=size", "big dog it barked"),
            ("drop_least:share=0.2", "The big dog, barked."),
            ("drop_least:share=0.8", "dog barked"),
        ],
    )
    def test_dropped(self, spec: str, text: str) -> None:
        variants = perturbed(spec)
        assert variant_texts(variants) == [(FIRST, text)]
        assert len(variants) == 1

    def test_of_equals_the_earlier_stays(self) -> None:
        assert variant_texts(perturbed("drop_least", "x", "a b c d e")) == [("x", "a b c")]

    def test_the_one_text_of_an_example_is_changed(self) -> None:
        assert variant_texts(perturbed("drop_least", SECOND, None)) == [("big dog, barked", None)]

    @pytest.mark.parametrize(
        ("spec", "text"),
        [
            ("copy_one", "sang"),
            ("copy_one:by=support", "nurse"),
            ("copy_one:by=size", "nurse"),
            ("copy_one:fidelity=released", " ".join(["sang"] * 7)),
        ],
    )
    def test_copied(self, spec: str, text: str) -> None:
        variants = perturbed(spec)
        assert variant_texts(variants) == [(FIRST, text)]
        assert parse(spec).is_copy

    def test_released_keeps_what_equals_a_kept_token(self) -> None:
        assert variant_texts(perturbed("drop_least", "x", "dog it the dog The it")) == [
            ("x", "dog the dog")
        ]
        assert variant_texts(
            perturbed("drop_least:fidelity=released", "x", "dog it the dog The it")
        ) == [("x", "dog the dog The")]

    def test_repeated(self) -> None:
        for _, text in variant_texts(perturbed("repeat_most:q=30")):
            words = split(str(text)).words
            assert [words[i] for i in (1, 2, 3, 5)] == ["big", "dog", ",", "barked"]
            assert {words[i] for i in (0, 4, 6)} <= {"big", "dog", ",", "barked"}

    def test_replaced(self) -> None:
        for _, text in variant_texts(perturbed("replace_least:q=30")):
            words = split(str(text)).words
            assert [words[i] for i in (1, 2, 3, 5)] == ["big", "dog", ",", "barked"]
            assert {words[i] for i in (0, 4, 6)} <= set(Told().vocabulary())

    def test_replaced_after_words_were_taken_away(self) -> None:
        for _, text in variant_texts(perturbed("drop_least+replace_least:q=5")):
            assert str(text).startswith(
                ("big dog", "one dog", "two dog", "three dog", "four dog", "five dog")
            )
            assert not {"The", "it"} & set(split(str(text)).words)


CHANGING = ["drop_least", "repeat_most", "replace_least"]
TEXT = st.lists(st.sampled_from([*SCORES, "The", "dog", "cat"]), min_size=2, max_size=12).map(
    " ".join
)


@given(text=TEXT, seed=st.integers(0, 99), by=st.sampled_from(["loss", "support", "size"]))
def test_what_they_promise_of_any_text(text: str, seed: int, by: str) -> None:
    sentence = split(text)
    n_kept = -(-len(sentence) // 2)
    kept = perturbed(f"drop_least:by={by}", FIRST, text).b
    assert kept is not None
    [stays] = kept.positions.tolist()
    assert len(stays) == n_kept
    assert stays == sorted(set(stays))
    repeated = perturbed(f"repeat_most:by={by}", FIRST, text, seed=seed)
    assert repeated.b is not None
    assert (repeated.b.positions[:, stays] == stays).all()
    assert set(repeated.b.positions.ravel().tolist()) <= set(stays)
    for variants in (repeated, perturbed(f"replace_least:by={by}", FIRST, text, seed=seed)):
        assert len(variants) == 4
        assert {a for a, _ in variant_texts(variants)} == {FIRST}


@pytest.mark.parametrize("name", [*CHANGING, "copy_one"])
class TestAll:
    def test_the_same_seed_gives_the_same_texts(self, name: str) -> None:
        assert variant_texts(perturbed(name, seed=3)) == variant_texts(perturbed(name, seed=3))

    def test_other_seeds_matter_where_chance_is_at_work(self, name: str) -> None:
        texts = {str(variant_texts(perturbed(name, seed=seed))) for seed in range(5)}
        assert (len(texts) == 1) == parse(name).is_deterministic

    def test_many_examples_are_as_one_by_one(self, name: str) -> None:
        examples = [
            Example.of(str(i), FIRST, f"{SECOND} {word} ran", "neutral")
            for i, word in enumerate(SCORES)
        ]
        settings: dict[str, Any] = {"task": NLI, "q": 3, "seed": 0, "context": Told()}
        together = list(parse(name).apply_all(examples, **settings))
        for example, found in zip(examples, together, strict=True):
            assert not isinstance(found, DoesNotApply)
            assert variant_texts(found) == variant_texts(parse(name).apply(example, **settings))


@pytest.mark.parametrize("name", CHANGING)
class TestEdges:
    def test_one_word_cannot_be_changed_in_part(self, name: str) -> None:
        with pytest.raises(DoesNotApply, match="too few words"):
            perturbed(name, FIRST, "dog")

    @pytest.mark.parametrize("share", ["0", "1", "-0.5"])
    def test_a_share_lies_between_nothing_and_all(self, name: str, share: str) -> None:
        with pytest.raises(BadSetting, match="share"):
            perturbed(f"{name}:share={share}")
