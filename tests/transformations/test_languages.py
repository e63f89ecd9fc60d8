"""Texts are cut and tagged as their language is written, or it is said why not: never silently as
English.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import CHINESE, NLI, Command, example
from disorder.errors import BadSetting, MissingData
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.transformations.tags import tagger_for
from disorder.transformations.words import default_splitter, split

GERMAN = replace(NLI, language="de")
THAI = replace(NLI, language="th")
ROWS = {
    "de": [
        "Der alte Mann sah gestern seine Schwester und ihren kleinen Hund am See.",
        "Die Kinder spielen heute im Garten, weil das Wetter endlich schön ist.",
        "Morgen fährt der Zug nach Hamburg erst um halb neun Uhr abends ab.",
    ],
    "zh": [
        "小明昨天在北京的公园里看见了三只白色的猫，然后回家吃饭。",
        "我妹妹每天早上七点起床，喝一杯牛奶，再坐地铁去学校。",
        "这本书的作者写了很多关于中国历史的故事，孩子们非常喜欢。",
    ],
    "th": [
        "เมื่อวานนี้ฉันเห็นแมวสีขาวสามตัวในสวนสาธารณะแล้วก็กลับบ้านไปกินข้าว",
        "น้องสาวของฉันตื่นนอนตอนเจ็ดโมงเช้าทุกวันแล้วนั่งรถไฟไปโรงเรียน",
        "หนังสือเล่มนี้เขียนเรื่องประวัติศาสตร์ไว้มากมายและเด็กๆชอบอ่านมาก",
    ],
}
LABELS = ("entailment", "neutral", "contradiction")


def rows_in(code: str, n: int = 60) -> list[dict[str, Any]]:
    texts = ROWS[code]
    return [
        {
            "id": f"{i:03d}",
            "text_a": f"{texts[i % 3]} {i}",
            "text_b": texts[(i + 1) % 3],
            "label": LABELS[i % 3],
        }
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The U.S. isn't here.", ["The", "U.S.", "isn't", "here", "."]),
        ("It 's the dogs' 1990's, e.g. now", None),
        ("a well-known co-op", ["a", "well-known", "co-op"]),
        ("I said 'stop'!", ["I", "said", "'", "stop", "'", "!"]),
        ("धीरे-धीरे चलो।", ["धीरे-धीरे", "चलो", "।"]),
        ("L'été, aujourd'hui", ["L'été", ",", "aujourd'hui"]),
        ("100,000 € – 3.5 %", ["100,000", "€", "–", "3.5", "%"]),
        ("J. R. R. Tolkien", ["J", ".", "R", ".", "R", ".", "Tolkien"]),
    ],
)
def test_words_as_people_count_them(text: str, words: list[str] | None) -> None:
    found = split(text).words
    if words is None:
        words = ["It", "'s", "the", "dogs", "'", "1990's", ",", "e.g.", "now"]
    assert found == words


def test_the_older_splitter_cuts_as_it_did() -> None:
    assert split("The U.S. 's", words="simple").words == ["The", "U", ".", "S", ".", "'", "s"]


@pytest.mark.parametrize(
    ("text", "n"),
    [("เมื่อวานนี้ฉันเห็นแมวสีขาว", 5), ("私は学生です。", 4), ("သူမကစာအုပ်ဖတ်သည်", 3)],
)
def test_scripts_without_spaces_have_words(text: str, n: int) -> None:
    sentence = split(text)
    assert len(sentence) >= n
    assert not sentence.is_spaced.any()


@pytest.mark.parametrize("language", ["zh", "th", "ja", "de", "ar"])
@pytest.mark.parametrize("spec", ["derange", "shuffle_ngrams", "sort", "reverse", "shuffle"])
@pytest.mark.parametrize("fidelity", ["paper", "released"])
def test_an_english_splitter_of_a_paper_is_not_used_on_other_languages(
    language: str, spec: str, fidelity: Any
) -> None:
    task = replace(NLI, language=language)
    splitter = parse(spec, fidelity=fidelity).splitter_for(task)
    if splitter != "spaces" or language in ("zh", "th", "ja"):
        assert splitter == default_splitter(language)


def test_thai_words_move_and_no_space_comes_in() -> None:
    text = ROWS["th"][0]
    variants = parse("shuffle_ngrams").apply(example(text), task=THAI, q=3, seed=0)
    for made, _ in variant_texts(variants):
        assert sorted(made) == sorted(text)
        assert made != text


def test_german_keeps_its_capitals() -> None:
    text = ROWS["de"][0]
    variants = parse("derange").apply(example(text), task=GERMAN, q=3, seed=0)
    for made, _ in variant_texts(variants):
        assert sorted(made.split()) != sorted(made.lower().split())
        assert sorted(w.strip(".,") for w in made.split()) == sorted(
            w.strip(".,") for w in text.split()
        )


def test_an_english_splitter_that_is_named_is_refused() -> None:
    with pytest.raises(BadSetting, match=r"words='nltk'.*German \(de\)"):
        parse("derange:words=nltk").apply(example(ROWS["de"][0]), task=GERMAN, q=1, seed=0)


@pytest.mark.parametrize("language", ["de", "th", "ar"])
def test_no_tagger_is_said_with_what_would_add_one(language: str) -> None:
    choice = tagger_for(language)
    if choice:
        pytest.skip(f"{choice.tagger} is installed")
    assert language in choice.reason
    assert "tagger=spacy:" in choice.reason
    task = replace(NLI, language=language)
    with pytest.raises(MissingData, match="no tagger for"):
        parse("drop_pos:tags=NOUN").apply(example("ein Hund"), task=task, q=1, seed=0)


def test_an_english_tagger_that_is_named_is_refused() -> None:
    with pytest.raises(BadSetting, match=r"this one is for English \(en\)"):
        parse("drop_pos:tagger=nltk").apply(example(ROWS["de"][0]), task=GERMAN, q=1, seed=0)
    with pytest.raises(BadSetting, match=r"this one is for Chinese \(zh\)"):
        parse("drop_pos:tagger=jieba").apply(example(ROWS["de"][0]), task=GERMAN, q=1, seed=0)


@pytest.mark.parametrize("language", ["und", "mul"])
def test_unknown_and_mixed_languages_have_no_tagger(language: str) -> None:
    choice = tagger_for(language)
    assert not choice
    assert "--language" in choice.reason


def test_a_chinese_file_is_segmented_without_being_told(
    run: Command, jsonl: Callable[..., Path]
) -> None:
    path = jsonl(rows_in("zh"))
    code, _, said = run("perturb", path, "--with", "derange", "--out", "x.jsonl")
    assert code == 0, said
    first = json.loads(Path("x.jsonl").read_text(encoding="utf-8").splitlines()[0])
    words = split(ROWS["zh"][1], words="icu")
    assert len(first["positions_b"]) == len(words) < len(ROWS["zh"][1])
    assert sorted(first["text_b"]) == sorted(ROWS["zh"][1])


@pytest.mark.parametrize("fidelity", ["natural", "paper"])
@pytest.mark.parametrize("code", ["de", "zh", "th"])
def test_the_language_is_recorded_in_the_run(
    code: str, fidelity: str, run: Command, jsonl: Callable[..., Path], tmp_path: Path
) -> None:
    path = jsonl(rows_in(code))
    done, printed, said = run(
        *("audit", "always:neutral", path, "--q", 3, "--fidelity", fidelity),
        *("--out", tmp_path / "run", "--json"),
    )
    assert done == 0, said
    found = json.loads(printed)
    assert found["language"] == code
    assert found["settings"]["language"] == "auto"
    by_fidelity = {"natural": "natural", "paper": default_splitter(code)}
    assert found["splitters"]["derange"] == by_fidelity[fidelity]
    assert found["skips"]["derange"] == {}


def test_word_classes_of_german_are_an_error_of_one_line(
    run: Command, jsonl: Callable[..., Path]
) -> None:
    if tagger_for("de"):
        pytest.skip("a German tagger is installed")
    path = jsonl(rows_in("de"))
    code, _, said = run("audit", "always:neutral", path, "--with", "drop_pos:tags=NOUN")
    assert code == 2
    assert "no tagger for German (de) is installed" in said
    assert "de_core_news_sm" in said


def test_sanity_leaves_word_classes_out_of_german(
    run: Command, jsonl: Callable[..., Path], tmp_path: Path
) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    if tagger_for("de"):
        pytest.skip("a German tagger is installed")
    path = jsonl(rows_in("de", 90))
    code, printed, said = run(
        *("sanity", path, "--check", "classes", "--out", tmp_path / "s", "--json")
    )
    assert code == 2  # there is no other check
    assert "no tagger for German (de) is installed" in said
    assert "NOUN" not in printed + said


def test_an_unknown_language_is_one_clear_line(run: Command) -> None:
    code, _, said = run("audit", "builtin", "builtin", "--language", "dutsch")
    assert code == 2
    assert "unknown language" in said


def test_languages_are_listed(run: Command) -> None:
    code, printed, _ = run("list", "languages")
    assert code == 0
    for name in ("German", "Thai", "Japanese", "Hindi", "Arabic", "drop_pos"):
        assert name in printed


@pytest.mark.parametrize("is_installed", [False, True])
def test_how_chinese_is_cut_does_not_depend_on_what_is_installed(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("disorder.transformations.words._has_jieba", lambda: is_installed)
    assert parse("derange").splitter_for(CHINESE) == "icu"
    assert parse("derange", fidelity="released").splitter_for(CHINESE) == "icu"
    assert parse("derange:words=simple").splitter_for(CHINESE) == "simple"
    assert parse("derange:words=jieba").splitter_for(CHINESE) == "jieba"


def test_chinese_word_classes_are_of_the_taggers_words() -> None:
    pytest.importorskip("rjieba", reason="needs rjieba")
    assert parse("drop_pos").splitter_for(CHINESE) == "jieba"
