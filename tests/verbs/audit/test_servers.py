"""Audits of models behind a server: oracles, refusals, kills, budgets, gates and plans."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import NLI, Command
from disorder.data import read_data
from disorder.errors import DisorderError, ModelStopped
from disorder.models import load
from disorder.store.sample_parts import read_examples
from disorder.types import Example
from disorder.verbs.audit import auditing, sampling
from disorder.verbs.audit.prompts import spread_over
from disorder.verbs.explain import explain
from fake_server import FakeServer, Fault
from oracles import BagOfWords, Reader, guess, item_of

pytest.importorskip("httpx2", reason="needs httpx2")
SECRET = "sk-very-secret-0123456789"
SETTINGS: dict[str, Any] = {"with_": "derange", "q": 4, "limit": 60, "short": "use"}


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(read_data("builtin").examples)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(brain=lambda text: guess(*item_of(text))) as running:
        yield running


def audit(server: FakeServer, **more: Any) -> disorder.Run:
    given = SETTINGS | {"base_url": server.url, "max_retries": 1} | more
    return disorder.audit("openai:fake", "builtin", **given)


def test_a_bag_of_words_behind_a_server_keeps_everything(examples: list[Example]) -> None:
    with FakeServer(brain=BagOfWords(examples)) as server:
        run = audit(server, limit=90)
    assert run["derange", "p_c"].value == 1
    assert run["derange", "skill_kept"].value == pytest.approx(1)
    assert run.prompt["answers"] == "first-token"
    assert run.prompt["label_mass"] == pytest.approx(0.98)
    assert run.spent["tokens_in"] > 0


def test_a_reader_behind_a_server_keeps_nothing(examples: list[Example]) -> None:
    with FakeServer(brain=Reader(examples)) as server:
        run = audit(server, limit=120, q=12)
    assert run["original", "accuracy"].value == 1
    assert run["derange", "p_c"].value == pytest.approx(1 / 3, abs=0.05)
    assert abs(run["derange", "skill_kept"].value) < 0.1
    assert run.conclusion is not None
    assert run.conclusion.kind == "reads_order"


def test_a_repeated_audit_asks_nothing(server: FakeServer) -> None:
    first = audit(server)
    n = len(server.questions)
    second = audit(server)
    assert len(server.questions) == n > 100
    assert second.scores == first.scores
    assert second.prompt["label_mass"] == first.prompt["label_mass"]
    assert second.spent == {} or second.spent["questions"] == 0


def test_equal_texts_are_asked_once(server: FakeServer) -> None:
    rows = [
        {
            "id": f"e{i}",
            "text_a": "one two three four five six",
            "text_b": "six five four three",
            "label": ["entailment", "neutral", "contradiction"][i % 3],
        }
        for i in range(9)
    ]
    given = {"limit": None, "with_": "reverse", "repeats": 0}
    settings = SETTINGS | {"base_url": server.url} | given
    disorder.audit("openai:fake", rows, **settings)
    counts = Counter(json.dumps(body) for _, body in server.questions[-2:])
    assert set(counts.values()) == {1}


def test_the_key_is_nowhere(
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Command,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("DISORDER_CACHE", str(tmp_path / "cache"))
    server.key = SECRET
    options = ("--base-url", server.url, "--with", "reverse", "--limit", 20, "--max-retries", 0)
    code, out, err = run("audit", "openai:fake", "builtin", *options, "--out", tmp_path / "r")
    assert code == 0
    server.key = "another"
    more = (*options, "--cache", "off", "--out", tmp_path / "s")
    failed, out_2, err_2 = run("audit", "openai:fake", "builtin", *more)
    assert failed == 2
    assert "[key]" in err_2
    shown = out + err + out_2 + err_2
    assert SECRET not in shown
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


def refusing(text: str) -> dict[str, Any]:
    """A model that refuses every fifth text."""
    premise, hypothesis = item_of(text)
    if not premise:
        return {"content": "banana"}
    if len(premise) % 5 == 0:
        return {"content": "I cannot answer that."}
    return {"content": max(guess(premise, hypothesis).items(), key=lambda item: item[1])[0]}


@pytest.mark.parametrize("no_answer", ["skip", "abstain"])
def test_refusals_are_counted_or_abstentions(no_answer: str) -> None:
    with FakeServer(offers=(), reply=refusing) as server:
        run = audit(server, no_answer=no_answer, fidelity="paper")
    refused = run.no_answers.get("original", {}).get("the model refused", 0)
    if no_answer == "skip":
        assert 0 < refused < 60
        assert run["original", "accuracy"].n == 60 - refused
        assert run["original", "accuracy"].skipped >= refused
        assert run.skips["derange"].get("no answer to the original text", 0) + run.skips[
            "derange"
        ].get("no answer", 0)
        assert "failed: the model refused" in run.samples()["outcome"].to_pylist()
    else:
        assert not run.no_answers
        assert run["original", "accuracy"].n == 60


def test_a_model_that_never_answers_is_one_line(run: Command) -> None:
    with FakeServer(offers=(), reply=lambda text: {"content": "Hm."}) as server:
        code, _, err = run(
            "audit", "openai:fake", "builtin", "--base-url", server.url, "--limit", 10, "--q", 5
        )
    assert code == 2
    assert err.count("\n") == 1
    assert "gave none of the labels to 10 original texts" in err


def test_a_folder_where_nothing_was_predicted_can_be_used_again(tmp_path: Path) -> None:
    given = {"limit": 2, "q": 2, "out": tmp_path / "run"}
    with FakeServer() as server:
        with pytest.raises(DisorderError, match="cannot answer by decisions"):
            audit(server, answers="decisions", **given)
        assert audit(server, answers="parse", **given).status == "done"
        with pytest.raises(DisorderError, match="holds a run already"):
            audit(server, answers="parse", **given)


def test_a_server_that_dies_says_how_to_resume_and_is_paid_once(
    tmp_path: Path, run: Command, examples: list[Example]
) -> None:
    whole = Reader(examples)
    dead = Fault(status=500)
    options = ("--with", "derange", "--q", 4, "--limit", 40, "--short", "use")
    options += ("--max-retries", 0, "--repeats", 0)  # texts that are predicted again on purpose
    with FakeServer(brain=whole) as server:
        # connections are few, so that few questions are under way when it dies
        server.faults = lambda number, path: dead if number > 90 else None
        named = ("audit", "openai:fake", "builtin", "--base-url", server.url, *options)
        code, _, err = run(*named, "--max-connections", 2, "--out", tmp_path / "r")
        assert code == 2
        again = ("--resume", str(tmp_path / "r"), "openai:fake", "--base-url", server.url)
        assert err.rstrip().endswith(f"resume with: disorder audit {' '.join(again)}")
        assert run("audit", *again[:2])[0] == 2  # a folder alone sends nothing anywhere
        assert json.loads((tmp_path / "r" / "run.json").read_text())["status"] == "failed"
        server.faults = lambda number, path: None
        answered = [json.dumps(body) for _, body in server.questions[:91]]
        code, _, _ = run("audit", *again)
        assert code == 0
        later = [json.dumps(body) for _, body in server.questions[91:]]
        # only the probe, and what was under way when it died, is asked again
        assert len(set(answered) & set(later)) <= 8
    done = json.loads((tmp_path / "r" / "run.json").read_text())
    with FakeServer(brain=whole) as server:
        fresh = audit(server, limit=40, cache="off")
    assert [record.value for record in fresh.scores] == [r["value"] for r in done["scores"]]


def test_a_killed_audit_resumes_and_pays_nothing_twice(
    tmp_path: Path, examples: list[Example]
) -> None:
    with FakeServer(brain=Reader(examples), latency=0.03) as server:
        out = tmp_path / "r"
        command = [sys.executable, "-m", "disorder", "audit", "openai:fake", "builtin"]
        command += ["--base-url", server.url, "--with", "derange", "--q", "10", "--limit", "60"]
        command += ["--short", "use", "--max-connections", "4", "--out", str(out)]
        environment = {**os.environ, "DISORDER_CACHE": str(tmp_path / "cache")}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 180
        while len(server.questions) < 200 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.1)
        before = [json.dumps(body) for _, body in server.questions]
        assert 200 <= len(before) < 600
        resumed = [sys.executable, "-m", "disorder", "audit", "--resume", str(out)]
        resumed += ["openai:fake", "--base-url", server.url]
        subprocess.run(resumed, env=environment, check=True, capture_output=True, timeout=120)
        after = [json.dumps(body) for _, body in server.questions[len(before) :]]
    repeated = set(before) & set(after)
    # two questions of the probe in each of its ways, and at most two per connection under way
    assert len(repeated) <= 8 + 2 * 4
    assert len(before) + len(after) >= 60 * 10


def test_questions_tokens_and_money_are_limits(server: FakeServer) -> None:
    run = audit(server, limit=None, max_questions=120)
    assert run.spent["questions"] <= 120
    n = run.n_examples
    assert 5 < n < 30
    assert run.skips["data"]["not predicted (--max-questions)"] == run.n_available - n
    assert any("a random part of the data" in note for note in run.notes)
    assert run["derange", "p_c"].n <= n
    for limit in ({"max_tokens": 20_000}, {"max_cost": 0.02, "price_in": 1.0, "price_out": 2.0}):
        run = audit(server, limit=None, cache="off", **limit)
        name = next(iter(limit)).removeprefix("max_")
        assert 0 < run.spent[name] <= next(iter(limit.values()))
        assert run.n_examples > 3


@pytest.mark.parametrize("limit", [{"max_questions": 60}, {"max_tokens": 8000}])
def test_a_killed_run_knows_what_it_spent(
    limit: dict[str, int], server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "SERVER_BLOCK", 20)  # portions of four examples

    def kill(stage: str, done: int, total: int, note: str) -> None:
        if done >= 9:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(
            auditing, "write_failed", lambda *given: None
        )  # a kill leaves no time for it
        with pytest.raises(KeyboardInterrupt):
            audit(server, out=tmp_path / "run", progress=kill, cache="off", **limit)
    assert disorder.read_run(tmp_path / "run").status == "started"
    run = disorder.resume(tmp_path / "run", model="openai:fake", base_url=server.url)
    [(name, most)] = limit.items()
    assert run.spent["questions"] >= 5 * run.n_examples >= 5 * 9  # it is probed, too
    assert run.spent[name.removeprefix("max_")] <= most


def test_several_prompts_share_a_budget_and_are_resumed_together(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "SERVER_BLOCK", 20)
    out = tmp_path / "run"
    given = {"prompt": ["nli", "paraphrase"], "max_questions": 100, "q": 2, "cache": "off"}

    def silent_later(number: int, path: str) -> Fault | None:
        return Fault(status=500) if number > 60 else None

    server.faults = silent_later
    with pytest.raises(
        ModelStopped, match=re.escape(f'disorder.resume("{out}", model="openai:fake')
    ):
        audit(server, out=out, max_retries=0, **given)
    assert disorder.read_run(out).status == "done"  # under the first prompt
    server.faults = lambda number, path: None
    run = disorder.resume(out, model="openai:fake", base_url=server.url)
    second = disorder.read_run(out / "prompts" / "2-paraphrase")
    assert run.spent["questions"] + second.spent["questions"] <= 100
    assert min(run.n_examples, second.n_examples) >= 10
    assert run.prompt_spread
    assert all(len(row["values"]) == 2 for row in run.prompt_spread)
    n = len(server.questions)
    assert disorder.resume(out).prompt_spread == run.prompt_spread
    assert len(server.questions) == n


def test_the_spread_over_prompts_is_on_shared_examples(tmp_path: Path) -> None:
    options = {"with_": "derange", "q": 3, "short": "use", "group_by": "needs"}
    few, many = (
        disorder.audit(
            "builtin:bow", "builtin", max_questions=n, limit=90, out=tmp_path / str(n), **options
        )
        for n in (160, 300)
    )
    rows = spread_over([few, many])
    assert few.n_examples < many.n_examples
    assert {row["group"] for row in rows} == {"all", *few.groups}
    for row in rows:  # one model, and thus one value on the same examples
        assert row["values"][0] == row["values"][1]
        assert row["low"] == few[row["transformation"], row["metric"], row["group"]].value


def test_every_model_has_a_limit_of_questions() -> None:
    run = disorder.audit("builtin:bow", "builtin", with_="derange", q=10, max_questions=6000)
    assert run.spent["questions"] <= 6000
    assert 300 < run.n_examples < 600
    assert run.folder is not None
    reached = Counter(example.label for example in read_examples(run.folder))
    assert run.majority == max(reached.values()) / run.n_examples
    with pytest.raises(DisorderError, match="this model does not count tokens"):
        disorder.audit("builtin:bow", "builtin", with_="derange", max_tokens=100)
    with pytest.raises(DisorderError, match="not even one example fits"):
        disorder.audit("builtin:bow", "builtin", with_="derange", q=100, max_questions=20)
    with pytest.raises(DisorderError, match=r"prices beside it \(price_in, price_out\)"):
        disorder.audit("builtin:bow", "builtin", max_cost=1.0)


@pytest.mark.parametrize(
    ("kind", "code"), [(BagOfWords, 1), (Reader, 0)], ids=["bag of words", "reader"]
)
def test_a_gate_is_decided_live(
    kind: Callable[[list[Example]], Any],
    code: int,
    run: Command,
    examples: list[Example],
    tmp_path: Path,
) -> None:
    with FakeServer(brain=kind(examples)) as server:
        options = ("--base-url", server.url, "--with", "derange", "--q", 3, "--short", "use")
        rule = ("--fail-if", "skill_kept > 0.5")
        found, out, _ = run(
            "audit", "openai:fake", "builtin", *options, *rule, "--out", tmp_path / "r"
        )
        n_questions = len(server.questions)
    assert found == code
    assert "derange:skill_kept > 0.5" in out
    assert "undecided" not in out
    stored = json.loads((tmp_path / "r" / "run.json").read_text())
    assert stored["gate"]["passed"] is (code == 0)
    assert n_questions < 4200 * 4 / 4
    assert stored["skips"]["data"]["not predicted (--fail-if)"] > 2000
    wanted = {"transformation": "derange", "metric": "skill_kept", "group": "all"}
    [record] = [r for r in stored["scores"] if wanted.items() <= r.items()]
    assert (record["low"] > 0.5) if code else (record["high"] < 0.5)


def test_an_unknown_score_in_a_live_gate_is_said_before_anything_is_asked(
    server: FakeServer,
) -> None:
    with pytest.raises(DisorderError, match="unknown score in fail_if 'skil_kept'"):
        audit(server, fail_if="skil_kept > 0.5")


def test_a_dry_run_asks_nothing(server: FakeServer, run: Command) -> None:
    options = ("--base-url", server.url, "--q", 10, "--limit", 50, "--price-in", 1.0)
    code, out, _ = run("audit", "openai:fake", "builtin", *options, "--dry-run")
    assert code == 0
    assert "no model call was made" in out
    assert "Hypothesis:" in out
    assert "50 examples" in out
    assert not server.questions
    code, out, _ = run("audit", "--dry-run", "--q", 5)
    assert code == 0
    assert "Hypothesis:" not in out


def test_a_plan_says_what_an_audit_needs(server: FakeServer, examples: list[Example]) -> None:
    server.brain = BagOfWords(examples)
    prices = {"price_in": 1.0, "price_out": 2.0}
    plan = disorder.plan("openai:fake", "builtin", base_url=server.url, width=0.2, **prices)
    assert len(server.questions) < 40 * 5 + 20
    assert "not known" not in str(plan)
    # the original text, its surface control, and permutations; and 30 texts again
    assert plan.questions == plan.examples * (1 + 1 + plan.permutations) + 30
    assert plan.tokens_in is not None
    assert plan.cost == pytest.approx(plan.tokens_in / 1e6 + (plan.tokens_out or 0) * 2 / 1e6)
    assert f"--q {plan.permutations}" in plan.command
    assert f"--base-url {server.url}" in plan.command
    again = disorder.plan("openai:fake", "builtin", base_url=server.url, width=0.2, **prices)
    assert again.cost is None
    assert "cost are not known: all predictions of the pilot came from the cache" in str(again)


@pytest.mark.parametrize("by", ["leave_one_out:n=2,among=all", "ladder"])
def test_explanations_ask_a_server_too(by: str, server: FakeServer, run: Command) -> None:
    options = ("--base-url", server.url, "--by", by, "--limit", 3, "--q", 2, "--json")
    code, out, err = run("explain", "openai:fake", "builtin", *options)
    assert code == 0, err
    assert json.loads(out)
    assert len(server.questions) > 6


@pytest.mark.parametrize(
    ("reply", "removed"),
    [
        (lambda words: {"content": words}, 0),
        (lambda words: {"content": f"<think>hm</think>\n{words}"}, 0),
        (lambda words: {"content": ""}, None),
    ],
    ids=["as they are", "after thinking", "nothing"],
)
def test_a_server_is_asked_to_restore_texts(reply: Any, removed: float | None) -> None:
    pytest.importorskip("rapidfuzz", reason="needs rapidfuzz")

    def words(text: str) -> str:
        return text.split("Words: ")[-1].removesuffix("\nText:")

    with FakeServer(reply=lambda text: reply(words(text))) as server:
        options = {"base_url": server.url, "limit": 6}
        found = explain("openai:fake", "builtin", by="recover:n=3", **options)["recover"]
    rows = list(found.tables[0].rows)
    if removed is None:
        assert [row["answer"] for row in rows] == [""] * 3
    else:
        assert [row["answer"] for row in rows] == [row["scrambled"] for row in rows]
        assert found.scores["removed"].value == removed


def test_a_model_that_thinks_gets_room_to_answer() -> None:
    def reply(text: str) -> dict[str, Any]:
        return {"content": "<think>it is", "finish_reason": "length"}

    with FakeServer(reply=reply) as server:
        model = load("openai:fake", task=NLI, options={"base_url": server.url})
        before = len(server.questions)
        assert model.generate(["Say a word."], max_tokens=[5]) == [""]
        limits = [body["max_tokens"] for _, body in server.questions[before:]]
    assert limits[0] == 5
    assert limits[1] > 1000


def test_options_of_servers_are_for_servers(run: Command) -> None:
    code, _, err = run("audit", "builtin", "builtin", "--base-url", "http://one/v1")
    assert code == 2
    assert "--base-url is for embed:, openai: and rerank: models; builtin is none" in err
    code, _, err = run("audit", "openai:fake", "builtin")
    assert code == 2
    assert "no host is called unless you name it" in err


def test_a_stopped_model_is_a_disorder_error() -> None:
    assert issubclass(ModelStopped, DisorderError)
