"""A plan from a pilot: variances that are known come out, and the interval has the wanted width."""

from __future__ import annotations

import json

import numpy as np
import pytest

import disorder
from conftest import Command, outcomes
from disorder.errors import DisorderError
from disorder.verbs.plan import cheapest_q, variances


def test_variances_between_and_within_examples_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    n = 400
    gold = np.zeros(n, dtype=int)
    all_or_none = np.where(rng.random((n, 1)) < 0.5, 0, 1) * np.ones((1, 4), dtype=int)
    between, within = variances("p_c", outcomes(gold, gold, all_or_none))
    assert between == pytest.approx(0.25, rel=0.15)
    assert within < 0.1 * between
    independent = np.where(rng.random((n, 4)) < 0.5, 0, 1)
    between, within = variances("p_c", outcomes(gold, gold, independent))
    assert within == pytest.approx(0.25, rel=0.25)
    assert between < 0.25 * within


def test_the_cheapest_number_of_permutations() -> None:
    assert cheapest_q(1.0, 0.0) == 1
    assert cheapest_q(1.0, 16.0) == 4
    assert cheapest_q(0.0, 0.0) == 1


def test_an_audit_of_the_planned_size_has_the_planned_width() -> None:
    plan = disorder.plan("uniform", "builtin", width=0.1, score="accuracy", pilot_examples=80)
    assert plan.tokens_in is None
    run = disorder.audit(
        "uniform", "builtin", with_="derange", q=plan.permutations, limit=plan.examples, short="use"
    )
    record = run["derange", "accuracy"]
    assert 0.03 < record.high - record.low < 0.14


def test_the_command_prints_the_plan(run: Command) -> None:
    code, out, _ = run("plan", "builtin:bow", "builtin", "--width", "0.2", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["questions"] == found["examples"] * (1 + found["permutations"])
    code, out, _ = run("plan", "builtin:bow", "builtin", "--width", "0.2")
    assert f"disorder audit builtin:bow builtin --with derange --q {found['permutations']}" in out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 2.0}, "between 0 and 1"),
        ({"score": "skil_kept"}, "did you mean 'skill_kept'"),
        ({"pilot_examples": 2}, "8 or more"),
        ({"widht": 0.1}, "did you mean 'width'"),
    ],
)
def test_a_bad_setting_is_one_line(settings: dict[str, float], message: str) -> None:
    with pytest.raises(DisorderError, match=message):
        disorder.plan("uniform", "builtin", **settings)  # type: ignore[arg-type]
