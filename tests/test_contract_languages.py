"""The contract of every registered transformation in seven languages: units are kept, the identity
gives the text back, nothing inside a character is cut, and a tool for another language is never
used.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from conftest import NLI, RunContext, example
from disorder.errors import DoesNotApply, MissingData, MissingPackage
from disorder.languages import is_one_of_unspaced, segments
from disorder.registry import SplitterPart, TransformationPart, part, parts
from disorder.transformations import parse
from disorder.transformations.rendering import render, row_texts, variant_texts
from disorder.transformations.words import default_splitter, fits, split
from disorder.types import Fidelity, Task, Variants

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
    if "training data" not in entry.needs and entry.perturbs == "words"  # not for prompts' examples
]
CONTEXT = RunContext()


def task_in(language: str) -> Task:
    return replace(NLI, language=language)


def name_of(spec: str) -> str:
    return spec.split(":")[0]


def variants_of(spec: str, language: str) -> Variants:
    """The variants; skipped where a tagger for the language is not installed, which is said."""
    try:
        return parse(spec).apply(
            example(*PAIRS[language]),
            task=task_in(language),
            q=4,
            seed=0,
            short="use",
            context=CONTEXT,
        )
    except DoesNotApply as reason:  # its words are short
        if not (name_of(spec).endswith("_letters") and language in ("zh", "ja")):
            raise
        pytest.skip(str(reason))
    except (MissingData, MissingPackage) as missing:
        assert "tags" in parts(TransformationPart)[name_of(spec)].needs
        pytest.skip(str(missing))


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("name", NAMES)
class TestInEveryLanguage:
    def test_units_are_kept_whole(self, name: str, language: str) -> None:
        variants = variants_of(name, language)
        for rows in variants.sides:
            if rows.written is not None:
                continue
            words = rows.sentence.words
            for text, row in zip(row_texts(rows), rows.positions, strict=True):
                chosen = "".join(words[i] for i in row)
                assert "".join(text.split()).lower() == "".join(chosen.split()).lower()
            if parse(name).keeps_words:
                every = np.arange(len(rows.sentence))
                assert (np.sort(rows.positions, axis=1) == every).all()

    def test_no_splitter_of_another_language_cuts(self, name: str, language: str) -> None:
        transformation = parse(name)
        fidelities: tuple[Fidelity, ...] = ("paper", "released")
        for fidelity in fidelities:
            used = parse(name, fidelity=fidelity).splitter_for(task_in(language))
            assert used == "pieces" or fits(used, language)
        assert transformation.splitter_for(task_in(language)) != "simple"

    def test_no_character_is_cut(self, name: str, language: str) -> None:
        for rows in variants_of(name, language).sides:
            bounds = set(segments(rows.sentence.text, "character"))
            assert {*rows.sentence.starts.tolist(), *rows.sentence.ends.tolist()} <= bounds

    def test_what_moves_words_brings_no_space_where_none_is_written(
        self, name: str, language: str
    ) -> None:
        if language not in ("zh", "ja") or name.startswith("replace_"):  # they write, not move
            return
        for made in variant_texts(variants_of(name, language)):
            for text in filter(None, made):
                beside = {text[i + k] for i, c in enumerate(text[:-1]) if c == " " for k in (-1, 1)}
                assert not any(map(is_one_of_unspaced, beside))


@pytest.mark.parametrize("language", PAIRS)
@pytest.mark.parametrize("splitter", list(parts(SplitterPart)))
def test_the_identity_gives_the_text_back_to_the_letter(splitter: str, language: str) -> None:
    if part(SplitterPart, splitter).needs:
        pytest.importorskip({"jieba": "rjieba"}.get(splitter, splitter), reason="needs it")
    for text in PAIRS[language]:
        sentence = split(text, words=splitter)
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
    variants = variants_of("derange", language)
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
