"""Models behind an OpenAI-compatible server: vLLM, llama.cpp, Ollama, transformers serve, hosted
ones.

How an answer becomes probabilities is one of several ways (`disorder.models.servers`), chosen by a
probe before the first question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel, BadSetting, ModelStopped, option
from disorder.models.outputs import UNREAD
from disorder.models.prompting import Prompt, PromptedModel, Question, prompt_for
from disorder.models.prompting.choice_prompt import ChoicePrompt
from disorder.models.servers.addresses import Key, Network, split_address
from disorder.models.servers.client import (
    MAX_CONNECTIONS,
    MAX_RETRIES,
    TIMEOUT,
    Client,
    Rejected,
)
from disorder.models.servers.endpoint import USUAL, Endpoint, RequestSettings, Unusable
from disorder.models.servers.event_loop import as_they_come, run
from disorder.models.servers.probing import (
    AUTO,
    Memory,
    Probed,
    probe_questions,
    probed,
    ways_named,
)
from disorder.models.servers.replies import Answer, Way, written, written_line
from disorder.registry import model
from disorder.types import Floats, Predictor, Segments, Task, Texts, text_segments
from disorder.types.predictions import Prediction, Predictions

AHEAD = 2  # texts that wait for each connection, so that none is ever idle


@model(form="openai:MODEL[@URL]", needs="httpx2, a server")
def openai(
    address: str,
    *,
    task: Task,
    prompt: Prompt | None = None,
    base_url: str | None = None,
    answers: str | None = None,
    max_connections: int | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    proxy: str | None = None,
    ca_bundle: str | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    reasoning_effort: str | None = None,
    max_answer_tokens: int | None = None,
    extra_body: Mapping[str, Any] | None = None,
    cache_folder: Path | None = None,
) -> Predictor:
    """A model of an OpenAI-compatible server, at the address you name; OPENAI_API_KEY is sent to
    it where it is set.
    """
    if task.is_likelihood or task.kind == "pair":
        raise BadModel("openai: servers do not give the likelihood of a text; use causal:FOLDER")
    name, url = split_address(address, base_url)
    client = Client(
        url,
        Key.from_environment(),
        _positive("max_connections", max_connections, MAX_CONNECTIONS),
        _positive("timeout", timeout, TIMEOUT),
        MAX_RETRIES if max_retries is None else max_retries,
        network=Network.to(url, proxy, ca_bundle),
    )
    if client.max_retries < 0:
        raise BadSetting("openai", max_retries=max_retries, need="0 or more")
    settings = RequestSettings(
        temperature, top_p, reasoning_effort, max_answer_tokens, extra_body or {}
    )
    bound = prompt or prompt_for(task)
    if isinstance(bound, ChoicePrompt) and bound.by != "letter":
        raise BadModel(
            "openai: servers do not give the likelihood of a given answer; use "
            f"{option('choose_by', 'letter')}, or causal:FOLDER"
        )
    endpoint = Endpoint(client, name, settings)
    usual = "parse" if task.kind == "text" else AUTO  # what it writes is all that counts
    return ServerModel(endpoint, bound, answers or usual, Memory(cache_folder))


def _positive(name: str, value: Any, usual: Any) -> Any:
    if value is not None and value <= 0:
        raise BadSetting("openai", need="a number above 0", **{name: value})
    return usual if value is None else value


class ServerModel(PromptedModel):
    """A model that is asked over HTTP, many texts at once."""

    def __init__(self, endpoint: Endpoint, prompt: Prompt, answers: str, memory: Memory) -> None:
        ways_named(answers, prompt.chat)
        self.endpoint = endpoint
        self.answers = answers
        self.memory = memory
        self._probed: Probed | None = None
        self._empty_scores: Floats | None = None
        self.prompt = prompt
        self.way_name = answers if answers != AUTO else memory.way(endpoint, prompt, answers)
        if not self.way_name:
            self.way_name = self._probe(prompt).way.name
        asked = [endpoint.client.url, endpoint.model, self.way_name]
        asked += [endpoint.settings.fingerprint] if endpoint.settings.fingerprint else []
        super().__init__(prompt, f"openai:{'|'.join(asked)}")
        self.counts = endpoint.spent

    def __call__(self, texts: Sequence[Texts], /) -> Predictions:
        """Probabilities, one row per text, and the reason where the model gave none."""
        return self._together(texts)

    def predict_segments(self, inputs: Sequence[Segments], /) -> Predictions:
        """The same for inputs of named segments."""
        return self._together(inputs)

    def _together(self, inputs: Sequence[Texts] | Sequence[Segments]) -> Predictions:
        found = Predictions.empty(len(inputs), max(1, len(self.labels)))
        for i, prediction in self.as_they_come(inputs):
            found.values[i] = prediction.values
            found.outcomes[i] = prediction.outcome
        return found

    def as_they_come(
        self, inputs: Sequence[Texts] | Sequence[Segments], /
    ) -> Generator[tuple[int, Prediction], None, None]:
        """Number and prediction of each input as its answer comes."""
        way = self._ready()
        try:
            client = self.endpoint.client
            every: Sequence[Texts | Segments] = inputs
            yield from as_they_come(
                lambda given: self._prediction(way, given),
                every,
                at_once=AHEAD * client.max_connections,
                inside=client,
            )
        finally:
            self.notes[:] = self._found_out()

    def generate(self, requests: Sequence[str], /, *, max_tokens: Sequence[int]) -> list[str]:
        """The likeliest answer to each request; empty where the model writes nothing."""
        client = self.endpoint.client
        answers = [""] * len(requests)
        given = list(zip(requests, max_tokens, strict=True))
        for i, text in as_they_come(
            self._written, given, at_once=client.max_connections, inside=client
        ):
            answers[i] = text
        return answers

    async def _written(self, asked: tuple[str, int]) -> str:
        request, limit = asked
        try:
            if self.prompt.chat == "off":
                return await written_line(self.endpoint, request, limit)
            message = {"role": "user", "content": request}
            return (await written(self.endpoint, [message], limit)).text
        except (Rejected, Unusable) as error:
            raise BadModel(
                f"{self.endpoint.model} at {self.endpoint.client.url} writes no text: {error}"
            ) from None

    def _found_out(self) -> Iterator[str]:
        """What the user should know about this server, as far as it showed."""
        n = int(self.counts["tokens_estimated"])
        if n:
            yield (
                f"the server does not count tokens, or not right, for {n:,} of "
                f"{int(self.counts['questions']):,} questions: estimated at four characters each"
            )
        if not self.endpoint.is_listed:
            yield f"the server answers as {self.endpoint.model}, which its list of models lacks"
        for name, words in self.endpoint.left_out.items():
            yield (
                f"the server refuses {name} {USUAL[name]} ({words}): answers are drawn at its own, "
                "and equal questions may get different ones"
            )
        thought = int(self.counts["tokens_thought"])
        if thought:
            yield f"the model thinks before it answers: {thought:,} of the tokens it wrote"
        yield from self.endpoint.client.notes()

    def _ready(self) -> Way:
        """The way, probed on this server in this process."""
        found = self._probed or self._probe(self.prompt)
        if found.way.name != self.way_name:
            raise BadModel(
                f"{self.endpoint.model} at {self.endpoint.client.url} answered by {self.way_name} "
                f"before and offers {found.way.name} now; {option('answers', self.way_name)} says "
                "why, or "
                "start a new run"
            )
        if self.prompt.calibrates and self._empty_scores is None:
            empty = self.prompt.questions([self.prompt.empty])
            scoring = self._scores_of_empty(found.way, empty)
            self._empty_scores = run(scoring, inside=self.endpoint.client)
        return found.way

    def _probe(self, prompt: Prompt) -> Probed:
        probing = probed(self.endpoint, prompt, self.answers, self.way_name)
        self._probed = run(probing, inside=self.endpoint.client)
        self.memory.keep(self.endpoint, prompt, self.answers, self._probed.way.name)
        return self._probed

    def rendered(self, question: Question) -> str:
        """The question as the server gets it, for people to read."""
        if self.way_name == "prompt-logprobs" or self.prompt.chat == "off":
            return question.text
        return "\n\n".join(f"[{turn['role']}]\n{turn['content']}" for turn in question.messages)

    def description(self, given: Segments) -> dict[str, Any]:
        """What run.json holds of the prompt and of how answers are read."""
        refused = {} if self._probed is None else dict(self._probed.refused)
        server = {
            "server": self.endpoint.client.url,
            "answers": self.way_name,
            "gives_probabilities": self._way(self.way_name).gives_probabilities,
            "refused": refused,
        }
        return super().description(given) | server

    def _way(self, name: str) -> Way:
        return ways_named(name, self.prompt.chat)[0]

    async def _prediction(self, way: Way, given: Texts | Segments) -> Prediction:
        """The prediction for one input: all orders of its options, averaged."""
        segments = text_segments(given) if isinstance(given, tuple) else given
        questions = self.prompt.questions_about([segments])
        found = await asyncio.gather(*(self._answer(way, each) for each in questions))
        why_not = next((answer.why_not for answer in found if answer.why_not), "")
        if why_not:
            return Prediction.failed(why_not, max(1, len(self.labels)))
        asked = zip(questions, found, strict=True)
        scores = np.array([self.prompt.row_of(each, answer.scores) for each, answer in asked])
        probabilities = self.prompt.by_order(scores, self._empty_scores)
        self.count_orders(probabilities)
        row = self.prompt.predictions(probabilities)[0]
        return Prediction(row, mass=float(np.mean([answer.mass for answer in found])))

    async def _scores_of_empty(self, way: Way, questions: Sequence[Question]) -> Floats:
        """What the model says of a text without content, for --calibrate."""
        if not way.gives_probabilities:
            raise BadModel(
                f"{option('calibrate')} needs probabilities, and answers of "
                f"{self.endpoint.client.url} are "
                f"read by {way.name}, which gives none; leave out {option('calibrate')}"
            )
        found = await asyncio.gather(*(self._answer(way, each) for each in questions))
        for question, answer in zip(questions, found, strict=True):
            if answer.why_not:
                raise BadModel(
                    f"{option('calibrate')}: the model does not answer when the text is empty "
                    f"({answer.why_not}); leave out {option('calibrate')}"
                )
            unseen = np.flatnonzero(~np.isfinite(answer.scores)).tolist()
            if unseen:
                raise BadModel(
                    f"{option('calibrate')}: the server gives {question.options[unseen[0]]!r} no "
                    "probability "
                    f"when the text is empty; leave out {option('calibrate')}, show examples "
                    f"({option('shots')}) or "
                    f"give other words ({option('label_words')})"
                )
        return np.array([answer.scores for answer in found])

    async def _answer(self, way: Way, question: Question) -> Answer:
        n = len(question.options)
        try:
            return await self._asked(way, question)
        except Rejected as refusal:
            if refusal.status not in (400, 403, 413, 422, 451):
                raise BadModel(
                    f"{self.endpoint.client.url} refuses (HTTP {refusal.status}): {refusal}"
                ) from None
            why_not, why = "the server rejected the text", f"HTTP {refusal.status}: {refusal}"
        except Unusable as error:
            why_not, why = UNREAD, str(error)
        if await self._still_answers(way):
            return Answer.none(why_not, n)
        raise ModelStopped(
            f"{self.endpoint.model} at {self.endpoint.client.url} stopped answering by "
            f"{way.name}: {why}"
        )

    async def _asked(self, way: Way, question: Question) -> Answer:
        """The answer, of a second reply where the first cannot be read."""
        try:
            return await way.ask(self.endpoint, question)
        except Unusable:
            return await way.ask(self.endpoint, question)

    async def _still_answers(self, way: Way) -> bool:
        """Whether a question of the probe is answered as before, so that a refusal, or a reply that
        cannot be read, is a matter of its text (llama.cpp lists no tokens where the likeliest is
        part of a character).
        """
        try:
            await way.ask(self.endpoint, probe_questions(self.prompt)[0])
        except (Unusable, Rejected):
            return False
        return True
