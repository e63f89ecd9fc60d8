"""Skew and rare labels: found from counts, and on the first screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_data import ZOO, some

import disorder


def rows(counts: dict[str, int]) -> list[dict[str, str]]:
    rng = np.random.default_rng(0)
    labels = [label for label, n in counts.items() for _ in range(n)]
    return [
        {"id": str(i), "text_a": " ".join(some(rng, 8)), "text_b": "so", "label": label}
        for i, label in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("counts", "skew", "rare"),
    [
        ({"a": 500, "b": 500}, "not skewed", "none found"),
        ({"a": 624, "b": 376}, "not skewed", "none found"),
        ({"a": 630, "b": 370}, "skewed", "none found"),  # 0.26 of the way from 0.5 to 1
        ({"a": 1230, "b": 144, "c": 28}, "skewed", "found"),
        ({"a": 400, "b": 400, "c": 42}, "not skewed", "found"),
        ({"a": 400, "b": 400, "c": 44}, "not skewed", "none found"),  # 43 suffice for 5 points
        ({"a": 30, "b": 30}, "not skewed", "none found"),  # few rows, but no label is rare
    ],
)
def test_counts_decide(counts: dict[str, int], skew: str, rare: str) -> None:
    found = disorder.sanity(rows(counts), check="labels")
    assert found.verdict("labels").answer == skew
    assert found.verdict("rare labels").answer == rare


def test_what_one_answer_scores_and_what_a_row_weighs_are_said() -> None:
    found = disorder.sanity(rows({"no": 1230, "maybe": 144, "yes": 28}), check="labels")
    skew, rare = found.verdicts
    assert skew.because.startswith(
        "Always predicting 'no' has an accuracy of 0.877 (1,230 of 1,402 rows) and a balanced "
        "accuracy of 0.333"
    )
    assert rare.because.startswith("28 of 'yes'")
    assert (
        "carries 1/3 of a balanced score, so that one row of the rarest moves it by 1.2"
        in rare.because
    )
    [table] = found.tables
    assert [(row["label"], row["rows"]) for row in table.rows] == [
        ("maybe", 144),
        ("no", 1230),
        ("yes", 28),
    ]


def test_rows_of_one_family_count_once() -> None:
    made = rows({"no": 500, "yes": 200})
    for row in made[500:]:
        row["text_a"] = f"the same story in {int(row['id']) // 50} words or more"
    found = disorder.sanity(made, check="labels")
    assert found.verdict("rare labels").answer == "found"
    assert "4 of 'yes'" in found.verdict("rare labels").because


def test_one_label_and_numbers() -> None:
    assert disorder.sanity(rows({"x": 20}), check="labels").verdict("labels").answer == "one label"
    numbers = [row | {"label": f"{i}.5"} for i, row in enumerate(rows({"x": 60}))]
    with pytest.raises(disorder.DisorderError, match="labels are numbers"):
        disorder.sanity(numbers, check="labels")


def test_skew_is_on_the_first_line_of_the_terminal(
    run: Callable[..., tuple[int, str, str]], jsonl: Callable[..., Path]
) -> None:
    path = jsonl(ZOO["88, 10, 2"].rows(1400))
    code, out, _ = run("sanity", path, "--check", "labels", "--check", "duplicates", "--out", "o")
    assert code == 0
    first = out.strip().splitlines()[0]
    assert first.startswith("Labels: skewed, rare labels: found")
    assert "0.880" in out
    assert "28 of" in out
