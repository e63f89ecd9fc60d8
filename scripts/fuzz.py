"""Fuzz what strangers write, guided by coverage: run folders, their samples, Parquet, replies of
servers, prompt files, specs, rows of data, folders of rankings, tasks of lm-eval and logs of other
tools. Each may be a `DisorderError` of one line, and nothing else.

    pip install atheris
    python scripts/fuzz.py [run] [samples] [parquet] [reply] [prompt] [spec] [rows] [ranking] [task]
        [log] [--seconds 600]

Every target runs in a process of its own, from real content as seeds. Where that is JSON, half of
the changes replace a value in it by a hostile one, so that what comes after the parser is reached.
A line says how many inputs were tried, in how much CPU time, and how many edges of the code they
reached; with --keep FOLDER, the next call begins with the inputs that reached them. What breaks a
target is kept in a file where the script was started (crash-…), and the exit code is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, suppress
from functools import partial
from pathlib import Path
from typing import Any

import atheris
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["disorder", "jinja2"]):
    from disorder.cli import main as disorder
    from disorder.data import joined_specs, read_data
    from disorder.errors import DisorderError, DoesNotApply
    from disorder.models.prompting import Question, prompt_for
    from disorder.models.prompting.template import PromptTemplate
    from disorder.models.servers.addresses import Network
    from disorder.models.servers.client import Rejected, _Failed, _parsed
    from disorder.models.servers.embeddings import ServerEmbedder
    from disorder.models.servers.endpoint import Endpoint, Unusable
    from disorder.models.servers.replies import Unfit
    from disorder.models.servers.reranking import ServerReranker
    from disorder.models.servers.ways import ladder
    from disorder.results import drawing
    from disorder.results.render import render
    from disorder.results.run_folder import read_run
    from disorder.results.terminal import show_result
    from disorder.safe_io import parse_parquet
    from disorder.specs import parse_part
    from disorder.store.samples import READ_SCHEMA
    from disorder.store.store import checksum
    from disorder.transformations import parse
    from disorder.types import Task, text_segments
    from disorder.verbs.compare.finished_run import FinishedRun
    from disorder.verbs.gate import GateRule
    from disorder.verbs.import_logs import import_logs

PAIR = ("A dog sleeps.", "An animal rests.")
TASK = Task("nli", ("entailment", "neutral", "contradiction"), "b", "neutral", "entailment")
Try = Callable[[bytes], None]


def run_folder(place: Path) -> tuple[list[bytes], Try]:
    """The record of a run whose samples are real: read, shown, drawn and compared."""
    folder = place / "run"
    _audited(folder)
    path = folder / "result.json"
    seeds = [path.read_bytes()]
    drawing.svg = lambda spec: f"<svg>{len(spec)}</svg>"  # charts are drawn in a limited child
    console = Console(file=io.StringIO(), width=80)

    def tried(content: bytes) -> None:
        path.write_bytes(content)
        result = read_run(folder).result
        show_result(result, console)
        render(result, "page")
        render(result, "notebook")
        _compared(folder)

    return seeds, tried


def samples(place: Path) -> tuple[list[bytes], Try]:
    """A line of the journal and the rows that it names; their checksum is always right."""
    folder = place / "run"
    _audited(folder)
    journal = folder / "samples" / "journal.jsonl"
    lines = journal.read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    seeds = []
    for entry in entries:
        if not entry["part"].endswith(".parquet"):
            continue
        rows = pq.read_table(folder / "samples" / entry["part"]).to_pylist()
        seeds.append(json.dumps({"entry": entry, "rows": rows[:6]}).encode())

    def tried(content: bytes) -> None:
        try:
            given = json.loads(content)
            entry, rows = given["entry"], given["rows"]
            name = Path(entry["part"]).name
            table = pa.Table.from_pylist(rows, READ_SCHEMA)
            sink = pa.BufferOutputStream()
            pq.write_table(table, sink)
            written = sink.getvalue().to_pybytes()
            (folder / "samples" / name).write_bytes(written)
            line = json.dumps(entry | {"checksum": checksum(written)})
        except (ValueError, TypeError, LookupError, AttributeError, OSError, RecursionError):
            return  # no such file can be made
        except (pa.ArrowException, OverflowError):
            return
        others = [old for old, one in zip(lines, entries, strict=True) if one["part"] != name]
        journal.write_text("\n".join([*others, line, ""]), encoding="utf-8", errors="replace")
        _compared(folder)

    return seeds, tried


def _compared(folder: Path) -> None:
    """What compare reads of a run."""
    found = FinishedRun.open(folder)
    for spec in ("original", *found.run.transformations):
        found.samples(spec)
        found.outcomes(spec)


def parquet(place: Path) -> tuple[list[bytes], Try]:
    """The bytes of a Parquet file."""
    _audited(place / "run")
    seeds = [path.read_bytes() for path in (place / "run").rglob("*.parquet")]
    return seeds, lambda content: _ignored(parse_parquet(content, "x"))


def reply(place: Path) -> tuple[list[bytes], Try]:
    """The body of a server's reply, as every way to ask reads it, and as vectors."""
    prompt = prompt_for(TASK, is_pair=True)
    [question] = prompt.questions([PAIR])

    def tried(content: bytes) -> None:
        endpoint = Endpoint(OneReply(content), "fuzzed")  # type: ignore[arg-type]
        for way in ladder():
            for _ in (0, 1):  # the second time with what was learnt of the first
                with Allowed():
                    asyncio.run(way.ask(endpoint, question))
            with Allowed():
                asyncio.run(way.probe(endpoint, [question]))
        for server in (ServerEmbedder(endpoint), ServerReranker(endpoint)):
            with Allowed():
                asyncio.run(server._answer(({}, ["a", "b"])))

    return [json.dumps(each).encode() for each in _replies(question)], tried


def _replies(question: Question) -> Iterator[dict[str, Any]]:
    """What an honest server says in each shape."""
    usage = {"prompt_tokens": 9, "completion_tokens": 1}
    pairs = [{"token": word, "logprob": -0.5} for word in question.options]
    chosen = {"message": {"content": "yes"}, "logprobs": {"content": [{"top_logprobs": pairs}]}}
    yield {"choices": [chosen | {"finish_reason": "stop"}], "usage": usage}
    thought = usage | {"completion_tokens_details": {"reasoning_tokens": 30}}
    message = {"content": '{"answer": "yes"}', "reasoning_content": "hm"}
    yield {"choices": [{"message": message, "finish_reason": "length"}], "usage": thought}
    scored = {"tokens": [question.text, " x"], "token_logprobs": [None, -0.5]}
    echoed = [
        {"index": i, "text": f"{question.text} {option}", "logprobs": scored}
        for i, option in enumerate(question.options)
    ]
    yield {"choices": echoed, "usage": usage}
    shares = dict.fromkeys(question.options, 1 / len(question.options))
    yield {"answers": {"label": {"type": "choice", "probabilities": shares}}}
    listed = [{"value": option, "probability": p} for option, p in shares.items()]
    yield {"answers": [{"type": "choice", "name": "label", "probabilities": listed}]}
    yield {"data": [{"index": i, "embedding": [0.1, 0.2]} for i in (1, 0)], "usage": usage}
    yield {"results": [{"index": 0, "relevance_score": 0.5}]}


class OneReply:
    """A client to whom a server always sends the same."""

    url = "http://fuzzed"
    network = Network()

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
        template.item(text_segments(PAIR), ("yes", "no"))

    return [seed], tried


def spec(place: Path) -> tuple[list[bytes], Try]:
    """A spec of a transformation, of data or of any part."""
    seeds = [
        b"drop_pos:tags=NOUN+PRON+reverse",
        b"shuffle_ngrams:n=2,side=both",
        b"mnli:train+anli",
        b"derange:wos[needs=order] < 0.3",
    ]

    def tried(content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        part = partial(parse_part, kind="part")
        for read in (parse, joined_specs, part, GateRule.parse):
            with Allowed():
                read(text)

    return seeds, tried


FORMS: tuple[list[dict[str, Any]], ...] = (
    [{"id": str(i), "text_a": f"a b c w{i}", "label": "yes" if i % 2 else "no"} for i in range(6)],
    [{"premise": "a dog sleeps", "hypothesis": f"it rests {i}", "label": i % 3} for i in range(6)],
    [{"question": f"who is {i}?", "choices": {"text": ["a", "b"], "label": ["A", "B"]},
      "answerKey": "AB"[i % 2]} for i in range(3)],
    [{"question": f"who is {i}?", "options": ["ann", "bo"], "answer": i % 2} for i in range(3)],
    [{"good": f"the cat {i} sleeps", "bad": f"the cat {i} sleep"} for i in range(3)],
    [{"question": f"where is {i} ?", "context": "it is here", "answers": ["here"]}
     for i in range(3)],
    [{"query": f"find {i}", "positives": ["it"], "negatives": ["not", "no"]} for i in range(3)],
    [{"query": "find", "relevant": {"1": 1}, "documents": {"1": "it", "2": "no"}}],
    [{"review": f"so good {i} it is", "stars": float(i % 3)} for i in range(9)],
)  # fmt: skip


def rows_of_data(place: Path) -> tuple[list[bytes], Try]:
    """Rows in a file of one object per line, and of cells."""

    def tried(content: bytes) -> None:
        found = _lines(content)
        for name in ("d.jsonl", "d.csv") if found is content else ("d.jsonl",):
            (place / name).write_bytes(found)
            with Allowed():
                _perturbed(str(place / name))

    cells = b'id,text,label\n1,"so ""good"" it is",x\n2,bad,y\n'
    return [cells, *(json.dumps(rows).encode() for rows in FORMS)], tried


def _lines(content: bytes) -> bytes:
    """A list of rows as lines; anything else as it is."""
    with suppress(ValueError, RecursionError):
        rows = json.loads(content)
        if isinstance(rows, list):
            return "\n".join(map(json.dumps, rows)).encode()
    return content


def _perturbed(spec: str) -> None:
    """Read data, and perturb some of it."""
    data = read_data(spec)
    for example in data.examples[:3]:
        with suppress(DoesNotApply):
            parse("derange").apply(example, task=data.task, q=2, seed=0, short="use")


def ranking(place: Path) -> tuple[list[bytes], Try]:
    """The three files of a folder in the form of BEIR."""
    (place / "qrels").mkdir()
    rows = {
        "corpus": [{"_id": str(i), "title": "t", "text": f"a text {i}"} for i in range(3)],
        "queries": [{"_id": f"q{i}", "text": f"which is {i} ?"} for i in range(2)],
        "qrels": "query-id\tcorpus-id\tscore\nq0\t0\t1\nq1\t1\t2\n",
    }

    def tried(content: bytes) -> None:
        try:
            given = json.loads(content)
            files = {f"{name}.jsonl": json.dumps(given[name]) for name in ("corpus", "queries")}
            files["qrels/test.tsv"] = str(given["qrels"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return
        for name, text in files.items():
            (place / name).write_bytes(_lines(text.encode("utf-8", "replace")))
        _perturbed(str(place))

    return [json.dumps(rows).encode()], tried


def task_file(place: Path) -> tuple[list[bytes], Try]:
    """The YAML file of a task of lm-eval, on rows of each form."""
    (place / "d.json").write_text(json.dumps(FORMS[3] + FORMS[5]))
    files = f"dataset_path: json\ndataset_kwargs:\n  data_files: {place / 'd.json'}\n"
    more = (
        "doc_to_text: '{{question}}'\ndoc_to_target: answer\noutput_type: multiple_choice\n"
        "doc_to_choice: '{{[question, context] if context else options}}'\n",
        "doc_to_text: !function utils.f\ninclude: other\ntest_split: train\n",
        "metadata:\n  file: d\ndoc_to_target: '{{answers[0]}}'\n",
    )

    def tried(content: bytes) -> None:
        (place / "t.yaml").write_bytes(b"task: t\n" + content)
        read_data(f"lm-eval:{place}/t")

    return [(files + each).encode() for each in more], tried


LOGS = Path(__file__).resolve().parent.parent / "tests" / "verbs" / "import_logs"


def log(place: Path) -> tuple[list[bytes], Try]:
    """Logs of lm-eval and of inspect_ai, and the runs that they become."""
    rows = []
    for path in sorted((LOGS / "lm-eval").glob("samples_*.jsonl")):
        rows += [json.loads(line) for line in path.read_text().splitlines()[:8]]
    seeds = [json.dumps(rows).encode()]
    for path in sorted((LOGS / "inspect").glob("*.json")):
        whole = json.loads(path.read_text())
        some = {"eval": whole["eval"], "samples": whole["samples"][:8]}
        seeds.append(json.dumps(some).encode())

    def tried(content: bytes) -> None:
        path = place / ("log.json" if b'"samples"' in content else "samples_x.jsonl")
        path.write_bytes(content if path.suffix == ".json" else _lines(content))
        import_logs(path)

    return seeds, tried


TARGETS = {
    "run": run_folder,
    "samples": samples,
    "parquet": parquet,
    "reply": reply,
    "prompt": prompt_file,
    "spec": spec,
    "rows": rows_of_data,
    "ranking": ranking,
    "task": task_file,
    "log": log,
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


HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**63, 10**400, 0.5, 1e308, -1e-308, float("nan")),
    *("", "a", "\0", "\x1b]52;c;aGk=\x07", "\ud800", "\u202e", "x" * 5_000, "../../x", "<b>", "=1"),
    *([], {}, [[]], [None], {"": None}, [{}], ["a", "a"]),
)


def changed(content: bytes, longest: int, seed: int) -> bytes:
    """The next input to try: JSON with another value in it, or bytes changed anywhere."""
    rng = random.Random(seed)
    with suppress(ValueError, RecursionError):
        whole = json.loads(content)
        if isinstance(whole, dict | list) and rng.random() < 0.5:
            for _ in range(rng.choice((1, 1, 2, 4))):
                _change(whole, rng)
            return json.dumps(whole).encode()[:longest]
    return atheris.Mutate(content, longest)


def _change(whole: Any, rng: random.Random) -> None:
    """Replace, remove or repeat one value, at a depth that is drawn."""
    inside = whole
    while isinstance(inside, dict | list) and inside:
        key = rng.choice(list(inside)) if isinstance(inside, dict) else rng.randrange(len(inside))
        value = inside[key]
        if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
            kind = rng.random()
            if kind < 0.7:
                inside[key] = rng.choice(HOSTILE)
            elif kind < 0.85:
                del inside[key]
            elif isinstance(inside, list):
                inside.append(value)
            else:
                inside[key] = rng.choice(list(inside.values()))
            return
        inside = value


def fuzz(name: str, seconds: int, keep: Path | None) -> None:
    """Fuzz one target; ends the process."""
    place = Path(tempfile.mkdtemp(prefix="disorder-fuzz-"))
    seeds, tried = TARGETS[name](place)
    corpus = (keep or place / "corpus") / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)
    longest = 4 * max(map(len, seeds))

    def one(content: bytes) -> None:
        with Allowed():
            tried(content)

    words = [f"-max_total_time={seconds}", f"-max_len={longest}", "-timeout=60", str(corpus)]
    atheris.Setup([sys.argv[0], *words], one, custom_mutator=changed)
    atheris.Fuzz()


def told(name: str, seconds: int, keep: Path | None) -> Iterator[str]:
    """What a target's process found, in a line."""
    before = _cpu()
    kept = [] if keep is None else ["--keep", str(keep)]
    done = subprocess.run(
        [sys.executable, __file__, name, "--seconds", str(seconds), *kept, "--here"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    tried = re.findall(r"#(\d+)", done.stderr)
    edges = re.findall(r"cov: (\d+)", done.stderr)
    n, reached = (int(found[-1]) if found else 0 for found in (tried, edges))
    yield f"{name}: {n:,} inputs in {_cpu() - before:.0f} s of CPU time, {reached:,} edges reached"
    if done.returncode:
        yield "\n".join([*done.stdout.splitlines()[-40:], *done.stderr.splitlines()[-4:]])


def _cpu() -> float:
    """The CPU time of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []])
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    parser.add_argument("--keep", type=Path, help="a folder of inputs to begin with, and to add to")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        fuzz(given.targets[0], given.seconds, given.keep)
    n_broken = 0
    for name in given.targets or TARGETS:
        lines = list(told(name, given.seconds, given.keep))
        n_broken += len(lines) > 1
        print(*lines, sep="\n", flush=True)
    sys.exit(1 if n_broken else 0)


if __name__ == "__main__":
    main()
