"""The language of data is found out by script and letters, and is said where it is not one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import disorder
from disorder.data import read_data
from disorder.errors import UnknownName
from disorder.languages import detect, language_code, script_of
from disorder.languages.detection import SAMPLE

SENTENCES = {
    "en": "The committee said on Tuesday that nothing had been decided yet about the bridge.",
    "de": "Der Ausschuss sagte am Dienstag, dass über die Brücke noch nichts entschieden sei.",
    "fr": "Le comité a déclaré mardi que rien n'avait encore été décidé au sujet du pont.",
    "es": "El comité dijo el martes que todavía no se había decidido nada sobre el puente.",
    "ru": "Комитет сообщил во вторник, что о мосте пока ничего не решено.",
    "uk": "Комітет повідомив у вівторок, що щодо мосту ще нічого не вирішено.",
    "zh": "委员会星期二表示，关于这座桥还没有作出任何决定。",
    "ja": "委員会は火曜日に、橋についてはまだ何も決まっていないと述べた。",
    "ko": "위원회는 화요일에 다리에 대해 아직 아무것도 결정되지 않았다고 말했다.",
    "th": "คณะกรรมการกล่าวเมื่อวันอังคารว่ายังไม่มีการตัดสินใจเรื่องสะพาน",
    "ar": "قالت اللجنة يوم الثلاثاء إنه لم يتم اتخاذ أي قرار بعد بشأن الجسر.",
    "fa": "کمیته روز سه‌شنبه گفت که هنوز هیچ تصمیمی درباره پل گرفته نشده است.",
    "hi": "समिति ने मंगलवार को कहा कि पुल के बारे में अभी तक कुछ तय नहीं हुआ है।",
    "el": "Η επιτροπή δήλωσε την Τρίτη ότι τίποτα δεν έχει αποφασιστεί για τη γέφυρα.",
    "he": "הוועדה אמרה ביום שלישי שעדיין לא הוחלט דבר בנוגע לגשר.",
    "my": "ကော်မတီက တံတားနှင့်ပတ်သက်၍ မည်သည့်အရာမျှ မဆုံးဖြတ်ရသေးဟု အင်္ဂါနေ့တွင် ပြောသည်။",
    "km": "គណៈកម្មាធិការ បាន និយាយ នៅ ថ្ងៃ អង្គារ ថា មិន ទាន់ មាន ការ សម្រេច ចិត្ត ទេ។",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_one_sentence_is_enough(code: str) -> None:
    assert detect([SENTENCES[code]]).code == code


@pytest.mark.parametrize("code", SENTENCES)
def test_many_rows_are_one_language(code: str) -> None:
    found = detect([SENTENCES[code]] * 50)
    assert found.code == code
    assert dict(found.shares) == {code: 1.0}
    assert not found.note


def test_a_few_foreign_rows_do_not_make_data_mixed() -> None:
    assert detect([SENTENCES["de"]] * 95 + [SENTENCES["en"]] * 5).code == "de"


@pytest.mark.parametrize(("one", "other"), [("en", "de"), ("en", "zh"), ("zh", "ja"), ("th", "en")])
def test_mixed_data_says_so(one: str, other: str) -> None:
    rows = [SENTENCES[one], SENTENCES[other]] * 30
    found = detect(rows)
    assert found.code == "mul"
    assert dict(found.shares) == {one: 0.5, other: 0.5}
    assert "several languages" in found.note
    assert one in found.note
    assert other in found.note


@pytest.mark.parametrize("texts", [[], [""], ["1 + 1 = 2", "😀"]])
def test_without_letters_there_is_nothing_to_say(texts: list[str]) -> None:
    found = detect(texts)
    assert found.code == "und"
    assert found.note == ""


@pytest.mark.parametrize(
    ("texts", "guess"),
    [
        (["I am happy", "I am sad"], "en"),
        (["ant bee cat dog eel fox gnu"], "en"),
        (["dónde está mi paquete"], "es"),
        (["สวัสดี"], "th"),
    ],
)
def test_too_little_is_unknown_and_the_best_guess_is_told(texts: list[str], guess: str) -> None:
    found = detect(texts)
    assert found.code == "und"
    assert found.likeliest == guess
    assert found.note.endswith(f"--language {guess}")


def test_rows_from_all_over_the_data_are_looked_at() -> None:
    rows = [SENTENCES["en"]] * SAMPLE + [SENTENCES["de"]] * SAMPLE
    assert detect(rows).code == "mul"


def test_scripts() -> None:
    assert [script_of(char) for char in "aßЖ中あアΩक한ＡＢ１ "] == [
        *("Latin", "Latin", "Cyrillic", "Han", "Kana", "Kana", "Greek", "Devanagari", "Hangul"),
        *("Latin", "Latin", "", ""),
    ]


@pytest.mark.parametrize(
    ("typed", "code"), [("de", "de"), ("DE", "de"), ("zh-Hans", "zh"), ("Thai", "th"), ("iw", "he")]
)
def test_codes_as_people_type_them(typed: str, code: str) -> None:
    assert language_code(typed) == code


def test_an_unknown_language_gets_a_hint() -> None:
    with pytest.raises(UnknownName, match="unknown language 'klingon'"):
        language_code("klingon")
    with pytest.raises(UnknownName, match="did you mean"):
        language_code("dee")


def rows_in(code: str, n: int = 30) -> list[dict[str, Any]]:
    labels = ("entailment", "neutral", "contradiction")
    return [
        {"id": str(i), "text_a": SENTENCES[code], "text_b": f"{SENTENCES[code]} {i}", "label": x}
        for i, x in enumerate(labels[i % 3] for i in range(n))
    ]


@pytest.mark.parametrize("code", ["en", "de", "zh", "th", "ar", "hi", "ja"])
def test_a_file_is_read_in_its_own_language(code: str, jsonl: Callable[..., Path]) -> None:
    assert read_data(str(jsonl(rows_in(code)))).task.language == code


def test_a_task_by_name_does_not_say_the_language(jsonl: Callable[..., Path]) -> None:
    path = str(jsonl(rows_in("de")))
    assert read_data(path, task="mnli").task.language == "de"
    assert read_data(path, task="ocnli").task.language == "de"


def test_a_language_that_is_named_is_taken(jsonl: Callable[..., Path]) -> None:
    path = str(jsonl(rows_in("de")))
    assert read_data(path, language="nl").task.language == "nl"
    with pytest.raises(UnknownName, match="language"):
        read_data(path, language="xx-unknown")


def test_a_data_set_that_declares_its_language_is_trusted() -> None:
    assert read_data("builtin").task.language == "en"


def test_mixed_data_is_noted(jsonl: Callable[..., Path]) -> None:
    rows = rows_in("de") + [row | {"id": f"x{row['id']}"} for row in rows_in("en")]
    dataset = read_data(str(jsonl(rows)))
    assert dataset.task.language == "mul"
    assert "German (de) 50 %" in dataset.notes[0]


@pytest.mark.parametrize(
    ("code", "splitter"), [("en", "simple"), ("zh", "simple"), ("th", "icu"), ("ja", "icu")]
)
def test_a_network_from_scratch_knows_words_of_scripts_without_spaces(
    code: str, splitter: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs torch")
    settings = {"epochs": "1", "width": "8"}
    rows = rows_in(code, 60)
    disorder.train("plain", rows, dev=rows[:12], out=tmp_path / "m", settings=settings)
    config = json.loads((tmp_path / "m" / "config.json").read_text(encoding="utf-8"))
    assert config["words"] == splitter
