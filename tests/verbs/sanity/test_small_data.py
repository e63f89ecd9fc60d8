"""Few rows, small groups, frequent texts, and models that made no use of order."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import disorder
from disorder.requests.settings import Settings
from disorder.types import Dataset, Example, Task
from disorder.verbs.sanity.checks.order import order_verdict, shuffle_spec
from disorder.verbs.sanity.linear import default_model
from disorder.verbs.sanity.rows import DatasetRows, read_rows
from disorder.verbs.sanity.trials import Trials
from disorder.verbs.sanity.verdicts import VerdictRule

pytest.importorskip("sklearn", reason="needs scikit-learn")

NAMES = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in "bdkm"]
TASK = Task("toy", ("no", "yes"), "b")


def made(n: int, seed: int = 0) -> list[dict[str, str]]:
    """Pairs of six words, the last of which is the label."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        label = ("no", "yes")[i % 2]
        a, b = " ".join(rng.choice(NAMES, 6)), " ".join([*rng.choice(NAMES, 5), label])
        found.append({"id": f"r{i}", "text_a": a, "text_b": b, "label": label, "kind": "big"})
    return found


def dealt(data: Any, folds: int = 5) -> DatasetRows:
    return read_rows(data, None, folds=folds, margin=0.05, settings=Settings())


def test_a_group_with_nothing_to_measure_is_named_and_the_others_are_judged() -> None:
    data = made(300)
    for row in data[:6]:
        row.update(text_a=f"hm{row['id']}", text_b="ok", kind="tiny")
    found = disorder.sanity(data, check=["order", "baselines"], group_by=["kind"], limit=300)
    order, baselines = found.sections
    assert order.found is not None
    assert baselines.found is not None
    assert [verdict.group for verdict in order.found.verdicts] == ["all", "kind=big"]
    assert "kind=tiny: not judged (no example to measure)" in order.found.notes
    assert {row["group"] for row in order.found.scores} == {"all", "kind=big"}


def test_the_headline_says_that_order_was_not_examined_and_why() -> None:
    found = disorder.sanity(made(8), check=["order", "labels"])
    reason = "8 rows are too few to learn from; 50 at least"
    assert (
        found.headline == f"Order: not done ({reason}), labels: not skewed, rare labels: none found"
    )
    assert disorder.sanity(made(8), check=["labels"]).headline.startswith("Labels: ")


def test_a_group_of_two_numbers_is_named_too() -> None:
    rng = np.random.default_rng(0)
    data = [
        row | {"label": f"{i % 7 + rng.random():.2f}", "kind": "a" if i > 1 else "b"}
        for i, row in enumerate(made(120))
    ]
    found = disorder.sanity(data, check=["order", "texts", "swap", "baselines"], group_by=["kind"])
    for section in found.sections:
        assert section.found is not None, section.reason
        assert any(
            note.startswith("kind=b: not judged (rank correlation needs")
            for note in section.found.notes
        )


@pytest.mark.parametrize("seed", [0, 15])
def test_few_premises_are_dealt_to_parts_of_like_size(seed: int) -> None:
    data = [row | {"text_a": f"premise number {i % 5} here"} for i, row in enumerate(made(60))]
    rows = read_rows(data, None, folds=2, margin=0.05, settings=Settings(seed=seed))
    assert sorted(np.bincount(rows.fold).tolist()) == [24, 36]
    assert disorder.sanity(data, check=["baselines"], folds=2, seed=seed).sections[0].found


def test_more_parts_than_premises_are_as_many_as_premises() -> None:
    rows = dealt(
        [row | {"text_a": f"premise number {i % 6} here"} for i, row in enumerate(made(60))],
        folds=10,
    )
    assert rows.folds == [0, 1, 2, 3, 4, 5]
    assert "in 6 parts" in rows.design


def test_a_label_may_be_missing_from_a_training_part() -> None:
    data = made(60)
    for i, row in enumerate(data):
        row.update({"text_a": "one premise", "label": "yes"} if i < 12 else {"label": "no"})
    assert disorder.sanity(data, check=["baselines", "order"], folds=2).sections[0].found


def test_a_frequent_first_text_sets_only_its_own_rows_free() -> None:
    data = [
        row | {"text_a": "always this" if i % 2 else f"premise {i // 6}"}
        for i, row in enumerate(made(300))
    ]
    rows = dealt(data)
    parts: dict[str, set[int]] = {}
    for example, part in zip(rows.examples, rows.fold.tolist(), strict=True):
        parts.setdefault(example.text_a, set()).add(part)
    assert len(parts.pop("always this")) == 5
    assert all(len(found) == 1 for found in parts.values())
    assert any("150 rows have the first text 'always this'" in note for note in rows.notes)
    assert len(set(rows.cluster.tolist())) == 150 + 50


def made_trials(n: int = 300) -> Trials:
    rng = np.random.default_rng(1)
    examples = []
    for i in range(n):
        words = [
            *rng.choice(NAMES[40:], 8),
            *rng.choice(NAMES[:20] if i % 2 else NAMES[20:40], 2),
            *rng.choice(NAMES[:40], 2),
        ]
        examples.append(
            Example.of(str(i), " ".join(rng.permutation(words)), None, TASK.labels[i % 2])
        )
    rows = DatasetRows(
        Dataset("d", TASK, examples), None, examples, np.arange(n) % 5, np.arange(n), "", []
    )
    return Trials(rows, default_model([e.texts for e in examples], TASK, 0), VerdictRule(), 0)


def test_training_again_gives_the_same_predictions() -> None:
    trials = made_trials()
    again = trials.fit(trials.model, trials.encoded, "another name")
    every_row = np.ones(300, dtype=bool)
    predictions = trials.predict(trials.model, again, trials.encoded, every_row)
    assert (predictions.plain == trials.original.plain).all()


def test_a_model_that_made_no_use_of_order_cannot_show_that_it_is_not_needed() -> None:
    trials = made_trials()
    trials.model.blocks = trials.model.blocks[:1]  # type: ignore[attr-defined]
    [trial] = trials.run([shuffle_spec(1)])
    assert not trials.uses_order(trial)
    tested = trials.rows.tested
    if_it_had = order_verdict(trials, trial, True, "all", tested)
    assert if_it_had.answer == "not needed"
    verdict = order_verdict(trials, trial, False, "all", tested)
    assert verdict.answer == "undecided"
    assert "The model made no use of order" in verdict.because
    trial.predictions["corrupt-test"].plain[:30] += 0.1
    assert trials.uses_order(trial)


def test_a_note_says_once_how_far_the_model_gets() -> None:
    found = disorder.sanity(made(500), check=["texts", "order"])
    assert {found.verdict(each).answer for each in ("both texts", "order")} == {"not needed"}
    assert found.original is not None
    [note] = [note for note in found.notes if "as far as this model gets" in note]
    assert note.startswith(f"'not needed' is as far as this model gets: {found.original.value:.3f}")
    assert not any("as far as" in verdict.because for verdict in found.verdicts)


def test_it_names_the_half_of_the_built_in_pairs_that_needs_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        import_module("disorder.verbs.sanity.checks.order"), "SIZES", (1,)
    )  # n = 1 decides; the others take time
    found = disorder.sanity("builtin", check=["order"], train_limit=3000, skill=0.15)
    answers = {
        verdict.group: verdict.answer for verdict in found.verdicts if verdict.group != "all"
    }  # that is half and half
    assert answers == {"needs=order": "needed", "needs=words": "not needed"}
