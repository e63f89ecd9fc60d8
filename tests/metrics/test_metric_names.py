"""Metrics by name: what can be watched by --stop-when, what --curtail can decide early."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log
from zlib import crc32

import numpy as np
import pytest

from conftest import NLI, outcomes, pairs
from disorder.errors import DisorderError, NothingToMeasure, UnknownName
from disorder.metrics import (
    BinnedGap,
    Mean,
    Metric,
    Share,
    SkillRatio,
    decompose,
    difference_of,
    limits,
    measure,
    metric_names,
)
from disorder.registry import MetricPart, metric, parts, unregister
from disorder.verbs.audit import audit

NO_MEANS = {"ece", "wos"}  # gaps by bin; a mean over classes that are balanced again
MEANS = sorted(
    name
    for name, entry in parts(MetricPart).items()
    if entry.is_built_in
    and entry.on == "labels"
    and entry.of != "options"  # needs options that move: tests/tasks
    and name not in NO_MEANS
    and not entry.parameter
)


def undecided(texts: list[tuple[str, str]]) -> list[list[float]]:
    """A model that is nearly indifferent between all labels."""
    return [[0.34, 0.33, 0.33]] * len(texts)


def guessing(texts: list[tuple[str, str]]) -> list[list[float]]:
    """A model that guesses by a hash of the texts, and is not certain."""
    likely = 0.8 * np.eye(3) + 0.2 / 3
    return [likely[crc32("|".join(pair).encode()) % 3].tolist() for pair in texts]


class TestNames:
    def test_a_name_with_its_parameter(self) -> None:
        metric = Metric.named("omega@0.5")
        assert (metric.part.name, metric.value, metric.name) == ("omega", "0.5", "omega@0.5")
        assert Metric.named("p_c").name == "p_c"

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("acuracy", "did you mean 'accuracy'"),
            ("omega", "did you mean 'omega"),  # without the value that it needs
            ("p_c@0.5", "unknown metric 'p_c@0.5'"),  # with a value that it does not take
            ("", "unknown metric ''"),
        ],
    )
    def test_an_unknown_name_gets_a_hint(self, name: str, told: str) -> None:
        with pytest.raises(UnknownName, match=told):
            Metric.named(name)

    def test_every_listed_name_is_known(self) -> None:
        names = metric_names()
        assert "omega@0.1" in names
        assert [Metric.named(name).name for name in names] == names


class TestLimits:
    def test_shares_that_decide_an_example(self) -> None:
        wanted = ["omega_all", "omega_max", "omega@0.5", "omega_rand"]
        assert limits(wanted, NLI, "paper") == [0, Fraction(1, 3), Fraction(1, 2), 1]
        assert limits(["omega_rand"], NLI, "released") == [Fraction(1, 3)]

    @pytest.mark.parametrize("name", ["p_c", "accuracy", "ece", "wos", "entropy_c"])
    def test_a_score_that_needs_every_permutation_is_one_clear_line(self, name: str) -> None:
        with pytest.raises(DisorderError, match=rf"^curtail: {name} needs every permutation"):
            limits(["omega_max", name], NLI, "paper")


class TestWatched:
    @pytest.mark.parametrize("name", sorted(NO_MEANS))
    def test_what_is_no_mean_cannot_be_watched(self, name: str) -> None:
        told = rf"^stop_when: {name} is not a mean of one value per example"
        with pytest.raises(DisorderError, match=told) as error:
            Metric.named(name).check_watched(NLI)
        assert "\n" not in str(error.value)
        with pytest.raises(DisorderError, match=told):
            audit("uniform", pairs(6), q=2, with_="derange", stop_when=f"width({name}) < 0.1")

    @pytest.mark.parametrize("name", [*MEANS, "omega@0.5"])
    def test_the_mean_of_watched_values_is_the_score(self, name: str) -> None:
        metric = Metric.named(name)
        metric.check_watched(NLI)
        found = outcomes([0, 1, 2, 0], [0, 1, 1, 2], [[0, 1], [1, 1], [2, 0], [0, 0]], sure=0.7)
        watched = metric.watched(found)
        assert watched is not None
        assert ((watched.values >= 0) & (watched.values <= 1)).all()
        score = metric.score(found)
        assert len(watched.values) == score.n
        assert watched.in_units(watched.values.mean()) == pytest.approx(score.value)

    def test_no_example_that_counts_gives_no_value(self) -> None:
        never_right = outcomes([0, 0], [1, 1], [[1, 2], [2, 1]])
        assert Metric.named("p_c").watched(never_right) is None

    @pytest.mark.parametrize("name", MEANS)
    def test_every_built_in_mean_can_stop_an_audit(self, name: str) -> None:
        model = guessing if Metric.named(name).part.needs_probabilities else "uniform"
        run = audit(model, pairs(90), q=4, with_="derange", stop_when=f"width({name}) < 0.9")
        stopped = run.stopped[0]
        assert stopped.metric == name
        record = run["derange", name]
        assert (record.low, record.high) == (stopped.low, stopped.high)
        assert record.low <= record.value <= record.high

    def test_entropy_is_watched_in_nats(self) -> None:
        run = audit(undecided, pairs(90), q=4, with_="derange", stop_when="width(entropy_c) < 0.9")
        assert run.stopped[0].high == pytest.approx(log(3))  # its largest value
        assert 1 < run["derange", "entropy_c"].value < log(3)


@pytest.mark.parametrize("name", [*MEANS, *sorted(NO_MEANS), "omega@0.5", "skill_kept"])
def test_every_metric_is_what_its_decorator_says(name: str) -> None:
    labels = [0, 1, 2, 0, 1, 2]
    answers = [[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 0]]
    made = outcomes(labels, [0, 1, 2, 1, 2, 0], answers, sure=0.7)
    found = decompose(name, made)
    part = Metric.named(name).part
    is_mean = isinstance(found, Share) or (isinstance(found, Mean) and found.classes is None)
    kinds = {"mean": is_mean, "ratio": isinstance(found, SkillRatio)}
    assert kinds.get(part.watched, not any(kinds.values()))
    limit = found.limit if isinstance(found, Share) else None
    assert (part.decided_at is None) == (limit is None)
    if limit is not None:
        assert Metric.named(name).limit(NLI, "paper") == limit
    if part.copies == "never":
        with pytest.raises(NothingToMeasure):
            decompose(name, replace(made, is_copy=True))
    if part.copies == "by default label":
        without = replace(made, is_copy=True, task=replace(NLI, default_label=None))
        with pytest.raises(NothingToMeasure):
            decompose(name, without)


class TestComparedCalibration:
    def made(self, confidence: float) -> BinnedGap:
        """A model that is right on three in four texts, at this confidence."""
        gold = [0, 1, 2, 0] * 30
        first = [0, 1, 2, 1] * 30
        found = decompose(
            "ece", outcomes(gold, first, [[label] for label in first], sure=confidence)
        )
        assert isinstance(found, BinnedGap)
        return found

    def test_a_worse_calibrated_model_is_told_apart(self) -> None:
        found = difference_of(self.made(0.76), self.made(0.99))
        assert found.difference == pytest.approx(0.24 - 0.01)
        assert 0 < found.low <= found.difference <= found.high
        assert found.p < 0.05
        assert (found.n, found.test) == (120, "bootstrap")

    def test_one_model_twice_shows_no_difference(self) -> None:
        found = difference_of(self.made(0.9), self.made(0.9))
        assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_nothing_is_above_chance_where_there_is_one_label() -> None:
    """Chance is 1, and no share is strictly above it."""
    one = outcomes([0, 0], [0, 0], [[0, 0], [0, 0]], labels=("x",))
    assert measure("omega_rand", one).value == 0
    assert measure("omega@1", one).value == 0
    assert measure("omega_all", one).value == 1


def test_a_metric_of_a_plugin_must_keep_its_promises() -> None:
    given = outcomes([0, 1], [0, 1], [[0, 0], [1, 1]])
    wrong = {
        "a_number": (lambda o: 0.5, "returned float"),
        "too_large": (lambda o: Mean.over_all(np.full(len(o), 7.0)), "between 0 and 1"),
        "not_a_number": (lambda o: Mean.over_all(np.full(len(o), np.nan)), "between 0 and 1"),
    }
    for name, (function, message) in wrong.items():
        metric(better="low", name=name)(function)
        try:
            with pytest.raises(DisorderError, match=message):
                measure(name, given)
        finally:
            unregister(MetricPart, name)
    with pytest.raises(DisorderError, match="of='permutation' does not work"):
        metric(better="low", of="permutation", name="typo")(lambda o: 0)  # type: ignore[arg-type]
