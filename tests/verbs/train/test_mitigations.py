"""Mitigations on the built-in data: entropy rises without collapse, nonsense is caught, heads are
replaced.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import pairs
from disorder.data import read_data
from disorder.errors import BadData, BadSetting, DisorderError, UnknownName
from disorder.models import load
from disorder.models.outputs import calibration_of, softmax
from disorder.types import Dataset, Task
from disorder.types.predictions import predicted_label
from disorder.verbs.train import (
    Job,
    TrainedModel,
    train,
)
from disorder.verbs.train.before_after import abstained, audit_training
from disorder.verbs.train.evaluation import fit_temperature, fit_threshold
from disorder.verbs.train.inputs import perturbed_copies, salad_specs

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("safetensors", reason="needs safetensors")

SENTIMENT = Task("sentiment", ("negative", "positive"))
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


def mitigated(
    recipe: str, data: Any, out: Path, *, model: str = "convnet", with_: Any = (), **settings: Any
) -> TrainedModel:
    given = settings if ":" in model else SMALL | settings
    return train(recipe, data, model=model, out=out, with_=with_, settings=given)


def on_perturbed(trained: TrainedModel) -> dict[str, Any]:
    """How the model predicts perturbed dev texts."""
    found: dict[str, Any] = trained.record["after"]["predictions"]["perturbed"]
    return found


def test_maximum_entropy_raises_entropy_without_collapse_and_the_published_sign_lowers_it(
    reviews: Dataset, tmp_path: Path
) -> None:
    plain = mitigated("threshold", reviews, tmp_path / "plain", with_=["derange"])
    done = mitigated("max_entropy", reviews, tmp_path / "paper")
    released = mitigated("max_entropy", reviews, tmp_path / "released", fidelity="released")
    none = on_perturbed(plain)
    right = on_perturbed(done)
    wrong = on_perturbed(released)
    assert right["low"] > none["high"]
    assert wrong["high"] < none["low"]
    assert max(right["labels"].values()) < 0.8, "both labels are still predicted"
    assert max(wrong["labels"].values()) > 0.9, "one label is predicted for nearly everything"
    assert done.score.low > 0.5, "original texts are predicted better than by chance"


def test_entropic_continues_from_a_fine_tuned_model(
    reviews: Dataset, plain: TrainedModel, tmp_path: Path
) -> None:
    before = train(
        "threshold",
        reviews,
        model=plain.spec,
        out=tmp_path / "t",
        with_=["shuffle"],
        settings={"learn": "false"},
    )
    after = mitigated(
        "entropic", reviews, tmp_path / "e", model=plain.spec, with_=["shuffle"], lr=0.005
    )
    assert {record["phase"] for record in after.record["curve"]} == {"mitigation"}
    assert before.record["curve"] == [], "learn=false trains nothing"
    assert on_perturbed(after)["entropy"] > on_perturbed(before)["entropy"]
    assert after.score.value > 0.8, "original texts are still predicted"
    fresh = mitigated("entropic", reviews, tmp_path / "f", with_=["shuffle"], epochs=1)
    assert [record["phase"] for record in fresh.record["curve"]] == [
        "task",
        "mitigation",
        "mitigation",
        "mitigation",
    ]


def test_learn_false_leaves_the_weights_alone(
    reviews: Dataset, plain: TrainedModel, tmp_path: Path
) -> None:
    seen = train(
        "temperature", reviews, model=plain.spec, out=tmp_path / "t", settings={"learn": "false"}
    )
    texts = [example.texts for example in reviews.examples[:100]]
    cold, warm = (load(spec, task=SENTIMENT)(texts) for spec in (plain.spec, seen.spec))
    assert np.array_equal(cold.argmax(axis=1), warm.argmax(axis=1))
    found = calibration_of(seen.spec)
    assert found is not None
    assert found.threshold is None
    assert warm == pytest.approx(found(cold), abs=1e-6)
    with pytest.raises(DisorderError, match="learn=false needs a model"):
        train("temperature", reviews, model="bow", out=tmp_path / "b", settings={"learn": "false"})


def test_a_planted_temperature_is_found() -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(scale=2, size=(4000, 3))
    gold = np.array([rng.choice(3, p=p) for p in softmax(true)])
    assert fit_temperature(true * 2.5, gold) == pytest.approx(2.5, rel=0.1)
    assert fit_temperature(true / 2, gold) == pytest.approx(0.5, rel=0.1)
    assert np.isfinite(fit_temperature(true * 50, true.argmax(axis=1))), (
        "never wrong: no temperature is the best one"
    )


@given(
    st.lists(st.floats(0.5, 1), min_size=1, max_size=60),
    st.floats(0, 0.99),
    st.integers(min_value=1, max_value=9),
)
def test_a_threshold_is_the_highest_that_abstains_on_no_more_original_texts_than_it_may(
    tops: list[float], may_abstain: float, times: int
) -> None:
    top = np.array(tops * times)
    found = fit_threshold(np.stack([top, 1 - top], axis=1), may_abstain)
    assert (top < found).mean() <= may_abstain + 1e-9
    assert (top <= found).mean() > may_abstain - 1e-9, "a higher one would abstain on too many"


def test_a_threshold_of_a_model_that_tells_perturbed_texts_apart_catches_them(
    reviews: Dataset, tmp_path: Path
) -> None:
    done = mitigated("entropic", reviews, tmp_path / "m", with_=["reverse"], may_abstain=0.1)
    abstained = done.record["after"]["abstained"]
    assert abstained["original"]["value"] <= 0.1
    assert abstained["perturbed"]["low"] > abstained["original"]["value"]
    strict = mitigated(
        "threshold", reviews, tmp_path / "n", with_=["reverse"], may_abstain=0, epochs=1
    )
    assert strict.record["after"]["abstained"]["original"]["value"] == 0.0


def test_an_invalid_class_catches_planted_nonsense(reviews: Dataset, tmp_path: Path) -> None:
    done = mitigated("invalid_class", reviews, tmp_path / "m", with_=["reverse"])
    assert load(done.spec, task=SENTIMENT).abstains
    assert json.loads((done.folder / "config.json").read_text())["labels"] == [
        "negative",
        "positive",
        "invalid",
    ]
    texts = [example.texts for example in reviews.examples]
    perturbed = perturbed_copies(
        reviews.examples, SENTIMENT, ["reverse"], seed=0, context=None, fidelity="natural"
    ).texts
    model = load(done.spec, task=SENTIMENT)
    assert (predicted_label(model(perturbed)) < 0).mean() > 0.9
    assert (predicted_label(model(texts)) < 0).mean() < 0.1
    rows = [
        {"text_a": f"text {i} of many", "label": ("invalid", "valid")[i % 2]} for i in range(20)
    ]
    with pytest.raises(BadData, match="a label 'invalid'"):
        mitigated("invalid_class", rows, tmp_path / "n", with_=["reverse"])


def test_a_pre_task_replaces_the_head_and_nothing_else(tmp_path: Path) -> None:
    """With no training in the second phase, all but the head is what the first phase left."""
    rows = pairs(40)
    state: dict[str, Any] = {}

    from disorder.registry import RecipePart, recipe, unregister
    from disorder.verbs.train.recipes.order_pretask import order_pretask

    def watched_pretask(job: Job) -> Any:
        """Keep what the first phase left."""
        first, second = order_pretask(job)

        def after(model: Any) -> dict[str, Any]:
            state.update(
                {name: value.clone() for name, value in model.network.state_dict().items()}
            )
            return {}

        return [replace(first, after=after), replace(second, epochs=0)]

    recipe()(watched_pretask)
    try:
        done = train(
            "watched_pretask",
            rows,
            model="bilstm",
            out=tmp_path / "m",
            settings=SMALL | {"epochs": 1},
        )
    finally:
        unregister(RecipePart, "watched_pretask")
    from safetensors.torch import load_file

    now = load_file(done.folder / "model.safetensors")
    bodies = {name for name in now if not name.startswith("head.")}
    assert all(torch.equal(now[name], state[name]) for name in bodies)
    heads = set(now) - bodies
    assert heads
    assert all(
        now[name].shape != state[name].shape or not torch.equal(now[name], state[name])
        for name in heads
    )
    assert [record["phase"] for record in done.record["curve"]] == ["real or fake"]


@pytest.mark.parametrize("fidelity", ["paper", "released"])
def test_real_and_fake_sentences_are_as_many(fidelity: Any) -> None:
    from disorder.verbs.train.recipes.order_pretask import order_pretask

    data = read_data(
        [
            *pairs(20),
            {"id": "short", "text_a": "one two three.", "text_b": "Yes.", "label": "neutral"},
        ]
    )
    first, second = order_pretask(Job(data, data), fidelity=fidelity)
    assert first.labels == ("fake", "real")
    assert len(first.train) == 40, "a text of one word has no fake, so it is no real one either"
    assert first.train.targets.tolist() == [1] * 20 + [0] * 20
    assert not first.train.is_pair
    real, fake = (first.train.texts[i][0].replace(".", "").split() for i in (0, 20))
    assert sorted(real) == sorted(fake)
    moved = sum(a != b for a, b in zip(real, fake, strict=True))
    assert moved == 2 if fidelity == "paper" else moved >= 2
    assert second.new_head
    assert second.labels == data.task.labels


def test_each_example_is_perturbed_once_by_a_transformation_that_applies() -> None:
    data = read_data(
        [
            *pairs(60),
            {"id": "short", "text_a": "one two three.", "text_b": "Yes.", "label": "neutral"},
        ]
    )
    specs = ["sort", "reverse:side=a"]
    found = perturbed_copies(data.examples, data.task, specs, seed=0, context=None)
    assert len(found.texts) == len(set(found.examples)) == 61
    by_a = sum(
        text[1] == data.examples[i].text_b
        for text, i in zip(found.texts, found.examples, strict=True)
    )
    assert 15 < by_a < 46, "both are drawn"
    again = perturbed_copies(list(reversed(data.examples)), data.task, specs, seed=0, context=None)
    assert sorted(again.texts) == sorted(found.texts)


def test_word_salad_needs_a_model_for_half_of_its_transformations() -> None:
    assert salad_specs(is_pair=False, has_model=False) == ["reverse", "shuffle", "sort"]
    assert set(salad_specs(is_pair=True, has_model=True)) - set(
        salad_specs(is_pair=True, has_model=False)
    ) == {
        "copy_one",
        "drop_least",
        "repeat_most",
        "replace_least",
    }


def test_training_on_the_words_that_matter_needs_a_model(
    plain: TrainedModel, reviews: Dataset, tmp_path: Path
) -> None:
    some = replace(reviews, examples=reviews.examples[:60])
    with pytest.raises(DisorderError, match="asks='FORM:FOLDER'"):
        train("plain", some, model="bow", with_=["drop_least"], out=tmp_path / "n")
    assert not (tmp_path / "n").exists(), "nothing is left in the way of the next try"
    done = train(
        "plain",
        some,
        model="bow",
        with_=["drop_least", "replace_least"],
        asks=plain.spec,
        out=tmp_path / "m",
        settings={"epochs": 1},
    )
    assert done.record["request"]["asks"] == plain.spec


@pytest.mark.parametrize(
    ("recipe", "settings", "error"),
    [
        ("max_entropy", {"lam": "0"}, BadSetting),
        ("max_entropy", {"fidelity": "true"}, BadSetting),
        ("entropic", {"lam": "-1"}, BadSetting),
        ("label_smoothing", {"smoothing": "1"}, BadSetting),
        ("focal", {"gamma": "-2"}, BadSetting),
        ("threshold", {"may_abstain": "1"}, BadSetting),
        ("invalid_class", {"lam": "1"}, UnknownName),
    ],
)
def test_a_bad_setting_fails_before_data_is_read(
    recipe: str,
    settings: dict[str, str],
    error: type[Exception],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_reading(*given: Any) -> None:
        raise AssertionError("data was read")

    monkeypatch.setattr("disorder.verbs.train.request.selected_data", no_reading)
    with pytest.raises(error):
        train(recipe, "builtin", model="bow", out=tmp_path / "m", settings=settings)


def test_numbers_have_no_mitigation(tmp_path: Path) -> None:
    rows = [
        {"id": str(i), "text_a": f"a thing of size {i}", "label": f"{i + 0.5}"} for i in range(30)
    ]
    with pytest.raises(BadData, match="about labels"):
        train("invalid_class", rows, model="bow", out=tmp_path / "m")


def test_before_and_after_training_end_in_one_sentence(
    reviews: Dataset, plain: TrainedModel, tmp_path: Path
) -> None:
    """Perturbed texts get a class of their own: less skill is kept, and the cost is said."""
    rows = [{"id": e.id, "text": e.text_a, "label": e.label} for e in reviews.examples[:200]]
    data = tmp_path / "reviews.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    trained = mitigated(
        "invalid_class", reviews, tmp_path / "i", model=plain.spec, with_=["derange"], epochs=12
    )
    found = audit_training(trained, str(data))
    assert found.before is not None
    assert found.changed is not None
    kept = found.changed.skill_kept
    assert kept is not None
    assert kept.high < 0
    assert f"skill kept without word order {kept.base_value:.2f} →" in found.sentence
    assert "it learned to abstain on perturbed texts" in found.sentence
    assert "relies more" not in found.sentence
    declined = abstained(found.after, found.changed.transformation)
    assert declined > 0.5
    assert f"→ {abstained(found.after):.2f} of them" in found.sentence
    assert f"→ {declined:.2f} of the perturbed ones" in found.sentence
    [grid] = found.result.grids
    assert len(grid.rows) == 3, "one screen: accuracy before and after perturbing, skill kept"
    assert found.result.next_steps[0].command.startswith("disorder compare ")
    assert abstained(found.before) == 0.0
    assert found.before.folder is not None
    again = replace(trained, folder=tmp_path / "again")
    same = audit_training(again, str(found.before.folder))
    assert same.sentence == found.sentence, "the run folder says how to audit"


def test_a_network_from_scratch_has_nothing_before(
    reviews: Dataset, plain: TrainedModel, tmp_path: Path
) -> None:
    rows = [{"id": e.id, "text": e.text_a, "label": e.label} for e in reviews.examples[:60]]
    data = tmp_path / "reviews.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = audit_training(replace(plain, folder=tmp_path / "p"), str(data))
    assert found.before is None
    assert found.sentence.startswith("After training the model keeps ")


def test_an_audit_is_proposed_on_texts_that_were_not_learned_from(plain: TrainedModel) -> None:
    def proposed(**request: Any) -> str:
        record = {**plain.record, "request": {**plain.record["request"], **request}}
        return replace(plain, record=record).result.next_steps[0].command

    assert proposed(data="mine.jsonl", dev=None).endswith(" TEST.jsonl")
    assert proposed(data="mine.jsonl", dev="dev.jsonl").endswith(" dev.jsonl")
    assert proposed(data="mnli:train_part", dev=None).endswith(" mnli")
    assert proposed(data="builtin:nli:train", dev=None).endswith(" builtin:nli")
