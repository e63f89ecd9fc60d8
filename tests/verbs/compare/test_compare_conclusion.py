"""`disorder compare` concludes: which model uses word order more, in the first line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from disorder.metrics import difference_of, holm
from disorder.metrics.statistics.decomposition import Share
from disorder.results.comparison import Comparison, Difference, headline, rows_that_matter
from disorder.results.render import render
from disorder.results.run import Record, Run
from disorder.verbs.audit import audit
from disorder.verbs.compare import compare
from disorder.verbs.compare.concluding import conclusions_of

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
    drawn = render(found.result, "page")
    assert drawn.index("uses word order more") < drawn.index("<table") < drawn.index("<details ")
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
    assert '<a href="#conclusions">How conclusions are drawn</a>' in render(found.result, "page")
    assert 'id="conclusions"' in render(found.result, "page")


def test_row_16_one_test_has_one_p_wherever_it_is_shown(
    command: Command, folders: dict[str, Path], found: Comparison
) -> None:
    """Headline, terminal, page and JSON rest on the same corrected p."""
    [said] = found.conclusions
    main = [d for d in found.differences if d.family == "main"]
    assert main == [said.original, said.skill_kept]
    assert {d.family for d in found.differences} == {"main", "other"}
    assert [d.p_holm for d in main] == pytest.approx(holm([d.p for d in main]), rel=1e-5)
    for kind, d in ((said.order, said.skill_kept), (said.accuracy, said.original)):
        assert d is not None
        assert d.is_sure == (kind in ("higher", "lower"))
    chosen = compare(folders["bag"], folders["reader"], with_="derange")
    assert [d for d in chosen.differences if d.family == "main"] == main
    _, out, _ = command("compare", folders["bag"], folders["reader"])
    told = " ".join(out.split())
    assert "correction for the 2 main tests (skill kept, accuracy on original texts)" in told
    assert "correction for the 2 main tests" in render(found.result, "page")
    assert "p alone" not in render(found.result, "page")


def test_several_pairs_and_groups_are_one_family(folders: dict[str, Path]) -> None:
    three = compare(*folders.values(), pairs="all")
    assert len([d for d in three.differences if d.family == "main"]) == 4  # guess has no skill kept
    chosen = compare(folders["bag"], folders["reader"], metrics="agreement")
    assert {d.family for d in chosen.differences} == {"all"}


def difference(base: float, other: float, **more: float) -> Difference:
    numbers = {"low": other - base - 0.1, "high": other - base + 0.1, "p": 0.0, "p_holm": 0.0}
    return Difference(
        transformation="derange",
        metric="skill_kept",
        group="all",
        base="a",
        other="b",
        base_value=base,
        other_value=other,
        difference=other - base,
        n=100,
        test="fieller",
        **(numbers | more),
    )


@pytest.mark.parametrize(
    ("values", "lows", "order", "told"),
    [
        ((0.5, 0.1), (0.4, 0.0), "lower", ""),
        ((0.4, -0.5), (0.3, -0.6), "lower", ""),
        ((0.1, -0.5), (-0.1, -0.6), "undecided", ""),  # below 0 counts as 0, and 0.1 may be 0
        ((0.0, -0.9), (-0.1, -1.0), "undecided", "both lose all their skill: a and b"),
    ],
)
def test_what_is_below_0_counts_as_0(
    values: tuple[float, float], lows: tuple[float, float], order: str, told: str
) -> None:
    runs = {}
    for name, value, low in zip("ab", values, lows, strict=True):
        record = Record(
            transformation="derange",
            metric="skill_kept",
            group="all",
            value=value,
            low=low,
            high=value + 0.1,
            n=100,
            skipped=0,
        )
        runs[name] = Run.model_construct(scores=[record], conclusions={}, omitted=[])
    accuracy = difference(0.9, 0.9).model_copy(
        update={"transformation": "original", "metric": "accuracy"}
    )
    found = Comparison(
        data="d",
        n_examples=100,
        audit_seed=0,
        seed=0,
        runs=[],
        main="derange",
        differences=[difference(*values), accuracy],
    )
    [said] = conclusions_of(found, runs, [])
    assert (said.order, said.because) == (order, told)
    if not told:
        assert "lose" not in headline(found)


def test_a_bag_beside_a_model_that_order_misleads(tmp_path: Path) -> None:
    """Issue 25, row 9: neither more nor less."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(400):
        words = [*(f"w{j}" for j in rng.choice(40, 6, replace=False)), ("bad", "good")[i % 2]]
        rng.shuffle(words)
        if rng.random() < 0.6:  # the words of these are in the order of the alphabet
            words.sort()
        rows.append({"id": str(i), "text_a": " ".join(words), "label": ("neg", "pos")[i % 2]})

    def bag(texts: list[str]) -> list[str]:
        return ["pos" if "good" in text else "neg" for text in texts]

    def misled(texts: list[str]) -> list[str]:
        orderly = [text.split() == sorted(text.split()) for text in texts]
        return [
            "pos" if is_sorted else bag([text])[0]
            for text, is_sorted in zip(texts, orderly, strict=True)
        ]

    for name, model in (("bag", bag), ("misled", misled)):
        audit(model, rows, out=tmp_path / name, with_="derange", q=5, fidelity="natural")
    found = compare(tmp_path / "bag", tmp_path / "misled")
    [said] = found.conclusions
    first = headline(found)
    assert first.startswith("Order misleads ")
    assert "keeps its skill" in first
    assert "more than" not in first
    assert "less than" not in first
    assert said.order == "undecided"


def test_runs_written_in_two_ways_are_refused_with_the_command_that_makes_them_alike(
    tmp_path: Path, command: Command
) -> None:
    asked = {"limit": 40, "q": 5, "with_": "derange", "cache": "off"}
    for fidelity in ("paper", "natural"):
        audit("builtin:bow", "builtin", out=tmp_path / fidelity, fidelity=fidelity, **asked)
    for verb in ("compare", "board"):
        code, out, err = command(verb, tmp_path / "paper", tmp_path / "natural")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "they differ in fidelity" in err
        assert "None" not in err
        again = err.split("make them alike: ")[1].split()
        assert again[:4] == ["disorder", "audit", "builtin:bow", "builtin"]
        assert again[-1] == f"{tmp_path / 'paper'}-alike"
    assert command(*again[1:])[0] == 0
    assert command("compare", f"{tmp_path / 'paper'}-alike", tmp_path / "natural")[0] == 0


def test_a_run_that_stopped_earlier_is_compared_on_what_both_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("disorder.verbs.audit.sampling.BLOCK", 100)
    asked = {"limit": 600, "q": 2, "with_": "derange", "cache": "off", "short": "use"}
    rules = {"builtin:bow": "skill_kept > 0.3", "builtin": "skill_kept[needs=order] > 5"}
    runs = [
        audit(model, "builtin", out=tmp_path / str(i), fail_if=rule, **asked)
        for i, (model, rule) in enumerate(rules.items())
    ]
    sizes = [run.n_examples for run in runs]
    assert sizes[0] < sizes[1] == 600
    found = compare(*runs)
    assert found.n_examples == min(sizes)
    accuracy = next(d for d in found.differences if d.transformation == "original")
    assert accuracy.n == min(sizes)


def test_families_widen_the_paired_differences() -> None:
    """Ten copies of 40 differences are 40 differences."""
    rng = np.random.default_rng(0)
    base = rng.random(40) < 0.6
    other = rng.random(40) < 0.65
    family = np.repeat(np.arange(40), 10)
    once = difference_of(Share(base), Share(other))
    copied = difference_of(Share(base[family]), Share(other[family]), family=family)
    naive = difference_of(Share(base[family]), Share(other[family]))
    assert copied.difference == pytest.approx(once.difference)
    assert copied.p == pytest.approx(once.p, abs=0.05)
    assert naive.p < 0.01 < copied.p
    assert (copied.high - copied.low) > 2 * (naive.high - naive.low)
