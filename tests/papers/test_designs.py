"""The three designs: the right models are compared on the right texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Command, pairs
from disorder.data import read_data
from disorder.errors import BadData, BadSetting, DisorderError, UnknownName
from disorder.papers.training import FinishedDesigns, designs, mitigations
from disorder.papers.training.corruption_designs import (
    accuracy_difference,
    design_of,
    perturbed_test,
)

pytest.importorskip("torch", reason="needs torch")

SMALL = {"width": 8, "hidden": 8, "epochs": 2, "min_count": 1, "batch_size": 8}


def test_a_paired_difference_has_a_narrow_interval() -> None:
    right = np.arange(200) % 4 != 0
    better = right.copy()
    better[:8] = True
    score = accuracy_difference(better, right)
    assert score.value == pytest.approx(0.01)
    assert -0.02 < score.low < 0.01 < score.high < 0.04
    none = accuracy_difference(right, right)
    assert none.low < none.value == 0.0 < none.high


def test_perturbed_test_keeps_the_places_of_what_applies() -> None:
    rows = [*pairs(3), {"id": "e0001x", "text_a": "a", "text_b": "b", "label": "neutral"}]
    places, texts = perturbed_test("derange:side=b", read_data(rows), 0)
    assert places.tolist() == [0, 1, 3]
    assert len(texts) == 3
    with pytest.raises(BadData, match="no test example can be perturbed"):
        perturbed_test("derange:side=b", read_data(rows[3:]), 0)


def test_a_bag_of_words_loses_nothing_by_perturbed_order(tmp_path: Path) -> None:
    found = designs(
        pairs(60),
        pairs(30),
        ["reverse:side=both"],
        model="bow",
        out=tmp_path / "d",
        settings={"epochs": 2},
    )
    assert [design.name for design in found] == [
        "plain",
        "corrupt-train",
        "corrupt-test",
        "corrupt-both",
    ]
    for design in found[1:]:
        assert design.delta is not None
        assert design.delta.value == 0.0
        assert design.accuracy.n == 30


def test_all_models_of_a_seed_learn_from_the_same_examples_in_as_many_updates(
    tmp_path: Path,
) -> None:
    """Texts of one word have no other order: they stay, and are counted."""
    rows = [
        {"id": f"{i:03d}", "text": "good" if i % 4 == 0 else "a good film", "label": str(i % 2)}
        for i in range(80)
    ]
    asked: dict[str, Any] = {"model": "convnet", "settings": SMALL, "seeds": 2}
    found = designs(rows, rows, ["derange", "reverse"], out=tmp_path / "d", **asked)
    assert {design.n_examples for design in found} == {(72, 72)}
    assert {design.n_updates for design in found} == {(18, 18)}
    assert found[0].n_unperturbed == (0, 0)
    assert all(n > 10 for n in found[1].n_unperturbed)
    kept = json.loads((tmp_path / "d" / "result.json").read_text())["designs"]
    assert kept[1]["n_updates"] == [18, 18]


def test_a_design_is_the_mean_of_its_seeds_over_examples_that_all_have(tmp_path: Path) -> None:
    right = np.array([[1.0, 0.0, 1.0, np.nan], [1.0, 1.0, 1.0, 1.0]])
    plain = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    found = design_of(("corrupt-test", "original", "sort"), right, plain)
    assert found.accuracy.value == pytest.approx((2 / 3 + 1) / 2)
    assert found.accuracy_by_seed == pytest.approx((2 / 3, 1.0), abs=1e-6)
    assert found.delta is not None
    assert found.delta.value == pytest.approx((-1 / 3 + 2 / 3) / 2)
    assert found.delta_by_seed == pytest.approx((-1 / 3, 2 / 3), abs=1e-6)
    assert (found.accuracy.n, found.accuracy.skipped) == (3, 1)
    assert found.delta.low < found.delta.value < found.delta.high


def test_designs_resume_where_they_were_stopped(tmp_path: Path) -> None:
    """Killed in the middle of the third model: what is done is reused, what is begun is resumed,
    the rest follows.
    """
    asked: dict[str, Any] = {"model": "convnet", "seeds": 2, "settings": SMALL}
    rows, test, on = pairs(40), pairs(20), ["reverse", "drop_least"]
    stages: list[str] = []

    def stop(stage: str, done: int, total: int, note: str) -> None:
        stages.append(stage)
        if stage == "seed 0, drop_least: epoch 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        designs(rows, test, on, out=tmp_path / "d", progress=stop, **asked)
    assert any(stage.startswith("seed 0, original") for stage in stages)
    first = (tmp_path / "d" / "seed-0" / "original" / "model.safetensors").stat().st_mtime_ns
    stages.clear()
    found = designs(
        rows, test, on, out=tmp_path / "d", progress=lambda stage, *_: stages.append(stage), **asked
    )
    assert not any(
        stage.startswith(("seed 0, original", "seed 0, reverse", "seed 0, drop_least: epoch 1"))
        for stage in stages
    )
    assert any(stage == "seed 0, drop_least: epoch 2" for stage in stages)
    assert (
        tmp_path / "d" / "seed-0" / "original" / "model.safetensors"
    ).stat().st_mtime_ns == first
    stages.clear()
    assert (
        designs(
            rows,
            test,
            on,
            out=tmp_path / "d",
            progress=lambda stage, *_: stages.append(stage),
            **asked,
        )
        == found
    )
    assert set(stages) == {"in all"}, "nothing is trained again"
    assert designs(rows, test, on, out=tmp_path / "e", **asked) == found, (
        "as if it had not been stopped"
    )


def test_designs_do_not_mix_trainings(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"model": "bow", "settings": {"epochs": 1}}
    designs(pairs(40), pairs(20), "sort", out=tmp_path / "d", **asked)
    with pytest.raises(DisorderError, match="holds another training"):
        designs(pairs(40), pairs(20), ["sort"], out=tmp_path / "d", limit=30, **asked)
    with pytest.raises(DisorderError, match="on other data"):
        designs(pairs(41), pairs(20), ["sort"], out=tmp_path / "d", **asked)
    with pytest.raises(BadSetting, match="seeds=0"):
        designs(pairs(40), pairs(20), ["sort"], out=tmp_path / "e", seeds=0, **asked)
    with pytest.raises(BadSetting, match="test_limit=0"):
        designs(pairs(40), pairs(20), ["sort"], out=tmp_path / "e", test_limit=0, **asked)
    with pytest.raises(DisorderError, match="needs a transformation"):
        designs(pairs(40), pairs(20), [], out=tmp_path / "e", **asked)


def test_a_mistake_fails_before_test_data_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_reading(*given: Any) -> None:
        raise AssertionError("data was read")

    monkeypatch.setattr("disorder.verbs.train.comparison.selected_data", no_reading)
    with pytest.raises(UnknownName, match="did you mean 'epochs'"):
        designs(
            "builtin:nli:train",
            "builtin",
            ["sort"],
            out=tmp_path / "d",
            model="bow",
            settings={"epohcs": "1"},
        )
    with pytest.raises(UnknownName, match="did you mean 'epochs'"):
        mitigations(
            "builtin:nli:train",
            "builtin",
            out=tmp_path / "d",
            model="bow",
            settings={"epohcs": "1"},
        )


def test_designs_from_the_command_line(
    jsonl: Callable[..., Path], tmp_path: Path, command: Command
) -> None:
    data, out = jsonl(pairs(60)), tmp_path / "d"
    given = [
        "designs",
        data,
        data,
        "--with",
        "reverse",
        "--model",
        "bow",
        "--seeds",
        2,
        "--test-limit",
        25,
        "--set",
        "epochs=1",
    ]
    code, shown, _ = command(*given, "--out", out)
    assert code == 0
    assert "plain on original texts: accuracy" in shown
    assert "Mean over 2 seeds" in shown
    page = (out / "designs.md").read_text()
    assert page.count("| corrupt-train | reverse | original | 25 |") == 1
    assert page.count("\n| reverse | 25 |") == 1
    assert "Mean over 2 seeds" in page
    kept = json.loads((out / "result.json").read_text())
    assert [len(record["accuracy_by_seed"]) for record in kept["designs"]] == [2] * 4
    assert json.loads(command(*given, "--out", out, "--json")[1]) == kept
    old = tmp_path / "old"  # as older versions left it
    old.mkdir()
    (old / "designs.json").write_text(json.dumps(kept["designs"]))
    (old / "request.json").write_text(json.dumps(kept["request"]))
    assert FinishedDesigns.are_in(old)
    before, now = FinishedDesigns.open(old), FinishedDesigns.open(out)
    assert (before.about, before.found) == (now.about, now.found)
