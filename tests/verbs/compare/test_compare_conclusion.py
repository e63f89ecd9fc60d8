"""`disorder compare` concludes: which model uses word order more, in the first line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from disorder.results.comparison import Comparison
from disorder.results.comparison_table import headline, rows_that_matter
from disorder.results.render import page
from disorder.verbs.audit import audit
from disorder.verbs.compare import compare

ASKED = {"limit": 300, "q": 4, "with_": ("derange", "reverse"), "cache": "off"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("runs")
    for name, model in (("reader", "builtin"), ("bag", "builtin:bow"), ("guess", "uniform")):
        audit(model, "builtin", out=home / name, **ASKED)
    return {name: home / name for name in ("reader", "bag", "guess")}


@pytest.fixture(scope="module")
def found(folders: dict[str, Path]) -> Comparison:
    return compare(folders["bag"], folders["reader"])


def test_the_reader_uses_word_order_more(found: Comparison) -> None:
    [said] = found.conclusions
    assert (said.order, said.accuracy, said.transformation) == ("lower", "higher", "derange")
    assert said.skill_kept is not None
    assert said.skill_kept.high < 0
    assert said.original.low > 0


def test_the_other_way_round(folders: dict[str, Path]) -> None:
    [said] = compare(folders["reader"], folders["bag"]).conclusions
    assert (said.order, said.accuracy) == ("higher", "lower")


def test_it_stands_first_and_few_rows_follow(command: Command, folders: dict[str, Path]) -> None:
    code, out, _ = command("compare", folders["bag"], folders["reader"])
    assert code == 0
    first = " ".join(out.split())
    assert first.startswith("builtin uses word order more than builtin:bow: skill kept −0.")
    assert "accuracy is higher" in first
    assert "Ω_max" not in out
    assert "more rows: --all shows them" in out
    assert max(map(len, out.splitlines())) <= 80
    _, everything, _ = command("compare", folders["bag"], folders["reader"], "--all")
    assert "Ω_max" in everything
    assert "more rows" not in everything


def test_what_the_user_names_is_shown(command: Command, folders: dict[str, Path]) -> None:
    _, out, _ = command("compare", folders["bag"], folders["reader"], "--metric", "omega_max")
    assert "Ω_max" in out
    assert "more rows" not in out


def test_the_rows_that_matter(found: Comparison) -> None:
    rows = rows_that_matter(found, found.differences)
    assert 3 <= len(rows) <= 8
    assert {d.transformation for d in rows} == {"original", "derange"}
    assert "skill_kept" in {d.metric for d in rows}


def test_the_page_folds_the_others(found: Comparison) -> None:
    drawn = page(found.result)
    assert drawn.index("uses word order more") < drawn.index("<table>") < drawn.index("<details ")
    assert drawn.index("<details ") < drawn.index("Ω_max")


def test_one_model_twice(folders: dict[str, Path], tmp_path: Path) -> None:
    audit("builtin:bow", "builtin", out=tmp_path / "again", **ASKED)
    [said] = compare(folders["bag"], tmp_path / "again").conclusions
    assert (said.order, said.accuracy) == ("undecided", "same")
    assert said.skill_kept is not None
    assert said.skill_kept.difference == 0  # so few examples do not show that it is none


def test_a_model_without_skill_is_said_to_have_none(folders: dict[str, Path]) -> None:
    found = compare(folders["bag"], folders["guess"])
    [said] = found.conclusions
    assert (said.skill_kept, said.order, said.accuracy) == (None, "undecided", "lower")
    first = headline(found)
    assert first.startswith("Which of uniform and builtin:bow uses word order more cannot be said")
    assert "uniform: balanced accuracy" in first
    assert "accuracy is lower" in first
    why = {gone.metric: gone.reason for gone in found.omitted}
    assert "uniform: balanced accuracy" in why["skill_kept"]


def test_nothing_is_said_on_word_order_where_no_order_was_broken(tmp_path: Path) -> None:
    asked = {"limit": 60, "with_": "drop_text:side=b", "cache": "off"}
    for name in ("builtin", "builtin:bow"):
        audit(name, "builtin", out=tmp_path / name, **asked)
    found = compare(tmp_path / "builtin", tmp_path / "builtin:bow")
    assert (found.main, found.conclusions) == ("", [])
    assert "word order" not in headline(found)


def test_the_page_says_how_conclusions_are_drawn(found: Comparison) -> None:
    assert '<a href="#conclusions">How conclusions are drawn</a>' in page(found.result)
    assert 'id="conclusions"' in page(found.result)
