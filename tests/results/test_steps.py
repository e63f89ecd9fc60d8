"""Overall progress: which step of how many, how long is left, what comes next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from disorder.results.progress import OVERALL, Steps

Told = list[tuple[str, int, int, str]]


def steps_of(names: Any, seconds: list[float]) -> tuple[Steps, Told]:
    """Steps whose clock shows these seconds, one after the other, then the last for ever."""
    told: Told = []
    left = [*seconds]
    clock: Callable[[], float] = lambda: left.pop(0) if len(left) > 1 else left[0]  # noqa: E731
    return Steps(lambda *each: told.append(each), names, clock=clock), told


def test_a_stage_named_like_a_step_begins_it() -> None:
    steps, told = steps_of(["original", "derange", "sort"], [0.0, 10.0])
    steps("original", 5, 5, "")
    steps("derange", 2, 4, "P_c 0.5")
    steps("sort", 1, 1, "")
    assert told[:-3] == [
        (OVERALL, 0, 3, "next: derange"),
        ("original", 5, 5, ""),
        (OVERALL, 0, 3, "about 20 s left, next: derange"),
        (OVERALL, 1, 3, "about 20 s left, next: sort"),
        ("derange", 2, 4, "P_c 0.5"),
        (OVERALL, 1, 3, "about 10 s left, next: sort"),
    ]
    assert told[-1] == (OVERALL, 3, 3, "")


def test_the_time_left_goes_by_how_much_work_a_step_is() -> None:
    steps, told = steps_of({"original": 10, "derange": 90}, [0.0, 10.0])
    steps("original", 4, 10, "")
    assert told[-1] == (OVERALL, 0, 2, "next: derange"), "too early to say"
    steps("original", 10, 10, "")
    assert told[-1] == (OVERALL, 0, 2, "about 2 min left, next: derange")


def test_one_step_has_no_overall_progress() -> None:
    steps, told = steps_of(["order"], [0.0])
    steps("order", 1, 2, "")
    steps.finish()
    assert told == [("order", 1, 2, "")]


def test_steps_inside_a_step_only_say_how_far_it_is() -> None:
    outer, told = steps_of(["seed 0, plain", "seed 0, sort"], [0.0, 30.0])
    outer.begin("seed 0, plain")
    inner = Steps(outer, ["epoch 1", "epoch 2"])
    inner("epoch 1", 10, 10, "")
    inner("epoch 2", 0, 10, "")
    stages = [stage for stage, *_ in told]
    assert "epoch 1" in stages
    overall = [each for each in told if each[0] == OVERALL]
    assert {total for _, _, total, _ in overall} == {2}
    assert overall[-1] == (OVERALL, 0, 2, "about 2 min left, next: seed 0, sort")
    outer.begin("seed 0, sort")
    outer.begin("seed 0, plain")  # is done: nothing goes back
    assert told[-1][:3] == (OVERALL, 1, 2)


def test_results_that_are_computed_when_asked_for_are_steps() -> None:
    steps, told = steps_of(["a", "b"], [0.0, 4.0])
    assert list(steps.counted(iter([1, 2]))) == [1, 2]
    assert told == [
        (OVERALL, 0, 2, "next: b"),
        (OVERALL, 1, 2, "about 4 s left"),
        (OVERALL, 2, 2, ""),
    ]
