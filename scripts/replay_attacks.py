"""Replay the attacks on an earlier version: a table of what happened before, and what happens now.

    python scripts/replay_attacks.py                    what the code here does
    python scripts/replay_attacks.py --before OLD/src   also what an older checkout does

Each attack runs in processes of its own, on the built-in data, in a temporary folder. The exit code
is 1 if one of them succeeds against the code here.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent.parent
PATIENCE = 180  # seconds
NO_END = -1000  # the exit code of a command that took longer; no signal has that number
Outcome = tuple[str, bool]  # what was seen, and whether the attack failed
ATTACKS: list[tuple[str, Callable[..., Outcome]]] = []


@dataclass
class Target:
    """The code that is attacked, and a folder to do it in."""

    source: Path
    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        paths = os.pathsep.join([str(self.source), str(self.folder), str(HERE / "tests")])
        own = {"PYTHONPATH": paths, "DISORDER_CACHE": str(self.folder / "cache")}
        return {**os.environ, **own, **more}

    def disorder(self, *words: object, typed: bytes = b"", **more: str) -> tuple[int, str]:
        return self.run([sys.executable, "-m", "disorder", *map(str, words)], typed, **more)

    def python(self, code: str, *words: object) -> tuple[int, str]:
        return self.run([sys.executable, "-c", code, *map(str, words)])

    def run(self, words: list[str], typed: bytes = b"", **more: str) -> tuple[int, str]:
        try:
            done = subprocess.run(
                words,
                cwd=self.folder,
                env=self.environment(**more),
                input=typed,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return NO_END, f"no end within {PATIENCE} s"
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def on_a_terminal(self, words: list[str], typed: bytes) -> tuple[int, str]:
        """Run a command that believes that a person sits before it, and type."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            words, cwd=self.folder, env=self.environment(), stdin=theirs, stdout=theirs,
            stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        os.write(ours, typed)
        told = b""
        with suppress(OSError):  # the other end is closed
            while part := os.read(ours, 65536):
                told += part
        os.close(ours)
        plain = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", told.decode("utf-8", "replace"))
        return process.wait(), plain.replace("\r", "")

    def a_run(self, name: str = "run") -> Path:
        """A finished run of the bag of words."""
        folder = self.folder / name
        if not folder.exists():
            code, told = self.disorder(
                "audit", "builtin:bow", "builtin", "--limit", 60, "--q", 5, "--out", name
            )
            assert code == 0, told
        return folder

    def changed(self, name: str, **more: object) -> Path:
        """A copy of the run with other values in its records (older versions have one)."""
        folder = self.folder / name
        shutil.copytree(self.a_run(), folder)
        for path in (folder / "run.json", folder / "result.json"):
            if path.exists():
                path.write_text(json.dumps(json.loads(path.read_text()) | more))
        return folder


def attack(title: str) -> Callable[[Callable[[Target], Outcome]], Callable[[Target], Outcome]]:
    def enter(function: Callable[[Target], Outcome]) -> Callable[[Target], Outcome]:
        ATTACKS.append((title, function))
        return function

    return enter


def said(code: int, told: str) -> str:
    """How a command ended, in a few words."""
    if "Traceback" in told:
        errors = [
            line for line in told.splitlines() if re.match(r"[A-Za-z.]+(Error|Exception)", line)
        ]
        last = errors[-1] if errors else "of unknown kind"
        return f"traceback ({last[:60]}), exit {code}"
    if code == NO_END:
        return told
    if code < 0:
        return f"died by signal {-code}"
    lines = told.strip().splitlines() or [""]
    return f"exit {code}: {lines[-1].removeprefix('disorder: ')[:90]}"


def is_one_line(code: int, told: str) -> bool:
    return code == 2 and "Traceback" not in told and "disorder: " in told.strip().splitlines()[-1]


@attack("1 a fresh audit on the parts of an old run")
def old_parts(target: Target) -> Outcome:
    folder = target.folder / "old"
    shutil.copytree(target.a_run(), folder)
    (folder / "run.json").unlink()
    words = ("audit", "uniform", "builtin", "--limit", 60, "--q", 5, "--out", "old", "--json")
    code, told = target.disorder(*words)
    if code:
        return said(code, told), is_one_line(code, told)
    run = json.loads(told[told.index("{") :])
    resumed = int(run["profile"].get("resumed", 0))
    return f"exit 0, {resumed} answers of another model believed", resumed == 0


@attack("2 two audits on one folder at once")
def two_writers(target: Target) -> Outcome:
    (target.folder / "slow2.py").write_text(
        "import time\nlabels = ('entailment', 'neutral', 'contradiction')\n"
        "def predict(pairs):\n    time.sleep(2)\n    return ['neutral'] * len(pairs)\n"
    )
    words = [
        "audit",
        "python:slow2:predict",
        "builtin",
        "--limit",
        "20",
        "--q",
        "2",
        "--out",
        "two",
    ]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "disorder", *words],
            cwd=target.folder,
            env=target.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    told = [process.communicate()[1].decode() for process in started]
    codes = sorted(process.returncode for process in started)
    line = next((text for text in told if "being written" in text), "")
    seen = f"exit codes {codes[0]} and {codes[1]}"
    return f"{seen}: {line.strip()[-70:]}" if line else seen, codes == [0, 2] and bool(line)


ONNX = """
import sys, pathlib
from models.test_fingerprint_contract import onnx_folder
onnx_folder(pathlib.Path(sys.argv[1]))
"""
STALE = """
import sys, pathlib, numpy as np
from disorder.models import load
from disorder.types import Task
folder = pathlib.Path(sys.argv[1])
task = Task("nli", ("entailment", "neutral", "contradiction"), "b")
texts = [(f"one two w{i}", "three four") for i in range(9)]
load(f"onnx:{folder}", task=task, cache=folder.parent / "c")(texts)
path = folder / "weights.log"
path.write_bytes((-np.frombuffer(path.read_bytes(), np.float32)).tobytes())
model = load(f"onnx:{folder}", task=task, cache=folder.parent / "c")
model(texts)
print(int(model.counts["cached"]))
"""


@attack("3 changed external weights of an ONNX model")
def stale_cache(target: Target) -> Outcome:
    folder = target.folder / "onnx"
    made, told = Target(HERE / "src", target.folder).python(ONNX, folder)  # tests are those here
    assert made == 0, told
    code, told = target.python(STALE, folder)
    if code:
        return said(code, told), False
    stale = int(told.split()[-1])
    return f"{stale} of 9 predictions from the cache of the old weights", stale == 0


@attack("4 a gate over a score that is NaN, in a closed pipe")
def gate(target: Target) -> Outcome:
    raw = json.loads((target.a_run() / "run.json").read_text())
    scores = [record | {"value": float("nan")} for record in raw["scores"]]
    folder = target.changed("nan", scores=scores)
    code, told = target.disorder("gate", folder, "--fail-if", "original:accuracy < 0.9")
    words = [sys.executable, "-m", "disorder", "gate", "run", "--fail-if", "original:accuracy < 0"]
    piped = subprocess.Popen(
        words, cwd=target.folder, env=target.environment(), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert piped.stdout is not None
    piped.stdout.close()
    closed = piped.wait()
    seen = f"NaN: {said(code, told)}; a passing gate in a closed pipe: exit {closed}"
    return seen, is_one_line(code, told) and closed == 0


@attack("5 --resume of a folder that names python:subprocess:getoutput")
def resume_code(target: Target) -> Outcome:
    (target.folder / "trap.py").write_text(
        "import pathlib\npathlib.Path('trapped').touch()\ndef f(x):\n    return x\n"
    )
    folder = target.changed("evil", status="failed", model="python:trap:f")
    code, told = target.disorder("audit", "--resume", folder)
    is_run = (target.folder / "trapped").exists()
    return f"code {'run' if is_run else 'not run'}; {said(code, told)}", not is_run


@attack("6 a model folder with code of its own, answered with y")
def remote_code(target: Target) -> Outcome:
    folder = target.folder / "hf"
    folder.mkdir()
    (folder / "evil.py").write_text("import pathlib\npathlib.Path('hf-trapped').touch()\n")
    auto = {"AutoConfig": "evil.C", "AutoModelForSequenceClassification": "evil.M"}
    (folder / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": auto}))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    words = [sys.executable, "-m", "disorder", "audit", f"hf:{folder}", "builtin"]
    code, told = target.on_a_terminal(words, b"y\ny\ny\n")
    is_run = (target.folder / "hf-trapped").exists()
    return f"code {'run' if is_run else 'not run'}; {said(code, told)}", not is_run and code == 2


@attack("7 escape sequences in the names of a run")
def escapes(target: Target) -> Outcome:
    name = "x\x1b]52;c;aGk=\x07\u202ey"
    folder = target.changed("names", model=name, data=name, verdict=name, notes=[name])
    _, told = target.disorder("report", folder)
    n = sum(told.count(char) for char in "\x1b\x07\u202e")
    return f"{n} raw control characters printed", n == 0


VIEW = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from disorder.web.viewer_app import viewer_app
app = viewer_app(Path(sys.argv[1]))
client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
print("status:", client.get("/").status_code)
"""


@attack("8 a run.json of 200,000 brackets")
def brackets(target: Target) -> Outcome:
    folder = target.folder / "many" / "deep"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("[" * 200_000)
    code, told = target.disorder("report", folder)
    _, shown = target.python(VIEW, target.folder / "many")
    status = shown.partition("status: ")[2][:3] or "none"
    seen = f"list of the viewer: {status}; report: {said(code, told)}"
    return seen, status == "200" and is_one_line(code, told)


@attack("9 an audit under ulimit -v")
def little_memory(target: Target) -> Outcome:
    words = "-m disorder audit builtin:bow builtin --limit 60 --q 5 --out little"
    code, _ = target.run(["bash", "-c", f"ulimit -v 3000000; {sys.executable} {words}"])
    has_report = (target.folder / "little" / "report.html").exists()
    seen = f"report {'written' if has_report else 'missing'}; exit {code}"
    return seen, code == 0 and has_report


@attack("10 --q 1000000000")
def too_many(target: Target) -> Outcome:
    code, told = target.disorder("audit", "builtin:bow", "builtin", "--q", 10**9, "--limit", 20)
    return said(code, told), is_one_line(code, told)


@attack("11 1,100 half-sent requests to the viewer")
def half_sent(target: Target) -> Outcome:
    process, port = _viewer(target, target.a_run().parent)
    slow = []
    try:
        with suppress(OSError):
            for _ in range(1_100):
                one = socket.create_connection(("127.0.0.1", port), timeout=2)
                slow.append(one)
                one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        time.sleep(1)
        began = time.monotonic()
        status = _ask(port)
        seconds = time.monotonic() - began
        time.sleep(4)
    finally:
        for one in slow:
            one.close()
        process.kill()
        process.wait()
    log = (target.folder / "log").stat().st_size
    seen = f"{len(slow)} sent; an honest request: {status} after {seconds:.1f} s; log {log:,} bytes"
    return seen, status == "200" and log < 100_000


def _few_files() -> None:
    """The usual limit of open files, of which each connection takes one."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))


def _ask(port: int) -> str:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
            one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return one.recv(20).decode().split()[1]
    except (OSError, IndexError) as error:
        return f"none ({type(error).__name__})"


@attack("12 standard output in cp1252")
def encoding(target: Target) -> Outcome:
    code, told = target.disorder("report", target.a_run(), PYTHONIOENCODING="cp1252")
    return said(code, told)[:60], code == 0


THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)
from disorder.transformations import parse
from disorder.types import Example, Task
wrong = []
start = threading.Barrier(16)
example, task = Example.of("1", "one two three four five", None, "x"), Task("t", ("x", "y"), "a")
def look():
    start.wait()
    try:
        parse("derange").apply(example, task=task, q=1, seed=0, short="use")
    except Exception as error:
        wrong.append(error)
threads = [threading.Thread(target=look) for _ in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(wrong))
"""


@attack("13 sixteen threads perturb a text at once, five times")
def threads(target: Target) -> Outcome:
    wrong = 0
    for _ in range(5):
        code, told = target.python(THREADS)
        wrong += int(told.split()[-1]) if code == 0 else 16
    return f"{wrong} of 80 threads were told that a part is unknown", wrong == 0


SHUFFLE = """
import time
from disorder.errors import DoesNotApply
from disorder.transformations import parse
from disorder.types import Example, Task
words = " ".join(f"w{i}" if i % 2 else "the" for i in range(2500))
began = time.process_time()
make = getattr(Example, "of", Example)  # as it was made before segments had names
example, task = make("1", words, None, "x"), Task("t", ("x", "y"), "a")
try:
    parse("shuffle").apply(example, task=task, q=10, seed=0, short="use")
except DoesNotApply:
    pass
print(time.process_time() - began)
"""


@attack("14 shuffle of 2,500 words, half of them equal")
def long_text(target: Target) -> Outcome:
    code, told = target.python(SHUFFLE)
    if code:
        return said(code, told), False
    seconds = float(told.split()[-1])
    return f"{seconds:.2f} s of CPU time", seconds < 2


@attack("15 five inputs that were tracebacks or had no end")
def tracebacks(target: Target) -> Outcome:
    (target.folder / "bad.py").write_text("raise ValueError('on import')")
    rows = [
        {"id": str(i), "text_a": "a b c d e", "label": "Yes" if i % 2 else "yes"} for i in range(9)
    ]
    (target.folder / "case.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (target.folder / "pipe").mkdir()
    os.mkfifo(target.folder / "pipe" / "run.json")
    long = "+".join(["reverse"] * 40)
    commands = [
        ("audit", "python:../x:f", "builtin", "--limit", 3),
        ("audit", "python:bad:f", "builtin", "--limit", 3),
        ("audit", "uniform", "case.jsonl", "--with", long, "--q", 2, "--out", "long"),
        ("train", "--resume", target.changed("t") / "samples"),
        ("report", "pipe"),
    ]
    found = [target.disorder(*words) for words in commands]
    n = sum("Traceback" in told for _, told in found)
    n_endless = sum(code == NO_END for code, _ in found)
    return f"{n} tracebacks, {n_endless} without an end", n + n_endless == 0


SYNC = """
import os, pathlib, sys
n = 0
sync = os.fsync
def counted(descriptor):
    global n
    n += 1
    sync(descriptor)
os.fsync = counted
from disorder.store.storage import write_atomically
write_atomically(pathlib.Path(sys.argv[1]), b"x")
print(n)
"""


@attack("16 a power loss after an atomic write")
def power_loss(target: Target) -> Outcome:
    _, told = target.python(SYNC, target.folder / "file")
    n = int(told.split()[-1])
    return f"{n} calls of fsync (the file, its folder)", n == 2


LOCK = """
import pathlib, sys, tomllib
sys.path.insert(0, sys.argv[1])
from check_dependencies import not_locked
checkout = pathlib.Path(sys.argv[2])
project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
print("; ".join(not_locked(project["dependencies"], checkout / "requirements.lock")))
"""


@attack("17 the hash-locked install lacks what the core needs")
def lacking_lock(target: Target) -> Outcome:
    code, told = target.python(LOCK, HERE / "scripts", target.source.parent)
    return told.strip() or "the lock has everything", code == 0 and not told.strip()


MEMORY = """
import resource, sys
from disorder.cli import main
try:
    main(sys.argv[1:])
except SystemExit as done:
    print("exit", done.code)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@attack("18 a Parquet file of 1 kB in which 1,500 rows name one text of 1 MB")
def unpacking(target: Target) -> Outcome:
    long = pa.DictionaryArray.from_arrays(
        pa.array([0] * 1_500, pa.int32()), pa.array(["a b c " * 170_000])
    )
    table = pa.table({"text_a": long, "text_b": long, "label": ["x", "y"] * 750})
    pq.write_table(table, target.folder / "bomb.parquet", compression="zstd")
    named = {"id": [str(i) for i in range(1_500)], "groups": [[]] * 1_500}
    examples = table.append_column("id", pa.array(named["id"])).append_column(
        "groups", pa.array(named["groups"], pa.map_(pa.string(), pa.string()))
    )
    folder = target.changed("bombed")
    pq.write_table(examples, folder / "examples.parquet", compression="zstd")
    commands = [
        ("audit", "uniform", "bomb.parquet", "--limit", 5, "--q", 2, "--out", "out"),
        ("compare", target.a_run(), folder),
    ]
    found = [target.python(MEMORY, *words)[1].splitlines()[-1] for words in commands]
    is_good = all(line.isdigit() and int(line) < 600 for line in found)
    seen = (f"{int(line):,} MB of memory" if line.isdigit() else line for line in found)
    return "; ".join(
        f"{words[0]}: {each}" for words, each in zip(commands, seen, strict=True)
    ), is_good


@attack("19 two inputs that differ in where a zero byte stands")
def joined_keys(target: Target) -> Outcome:
    texts = [("good\0\2movie here", "bad film", "yes"), ("good", "movie here\0\2bad film", "no")]
    rows = [
        {"id": str(number), "text_a": a, "text_b": b, "label": label}
        for number, (a, b, label) in enumerate(texts)
    ]
    (target.folder / "zero.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (target.folder / "zero.py").write_text(
        "def f(texts):\n    return ['yes' if '\\0' in a else 'no' for a, b in texts]\n"
    )
    words = ("audit", "python:zero:f", "zero.jsonl", "--q", 1, "--with", "reverse", "--out")
    target.disorder(*words, "first")
    code, told = target.disorder(*words, "out")  # from the cache
    if code:
        return said(code, told), False
    scores = json.loads((target.folder / "out" / "run.json").read_text())["scores"]
    [found] = [
        row["value"]
        for row in scores
        if (row["transformation"], row["metric"], row["group"]) == ("original", "accuracy", "all")
    ]
    return f"accuracy of a model that is always right: {found}", found == 1


def _forged(target: Target, name: str, change: Callable[[pa.Table], pa.Table]) -> Path:
    """A run whose samples were changed, and the journal with them."""
    folder = target.changed(name)
    journal = folder / "samples" / "journal.jsonl"
    lines = []
    for line in journal.read_text().splitlines():
        entry = json.loads(line)
        path = journal.parent / entry["part"]
        if path.suffix != ".parquet":  # what was kept beside the samples
            lines.append(line)
            continue
        pq.write_table(change(pq.read_table(path)), path)
        digest = blake2b(path.read_bytes(), digest_size=16).hexdigest()
        lines.append(json.dumps(entry | {"checksum": digest}))
    journal.write_text("\n".join(lines) + "\n")
    return folder


@attack("20 a stranger's run with every sample twice, with variants of −5")
def forged_samples(target: Target) -> Outcome:
    def minus(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("variant")
        numbers = pa.array([-5] * len(table), table.schema.field(place).type)
        return table.set_column(place, "variant", numbers)

    found = {
        "twice": _forged(target, "twice", lambda table: pa.concat_tables([table, table])),
        "minus": _forged(target, "minus", minus),
    }
    ends = {
        name: target.disorder("compare", target.a_run(), folder) for name, folder in found.items()
    }
    return (
        "; ".join(f"{name}: {said(*end)}" for name, end in ends.items()),
        all(is_one_line(*end) for end in ends.values()),
    )


@attack("21 a model that writes to the descriptor of standard output")
def raw_output(target: Target) -> Outcome:
    (target.folder / "raw.py").write_text(
        "import os\ndef f(texts):\n    os.write(1, b'RAW')\n    os.system('echo CHILD')\n"
        "    return ['neutral'] * len(texts)\n"
    )
    words = ["audit", "python:raw:f", "builtin", "--limit", "5", "--q", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "disorder", *words, "--out", "out"],
        cwd=target.folder,
        env=target.environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    try:
        status = json.loads(done.stdout)["status"]
    except ValueError:
        return f"not JSON: {done.stdout[:20]!r}", False
    return f"JSON, status {status}", status == "done"


SERVER = """
import json, math, sys
from fake_server import FakeServer, Fault
from disorder.cli import main
kind = sys.argv[1]
value = {"nan": math.nan, "digits": 10**400}.get(kind, -0.5)
pairs = [{"token": "yes", "logprob": -0.5}, {"token": "no", "logprob": value}]
choice = {"message": {"content": "yes"}, "logprobs": {"content": [{"top_logprobs": pairs}]}}
reply = {"choices": [choice]}
if kind == "tokens":
    reply["usage"] = {"prompt_tokens": 1, "completion_tokens": 10**400}
wrong = Fault(content=json.dumps(reply).encode())
brackets = Fault(status=500, content=b"[" * 200_000)
with FakeServer(offers=("first-token",)) as server:
    if kind == "brackets":
        server.faults = lambda n, path: brackets if n > 12 else None
    else:
        server.faults = lambda n, path: wrong if n in (12, 13) else None
    words = ["--answers", "first-token", "--max-connections", "1", "--max-retries", "1"]
    main(["audit", "openai:fake", "builtin", "--base-url", server.url, "--limit", "40", "--q", "2",
          "--with", "derange", "--out", "out", *words, *sys.argv[2:]])
"""


@attack("22 a server that answers with brackets, NaN, 400 digits, 10^400 tokens")
def wrong_numbers(target: Target) -> Outcome:
    found = {}
    for kind in ("brackets", "nan", "digits", "tokens"):
        shutil.rmtree(target.folder / "out", ignore_errors=True)
        found[kind] = target.python(SERVER, kind, "--cache", "off")
    is_good = all("Traceback" not in told for _, told in found.values())
    is_good = is_good and "disorder audit --resume" in found["brackets"][1]
    is_good = is_good and all(found[kind][0] == 0 for kind in ("nan", "digits", "tokens"))
    return "; ".join(f"{kind}: {said(*end)[:45]}" for kind, end in found.items()), is_good


@attack("23 a cache that cannot be written, before a server is probed")
def read_only_cache(target: Target) -> Outcome:
    (target.folder / "cache" / "servers.json" / "in the way").mkdir(parents=True)
    code, told = target.python(SERVER.replace('"--answers", "first-token", ', ""), "none")
    return said(code, told), code == 0


@attack("24 labels that are formulas and escape sequences, in CSV files")
def formulas(target: Target) -> Outcome:
    labels = ("=cmd|'/C calc'!A0\x1b]52;c;aGk=\x07", "@SUM(1+1)*9")
    rows = [{"id": str(i), "text_a": f"a b c d {i}", "label": labels[i % 2]} for i in range(24)]
    (target.folder / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, told = target.disorder("sanity", "data.jsonl", "--check", "labels", "--out", "out")
    files = sorted((target.folder / "out").glob("*.csv"))
    if code or not files:
        return said(code, told), False
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    n = len(re.findall(r'(?m)(?:^|,)"?[=@]', text))
    n_raw = text.count("\x1b")
    return f"{n} formulas, {n_raw} raw escapes in {len(files)} files", n + n_raw == 0


@attack("25 a page in a stranger's folder that leads elsewhere by itself")
def refreshing(target: Target) -> Outcome:
    folder = target.folder / "theirs"
    folder.mkdir()
    (folder / "theirs.html").write_text(
        "<title>disorder sanity: theirs</title><h1>x</h1>"
        '<meta http-equiv="refresh" content="0; url=http://elsewhere.example/">'
    )
    process, port = _viewer(target, folder)
    try:
        listed = _page(port, "/")
        (path,) = set(re.findall(r'href="(/page/[0-9a-f]+)"', listed))
        page = _page(port, path)
    finally:
        process.kill()
        process.wait()
    is_kept = "http-equiv" in page
    is_sandboxed = re.search(r"(?i)content-security-policy:[^\n]*; sandbox", page) is not None
    return f"kept: {is_kept}, in a sandbox: {is_sandboxed}", is_sandboxed or not is_kept


@attack("26 a model that ends the process with code 0, under a gate")
def silent_end(target: Target) -> Outcome:
    (target.folder / "ending.py").write_text("import os\ndef f(texts):\n    os._exit(0)\n")
    words = ("--limit", 5, "--q", 2, "--fail-if", "original:accuracy < 0.9", "--out", "out")
    code, told = target.disorder("audit", "python:ending:f", "builtin", *words)
    return said(code, told), is_one_line(code, told)


@attack("27 predictions that are complex numbers")
def complex_numbers(target: Target) -> Outcome:
    (target.folder / "odd.py").write_text(
        "import numpy as np\ndef f(texts):\n"
        "    return np.full((len(texts), 3), 1 / 3) + 5j * np.eye(len(texts), 3)\n"
    )
    words = ("--limit", 5, "--q", 2, "--out", "out")
    code, told = target.disorder("audit", "python:odd:f", "builtin", *words)
    return said(code, told), is_one_line(code, told)


@attack("28 models that fork or change the folder, prompts without an end, long names")
def odd_models(target: Target) -> Outcome:
    for name, line in (("forking", "os.fork()"), ("moving", "os.chdir('/')")):
        (target.folder / f"{name}.py").write_text(
            f"import os\ndef f(texts):\n    {line}\n    return ['neutral'] * len(texts)\n"
        )
    words = ("--limit", 4, "--q", 2, "--with", "reverse", "--cache", "off")
    _, forked = target.disorder("audit", "python:forking:f", "builtin", *words, "--out", "a")
    moved, _ = target.disorder("audit", "python:moving:f", "builtin", *words, "--out", "b")
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    (target.folder / "loops.jinja").write_text("{{ text_a }} {{ text_b }}" + loops)
    endless, _ = target.python(SERVER, "none", "--prompt", "loops.jinja")
    long = "漢" * 82 + ".jsonl"
    named, _ = target.disorder(
        "perturb", "builtin", "--with", "reverse", "--limit", 3, "--out", long
    )
    n_reports = forked.count("Report:")
    seen = (
        f"{n_reports} reports of one audit; chdir: exit {moved}; loops: "
        f"{'no end' if endless == NO_END else f'exit {endless}'}; 252 bytes: exit {named}"
    )
    return seen, (n_reports, moved, endless, named) == (1, 0, 2, 0)


OF_TIME = ("started", "seconds", "spent", "profile")  # what depends on the way there


@attack("29 an audit that is killed after its first part, and resumed")
def killed(target: Target) -> Outcome:
    def words(name: str) -> list[object]:
        given = ("--limit", 900, "--q", 60, "--with", "derange", "--with", "sort", "--cache", "off")
        return ["audit", "builtin:bow", "builtin", *given, "--out", name]

    assert target.disorder(*words("whole"))[0] == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "disorder", *map(str, words("stopped"))],
        cwd=target.folder,
        env=target.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = target.folder / "stopped" / "samples" / "journal.jsonl"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.002)
    process.kill()
    process.wait()
    code, _ = target.disorder("audit", "--resume", "stopped")
    runs = [
        json.loads((target.folder / name / "run.json").read_text()) for name in ("whole", "stopped")
    ]
    differ = [key for key in runs[0] if key not in OF_TIME and runs[0][key] != runs[1].get(key)]
    return (
        f"resumed: exit {code}; other than those of a whole run: {', '.join(differ) or 'nothing'}",
        code == 0 and not differ,
    )


def _viewer(target: Target, folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The viewer over a folder, and its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "disorder", "view", str(folder), "--port", "0"],
        cwd=target.folder,
        env=target.environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=(target.folder / "log").open("wb"),
        preexec_fn=_few_files,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline().decode().split(":")[-1].strip("/\n "))


def _page(port: int, path: str) -> str:
    """Headers and content of a page of the viewer."""
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return f"{answer.headers}{answer.read().decode()}"


def tried(source: Path, function: Callable[[Target], Outcome]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        seen, is_good = function(Target(source, Path(folder)))
        return seen.replace(f"{folder}/", ""), is_good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="the src folder of an older checkout")
    parser.add_argument("--only", default="", help="attacks that begin with this number")
    given = parser.parse_args()
    print("| attack | before | now |")
    print("| --- | --- | --- |")
    n_bad = 0
    for title, function in ATTACKS:
        if not title.startswith(given.only):
            continue
        before = tried(given.before, function)[0] if given.before else ""
        now, is_good = tried(HERE / "src", function)
        n_bad += not is_good
        print(f"| {title} | {before} | {now if is_good else f'**succeeds**: {now}'} |", flush=True)
    print(f"\n{n_bad} attacks succeed" if n_bad else "\nno attack succeeds")
    sys.exit(1 if n_bad else 0)


if __name__ == "__main__":
    main()
