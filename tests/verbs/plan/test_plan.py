"""A plan from a pilot: variances that are known come out, and the interval has the wanted width."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import disorder
from conftest import Command, outcomes
from disorder.errors import DisorderError
from disorder.verbs.plan import Widths, cheapest_q, variances
from fake_server import FakeServer


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
    assert cheapest_q(1.0, 0.0, 20) == 1
    assert cheapest_q(1.0, 16.0, 20) == 4
    assert cheapest_q(1.0, 16.0, 3) == 3
    assert cheapest_q(0.0, 0.0, 20) == 1


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
    # the original text, its surface control and permutations; 30 are predicted again
    assert found["questions"] == found["examples"] * (1 + 1 + found["permutations"]) + 30
    code, out, _ = run("plan", "builtin:bow", "builtin", "--width", "0.2")
    told = "disorder audit builtin:bow builtin --with derange --seed 0"
    assert f"{told} --q {found['permutations']}" in out


def test_only_order_has_a_surface_control() -> None:
    plan = disorder.plan("builtin:bow", "builtin", width=0.2, with_="delete")
    assert plan.questions == plan.examples * (1 + plan.permutations) + 30


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


def up_and_down(n: int) -> list[dict[str, str]]:
    """Two words whose order is the label, one word that is, and a tenth of wrong labels."""
    rng = np.random.default_rng(1)
    rows = []
    for i in range(n):
        words = [f"w{j}" for j in rng.choice(60, 7, replace=False)]
        at = int(rng.integers(1, 6))
        words[at:at] = ("up", "down") if i % 2 else ("down", "up")
        words.insert(int(rng.integers(len(words))), "good" if i % 2 else "bad")
        label = ("neg", "pos")[(i + (rng.random() < 0.1)) % 2]
        rows.append({"id": str(i), "text_a": " ".join(words), "label": label})
    return rows


def bag(texts: list[str]) -> list[str]:
    return ["pos" if "good" in text.split() else "neg" for text in texts]


def reader(texts: list[str]) -> list[str]:
    return ["pos" if text.index("up") < text.index("down") else "neg" for text in texts]


def mixed(texts: list[str]) -> list[str]:
    both = zip(texts, bag(texts), reader(texts), strict=True)
    return [by_order if sum(map(ord, text)) % 2 else by_word for text, by_word, by_order in both]


@pytest.mark.parametrize("model", [bag, reader, mixed])
def test_the_width_that_was_asked_for_is_met(model: Callable[[list[str]], list[str]]) -> None:
    """It came out at 0.55 to 0.89 of what was asked, and wider where q went beyond the pilot's."""
    rows = up_and_down(1500)
    met = []
    for seed in range(20):
        plan = disorder.plan(model, rows, width=0.2, seed=seed, cache="off")
        assert plan.permutations <= plan.pilot_permutations
        options = {"q": plan.permutations, "limit": plan.examples, "seed": seed + 1000}
        run = disorder.audit(
            model, rows, with_="derange", score="skill_kept", short="use", cache="off", **options
        )
        record = run["derange", "skill_kept"]
        met.append((record.high - record.low) / plan.width)
    assert 0.8 <= np.median(met) <= 1.2


def test_near_copies_make_the_interval_of_small_data_as_wide_as_the_audit_finds_it() -> None:
    """A pilot of a few examples meets hardly any copy; the audit of all meets every one."""
    rows = [
        {**row, "id": f"{row['id']}-{copy}", "text_a": f"{row['text_a']} {'.' * copy}".strip()}
        for row in up_and_down(60)
        for copy in range(4)
    ]
    plan = disorder.plan(bag, rows, width=0.05, cache="off")
    assert plan.result.headline.startswith("0.05 cannot be reached with this data; expect")
    run = disorder.audit(bag, rows, with_="derange", q=plan.permutations, short="use", cache="off")
    record = run["derange", "skill_kept"]
    assert plan.expected_width == pytest.approx(record.high - record.low, rel=0.3)


def test_the_data_is_read_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "rows.jsonl"
    told = [{"mood": row["label"], "review": row["text_a"]} for row in up_and_down(60)]
    path.write_text("".join(json.dumps(row) + "\n" for row in told))
    with caplog.at_level("INFO"):
        disorder.plan(bag, path, width=0.5, pilot_examples=20, cache="off")
    assert sum("is read as text_a" in record.getMessage() for record in caplog.records) == 1


def test_few_examples_are_made_up_for_by_permutations() -> None:
    """As many as the pilot tried, where the data cannot give the width with fewer."""
    rng = np.random.default_rng(0)

    def unsteady(texts: list[str]) -> list[str]:
        drawn = rng.integers(2, size=len(texts)).tolist()
        is_drawn = (rng.random(len(texts)) < 0.3).tolist()
        given = zip(bag(texts), drawn, is_drawn, strict=True)
        return [("neg", "pos")[draw] if by_lot else label for label, draw, by_lot in given]

    asked = {"cache": "off", "pilot_examples": 60}
    few = disorder.plan(unsteady, up_and_down(150), width=0.05, **asked)
    assert few.permutations == few.pilot_permutations
    assert disorder.plan(unsteady, up_and_down(150), width=0.05, q=1, **asked).permutations == 1


def test_it_says_what_the_pilot_took_and_leaves_out_what_is_cached(tmp_path: Path) -> None:
    asked = {"score": "agreement", "width": 0.3, "q": 4, "pilot_examples": 20, "price_in": 1.0}
    with FakeServer() as server:
        settings = {"base_url": server.url, "cache": str(tmp_path / "cache"), "price_out": 2.0}
        settings["fidelity"] = "paper"  # nothing but originals and permutations is asked
        first = disorder.plan("openai:fake", "builtin", **asked, **settings)
        n_asked = len(server.questions)
        assert first.pilot_questions == pytest.approx(n_asked, abs=2)  # a probe or two
        assert first.pilot_cost is not None
        assert first.pilot_tokens_in is not None
        assert f"which took {first.pilot_questions:,} model calls" in repr(first)
        assert first.questions == first.examples * 5
        assert first.cached >= 20 * 5  # the pilot's own texts come again in the audit
        disorder.audit(
            "openai:fake",
            "builtin",
            with_="derange",
            q=first.permutations,
            limit=first.examples,
            short="use",
            **settings,
        )
        made = len(server.questions) - n_asked
        assert made == pytest.approx(first.questions - first.cached, abs=5)
        again = disorder.plan("openai:fake", "builtin", **asked, **settings)
        assert (again.cached, again.pilot_questions, again.cost) == (again.questions, 0, None)


def test_further_data_has_families_of_its_own() -> None:
    """A pilot whose examples share texts is continued by other families, not by the same ones."""
    gold = np.tile([0, 1, 2], 20)
    original = np.where(np.arange(60) % 5, gold, (gold + 1) % 3)
    found = outcomes(gold, original, original[:, None], family=np.repeat(np.arange(20), 3))
    widths = Widths("skill_kept", found, 1.0)
    assert widths.of(4000) < 0.5 * widths.of(200)


def test_a_run_of_chosen_scores_is_planned_for_one(tmp_path: Path, run: Command) -> None:
    out = tmp_path / "run"
    disorder.audit(
        "builtin:bow", "builtin", score=["accuracy", "agreement"], q=2, limit=40, out=out
    )
    assert disorder.plan(out).score == "skill_kept"
    code, printed, _ = run("plan", out, "--score", "agreement", "--json")
    assert (code, json.loads(printed)["score"]) == (0, "agreement")
