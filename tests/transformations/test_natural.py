"""fidelity=natural: only order changes; and the surface control, which changes everything else."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conftest import RunContext, example
from disorder.errors import BadSetting, DoesNotApply, MissingData, MissingPackage
from disorder.models.inputs.token_blocks import chunks_of
from disorder.registry import TransformationPart, parts
from disorder.transformations import parse
from disorder.transformations.rendering import render, variant_texts
from disorder.transformations.surface_control import NO_SPACES, NO_TEXT, surface_control
from disorder.transformations.words import split
from disorder.types import Fidelity, Task, Variants
from zoo import EVIDENCE, evidence_rows

TASK = Task("toy", ("pos", "neg"))
ORDER = [
    name
    for name, entry in parts(TransformationPart).items()
    if entry.keeps_words and entry.perturbs == "words" and "training data" not in entry.needs
]
UNITS = ("word", "sentence", "line")
WORDS = (
    *("The", "dog", "Paris", "@ann", "#tag", "9/10", "superb!", "C++", "U.S.", "don't", "It's"),
    *("well-known", '"quoted"', "(so)", "95%", "-5", "https://a.example/b?c=1", "<b>", ":)"),
    *("--", "...", "😀", "ελληνικά", "Ünal", "naïve,", "yes;", "go."),
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=2, max_size=12).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", "  ", "\n", "\t"]), min_size=len(words), max_size=len(words)
    ).map(lambda gaps: "".join(word + gap for word, gap in zip(words, gaps, strict=True)))
)


def variants_of(
    spec: str, text: str, fidelity: Fidelity, *, q: int = 3, text_b: str | None = None
) -> Variants:
    transformation = parse(spec, fidelity=fidelity)
    try:
        return transformation.apply(
            example(text, text_b), task=TASK, q=q, seed=0, short="use", context=RunContext()
        )
    except DoesNotApply:
        assume(condition=False)
        raise
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))


def with_unit(name: str, unit: str) -> str:
    if unit == "word":
        return name
    if not parts(TransformationPart)[name].units:
        pytest.skip("it is about words")
    return f"{name}:unit={unit}"


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ORDER)
class TestOnlyOrderChanges:
    @settings(max_examples=10)
    @given(text=TEXTS)
    def test_tokens_are_the_same_and_white_space_stays(
        self, name: str, unit: str, text: str
    ) -> None:
        for made, _ in variant_texts(variants_of(with_unit(name, unit), text, "natural")):
            assert Counter(made.split()) == Counter(text.split())
            if unit == "word":
                assert re.findall(r"\s+", made) == re.findall(r"\s+", text)


@pytest.mark.parametrize("kind", EVIDENCE)
@pytest.mark.parametrize("name", ["derange", "shuffle", "shuffle_ngrams", "reverse", "sort"])
def test_every_kind_of_evidence_is_still_there(name: str, kind: str) -> None:
    for row in evidence_rows(kind, 20):
        for made, _ in variant_texts(variants_of(name, row["text"], "natural", q=5)):
            assert Counter(made.split()) == Counter(row["text"].split())


def test_there_are_29_kinds_of_evidence() -> None:
    assert len(EVIDENCE) == 29


@pytest.mark.parametrize("name", ORDER)
@settings(max_examples=10)
@given(text=TEXTS)
def test_tokens_are_gathered_as_texts_are_written(name: str, text: str) -> None:
    plain = " ".join(text.split())
    variants = variants_of(name, plain, "natural")
    rows = variants.a
    chunks = chunks_of([rows])
    texts = render(rows.sentence, rows.positions)
    for i, (start, length) in enumerate(
        zip(chunks.starts.tolist(), chunks.lengths.tolist(), strict=True)
    ):
        if chunks.is_regular[i]:
            numbers = chunks.numbers[start : start + length].tolist()
            assert " ".join(chunks.names[k] for k in numbers) == texts[i]


def test_a_mark_set_apart_stays_and_a_glued_one_moves() -> None:
    for made, _ in variant_texts(variants_of("derange", "Well , he came back.", "natural", q=5)):
        assert made.split()[1] == ","
        assert "back." in made.split()
        assert not made.endswith("back.")


def test_a_final_mark_set_apart_stays_at_the_end() -> None:
    assert variant_texts(variants_of("reverse", "He came back !", "natural")) == [
        ("back came He !", None)
    ]


def test_line_breaks_and_double_spaces_stay_where_they_were() -> None:
    text = "One two  three\nfour\n\nfive six. "
    assert variant_texts(variants_of("reverse", text, "natural")) == [
        ("six. five  four\nthree\n\ntwo One ", None)
    ]


def test_words_of_another_script_are_not_glued_together() -> None:
    texts = variant_texts(variants_of("derange", "我用iPhone 15给Mary打了电话", "natural", q=10))
    assert all(not re.search(r"[A-Za-z0-9]{2}(?:iPhone|Mary|15)", made) for made, _ in texts)
    assert all(re.search(r"(?<![A-Za-z0-9])iPhone(?![A-Za-z0-9])", made) for made, _ in texts)


def test_clauses_end_at_marks_that_are_glued() -> None:
    text = "one two three, four five six."
    for made, _ in variant_texts(variants_of("shuffle_clauses", text, "natural", q=5)):
        assert set(made.split()[:3]) == {"one", "two", "three,"}


class TestOneTextThatCannotMove:
    def test_the_other_moves(self) -> None:
        for made, topic in variant_texts(
            variants_of("derange", "One two three four.", "natural", text_b="Topic")
        ):
            assert topic == "Topic"
            assert made.split() != ["One", "two", "three", "four."]

    def test_a_paper_leaves_such_an_example_out(self) -> None:
        with pytest.raises(DoesNotApply, match="no other order"):
            parse("derange").apply(
                example("One two three.", "Topic"), task=TASK, q=1, seed=0, short="use"
            )

    def test_where_neither_moves_it_does_not_apply(self) -> None:
        with pytest.raises(DoesNotApply, match="no other order"):
            parse("derange", fidelity="natural").apply(
                example("One", "Topic"), task=TASK, q=1, seed=0, short="use"
            )


class TestSpecs:
    def test_a_natural_run_has_plain_names(self) -> None:
        natural = parse("derange", fidelity="natural")
        assert natural.spec == parse("derange:fidelity=natural", fidelity="natural").spec
        assert natural.spec == "derange"
        assert natural.splitter_for(TASK) == "natural"

    @pytest.mark.parametrize("unit", UNITS)
    def test_the_splitter_that_a_run_keeps_gives_the_same_texts_again(self, unit: str) -> None:
        text = "One two  three. Four\n\nfive six.\nSeven eight nine."
        first = parse(f"derange:unit={unit}", fidelity="natural")
        again = parse(first.spec, usual_words=first.splitter_for(TASK))
        made = [
            variant_texts(each.apply(example(text), task=TASK, q=2, seed=0, short="use"))
            for each in (first, again)
        ]
        assert made[0] == made[1]

    def test_a_paper_transformation_in_a_natural_run_is_refused(self) -> None:
        with pytest.raises(BadSetting, match="--fidelity paper"):
            parse("derange:fidelity=paper", fidelity="natural")

    def test_a_released_one_keeps_its_own_words(self) -> None:
        chosen = parse("reverse:fidelity=released", fidelity="natural")
        assert chosen.spec == "reverse:fidelity=released"
        assert chosen.splitter_for(TASK) == "nltk"

    def test_natural_can_be_named_where_a_run_is_not(self) -> None:
        chosen = parse("derange:fidelity=natural", fidelity="paper")
        assert chosen.spec == "derange:fidelity=natural"
        assert chosen.splitter_for(TASK) == "natural"


def controlled(spec: str, text: str, fidelity: Fidelity) -> tuple[str, str]:
    """The first variant and its control."""
    variants = variants_of(spec, text, fidelity)
    control = surface_control(variants)
    if control.because == NO_SPACES and "unit=sentence" in spec:
        assume(condition=False)  # a sentence that ends inside an address has no space after it
    assert control.texts is not None, control.because
    assert control.is_original == (control.texts[0] == text)
    return variant_texts(variants)[0][0], control.texts[0]


def bare(text: str) -> list[str]:
    """The tokens of a text without case and final marks."""
    return [token for token in re.sub(r"[.,;:!?…]", "", text.casefold()).split() if token]


@pytest.mark.parametrize("fidelity", ["natural", "paper", "released"])
@pytest.mark.parametrize("unit", [*UNITS, "subword"])
@pytest.mark.parametrize("name", ORDER)
@settings(max_examples=6)
@given(text=TEXTS)
def test_control_and_variant_hold_the_same_written_tokens(
    name: str, unit: str, fidelity: Any, text: str
) -> None:
    """But for the edges: the case of the first letter, and the mark at the end where it moves."""
    variant, control = controlled(with_unit(name, unit), text, fidelity)
    assert Counter(bare(control)) == Counter(bare(variant))
    missing = Counter(variant.split()) - Counter(control.split())
    assert missing.total() <= 2


@pytest.mark.parametrize("name", ORDER)
@settings(max_examples=6)
@given(text=TEXTS)
def test_a_natural_control_is_the_text_but_for_its_edges(name: str, text: str) -> None:
    variant, control = controlled(name, text, "natural")
    tokens, own = control.split(), text.split()
    assert bare(control) == bare(text)
    assert sum(one != other for one, other in zip(tokens, own, strict=True)) <= 2
    assert re.findall(r"\s+", control) == re.findall(r"\s+", text)
    if re.search(r"[^\W\d_]", first_word(control)):
        assert begins_with_capital(control) == begins_with_capital(variant)


def first_word(text: str) -> str:
    """The first unit that is more than marks."""
    sentence = split(text, words="natural")
    spoken = [sentence.words[i] for i in sentence.movable.tolist()]
    return spoken[0] if spoken else ""


def begins_with_capital(text: str) -> bool:
    return any(char.isupper() for char in [*filter(str.isalpha, first_word(text))][:1])


@settings(max_examples=30)
@given(text=TEXTS)
def test_words_of_the_control_stand_in_their_original_order(text: str) -> None:
    sentence = split(text)
    assume(len(set(sentence.kinds[sentence.movable].tolist())) == len(sentence.movable) >= 2)
    variants = variants_of("derange", text, "paper")
    control = surface_control(variants)
    assert control.texts is not None
    own = [word for word in re.findall(r"\w+", text.casefold()) if word]
    found = re.findall(r"\w+", control.texts[0].casefold())
    first_of_tokens = [
        re.findall(r"\w+", token.casefold())[:1] for token in control.texts[0].split()
    ]
    heads = [word for words in first_of_tokens for word in words]
    places = [own.index(word) for word in heads]
    assert Counter(found) == Counter(own)
    assert places == sorted(places)


class TestControlAsATransformation:
    def test_its_text_is_the_control_of_the_first_variant(self) -> None:
        text = "The dog saw a cat in Rome."
        drawn = variants_of("derange", text, "natural", q=5)
        control = surface_control(drawn)
        assert variant_texts(variants_of("surface:of=derange", text, "natural", q=5)) == [
            control.texts
        ]

    def test_it_keeps_order_and_has_one_variant(self) -> None:
        chosen = parse("surface:of=shuffle_ngrams:n=2", fidelity="natural")
        assert chosen.spec == "surface:of=shuffle_ngrams:n=2"
        assert chosen.count(100) == 1
        assert not chosen.keeps_words

    def test_the_original_text_is_not_predicted_again(self) -> None:
        chosen = parse("surface:of=reverse", fidelity="natural")
        with pytest.raises(DoesNotApply, match="is the original text"):
            chosen.apply(example("we all saw it"), task=TASK, q=1, seed=0)


class TestControlOfOneText:
    def test_edges_are_those_of_the_variant(self) -> None:
        variant, control = controlled("reverse", "The cat saw Paris!", "natural")
        assert variant == "Paris! saw cat The"
        assert control == "The cat saw Paris"

    def test_a_final_mark_of_another_word_comes_to_the_end(self) -> None:
        variant, control = controlled("reverse", "Yes, we can.", "natural")
        assert variant == "can. we Yes,"
        assert control == "yes, we can,"

    def test_marks_that_stay_go_to_the_word_that_received_them(self) -> None:
        variant, control = controlled("reverse", "the dog, he said, barks", "paper")
        tokens = Counter(variant.split())
        assert Counter(control.split()) == tokens
        assert [word.strip(",") for word in control.split()] == [
            "the",
            "dog",
            "he",
            "said",
            "barks",
        ]

    def test_nothing_is_asked_again_where_it_is_the_original(self) -> None:
        control = surface_control(variants_of("reverse", "we all saw it", "natural"))
        assert control.is_original
        assert control.texts == ("we all saw it", None)

    def test_a_script_without_spaces_has_none(self) -> None:
        control = surface_control(variants_of("derange", "我喜欢吃苹果，你呢？", "natural"))
        assert control.texts is None
        assert control.because == NO_SPACES

    def test_a_text_that_does_not_move_needs_none(self) -> None:
        variants = variants_of("derange:side=a", "We all saw it.", "natural", text_b="我喜欢吃苹果")
        assert surface_control(variants).texts == ("we all saw it", "我喜欢吃苹果")

    def test_tokens_that_are_no_text_have_none(self) -> None:
        variants = variants_of("derange:unit=token", "We all saw it.", "natural")
        assert surface_control(variants).because == NO_TEXT

    def test_it_is_written_from_the_first_variant(self) -> None:
        many = variants_of("derange", "The dog saw a cat in Rome.", "natural", q=5)
        one = Variants(many.a.take(np.array([0])), None, many.label)
        assert surface_control(many) == surface_control(one)
