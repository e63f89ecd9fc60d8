"""A table by language: of named sets, of files with a column `language`, of finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import disorder
from disorder.data import read_by_language
from disorder.errors import BadData
from disorder.types import Floats

DENIALS = ("Nobody", "Niemand", "ไม่มี")
TEXTS = {
    "en": ("A man is playing music in the park {}.", "Nobody has cooked in this house {}."),
    "German": ("Ein Mann macht heute im Park Musik {}.", "Niemand hat heute etwas gekocht {}."),
    "th": ("ผู้ชายคนหนึ่งกำลังเล่นดนตรีอยู่ข้างนอก {}", "ไม่มีใครในบ้านทำอาหารอะไรเลยวันนี้ {}"),
}


def rows(*, label: str = "label") -> list[dict[str, Any]]:
    """Eight translated texts, which share their ids."""
    return [
        {"id": i, "text_a": texts[i % 2].format(i), label: ("yes", "no")[i % 2], "language": name}
        for name, texts in TEXTS.items()
        for i in range(8)
    ]


def denies(texts: Sequence[str]) -> Floats:
    """Sure of "no" where a denial stands in the text."""
    return np.array([[0.9, 0.1] if any(d in t for d in DENIALS) else [0.1, 0.9] for t in texts])


denies.labels = ("no", "yes")  # type: ignore[attr-defined]


def test_rows_are_audited_language_by_language() -> None:
    found = disorder.study("beyond/xnli", denies, rows(), q=2)
    assert [cell.row["language"] for cell in found.cells if cell.column == "accuracy"] == [
        "de",
        "en",
        "th",
    ]
    assert {cell.row["data"] for cell in found.cells} == {"rows 1"}
    for code in ("de", "en", "th"):
        assert found.cell("accuracy", language=code).value == 1.0
        assert found.cell("accuracy", language=code).n == 8
    assert "skill_kept" in {picture.name for picture in found.pictures}


def test_thai_words_are_found_by_their_own_rules_beside_other_languages() -> None:
    """Cut at spaces, a Thai text of this data has two words: it could not be deranged twice."""
    found = disorder.study("beyond/xnli", denies, rows(), q=2)
    assert found.cell("perturbed_accuracy", language="th").n == 8


def test_columns_are_read_as_the_user_says() -> None:
    found = disorder.study(
        "beyond/xnli", denies, rows(label="gold"), columns={"gold": "label"}, q=2, limit=4
    )
    assert found.cell("accuracy", language="en").n == 4


def test_a_language_that_the_user_names_is_that_of_all_rows() -> None:
    one = [row for row in rows() if row["language"] == "en"]
    found = disorder.study("beyond/xnli", denies, one, language="de", q=2)
    assert {cell.row["language"] for cell in found.cells} == {"de"}


def test_data_without_the_column_has_one_row() -> None:
    found = disorder.study("beyond/xnli", "builtin:bow", "builtin", q=2, limit=20)
    assert {cell.row["language"] for cell in found.cells} == {"en"}


def test_a_language_that_lacks_a_label_has_the_labels_of_all() -> None:
    lacking = [row for row in rows() if row["language"] != "th" or row["label"] == "no"]
    found = read_by_language(lacking)
    assert {dataset.task.labels for dataset in found.values()} == {("no", "yes")}
    assert [dataset.task.language for dataset in found.values()] == ["de", "en", "th"]


def test_one_number_in_two_spellings_is_refused_across_languages() -> None:
    spelled = {"en": ("0", "1"), "de": ("0.0", "1.0")}
    twice = [
        {"id": i, "text_a": f"some text {i}", "label": labels[i % 2], "language": code}
        for code, labels in spelled.items()
        for i in range(4)
    ]
    with pytest.raises(BadData, match="are the same number"):
        read_by_language(twice)


def test_notes_say_which_language_has_no_score() -> None:
    found = disorder.study("beyond/xnli", "uniform", rows(), q=2)
    lacking = [note for note in found.notes if "no skill_kept" in note]
    assert [code for code in ("de", "en", "th") if any(f"({code})" in n for n in lacking)] == [
        "de",
        "en",
        "th",
    ]


def test_rows_that_do_not_say_their_language_are_named() -> None:
    lacking = [*rows(), {"id": 9, "text_a": "Nobody knows.", "label": "no"}]
    with pytest.raises(BadData, match=r"row 25: no column 'language'"):
        read_by_language(lacking)
    unknown = [*rows(), {"id": 9, "text_a": "Nobody.", "label": "no", "language": "klingonian"}]
    with pytest.raises(BadData, match=r"row 25: unknown language 'klingonian'"):
        read_by_language(unknown)


def test_the_dose_of_disorder_is_a_row_each() -> None:
    """A bag of words keeps everything at any dose; a model that reads order keeps ever less."""
    doses = ["derange:share=0.25", "derange:share=0.5", "derange:share=0.75", "derange"]
    how: dict[str, Any] = {"limit": 80, "q": 3}
    blind = disorder.study("beyond/dose", "builtin:bow", "builtin", **how)
    assert [blind.cell("agreement", transformation=dose).value for dose in doses] == [1.0] * 4
    reads = disorder.study("beyond/dose", "builtin", "builtin", **how)
    kept = [reads.cell("agreement", transformation=dose).value for dose in doses]
    assert kept[0] > max(kept[1:])
    assert kept[-1] == min(kept)
