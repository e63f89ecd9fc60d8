"""The ways to get an answer: right on a server that does them right, else refused."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from conftest import NLI
from disorder.errors import BadModel, DisorderError, ModelStopped, UnknownName
from disorder.models import load
from disorder.models.loaded_model import LoadedModel
from disorder.models.openai import ServerModel
from disorder.models.outputs import UNREAD
from disorder.models.prompting import Prompt, prompt_for
from disorder.models.servers.addresses import Key
from disorder.models.servers.client import Client
from disorder.models.servers.endpoint import MOST, Endpoint
from disorder.models.servers.event_loop import run
from disorder.models.servers.probing import Memory, probed
from disorder.models.servers.replies import named_options
from disorder.types import text_segments
from disorder.types.predictions import FAILED, Prediction, Predictions
from fake_server import FakeServer, Fault
from oracles import guess, item_of

pytest.importorskip("httpx2", reason="needs httpx2")
TEXTS = [(f"a small dog number {i} ran home", f"an animal {i} moved") for i in range(12)]


def brain(text: str) -> Mapping[str, float]:
    """Probabilities that depend on the text; a tenth goes to other words."""
    if "Premise:" not in text:
        return {"banana": 1.0}
    return {word: 0.9 * p for word, p in guess(*item_of(text)).items()} | {"Well": 0.1}


def expected(prompt: Prompt) -> Any:
    rows = [guess(*pair) for pair in TEXTS]
    found = np.array([[row[word] for word in prompt.words] for row in rows])
    return found / found.sum(axis=1, keepdims=True)


def model_of(server: FakeServer, answers: str = "auto", **more: Any) -> ServerModel:
    client = Client(server.url, Key(""), timeout=60.0, max_retries=1, first_wait=0.01)
    prompt = prompt_for(NLI, is_pair=True, **more)
    return ServerModel(Endpoint(client, "fake"), prompt, answers, Memory(None))


OFFERS: dict[str, tuple[str, ...]] = {
    "decisions": ("decisions",),
    "prompt-logprobs": ("prompt-logprobs",),
    "first-token": ("first-token",),
    "constrained": ("constrained",),
    "parse": (),
}


@pytest.mark.parametrize("way", OFFERS)
def test_each_way_gives_what_the_model_behind_it_says(way: str) -> None:
    with FakeServer(brain=brain, offers=OFFERS[way]) as server:
        model = model_of(server)
        assert model.way_name == way
        found = model(TEXTS).values
    wanted = expected(model.prompt)
    if model.description(text_segments(TEXTS[0]))["gives_probabilities"]:
        assert found == pytest.approx(wanted, abs=1e-4)
    else:
        assert (found.argmax(axis=1) == wanted.argmax(axis=1)).all()
        assert (found.max(axis=1) == 1).all()


@pytest.mark.parametrize("way", ["first-token", "prompt-logprobs"])
def test_answers_that_overtake_each_other_stay_with_their_texts(way: str) -> None:
    def slow(text: str) -> Mapping[str, float]:
        time.sleep(0.05 if len(text) % 2 else 0.0)
        return brain(text)

    failing = Fault(status=500)
    with FakeServer(brain=slow, offers=OFFERS[way]) as server:
        model = model_of(server)
        n_before = len(server.questions)
        server.faults = lambda number, path: failing if number == n_before + 1 else None
        assert model(TEXTS).values == pytest.approx(expected(model.prompt), abs=1e-4)
        assert server.most_under_way > 1


def test_openai_decisions_are_spoken_too() -> None:
    with FakeServer(brain=brain, offers=("openai-decisions",)) as server:
        model = model_of(server)
        assert model.way_name == "decisions"
        assert model(TEXTS).values == pytest.approx(expected(model.prompt), abs=1e-4)


def test_the_best_way_is_taken_and_the_others_are_named() -> None:
    with FakeServer(brain=brain, offers=("first-token", "constrained")) as server:
        model = model_of(server)
        description = model.description(text_segments(TEXTS[0]))
    assert description["answers"] == "first-token"
    assert set(description["refused"]) == {"decisions", "prompt-logprobs"}
    assert "404" in description["refused"]["decisions"]


@pytest.mark.parametrize(
    ("way", "settings", "reason"),
    [
        ("decisions", {}, "no decision endpoint"),
        ("prompt-logprobs", {"offers": ("plain-first-token",)}, "echo is ignored"),
        ("prompt-logprobs", {"offers": ()}, "log-probabilities are not returned"),
        (
            "prompt-logprobs",
            {"offers": ("prompt-logprobs",), "echo_error": -3.0},
            "its values are wrong",
        ),
        ("first-token", {"offers": ()}, "top_logprobs are not returned"),
        ("constrained", {"offers": ()}, "response_format is ignored"),
        ("guess", {}, "unknown way in answers 'guess'"),
    ],
)
def test_a_way_that_is_ignored_or_wrong_is_refused_with_one_line(
    way: str, settings: dict[str, Any], reason: str
) -> None:
    with (
        FakeServer(brain=brain, **settings) as server,
        pytest.raises(DisorderError, match=reason) as refused,
    ):
        model_of(server, way)(TEXTS)
    assert "\n" not in str(refused.value)


def test_an_ignored_echo_never_becomes_chance_scores() -> None:
    """llama.cpp ignores `echo` with HTTP 200: every option would score alike."""
    with FakeServer(brain=brain, offers=("plain-first-token", "first-token")) as server:
        model = model_of(server)
        assert model.way_name == "first-token"
        assert "echo is ignored" in model._probed.refused["prompt-logprobs"]  # type: ignore[union-attr]


def test_a_decision_endpoint_that_answers_alike_is_refused() -> None:
    with (
        FakeServer(offers=("decisions",)) as server,
        pytest.raises(BadModel, match="every text gets the same probabilities"),
    ):
        model_of(server, "decisions")(TEXTS)


def test_options_that_begin_alike_are_not_told_apart_by_the_first_token() -> None:
    words = {"entailment": "certain", "neutral": "clear", "contradiction": "no"}
    with (
        FakeServer(brain=brain) as server,
        pytest.raises(BadModel, match="'certain' and 'clear' begin with the same letter"),
    ):
        model_of(server, "first-token", label_words=words)(TEXTS)
    with (
        FakeServer(brain=brain, offers=("first-token", "tokenize")) as server,
        pytest.raises(BadModel, match="begin with the same token"),
    ):
        model_of(server, "first-token", label_words=words)(TEXTS)


def test_a_model_that_begins_with_something_else_is_refused() -> None:
    with (
        FakeServer(brain=lambda text: {"Sure": 0.995, "yes": 0.003}) as server,
        pytest.raises(BadModel, match="begins its reply with something else"),
    ):
        model_of(server, "first-token")(TEXTS)


def test_label_mass_is_kept_beside_each_answer() -> None:
    with FakeServer(brain=brain) as server:
        rows = dict(model_of(server).as_they_come(TEXTS))
    assert {round(row.mass, 3) for row in rows.values()} == {0.882}


REPLIES: dict[str, tuple[dict[str, Any], str]] = {
    "a refusal": ({"content": "I'm sorry, I cannot help with that."}, "the model refused"),
    "a refusal by field": ({"content": None, "refusal": "no"}, "the model refused"),
    "a filter": ({"content": "", "finish_reason": "content_filter"}, "the model refused"),
    "no label": ({"content": "That depends."}, "no label in the reply"),
    "nothing": ({"content": None}, "no label in the reply"),
    "two labels": ({"content": "yes or no"}, "several labels in the reply"),
    "a label inside a word": ({"content": "nobody knows"}, "no label in the reply"),
    "cut off while thinking": (
        {"content": "<think>is it yes?", "finish_reason": "length"},
        f"no answer within {MOST + 24} tokens",
    ),
    "thinking elsewhere": (
        {"content": "", "reasoning_content": "is it yes", "finish_reason": "length"},
        f"no answer within {MOST + 24} tokens",
    ),
    "thinking unseen": (
        {"content": "", "finish_reason": "length"},
        f"no answer within {MOST + 24} tokens",
    ),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_without_a_label_is_no_answer_and_never_a_guess(name: str) -> None:
    reply, reason = REPLIES[name]

    def answer(text: str) -> dict[str, Any]:
        return reply if "number" in text else {"content": "no"}

    with FakeServer(offers=(), reply=answer) as server:
        found = model_of(server, "parse")(TEXTS[:2])
    assert reasons(found) == [reason] * 2


@pytest.mark.parametrize(
    "reply",
    ["No.", "Answer: no", "**no**", "<think>yes, no?</think>\nNo", "it is yes?</think> no"],
)
def test_a_reply_with_one_label_is_that_label(reply: str) -> None:
    with FakeServer(offers=(), reply=lambda text: {"content": reply}) as server:
        found = model_of(server, "parse")(TEXTS[:1])
    assert found.values.tolist() == [[0.0, 0.0, 1.0]]


def test_longer_options_hide_those_inside_them() -> None:
    options = ("entailment", "not entailment")
    assert named_options("It is not entailment", options) == [1]
    assert named_options("entailment", options) == [0]


@pytest.mark.parametrize(
    ("status", "words"), [(400, "context length exceeded"), (403, "your input was flagged")]
)
def test_a_rejected_text_is_no_answer_and_a_lost_way_stops_the_run(status: int, words: str) -> None:
    rejected = Fault(status=status, content=json.dumps({"error": {"message": words}}).encode())
    with FakeServer(brain=brain, faults=lambda n, path: rejected if n == 9 else None) as server:
        model = model_of(server, "first-token")
        found = model(TEXTS)
        assert reasons(found) == ["the server rejected the text"]
        server.offers = ()
        with pytest.raises(ModelStopped, match="stopped answering by first-token"):
            model(TEXTS)


def top(value: Any) -> dict[str, Any]:
    pairs = [{"token": "yes", "logprob": -0.5}, {"token": "no", "logprob": value}]
    return {"content": [{"token": "yes", "logprob": -0.5, "top_logprobs": pairs}]}


@pytest.mark.parametrize(
    "logprobs",
    [
        *(None, {"content": []}, {"content": [{"token": "\ufffd", "logprob": -0.1}]}, {}),
        *(top(float("nan")), top(10**400), top(float("inf")), top([]), top("nan")),
    ],
    ids=["null", "empty", "no top", "nothing", "NaN", "400 digits", "infinity", "list", "text"],
)
def test_a_text_without_probabilities_is_no_answer(logprobs: Any) -> None:
    # llama.cpp leaves them out when the likeliest token is part of a character
    message = {"role": "assistant", "content": ""}
    choice = {"index": 0, "finish_reason": "length", "message": message, "logprobs": logprobs}
    with unreadable_for("number 5", {"choices": [choice]}) as server:
        found = model_of(server, "first-token")(TEXTS)
    assert reasons(found) == [UNREAD]


@pytest.mark.parametrize(
    "choices",
    [
        [{"index": number, "text": "x", "logprobs": None} for number in "abc"],
        [7, 8, 9],
        [{"index": 10**400, "text": "x"}] * 3,
        [{"index": float("nan"), "text": "x"}] * 3,
    ],
    ids=["letters", "no objects", "400 digits", "NaN"],
)
def test_choices_that_cannot_be_put_in_order_are_no_answer(choices: Any) -> None:
    with unreadable_for("number 5", {"choices": choices}, "prompt-logprobs") as server:
        found = model_of(server, "prompt-logprobs")(TEXTS)
    assert reasons(found) == [UNREAD]


@pytest.mark.parametrize(
    "value",
    [float("nan"), 10**400, -float("inf"), -(10**400)],
    ids=["NaN", "400 digits", "minus infinity", "minus 400 digits"],
)
def test_scores_of_the_prompt_that_are_no_numbers_are_no_answer(value: Any) -> None:
    with FakeServer(brain=brain, offers=("prompt-logprobs",)) as server:
        honest = server.answer

        def answer(path: str, body: Any) -> tuple[int, Any]:
            status, reply = honest(path, body)
            if body.get("echo") and "number 5" in str(body["prompt"]):
                for choice in reply["choices"]:
                    choice["logprobs"]["token_logprobs"][-2] = value
            return status, reply

        server.answer = answer  # type: ignore[method-assign]
        found = model_of(server, "prompt-logprobs")(TEXTS)
    assert reasons(found) == [UNREAD]


@pytest.mark.parametrize(
    "probabilities", [[7], [{"value": [], "probability": 1}], {"yes": 10**400, "maybe": 0, "no": 0}]
)
def test_decisions_that_are_no_probabilities_are_no_answer(probabilities: Any) -> None:
    reply = {"answers": {"label": {"type": "choice", "probabilities": probabilities}}}
    with unreadable_for("number 5", reply, "decisions") as server:
        found = model_of(server, "decisions")(TEXTS)
    assert reasons(found) == [UNREAD]


def unreadable_for(words: str, reply: Any = MappingProxyType({}), *offers: str) -> FakeServer:
    """A server whose reply cannot be read wherever the text has some words in it."""
    bare = Fault(content=json.dumps(dict(reply)).encode())
    server = FakeServer(brain=brain, offers=offers or FakeServer.offers)
    server.faults = lambda n, path: bare if words in server.asked[n] else None
    return server


def reasons(found: Predictions) -> list[str]:
    return [outcome.removeprefix(FAILED) for outcome in found.outcomes[found.is_failed]]


def loaded(server: FakeServer, folder: Path, answers: str = "first-token") -> LoadedModel:
    options = {"base_url": server.url, "answers": answers}
    return load("openai:fake", task=NLI, cache=folder, options=options)


def test_one_reply_that_cannot_be_read_is_asked_again() -> None:
    bare = Fault(content=b"{}")
    with FakeServer(brain=brain, faults=lambda n, path: bare if n == 9 else None) as server:
        found = model_of(server, "first-token")(TEXTS)
    assert reasons(found) == []


def test_a_reply_that_cannot_be_read_is_not_kept(tmp_path: Path) -> None:
    with unreadable_for("number 5") as server:
        assert reasons(loaded(server, tmp_path).predict_texts(TEXTS)) == [UNREAD]
        server.faults = lambda n, path: None
        server.questions.clear()
        assert reasons(loaded(server, tmp_path).predict_texts(TEXTS)) == []
        assert sum("a small dog" in text for text in server.asked) == 1


def test_many_replies_that_cannot_be_read_stop_the_run(tmp_path: Path) -> None:
    with unreadable_for("a small dog") as server:
        model = loaded(server, tmp_path)
        with pytest.raises(ModelStopped, match="11 of 11 replies cannot be read"):
            model.predict_texts(TEXTS)
        assert not [each for each in threading.enumerate() if each.name == "requests"]


class Scripted:
    """A streaming model that gives replies that cannot be read for some texts."""

    labels = NLI.labels
    fingerprint = "scripted"
    is_costly = True

    def __init__(self, unread: Container[str]) -> None:
        self.unread = unread
        self.asked = 0

    def __call__(self, texts: Any) -> Any:
        raise NotImplementedError

    def as_they_come(self, texts: Any) -> Iterator[tuple[int, Prediction]]:
        for i, (text, _) in enumerate(texts):
            self.asked += 1
            answer = Prediction(np.full(3, 1 / 3), mass=1.0)
            yield i, Prediction.failed(UNREAD, 3) if text in self.unread else answer


def test_the_share_that_cannot_be_read_is_of_all_texts(tmp_path: Path) -> None:
    """A run that went on with a small share of them goes on after it is resumed, too."""
    texts = [(str(i), None) for i in range(240)]
    unread = [str(20 * i + 19) for i in range(12)]
    for n_asked in (240, 12):
        model = Scripted(unread)
        found = load(model, task=NLI, cache=tmp_path).predict_texts(texts)
        assert reasons(found) == [UNREAD] * 12
        assert model.asked == n_asked
    with pytest.raises(ModelStopped, match="12 of 239 replies cannot be read"):
        load(Scripted([*unread, "238"]), task=NLI, cache=tmp_path / "2").predict_texts(texts)


@pytest.mark.parametrize("answers", ["decisions", "constrained", "parse"])
def test_answers_without_a_label_mass_are_paid_once(answers: str, tmp_path: Path) -> None:
    with FakeServer(brain=brain, offers=OFFERS[answers]) as server:
        first = loaded(server, tmp_path, answers).predict_texts(TEXTS)
        n = len(server.questions)
        again = loaded(server, tmp_path, answers).predict_texts(TEXTS)
        assert (again.values == first.values).all()
        assert len(server.questions) == n


def test_a_missing_answer_is_paid_once(tmp_path: Path) -> None:
    with FakeServer(brain=lambda text: {"banana": 1.0}, offers=()) as server:
        model = loaded(server, tmp_path, "parse")
        assert reasons(model.predict_texts(TEXTS)) == ["no label in the reply"] * 12
        n = len(server.questions)
        loaded(server, tmp_path, "parse").predict_texts(TEXTS)
        assert len(server.questions) == n


def test_the_orders_of_the_options_are_averaged() -> None:
    def first_listed(text: str) -> Mapping[str, float]:
        first = text.split("one of: ")[1].split(",")[0].strip(" .")
        return {word: 0.8 if word == first else 0.1 for word in ("yes", "maybe", "no")}

    with FakeServer(brain=first_listed) as server:
        model = model_of(server, "first-token", option_orders=3)
        assert model(TEXTS[:2]).values == pytest.approx(np.full((2, 3), 1 / 3), abs=1e-6)
    assert model.counts["order_changes"] == 2


@pytest.mark.parametrize("answers", ["auto", "first-token"])
def test_what_an_empty_text_gets_is_subtracted(answers: str) -> None:
    """A model that says the same of every text is left with no preference at all."""

    def biased(text: str) -> Mapping[str, float]:
        return {"yes": 0.7, "maybe": 0.2, "no": 0.1}

    with FakeServer(brain=biased, offers=("first-token",)) as server:
        model = model_of(server, answers, calibrate="content-free")
        assert model(TEXTS[:2]).values == pytest.approx(np.full((2, 3), 1 / 3), abs=1e-6)


@pytest.mark.parametrize("answers", ["auto", "constrained"])
def test_calibration_without_probabilities_is_refused(answers: str) -> None:
    with FakeServer(brain=brain, offers=("constrained",)) as server:
        model = model_of(server, answers, calibrate="content-free")
        with pytest.raises(BadModel, match="read by constrained, which gives none"):
            model(TEXTS[:2])


def test_calibration_says_what_an_empty_text_lacks() -> None:
    def curt(text: str) -> Mapping[str, float]:
        return {"yes": 0.7, "no": 0.3}

    with FakeServer(brain=curt, offers=("first-token",)) as server:
        model = model_of(server, "first-token", calibrate="content-free")
        with pytest.raises(BadModel, match=r"'maybe' no probability .*label_words"):
            model(TEXTS[:2])

    def silent(text: str) -> Mapping[str, float]:
        return {"Well": 1.0} if "Premise: \n" in text else brain(text)

    with FakeServer(brain=silent, offers=("first-token",)) as server:
        model = model_of(server, "first-token", calibrate="content-free")
        with pytest.raises(BadModel, match="no label among the likeliest tokens"):
            model(TEXTS[:2])


@pytest.mark.parametrize(
    "usage",
    [
        *(None, {}, {"prompt_tokens": -5, "completion_tokens": "x"}, {"prompt_tokens": 10**9}, 7),
        {"prompt_tokens": 10, "completion_tokens": 10**400},
        {"prompt_tokens": 10, "completion_tokens": 10**15},
    ],
    ids=["null", "nothing", "negative", "too many", "a number", "400 digits", "written too many"],
)
def test_wrong_token_counts_are_estimated_and_said(usage: Any) -> None:
    with FakeServer(brain=brain, usage=lambda n: usage) as server:
        model = model_of(server, "first-token")
        model(TEXTS)
    assert model.counts["tokens_estimated"] == model.counts["questions"] > 0
    assert 0 < model.counts["tokens_in"] < 10_000
    assert 0 < model.counts["tokens_out"] < 10_000
    assert any("does not count" in note for note in model.notes)


def test_a_cache_that_cannot_be_written_stops_no_probe(tmp_path: Path) -> None:
    (tmp_path / "servers.json" / "in the way").mkdir(parents=True)
    with FakeServer(brain=brain, offers=("first-token",)) as server:
        client = Client(server.url, Key(""), timeout=60.0, max_retries=1, first_wait=0.01)
        prompt = prompt_for(NLI, is_pair=True)
        model = ServerModel(Endpoint(client, "fake"), prompt, "auto", Memory(tmp_path))
        assert model.way_name == "first-token"


def test_plain_prompts_use_completions(tmp_path: Path) -> None:
    with FakeServer(brain=brain, offers=("plain-first-token",)) as server:
        model = model_of(server, chat="off")
        assert model.way_name == "first-token"
        assert model(TEXTS).values == pytest.approx(expected(model.prompt), abs=1e-4)
        with pytest.raises(BadModel, match="not possible with chat='off'"):
            model_of(server, "parse", chat="off")(TEXTS)


def test_an_unknown_model_is_told_what_there_is() -> None:
    missing = {"error": {"message": "The model does not exist"}}
    with FakeServer(models=("smollm2", "qwen"), refuses=lambda body: (404, missing)) as server:
        client = Client(server.url, Key(""), max_retries=0)
        endpoint = Endpoint(client, "smolm2")
        with pytest.raises(UnknownName, match="did you mean 'smollm2'"):
            run(probed(endpoint, prompt_for(NLI, is_pair=True), "auto"), inside=client)
