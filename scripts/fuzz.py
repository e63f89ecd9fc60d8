"""Fuzz what strangers write, guided by coverage: run folders, Parquet, server replies, prompt files
and specs. Each may be a `DisorderError` of one line, and nothing else.

    pip install atheris
    python scripts/fuzz.py [run] [parquet] [reply] [prompt] [spec] [--seconds 600]

Every target runs in a process of its own, from real content as seeds; a line says how many inputs
were tried and how many edges of the code they reached. What breaks a target is kept in a file where
the script was started (crash-…), and the exit code is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any

import atheris

with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["disorder"]):
    from disorder.cli import main as disorder
    from disorder.data import joined_specs
    from disorder.errors import DisorderError
    from disorder.models.prompting import prompt_for
    from disorder.models.prompting.template import PromptTemplate
    from disorder.models.servers.client import Rejected, _Failed, _parsed
    from disorder.models.servers.endpoint import Endpoint, Unusable
    from disorder.models.servers.replies import Unfit
    from disorder.models.servers.ways.first_token import FirstToken
    from disorder.models.servers.ways.parsed import Parsed
    from disorder.results.run_folder import read_run
    from disorder.safe_io import parse_parquet
    from disorder.specs import parse_part
    from disorder.transformations import parse
    from disorder.types import Task

PAIR = ("A dog sleeps.", "An animal rests.")
TASK = Task("nli", ("entailment", "neutral", "contradiction"), "b", "neutral", "entailment")
Try = Callable[[bytes], None]


def run_folder(place: Path) -> tuple[list[bytes], Try]:
    """The run.json of a folder whose samples are real."""
    _audited(place / "run")
    path = place / "run" / "run.json"
    seed = path.read_bytes()

    def tried(content: bytes) -> None:
        path.write_bytes(content)
        read_run(place / "run")

    return [seed], tried


def parquet(place: Path) -> tuple[list[bytes], Try]:
    """The bytes of a Parquet file."""
    _audited(place / "run")
    seeds = [path.read_bytes() for path in (place / "run").rglob("*.parquet")]
    return seeds, lambda content: _ignored(parse_parquet(content, "x"))


def reply(place: Path) -> tuple[list[bytes], Try]:
    """The body of a server's reply, as two ways to ask read it."""
    prompt = prompt_for(TASK, is_pair=True)
    [question] = prompt.questions([PAIR])
    pairs = [{"token": word, "logprob": -0.5} for word in question.options]
    choice = {"message": {"content": "yes"}, "logprobs": {"content": [{"top_logprobs": pairs}]}}
    usage = {"prompt_tokens": 9, "completion_tokens": 1}

    def tried(content: bytes) -> None:
        for way in (FirstToken(), Parsed()):
            endpoint = Endpoint(OneReply(content), "fuzzed")  # type: ignore[arg-type]
            asyncio.run(way.ask(endpoint, question))

    return [json.dumps({"choices": [choice], "usage": usage}).encode()], tried


class OneReply:
    """A client to whom a server always sends the same."""

    url = "http://fuzzed"

    def __init__(self, content: bytes) -> None:
        self.content = content

    async def post(self, path: str, body: object) -> dict[str, Any]:
        return _parsed(self.content)


def prompt_file(place: Path) -> tuple[list[bytes], Try]:
    """A prompt file, filled in for one pair."""
    seed = (
        b"{% block instruction %}Answer {{ options|join(', ') }}.{% endblock %}\n"
        b"{% for i in range(3) %}{{ text_a }}{% endfor %}"
        b"{% if text_b %}{{ text_b|upper }}{% endif %}"
    )

    def tried(content: bytes) -> None:
        template = PromptTemplate("fuzzed.jinja", content.decode("utf-8", "replace"))
        template.instruction(("yes", "no"))
        template.item(PAIR, ("yes", "no"))

    return [seed], tried


def spec(place: Path) -> tuple[list[bytes], Try]:
    """A spec of a transformation, of data or of any part."""
    seeds = [
        b"drop_pos:tags=NOUN+PRON+reverse",
        b"shuffle_ngrams:n=2,side=both",
        b"mnli:train+anli",
    ]

    def tried(content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        for read in (parse, joined_specs, lambda given: parse_part(given, kind="part")):
            with Allowed():
                read(text)

    return seeds, tried


TARGETS = {
    "run": run_folder,
    "parquet": parquet,
    "reply": reply,
    "prompt": prompt_file,
    "spec": spec,
}
# what may be raised: a line for the user, or what the next layer makes one of
ALLOWED = (DisorderError, Rejected, Unusable, Unfit, _Failed)


class Allowed:
    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: object, _: object) -> bool:
        return kind is not None and issubclass(kind, ALLOWED)


def _ignored(_: object) -> None:
    return None


def _audited(folder: Path) -> None:
    words = ["--limit", "6", "--q", "2", "--with", "derange", "--cache", "off"]
    with suppress(SystemExit):
        disorder(["audit", "uniform", "builtin", *words, "--out", str(folder)])
    assert (folder / "run.json").exists()


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target; ends the process."""
    place = Path(tempfile.mkdtemp(prefix="disorder-fuzz-"))
    seeds, tried = TARGETS[name](place)
    corpus = place / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)
    longest = 4 * max(map(len, seeds))

    def one(content: bytes) -> None:
        with Allowed():
            tried(content)

    words = [f"-max_total_time={seconds}", f"-max_len={longest}", "-timeout=60", str(corpus)]
    atheris.Setup([sys.argv[0], *words], one)
    atheris.Fuzz()


def told(name: str, seconds: int) -> Iterator[str]:
    """What a target's process found, in a line."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, __file__, name, "--seconds", str(seconds), "--here"],
        capture_output=True,
        text=True,
        check=False,
    )
    tried = re.findall(r"#(\d+)", done.stderr)
    edges = re.findall(r"cov: (\d+)", done.stderr)
    n, reached = (int(found[-1]) if found else 0 for found in (tried, edges))
    yield f"{name}: {n:,} inputs in {time.monotonic() - began:.0f} s, {reached:,} edges reached"
    if done.returncode:
        yield "\n".join(done.stderr.splitlines()[-40:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []])
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        fuzz(given.targets[0], given.seconds)
    n_broken = 0
    for name in given.targets or TARGETS:
        lines = list(told(name, given.seconds))
        n_broken += len(lines) > 1
        print(*lines, sep="\n", flush=True)
    sys.exit(1 if n_broken else 0)


if __name__ == "__main__":
    main()
