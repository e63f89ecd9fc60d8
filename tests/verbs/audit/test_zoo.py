"""Zoos of models whose answer is known: in no cell is the conclusion wrong too often."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import prediction_zoo

SCRIPT = Path(__file__).parents[3] / "scripts" / "conclusion_zoo.py"
RUNS = 20
ALLOWED = 4  # of 20 wrong: more happens 3 times in 1,000 where 5 % are


@pytest.fixture(scope="module")
def zoo() -> dict[str, Any]:
    return vars(prediction_zoo)


@pytest.fixture(scope="module")
def texts() -> dict[str, Any]:
    """The zoo of docs/conclusions.md, which goes through texts."""
    return runpy.run_path(str(SCRIPT))


def test_what_is_known_of_the_models_is_what_they_do(zoo: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    for cell in zoo["cells"](mixes=["balanced", "88/10/2", "95/5"]):
        truth = zoo["Truth"].of(cell)
        gold = np.repeat(np.arange(len(truth.before)), 2_000)
        before, after = cell.predict(gold, rng)
        for found, known in ((before[:, None], truth.before), (after, truth.after)):
            right = (found == gold[:, None]).mean(axis=1).reshape(-1, 2_000).mean(axis=1)
            assert right == pytest.approx(known, abs=0.05), cell


def test_no_conclusion_is_wrong_too_often(zoo: dict[str, Any]) -> None:
    tally: Callable[..., Any] = zoo["tally"]
    wrong = {
        (cell, n): found.kinds
        for cell in zoo["cells"]()
        for n in (30, 300)
        if (found := tally(cell, n, RUNS)).n_wrong > ALLOWED
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("bag of words", "bag_of_words"),
        ("second text only", "bag_of_words"),
        ("reader, then the frequent label", "reads_order"),
        ("reader, then the rare label", "reads_order"),
        ("reader, then uniform", "reads_order"),
        ("reader, then its prior", "reads_order"),
        ("first word only", "reads_order"),
        ("bigrams", "reads_order"),
        ("half reader, half bag of words", "mixed"),
        ("constant, the frequent label", "one_label"),
        ("uniform", "no_skill"),
        ("prior", "no_skill"),
    ],
)
@pytest.mark.parametrize("mix", ["balanced", "88/10/2"])
def test_what_can_be_known_is_known(zoo: dict[str, Any], model: str, kind: str, mix: str) -> None:
    """With 3,000 examples, where every label has 60 of them or more."""
    cell = zoo["Cell"](model, 0.0, mix)
    found = zoo["tally"](cell, 3_000, 12)
    assert found.kinds[kind] >= (8 if kind == "no_skill" else 11), found.kinds
    assert found.n_wrong == 0


def test_the_interval_covers(zoo: dict[str, Any]) -> None:
    """At least 93 times in 100; 200 audits may show 5 less."""
    for model, mix, n in (
        ("half reader, half bag of words", "balanced", 30),
        ("half reader, half bag of words", "88/10/2", 300),
        ("bigrams", "88/10/2", 300),
        ("bag of words", "balanced", 30),
    ):
        share, given = zoo["coverage"](zoo["Cell"](model, 0.1, mix), n, 200)
        assert given > 0.3
        assert share >= 0.90, (model, mix, n)


@pytest.mark.parametrize("kept", [0.0, 0.81])
def test_a_run_that_ends_when_it_is_decided_is_as_seldom_wrong(
    zoo: dict[str, Any], kept: float
) -> None:
    """Of 40 runs no more than happens once in 1,000 where 5 % are wrong, or 7 % not covered."""
    found = zoo["stopped"](zoo["StoppedCell"](kept, copies=3), 1_000, 40)
    assert found.n_runs == found.n_intervals == 40
    assert (found.n_early == 40) == (kept == 0)
    assert found.n_wrong <= binom.ppf(0.999, 40, 0.05)
    assert found.n_intervals - found.n_covered <= binom.ppf(0.999, 40, 0.07)


def test_every_cell_has_a_truth_with_its_kinds(texts: dict[str, Any]) -> None:
    cells = texts["cells"]()
    assert len(cells) == len(set(cells)) > 100
    for cell in cells:
        assert "undecided" in cell.kinds
        if cell.truth is not None:
            assert 0 <= cell.truth <= 1
            assert {"reads_order", "bag_of_words"} & cell.kinds != {"reads_order", "bag_of_words"}


def test_what_a_cell_says_of_its_model_is_what_the_model_does(texts: dict[str, Any]) -> None:
    """Skill kept, measured without the program: words in another order, drawn here."""
    rng = np.random.default_rng(0)
    for kept, refused in ((0.0, 0.0), (0.5, 0.0), (1.0, 0.3)):
        cell = texts["Cell"]("x", kept, 1_500, refused=refused)
        drawn = texts["simulate"](cell, rng)
        gold = [row["label"] for row in drawn.rows]
        written = [row["text"] for row in drawn.rows]
        shuffled = [" ".join(rng.permutation(text.split())) for text in written]
        skills = []
        for answers in (drawn.model(written), drawn.model(shuffled)):
            pairs = zip(answers, gold, strict=True)
            scores = [1 / 3 if a == "invalid" else float(a == g) for a, g in pairs]
            skills.append(np.mean(scores) - 1 / 3)
        assert skills[1] / skills[0] == pytest.approx(cell.truth, abs=0.06)


def test_a_store_is_resumed_and_written_into_a_page(texts: dict[str, Any], tmp_path: Path) -> None:
    cells = [texts["Cell"]("bag of words", 1.0, 30), texts["Cell"]("reader", 0.0, 30)]
    inside = texts["run"].__globals__
    inside["cells"] = lambda: cells
    store = tmp_path / "zoo.jsonl"
    texts["run"](store, 5.0, 0.01)  # 4 simulations per cell
    before = store.read_text(encoding="utf-8")
    texts["run"](store, 5.0, 0.01)
    assert store.read_text(encoding="utf-8") == before
    texts["run"](store, 5.0, 0.015)
    done = texts["stored"](store)
    assert {cell: tally.n for cell, tally in done.items()} == dict.fromkeys(cells, 6)
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- zoo -->\nold\n<!-- /zoo -->\nafter\n", encoding="utf-8")
    texts["write"](page, "\n".join(texts["table"](done)))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- zoo -->\n\n| model |")
    assert "| bag of words | base | 1.00 |" in text
    assert "old" not in text
    assert text.endswith("<!-- /zoo -->\nafter\n")


@pytest.mark.laboratory
def test_a_tenth_of_the_zoo_of_texts(texts: dict[str, Any], tmp_path: Path) -> None:
    """A seeded tenth of the cells, each at a tenth of its simulations: 5 % may be wrong."""
    chosen = np.random.default_rng(25).permutation(len(texts["cells"]()))
    for place in chosen[: len(chosen) // 10].tolist():
        cell = texts["cells"]()[place]
        n = texts["SIMULATIONS"][cell.n] // 10
        found = texts["Tally"]()
        for number in range(n):
            found.add(texts["simulated"](cell, number))
        # more than this many happens once in 1,000 where 5 % are wrong, 7 % not covered
        assert found.n_wrong <= binom.ppf(0.999, n, 0.05), (cell, found)
        if found.n_intervals >= n / 2:
            missed = found.n_intervals - found.n_covered
            assert missed <= binom.ppf(0.999, found.n_intervals, 0.07), (cell, found)
