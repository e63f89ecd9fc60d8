"""Servers of all shapes: each audited to what is known of the model behind it, and paid once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import Command
from disorder.data import read_data
from disorder.errors import BadModel, DisorderError, ModelStopped
from disorder.models.servers.endpoint import FIRST, MOST
from disorder.types import Example
from fake_server import Body, FakeServer, Fault, last_text
from oracles import BagOfWords, Reader, item_of

pytest.importorskip("httpx2", reason="needs httpx2")
N_THOUGHT = 300


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(read_data("builtin").examples)


def without_temperature(body: Body) -> str:
    """A model that thinks, as one large vendor serves them."""
    if "temperature" in body:
        return (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default "
            "(1) value is supported."
        )
    if "max_tokens" in body:
        return (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        )
    return "logprobs are not supported with this model" if "logprobs" in body else ""


def at_least_16(body: Body) -> str:
    """A server with a smallest limit, and few of the likeliest tokens."""
    if body.get("max_tokens", 16) < 16:
        return "Invalid 'max_tokens': integer below minimum value. Expected a value >= 16."
    return "top_logprobs must be at most 5" if body.get("top_logprobs", 0) > 5 else ""


def without_max_tokens(body: Body) -> str:
    """A refusal that does not say which name the limit has."""
    return "Unrecognized request argument supplied: max_tokens" if "max_tokens" in body else ""


def named_apart(body: Body) -> Any:
    """The message says nothing; the field stands beside it."""
    for name in ("temperature", "max_tokens", "logprobs"):
        if name in body:
            return 400, {"error": {"message": "Unsupported value.", "param": name}}
    return ""


def named_at_the_end(body: Body) -> str:
    return f"{'no ' * 150}'temperature' here" if "temperature" in body else ""


def failing_at_temperature(body: Body) -> Any:
    """A proxy that takes a refusal of the model behind it for an error of its own."""
    is_sent = "temperature" in body
    return (500, {"error": {"message": "temperature is not supported"}}) if is_sent else ""


def at_most_1500(body: Body) -> str:
    """A server with a largest limit, which it knows by the old name alone."""
    if "max_completion_tokens" in body:
        return "Unrecognized request argument supplied: max_completion_tokens"
    is_large = body.get("max_tokens", 0) > 1500
    return "max_tokens is too large: at most 1500 completion tokens" if is_large else ""


def of_small_context(body: Body) -> str:
    is_large = body.get("max_tokens", 0) + 200 > 2048
    return "This model's maximum context length is 2048 tokens." if is_large else ""


def thinks_longer(text: str) -> int:
    """More than the first room, for some texts."""
    return FIRST + 500 if len(text) % 3 == 0 else N_THOUGHT


SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "no temperature": (
        {"refuses": without_temperature, "thinks": lambda text: N_THOUGHT},
        "constrained",
    ),
    "a smallest limit": ({"refuses": at_least_16}, "first-token"),
    "a limit by another name": ({"refuses": without_max_tokens}, "first-token"),
    "hidden thoughts": ({"offers": (), "thinks": lambda text: N_THOUGHT}, "parse"),
    "thoughts under a schema": (
        {"offers": ("constrained",), "thinks": lambda text: N_THOUGHT},
        "constrained",
    ),
    "a field that is named apart": ({"refuses": named_apart}, "constrained"),
    "a field that is named late": ({"refuses": named_at_the_end}, "first-token"),
    "an error instead of a refusal": ({"refuses": failing_at_temperature}, "first-token"),
    "thoughts, a largest limit": (
        {"offers": (), "refuses": at_most_1500, "thinks": lambda text: N_THOUGHT},
        "parse",
    ),
    "thoughts, a small context": (
        {"offers": (), "refuses": of_small_context, "thinks": lambda text: N_THOUGHT},
        "parse",
    ),
    "thoughts that eat the limit": ({"offers": (), "thinks": thinks_longer}, "parse"),
}


class Gemini(FakeServer):
    """Errors come in a list, and thoughts are not counted among the tokens of a reply."""

    def answer(self, path: str, body: Body) -> tuple[int, Any]:
        status, content = super().answer(path, body)
        if status >= 400:
            return status, [content]
        content.get("usage", {}).pop("completion_tokens_details", None)
        return status, content


class InParts(FakeServer):
    """Replies come in parts, and some of them are thoughts (Mistral)."""

    def _chat(self, body: Body) -> Body:
        reply = super()._chat(body)
        message = reply["choices"][0]["message"]
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": "yes, maybe or no?"}]}
        message["content"] = [thought, {"type": "text", "text": message["content"]}]
        return reply


class OutputText(FakeServer):
    """Parts with the types of a newer API."""

    def _chat(self, body: Body) -> Body:
        reply = super()._chat(body)
        message = reply["choices"][0]["message"]
        thought = {"type": "reasoning", "text": "yes, maybe or no?"}
        message["content"] = [thought, {"type": "output_text", "text": message["content"]}]
        return reply


class Verbose(FakeServer):
    """Reasons in its reply, and names the option at its end."""

    def _chat(self, body: Body) -> Body:
        reply = super()._chat(body)
        choice = reply["choices"][0]
        said = [*("Let me look at this carefully." * 9).split(), choice["message"]["content"]]
        limit = int(body["max_tokens"])
        choice["message"]["content"] = " ".join(said[:limit])
        choice["finish_reason"] = "stop" if len(said) <= limit else "length"
        return reply


class Unexplained(FakeServer):
    """Says nowhere but in `usage` that thoughts took all there was."""

    def _chat(self, body: Body) -> Body:
        reply = super()._chat(body)
        reply["choices"][0]["finish_reason"] = None
        return reply


class Always200(FakeServer):
    """A gateway that refuses inside of replies of status 200."""

    def answer(self, path: str, body: Body) -> tuple[int, Any]:
        status, content = super().answer(path, body)
        return 200, {"error": content["error"] | {"code": status}} if status >= 400 else content


class HalfWay(FakeServer):
    """A router whose hosts fail when the reply has begun."""

    def answer(self, path: str, body: Body) -> tuple[int, Any]:
        status, content = super().answer(path, body)
        if len(self.questions) % 7 == 3 and status == 200:
            message = {"role": "assistant", "content": ""}
            error = {"code": 502, "message": "the host disconnected"}
            content["choices"] = [{"finish_reason": "error", "message": message, "error": error}]
        return status, content


def without_logprobs(body: Body) -> str:
    return 'Unknown name "logprobs": Cannot find field.' if "logprobs" in body else ""


def of_litellm(body: Body) -> str:
    """Its own words for what the model behind it does not take."""
    if "temperature" not in body:
        return without_logprobs(body)
    return (
        "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0. Only "
        "temperature=1 is supported."
    )


def now_and_then(number: int, path: str) -> Fault | None:
    """OpenRouter says in a reply of status 200 that the host behind it failed."""
    is_failed = number % 7 == 3
    return (
        Fault(content=b'{"error": {"code": 502, "message": "Bad gateway"}}') if is_failed else None
    )


# server → what it is like, how its model is listed, and the way that is taken
SERVERS: dict[str, tuple[type[FakeServer], dict[str, Any], str]] = {
    "Anthropic": (FakeServer, {"offers": ()}, "parse"),
    "Gemini": (
        Gemini,
        {
            "offers": ("constrained",),
            "refuses": without_logprobs,
            "thinks": lambda text: N_THOUGHT,
            "models": ("models/fake", "models/other"),
        },
        "constrained",
    ),
    "OpenRouter": (
        FakeServer,
        {"offers": ("constrained",), "faults": now_and_then, "models": ("a/fake", "b/other")},
        "constrained",
    ),
    "OpenRouter, half-way": (HalfWay, {"offers": ()}, "parse"),
    "Mistral, thinking": (InParts, {"offers": ()}, "parse"),
    "Mistral, a schema": (InParts, {"offers": ("constrained",)}, "constrained"),
    "output_text": (OutputText, {"offers": ()}, "parse"),
    "a verbose model": (Verbose, {"offers": ()}, "parse"),
    "thoughts in usage alone": (
        Unexplained,
        {"offers": ("constrained",), "thinks": lambda text: N_THOUGHT},
        "constrained",
    ),
    "a gateway": (Always200, {"refuses": without_logprobs}, "constrained"),
    "Ollama": (FakeServer, {"models": ("fake:latest", "qwen3:4b")}, "first-token"),
    "LM Studio": (FakeServer, {"offers": ("constrained",), "models": ("fake", "b")}, "constrained"),
    "vLLM": (
        FakeServer,
        {"offers": ("prompt-logprobs", "first-token", "constrained", "tokenize")},
        "first-token",
    ),
    "vLLM, decisions": (
        FakeServer,
        {"offers": ("decisions", "prompt-logprobs", "first-token")},
        "decisions",
    ),
    "SGLang": (FakeServer, {"offers": ("openai-decisions", "first-token")}, "decisions"),
    "LiteLLM": (FakeServer, {"refuses": of_litellm}, "constrained"),
}


def audit(server: FakeServer, **more: Any) -> disorder.Run:
    given = {"with_": "derange", "q": 2, "limit": 40, "short": "use", "base_url": server.url}
    return disorder.audit("openai:fake", "builtin", **(given | {"max_retries": 2} | more))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_leads_to_what_is_known_of_the_model(
    shape: str, examples: list[Example]
) -> None:
    settings, way = SHAPES[shape]
    with FakeServer(brain=BagOfWords(examples), **settings) as server:
        run = audit(server, limit=100)
        n = len(server.questions)
        again = audit(server, limit=100)
        assert len(server.questions) == n
    assert run.prompt["answers"] == way
    assert not run.no_answers
    assert run["derange", "skill_kept"].value == pytest.approx(1)
    assert run.conclusion is not None
    assert run.conclusion.kind == "bag_of_words"
    assert again.scores == run.scores


@pytest.mark.parametrize("name", SERVERS)
def test_every_server_leads_to_what_is_known_of_the_model(
    name: str, examples: list[Example]
) -> None:
    kind, settings, way = SERVERS[name]
    with kind(brain=BagOfWords(examples), **settings) as server:
        model = "openai:a/fake:nitro" if name == "OpenRouter" else "openai:fake"
        run = disorder.audit(
            model, "builtin", with_="derange", q=2, limit=30, short="use", base_url=server.url
        )
    assert run.prompt["answers"] == way
    assert not run.no_answers
    assert run["derange", "skill_kept"].value == pytest.approx(1)
    if name.startswith("OpenRouter"):
        assert any("sent again" in note for note in run.notes)


def test_a_reader_that_thinks_is_found_to_read(examples: list[Example]) -> None:
    settings, _ = SHAPES["no temperature"]
    with FakeServer(brain=Reader(examples), **settings) as server:
        run = audit(server, limit=60, q=4)
    assert run["original", "accuracy"].value == 1
    assert abs(run["derange", "skill_kept"].value) < 0.25


def test_what_is_refused_is_left_out_and_said(examples: list[Example]) -> None:
    settings, _ = SHAPES["no temperature"]
    with FakeServer(brain=BagOfWords(examples), **settings) as server:
        run = audit(server, limit=10)
    refused = [body for _, body in server.questions if "temperature" in body]
    assert len(refused) < 5
    notes = " ".join(run.notes)
    assert "the server refuses temperature 0 (Unsupported value" in notes
    assert "the model thinks before it answers" in notes


def test_what_the_user_asks_for_is_not_left_out(examples: list[Example]) -> None:
    with FakeServer(refuses=without_temperature) as server:
        with pytest.raises(BadModel, match=r"refuses temperature=0.5 .*; leave it out"):
            audit(server, temperature=0.5)
        with pytest.raises(DisorderError, match="extra_body"):
            audit(server, extra_body={"messages": "[]"})


@pytest.mark.parametrize(
    "extra",
    [
        "top_k=1,chat_template_kwargs.enable_thinking=false",
        {"top_k": 1, "chat_template_kwargs": {"enable_thinking": False}},
    ],
)
def test_the_users_settings_are_sent_and_told_apart(extra: Any, examples: list[Example]) -> None:
    given: dict[str, Any] = {
        "temperature": 1.0,
        "top_p": 0.5,
        "reasoning_effort": "low",
        "extra_body": extra,
    }
    with FakeServer(brain=BagOfWords(examples)) as server:
        audit(server, limit=10)
        n = len(server.questions)
        audit(server, limit=10, **given)
    bodies = [body for path, body in server.questions[n:] if "messages" in body]
    assert len(bodies) > 20
    for body in bodies:
        assert body["temperature"] == 1.0
        assert body["top_p"] == 0.5
        assert body["reasoning_effort"] == "low"
        assert body["top_k"] == 1
        assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_room_grows_from_what_was_used(examples: list[Example]) -> None:
    with FakeServer(brain=BagOfWords(examples), offers=(), thinks=lambda text: N_THOUGHT) as server:
        audit(server, limit=10)
    limits = {body["max_tokens"] for _, body in server.questions[-20:]}
    assert limits == {FIRST + 24}


def test_no_answer_within_a_limit_is_an_outcome(examples: list[Example]) -> None:
    def thinks(text: str) -> int:
        return 10**6 if len(item_of(text)[0]) % 4 == 0 else N_THOUGHT

    with FakeServer(brain=BagOfWords(examples), offers=(), thinks=thinks) as server:
        run = audit(server, limit=40, q=2)
    assert 0 < run.no_answers["original"][f"no answer within {MOST + 24} tokens"] < 40
    with (
        FakeServer(brain=BagOfWords(examples), thinks=thinks) as server,
        pytest.raises(BadModel, match="no answer within 100 tokens") as error,
    ):
        audit(server, max_answer_tokens=100, answers="constrained")
    assert "ignored" not in str(error.value)


def test_azures_address_and_key(examples: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-azure")
    version = "api-version=2024-10-21"
    with FakeServer(
        brain=BagOfWords(examples), query=version, key="of-azure", key_name="api-key"
    ) as server:
        run = audit(server, base_url=f"{server.url}?{version}")
    assert run["derange", "skill_kept"].value == pytest.approx(1)


def test_a_name_that_a_list_lacks_is_used_and_said(examples: list[Example]) -> None:
    """Azure lists base models, and requests name deployments."""
    with FakeServer(brain=BagOfWords(examples), models=("gpt-4o", "gpt-4.1")) as server:
        run = audit(server)
    assert run["derange", "skill_kept"].value == pytest.approx(1)
    assert any("answers as fake, which its list" in note for note in run.notes)


def test_an_audit_through_a_proxy_says_so(examples: list[Example]) -> None:
    with FakeServer(brain=BagOfWords(examples)) as proxy:
        address = proxy.url.removesuffix("/v1")
        run = audit(proxy, base_url="http://models.example/v1", proxy=address)
    assert set(proxy.hosts) == {"models.example"}
    assert run["derange", "skill_kept"].value == pytest.approx(1)
    assert any("go through the proxy at 127.0.0.1" in note for note in run.notes)


def test_a_storm_of_429_does_not_end_the_probe(examples: list[Example]) -> None:
    busy = Fault(status=429, headers={"Retry-After": "0"}, content=b"{}")
    with FakeServer(
        brain=BagOfWords(examples), faults=lambda n, path: busy if n < 4 else None
    ) as server:
        run = audit(server, limit=10, max_retries=6)
    assert not run.no_answers
    assert any("sent again: 4" in note for note in run.notes)


def test_a_storm_of_429_is_survived_and_leaves_a_trace(examples: list[Example]) -> None:
    busy = Fault(status=429, headers={"Retry-After": "0"}, content=b"{}")
    with FakeServer(
        brain=BagOfWords(examples), faults=lambda n, path: busy if n > 20 and n % 3 == 0 else None
    ) as server:
        run = audit(server, max_retries=20)
        n = len(server.questions)
        again = audit(server)
        assert len(server.questions) == n
    assert run["derange", "skill_kept"].value == pytest.approx(1)
    assert not run.no_answers
    assert any(note.startswith("requests that failed and were sent again: ") for note in run.notes)
    assert again.scores == run.scores


def test_what_is_refused_in_the_middle_stops_the_audit_and_is_left_out_of_the_next(
    examples: list[Example], tmp_path: Path
) -> None:
    with FakeServer(brain=BagOfWords(examples)) as server:
        server.refuses = lambda body: (
            without_temperature(body) if len(server.questions) > 60 else ""
        )
        with pytest.raises(ModelStopped, match=r"stopped answering .* 'temperature' does not"):
            audit(server, out=tmp_path / "run")
        assert len(server.questions) < 90
        server.refuses = failing_at_temperature
        run = disorder.resume(tmp_path / "run", model="openai:fake", base_url=server.url)
    assert not run.no_answers
    assert run["derange", "skill_kept"].value == pytest.approx(1)


def test_a_refused_text_costs_its_answer_alone(examples: list[Example]) -> None:
    def flagged(body: Body) -> str:
        return "flagged" if len(item_of(last_text("", body))[0]) % 5 == 1 else ""

    with FakeServer(brain=BagOfWords(examples), refuses=flagged) as server:
        run = audit(server)
    assert 0 < run.no_answers["original"]["the server rejected the text"] < 20
    assert run["derange", "skill_kept"].value == pytest.approx(1)


@pytest.mark.parametrize("share", ["half", "all"])
def test_a_text_that_is_rejected_when_predicted_again_is_no_noise(
    share: str, examples: list[Example]
) -> None:
    rejected = Fault(status=400, content=b'{"error": {"message": "flagged"}}')

    def when_known(number: int, path: str) -> Fault | None:
        *before, asked = server.asked[: number + 1]
        is_again = number > 20 and asked in before and "playing a guitar" not in asked
        return rejected if is_again and (share == "all" or len(asked) % 2) else None

    with FakeServer(brain=BagOfWords(examples), faults=when_known) as server:
        run = audit(server, limit=30, cache="off")
    assert not run.no_answers
    floor = {record.metric: record for record in run.noise_floor}
    if share == "all":
        assert not floor
    else:
        assert floor["agreement"].value == 1
        assert 0 < floor["agreement"].n < 30


@pytest.mark.parametrize(
    "spec",
    [
        "anthropic:claude",
        "ranker:x",
        "nothing",
        "hf:./x",
        "causal:/x",
        "embed:~/x",
        "embed:x",
        "rerank:no/such",
        "openai:x",
        "onnx:x.onnx",
        "bow:x",
        "python:nowhere.at.all:f",
    ],
)
def test_a_dry_run_refuses_models_that_do_not_exist(
    spec: str, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    code, _, err = run("audit", spec, "builtin", "--dry-run")
    assert code == 2
    assert spec.partition(":")[0] in err


def test_the_cheapest_way_that_is_right_is_taken(examples: list[Example]) -> None:
    offers = ("prompt-logprobs", "first-token")
    with FakeServer(brain=BagOfWords(examples), offers=offers) as server:
        run = audit(server, limit=10)
        assert run.prompt["answers"] == "first-token"
        assert "right, and dearer" in run.prompt["refused"]["prompt-logprobs"]
        assert audit(server, limit=12).prompt["answers"] == "first-token"
        named = audit(server, limit=10, answers="prompt-logprobs")
        assert named.prompt["answers"] == "prompt-logprobs"

    def unsure(text: str) -> dict[str, float]:
        found = BagOfWords(examples)(text)
        return {word: 0.3 * p for word, p in found.items()} | {"Well": 0.7}

    with FakeServer(brain=unsure, offers=offers) as server:
        assert audit(server, limit=10).prompt["answers"] == "prompt-logprobs"
