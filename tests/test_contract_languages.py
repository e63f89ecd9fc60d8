"""The contract of every registered transformation in seven languages: units are kept, the identity
gives the text back, nothing inside a character is cut, and a tool for another language is never
used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from conftest import NLI, RunContext, example
from disorder.errors import DoesNotApply, MissingData, MissingPackage
from disorder.languages import is_one_of_unspaced, segments
from disorder.registry import SplitterPart, TransformationPart, part, parts
from disorder.transformations import parse
from disorder.transformations.positions.orders_within_groups import shots_sentence
from disorder.transformations.rendering import render, row_texts, variant_texts
from disorder.transformations.words import default_splitter, fits, split
from disorder.types import Example, Fidelity, PositionRows, Task, Texts, Variants

PAIRS = {
    "en": (
        "The U.S. team didn't see 3.5 well-known cats near the café, it's said.",
        "A naïve reader 👩‍👩‍👧 saw an old dog and her small 🏳️‍🌈 flag today!",
    ),
    "de": (
        "Der Größte sah gestern seine Schwester, z. B. am See, mit ihrem kleinen Hund.",
        "Warum fährt die S-Bahn nach Köln heute nicht über die neue Straße?",
    ),
    "zh": (
        "小明和小红昨天在北京的公园里看见了三只白色的猫。",
        "张伟用iPhone 15给李娜打了两次电话，可是一直没有人接！",
    ),
    "th": (
        "เมื่อวานนี้ฉันเห็นแมวสีขาวสามตัวในสวนสาธารณะแล้วก็กลับบ้านไปกินข้าว",
        "น้องสาวของฉันตื่นนอนตอนเจ็ดโมงเช้าทุกวัน แล้วนั่งรถไฟไปโรงเรียน",
    ),
    "ar": (
        "رأى الرجل العجوز أخته وكلبها الصغير قرب البحيرة أمس.",
        "لماذا لا يذهب القطار إلى المدينة اليوم، يا مُعَلِّمَتي؟",
    ),
    "hi": (
        "बूढ़े आदमी ने कल झील के पास अपनी बहन और उसके छोटे कुत्ते को देखा।",
        "विद्यार्थी धीरे-धीरे पुस्तकालय की ओर क्यों जा रहे हैं?",
    ),
    "ja": (
        "昨日、私は公園で三匹の白い猫を見て、それから家に帰ってご飯を食べた。",
        "妹は毎朝七時に起きて、牛乳を一杯飲んでから電車で学校へ行きます。",
    ),
}
NAMES = [
    name
    for name, entry in parts(TransformationPart).items()
    if "training data" not in entry.needs and entry.perturbs == "words"
]
OF_SHOTS = [name for name, entry in parts(TransformationPart).items() if entry.perturbs == "shots"]
TRAINED = [
    name for name, entry in parts(TransformationPart).items() if "training data" in entry.needs
]
CONTEXT = RunContext()


def task_in(language: str) -> Task:
    return replace(NLI, language=language)


def name_of(spec: str) -> str:
    return spec.split(":")[0]


def check_missing(missing: MissingData) -> None:
    """On a machine without NLTK's data the line says what to type."""
    assert "python -m nltk.downloader" in str(missing)


def checked_reason(spec: str, reason: str) -> str:
    """Why a transformation cannot serve a language: only for want of a tagger, and it says so."""
    assert "tags" in parts(TransformationPart)[name_of(spec)].needs
    assert "tagger" in reason
    return reason


@cache
def made(spec: str, language: str) -> Variants | str:
    """The variants, or why there are none: no tagger for the language is installed, or words are
    too short for their letters to be shuffled.
    """
    try:
        return parse(spec).apply(
            example(*PAIRS[language]),
            task=task_in(language),
            q=4,
            seed=0,
            short="use",
            context=CONTEXT,
        )
    except DoesNotApply as reason:
        if not (name_of(spec).endswith("_letters") and language in ("zh", "ja")):
            raise
        return str(reason)
    except (MissingData, MissingPackage) as missing:
        return checked_reason(spec, str(missing))


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("name", NAMES)
def test_every_transformation_in_every_language(name: str, language: str) -> None:
    check_splitters(name, language)
    variants = made(name, language)
    if isinstance(variants, str):
        return  # `made` has checked that it may say so
    for rows in variants.sides:
        check_characters(rows)
        if rows.written is None:
            check_units(rows, keeps_words=parse(name).keeps_words)
        else:
            check_written(rows)
    # a word of the vocabulary, which is English here, may need a space
    if language in ("zh", "ja") and not name.startswith("replace_"):
        for texts in variant_texts(variants):
            check_gaps(texts)


def check_splitters(name: str, language: str) -> None:
    """No splitter of another language cuts."""
    fidelities: tuple[Fidelity, ...] = ("paper", "released")
    for fidelity in fidelities:
        used = parse(name, fidelity=fidelity).splitter_for(task_in(language))
        assert used == "pieces" or fits(used, language)
    assert parse(name).splitter_for(task_in(language)) != "simple"


def check_characters(rows: PositionRows) -> None:
    """No character is cut."""
    bounds = set(segments(rows.sentence.text, "character"))
    assert {*rows.sentence.starts.tolist(), *rows.sentence.ends.tolist()} <= bounds


def check_units(rows: PositionRows, *, keeps_words: bool) -> None:
    """Texts are the units that were chosen, whole."""
    words = rows.sentence.words
    for text, row in zip(row_texts(rows), rows.positions, strict=True):
        chosen = "".join(words[i] for i in row)
        assert "".join(text.split()).lower() == "".join(chosen.split()).lower()
    if keeps_words:
        assert (np.sort(rows.positions, axis=1) == np.arange(len(rows.sentence))).all()


def check_written(rows: PositionRows) -> None:
    """What is not a word of the vocabulary stands as it stood, and in its order."""
    for text in rows.written or ():
        kept = re.split("|".join(CONTEXT.vocabulary()), text)
        assert len(kept) > 1
        place = 0
        original = "".join(rows.sentence.text.split())
        for piece in kept:
            bare = "".join(piece.split())
            place = original.index(bare, place) + len(bare)


def check_gaps(texts: Texts) -> None:
    """No space where none is written."""
    for text in filter(None, texts):
        beside = {text[i + k] for i, c in enumerate(text[:-1]) if c == " " for k in (-1, 1)}
        assert not any(map(is_one_of_unspaced, beside))


@pytest.mark.parametrize("keep", ["none", "first", "ends"])
@pytest.mark.parametrize("name", ["shuffle_letters", "replace_letters"])
def test_letters_change_inside_their_words_alone(name: str, keep: str) -> None:
    """In every language: words keep their place and length in characters as readers count them,
    and marks, spaces and the letters that are kept stay.
    """
    n_checked = 0
    for language in PAIRS:
        found = made(f"{name}:keep={keep}", language)
        if isinstance(found, str):
            continue
        rows = found.sides[-1]
        units = rows.sentence.words
        groups = rows.sentence.groups
        assert groups is not None
        is_first = np.diff(groups, prepend=-2) != 0
        is_last = np.diff(groups, append=-2) != 0
        for text, row in zip(row_texts(rows), rows.positions, strict=True):
            assert text == "".join(units[i] for i in row)
            is_same = np.array([units[i] == unit for i, unit in zip(row, units, strict=True)])
            assert is_same[groups < 0].all()
            if keep != "none":
                assert is_same[is_first].all()
            if keep == "ends":
                assert is_same[is_last].all()
            if name == "shuffle_letters":
                assert (groups[row] == groups).all()
            assert not is_same.all()
        n_checked += 1
    assert n_checked >= 5  # Chinese and Japanese have hardly a word of four characters


@pytest.mark.parametrize("name", OF_SHOTS)
def test_the_examples_of_a_prompt_in_every_language(name: str) -> None:
    """Parts and answers are kept to the letter; only their order, or who has which, changes."""
    for first, second in PAIRS.values():
        shots = [(first, "yes"), (second, "no"), (f"{second} {first}", "vielleicht")]
        text = shots_sentence(tuple(shots)).text
        items = tuple(part for shot in shots for part in shot)
        given = Example("1", {"shots": items, "item": second}, "neutral", on=("shots", "item"))
        variants = parse(name).apply(given, task=NLI, q=4, seed=0, short="use")
        texts = [made_text for made_text, _ in variant_texts(variants)]
        assert len(set(texts)) == 4
        assert text not in texts
        for positions, _ in variants.positions():
            units = [variants.a.sentence.words[i] for i in positions or ()]
            after = list(zip(units[::2], units[1::2], strict=True))
            assert Counter(part for part, _ in after) == Counter(part for part, _ in shots)
            assert Counter(answer for _, answer in after) == Counter(answer for _, answer in shots)
            if name == "shuffle_shots":
                assert Counter(after) == Counter(shots)
            else:
                assert [part for part, _ in after] == [part for part, _ in shots]


class TrainedContext(RunContext):
    """Training pairs in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def training(self, spec: str) -> Iterator[Example]:
        first, second = PAIRS[self.language]
        for i in range(24):
            yield Example.of(str(i), *((first, second) if i % 2 else (second, first)), "neutral")


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("name", TRAINED)
def test_what_is_translated_has_words_of_its_training_data(name: str, language: str) -> None:
    pytest.importorskip("thot", reason="needs thot")
    first, second = PAIRS[language]
    given = Example.of("1", first, second, "neutral")
    apply = partial(
        parse(f"{name}:train=own").apply, given, task=task_in(language), q=1, seed=0, short="use"
    )
    [(same, text)] = variant_texts(apply(context=TrainedContext(language)))
    assert same == first
    assert text
    known = "".join(f"{first} {second}".lower().split())
    assert set("".join(text.lower().split())) <= set(known)
    if language in ("zh", "ja"):
        check_gaps((text, None))


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("splitter", list(parts(SplitterPart)))
def test_the_identity_gives_the_text_back_to_the_letter(splitter: str, language: str) -> None:
    needs = part(SplitterPart, splitter).needs
    if needs:
        pytest.importorskip(needs.split()[0], reason="needs it")
    for text in PAIRS[language]:
        try:
            sentence = split(text, words=splitter)
        except MissingData as missing:
            check_missing(missing)
            return
        assert render(sentence, np.arange(len(sentence))[None, :]) == [text]


@pytest.mark.parametrize("language", PAIRS)
def test_every_language_has_words_and_a_full_stop(language: str) -> None:
    for text in PAIRS[language]:
        sentence = split(text, words=default_splitter(language))
        assert len(sentence.movable) >= 7
        if not text[-1].isalpha() and language != "th":
            assert sentence.words[-1] == text[-1]
            assert len(sentence.tail) == 1


@pytest.mark.parametrize("language", PAIRS)
def test_deranged_words_are_all_moved(language: str) -> None:
    variants = made("derange", language)
    assert isinstance(variants, Variants)
    for rows in variants.sides:
        moved = rows.positions != np.arange(len(rows.sentence))
        assert moved[:, rows.sentence.movable].all()
        assert not moved[:, rows.sentence.is_punctuation].any()


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("unit", ["char", "sentence", "line"])
def test_other_units_in_every_language(unit: str, language: str) -> None:
    text = "\n".join(PAIRS[language]) if unit == "line" else " ".join(PAIRS[language])
    try:
        variants = parse(f"shuffle_ngrams:unit={unit}").apply(
            example(text), task=task_in(language), q=2, seed=0, short="use"
        )
    except DoesNotApply:
        assert unit == "sentence"
        assert language == "th"  # it does not mark the end of a sentence
        return
    whole = variants.a.sentence.words
    for made, _ in variant_texts(variants):
        assert Counter("".join(made.split())) == Counter("".join(text.split()))
    assert Counter(whole) == Counter(whole[i] for i in variants.a.positions[0])
