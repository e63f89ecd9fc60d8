"""The comparison of mitigations: abstentions counted, trainings kept apart, settings chosen on
held-out data.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import pairs
from disorder.data import read_data
from disorder.errors import BadSetting, DisorderError, UnknownName
from disorder.papers.training import chosen_lines, gain_lines, held_out_score, mitigations
from disorder.papers.training.mitigation_scores import (
    ACCURACY_GAIN,
    SKILL_GAIN,
    Finding,
    model_judge,
    reached,
)
from disorder.types import Dataset
from disorder.verbs.train import TrainedModel, folder_name, perturbed_copies, train

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("safetensors", reason="needs safetensors")

SMALL: dict[str, Any] = {"width": 16, "hidden": 16, "batch_size": 32, "epochs": 6, "lr": 0.005}


@pytest.fixture(scope="module")
def reviews() -> Dataset:
    """Reviews that single words decide: learned in a moment."""
    data = read_data("builtin:sentiment")
    return replace(data, examples=[e for e in data.examples if e.groups["needs"] == "words"])


@pytest.fixture(scope="module")
def plain(reviews: Dataset, tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    out = tmp_path_factory.mktemp("models") / "plain"
    return train("plain", reviews, model="convnet", out=out, settings=SMALL)


def test_the_comparison_counts_abstentions(reviews: Dataset, tmp_path: Path) -> None:
    test = replace(reviews, examples=reviews.examples[:120])
    reviews = replace(reviews, examples=reviews.examples[120:420])
    asked: dict[str, Any] = {
        "model": "convnet",
        "settings": SMALL | {"epochs": 3},
        "with_": ["reverse", "drop_least"],
        "seeds": 2,
    }
    asked |= {"recipe": ["plain", "threshold", "invalid_class"], "transfer": "invalid_class"}
    found = mitigations(reviews, test, out=tmp_path / "c", **asked)
    values = {(f.mitigation, f.trained_on, f.metric, f.texts, f.group): f for f in found}
    assert values["plain", "", "abstained", "all", "all"].value == 0.0, "it has no way to abstain"
    both = [
        values["invalid_class", "", "abstained", kind, "all"].value
        for kind in ("reverse", "drop_least")
    ]
    assert values["invalid_class", "", "abstained", "all", "all"].value == pytest.approx(
        np.mean(both)
    )
    for finding in found:
        assert len(finding.by_seed) == 2
        assert finding.low <= finding.value <= finding.high
        if not finding.metric.startswith("skill_kept"):  # a ratio of means is no mean of ratios
            assert np.mean(finding.by_seed) == pytest.approx(finding.value, abs=1e-5)
    abstained, accuracy = (
        values["invalid_class", "", metric, "original", "all"].value
        for metric in ("abstained", "accuracy")
    )
    assert abstained + accuracy <= 1
    for on in ("reverse", "drop_least"):
        assert values["invalid_class", on, "abstained", on, "all"].value > 0.5
    assert ("invalid_class", "", "abstained", "order=passive", "all") in values
    assert ("invalid_class", "", "accuracy", "all", "needs=words") in values
    again = mitigations(reviews, test, out=tmp_path / "c", **asked)
    assert again == found, "models that are there are reused"


def test_mitigations_do_not_mix_trainings(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    data = str(jsonl(pairs(40)))
    asked: dict[str, Any] = {
        "model": "convnet",
        "with_": "reverse",
        "seeds": 1,
        "recipe": "invalid_class",
        "settings": SMALL,
    }
    mitigations(data, data, out=tmp_path / "c", seed=3, **asked)
    assert [path.name for path in (tmp_path / "c").iterdir() if path.is_dir()] == ["seed-3"]
    with pytest.raises(DisorderError, match="holds another training"):
        mitigations(data, data, out=tmp_path / "c", seed=3, limit=30, **asked)
    with pytest.raises(BadSetting, match="seeds=0"):
        mitigations(data, data, out=tmp_path / "d", **{**asked, "seeds": 0})
    with pytest.raises(UnknownName, match="invalid_clas"):
        mitigations(data, data, out=tmp_path / "d", **{**asked, "recipe": "invalid_clas"})


def test_a_grid_trains_every_value_and_held_out_data_chooses(
    reviews: Dataset, plain: TrainedModel, tmp_path: Path
) -> None:
    data = replace(reviews, examples=reviews.examples[:120])
    asked: dict[str, Any] = {
        "model": plain.spec,
        "with_": "reverse",
        "seeds": 1,
        "settings": {"epochs": 1, "lr": 0.005},
    }
    grid = "entropic:lam=0.001/5,rule=grid"
    found = mitigations(data, data, out=tmp_path / "g", recipe=["plain", grid], **asked)
    folder = tmp_path / "g" / "seed-0"
    scores = {
        name: json.loads((folder / folder_name(name, "") / "result.json").read_bytes())["after"][
            "held_out"
        ]
        for name in ("entropic:lam=0.001,rule=grid", "entropic:lam=5,rule=grid")
    }
    best = max(scores, key=lambda name: scores[name]["accuracy"] + scores[name]["caught"])
    [line] = chosen_lines(tmp_path / "g", ["plain", grid])
    assert line.startswith(f"seed-0: of {grid} {best} was best on held-out data")
    alone = mitigations(data, data, out=tmp_path / "g", recipe=["plain", best], **asked)
    values = {(f.metric, f.texts): f.value for f in alone if f.mitigation == best}
    tested = {(f.metric, f.texts): f.value for f in found if f.mitigation == grid}
    assert tested == values, "the chosen model is tested, and no other"


def test_the_final_models_are_trained_on_all_rows(reviews: Dataset, tmp_path: Path) -> None:
    """Word Salad: a tenth chooses, then the final models are trained on the full training set."""
    data = replace(reviews, examples=reviews.examples[:120])
    asked: dict[str, Any] = {"model": "convnet", "with_": "reverse", "seeds": 1}
    asked["settings"] = SMALL | {"epochs": 2}
    grid = "entropic:lam=0.001/5,rule=grid"
    recipes = ["plain", grid, "invalid_class"]
    found = mitigations(data, data, out=tmp_path / "m", recipe=recipes, refit=True, **asked)
    folder = tmp_path / "m" / "seed-0"
    [line] = chosen_lines(tmp_path / "m", recipes)
    best = line.split(" was best")[0].split()[-1]

    def trained(where: Path, recipe: str) -> dict[str, Any]:
        return dict(json.loads((where / folder_name(recipe, "") / "result.json").read_bytes()))

    final = folder / "all-rows"
    assert trained(folder, best)["n_train"] == 108
    for recipe in ("plain", best, "invalid_class"):
        assert trained(final, recipe)["n_train"] == 120
    assert not (folder / folder_name("invalid_class", "")).exists(), "nothing is chosen for it"
    kept = (final / folder_name(best, "") / "calibration.json").read_bytes()
    assert kept == (folder / folder_name(best, "") / "calibration.json").read_bytes()
    judge = model_judge(f"convnet:{final / folder_name(best, '')}", data.task)
    abstains = (judge([each.texts for each in data.examples])[0] < 0).mean()
    values = {(f.mitigation, f.metric, f.texts, f.group): f.value for f in found}
    assert values[grid, "abstained", "original", "all"] == pytest.approx(abstains, abs=1e-6)


def test_a_grid_needs_something_to_choose_by(reviews: Dataset, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"model": "convnet", "with_": "reverse", "seeds": 1}
    with pytest.raises(BadSetting, match="lam"):
        mitigations(reviews, reviews, out=tmp_path / "g", recipe="entropic:lam=1/-1", **asked)
    record = {"status": "done", "request": {}, "hashes": {}, "after": {}}
    (tmp_path / "training.json").write_text(json.dumps(record))
    with pytest.raises(DisorderError, match="no score on held-out data"):
        held_out_score(tmp_path)


def test_a_mitigation_is_compared_with_a_plain_model_that_learned_as_much(
    reviews: Dataset, tmp_path: Path
) -> None:
    test = replace(reviews, examples=reviews.examples[:150])
    data = replace(reviews, examples=reviews.examples[150:900])
    asked: dict[str, Any] = {
        "model": "convnet",
        "settings": SMALL | {"epochs": 8, "lr": 0.01},
        "with_": ["reverse"],
        "seeds": 2,
        "recipe": ["plain", "threshold", "entropic", "invalid_class"],
    }
    found = mitigations(data, test, out=tmp_path / "c", **asked)
    values = {(f.mitigation, f.metric, f.texts): f for f in found if f.group == "all"}
    names = list(dict.fromkeys(f.mitigation for f in found))
    assert names == [*asked["recipe"], "plain, 14 epochs", "plain, 16 epochs"]
    updates = {name: values[name, "n_updates", "train"].by_seed for name in names}
    assert updates["threshold"] == updates["plain"], "it learns nothing more"
    assert updates["plain"] < updates["entropic"] <= updates["plain, 14 epochs"]
    assert updates["plain"] < updates["invalid_class"] <= updates["plain, 16 epochs"]
    assert ("plain", "accuracy_difference", "original") not in values
    pair = ("invalid_class", "plain, 16 epochs")
    accuracy = [values[name, "accuracy", "original"].value for name in pair]
    paid = values["invalid_class", "accuracy_difference", "original"]
    assert paid.value == pytest.approx(accuracy[0] - accuracy[1], abs=1e-5)
    kept = [values[name, "skill_kept", "all"].value for name in pair]
    gained = values["invalid_class", "skill_kept_difference", "all"]
    assert gained.value == pytest.approx(kept[0] - kept[1], abs=1e-5)
    assert gained.low < gained.value < gained.high
    lines = gain_lines(found)
    assert reached(found).startswith("Skill kept without word order. ")
    assert [line.split()[0] for line in lines[:3]] == ["threshold", "entropic", "invalid_class"]
    assert f"keeps {kept[0]:.2f} of its skill" in lines[2]
    assert "plain model with as many updates" in lines[3]


def test_it_says_which_data_it_is_for(tmp_path: Path) -> None:
    rows = [{"good": f"a b {i}", "bad": f"b a {i}"} for i in range(12)]
    with pytest.raises(DisorderError, match="disorder mitigations is about texts with labels"):
        mitigations(rows, rows, out=tmp_path / "m", recipe="plain")


def test_recipes_that_reach_the_aim_are_told_from_those_that_do_not() -> None:
    def finding(name: str, metric: str, high: float) -> Finding:
        return Finding(name, "", metric, "all", "all", high - 0.1, high - 0.2, high, 9, (0.0,))

    found = [
        *(
            finding("entropic", metric, high)
            for metric, high in ((SKILL_GAIN, -0.4), (ACCURACY_GAIN, 0.1))
        ),
        *(
            finding("invalid", metric, high)
            for metric, high in ((SKILL_GAIN, -0.6), (ACCURACY_GAIN, -0.1))
        ),
        *(
            finding("threshold", metric, high)
            for metric, high in ((SKILL_GAIN, 0.1), (ACCURACY_GAIN, 0.1))
        ),
    ]
    assert reached(found) == (
        "Skill kept without word order. Lowered, with no loss of accuracy shown: entropic. "
        "Lowered, at a loss of accuracy: invalid. Not shown to be lowered: threshold."
    )
    assert reached([]) == ""


def test_an_audit_abstains_where_the_comparison_does(reviews: Dataset, tmp_path: Path) -> None:
    """One folder, one threshold: both verbs abstain on the same texts."""
    settings = SMALL | {"epochs": 3, "may_abstain": 0.2}
    trained = train("max_entropy", reviews, model="convnet", out=tmp_path / "m", settings=settings)
    test = replace(reviews, examples=reviews.examples[:100])
    judge = model_judge(trained.spec, test.task)
    turned = perturbed_copies(test.examples, test.task, ["reverse"], seed=0, context=None)
    run = disorder.audit(
        trained.spec, test, with_="reverse", q=1, fidelity="paper", out=tmp_path / "r"
    )
    outcomes: dict[str, dict[str, str]] = {"original": {}, "reverse": {}}
    for row in run.samples().to_pylist():
        outcomes[row["transformation"]][row["example"]] = row["outcome"]
    for kind, texts in (
        ("original", [example.texts for example in test.examples]),
        ("reverse", turned.texts),
    ):
        abstains = judge(texts)[0] < 0
        found = [outcomes[kind][example.id] == "abstained" for example in test.examples]
        assert abstains.any()
        assert found == abstains.tolist()
