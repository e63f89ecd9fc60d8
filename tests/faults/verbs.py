"""Every verb as the laboratory runs it: the command, what is typed after a fault, and what must be
the same in the end.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.laboratory import samples_of

Result = Any
Read = Callable[[Path], Result]
LOG = "log"  # beside OUT: what the command printed
DATA = "data.jsonl"  # beside RUN: a few pairs
NUMBERS = "numbers.jsonl"  # beside RUN: pairs with how alike they are
OPEN = "open.jsonl"  # beside RUN: questions with answers
RANKED = "ranked.jsonl"  # beside RUN: queries with documents
MODELS = "models.py"  # beside RUN: a bag of letters, and some that answer and rank
LOGS = Path(__file__).parents[1] / "verbs" / "import_logs" / "lm-eval"
CODE = """
import numpy as np

SIGNS = "aeinorst0123456789"

class Letters:
    fingerprint = ""

    def embed(self, texts, /):
        return np.array([[1 + text.count(sign) for sign in SIGNS] for text in texts])

letters = Letters()

def answering(asked):
    return [each["question"].split()[1] for each in asked]

def ranking(asked):
    return [
        [sum(word in text.split() for word in each["query"].split()) for text in each["documents"]]
        for each in asked
    ]
"""


def write_beside(place: Path, pairs: Sequence[Mapping[str, Any]]) -> None:
    """What commands read beside a run."""
    numbered = [{**row, "task": "stsb", "label": str(len(row["text_b"]) % 6)} for row in pairs]
    questions = [
        {"id": str(i), "question": f"does w{i} live in town {i} ?", "answers": [f"w{i}"]}
        for i in range(30)
    ]
    queries = [
        {
            "id": str(i),
            "query": f"where does w{i} live in town {i % 7}",
            "positives": [f"w{i} does live near the old mill"],
            "negatives": [f"town {i % 7} is where a mill stands", f"w{i + 1} does not"],
        }
        for i in range(30)
    ]
    written = {DATA: pairs, NUMBERS: numbered, OPEN: questions, RANKED: queries}
    for name, rows in written.items():
        (place / name).write_text("\n".join(map(json.dumps, rows)))
    (place / MODELS).write_text(CODE)


@dataclass(frozen=True)
class Verb:
    """A command on OUT and RUN (a finished run), and what it leaves."""

    words: Sequence[str]
    result: Read
    again: Sequence[str] | None = None  # without one, the same command again
    marker: str = ""  # the file from which on `again` works
    needs_torch: bool = False
    is_on_a_copy: bool = False  # OUT is a copy of RUN before the command

    def prepare(self, out: Path, run: Path) -> None:
        """What must be there before the command, where it is not."""
        if self.is_on_a_copy and not out.exists():
            shutil.copytree(run, out)

    def typed(self, out: Path, run: Path) -> list[str]:
        """The command to type: the first one, or the one that resumes."""
        is_begun = self.again is not None and (out / self.marker).exists()
        words = self.again if is_begun and self.again is not None else self.words
        named = {"DATA": DATA, "NUMBERS": NUMBERS, "OPEN": OPEN, "RANKED": RANKED, "MODELS": MODELS}
        beside = {name: run.parent / file for name, file in named.items()}
        places = {"OUT": out, "RUN": run, "LOGS": LOGS, **beside}
        return [_replaced(word, places) for word in words]


def _replaced(word: str, places: Mapping[str, Path]) -> str:
    for name, path in places.items():
        word = word.replace(name, str(path))
    return word


def audited(folder: Path) -> Result:
    """What an audit leaves, without what tells the time or the way there."""
    return json_of("run.json", "profile")(folder), samples_of(folder)


def json_of(name: str, *left_out: str) -> Read:
    """A JSON file without what tells the time."""

    def read(folder: Path) -> Result:
        raw = json.loads((folder / name).read_text(encoding="utf-8"))
        if isinstance(raw, dict):
            for key in ("seconds", "started", *left_out):
                raw.pop(key, None)
        return raw

    return read


def files_of(*names: str) -> Read:
    return lambda folder: {name: (folder / name).read_bytes() for name in names}


def printed(folder: Path) -> str:
    """What a command that writes nothing printed, without times and places."""
    text = (folder.parent / LOG).read_text(encoding="utf-8", errors="replace")
    return re.sub(r"[\d.,]+ (µs|ms|s|min)\b", "TIME", text.replace(str(folder.parent), ""))


TRAIN = ["--model", "bow", "--limit", "40", "--set", "epochs=2"]
SHORT = ["--with", "derange", "--q", "4", "--cache", "off", "--out", "OUT"]
TWO = ["DATA", "DATA", *TRAIN, "--on", "reverse", "--test-limit", "30"]
VERBS = {
    "audit": Verb(
        [
            "audit",
            "builtin:bow",
            "DATA",
            "--limit",
            "60",
            "--q",
            "8",
            "--with",
            "derange",
            "--with",
            "reverse",
            "--with",
            "shuffle_ngrams:n=2",
            "--cache",
            "off",
            "--out",
            "OUT",
        ],
        audited,
        ["audit", "--resume", "OUT"],
        "run.json",
    ),
    "audit of an embedder": Verb(
        ["audit", "MODELS:letters", "NUMBERS", "--task", "stsb", *SHORT],
        audited,
        ["audit", "--resume", "OUT", "python:MODELS:letters"],
        "run.json",
    ),
    "audit of open answers": Verb(
        ["audit", "MODELS:answering", "OPEN", "--match", "contains", *SHORT],
        audited,
        ["audit", "--resume", "OUT", "python:MODELS:answering", "--match", "contains"],
        "run.json",
    ),
    "audit of a reranker": Verb(
        ["audit", "MODELS:ranking", "RANKED", *SHORT],
        audited,
        ["audit", "--resume", "OUT", "python:MODELS:ranking"],
        "run.json",
    ),
    "import": Verb(["import", "LOGS", "--out", "OUT"], audited),
    "check": Verb(
        ["check", "builtin:bow", "builtin", "--limit", "30", "--against", "RUN", *SHORT],
        audited,
        ["audit", "--resume", "OUT"],
        "run.json",
    ),
    "perturb": Verb(
        ["perturb", "DATA", "--with", "derange", "--q", "8", "--out", "OUT/x"],
        files_of("x"),
    ),
    "explain": Verb(
        [
            "explain",
            "builtin:bow",
            "DATA",
            "--by",
            "accepted_by_length",
            "--limit",
            "40",
            "--q",
            "5",
            "--cache",
            "off",
            "--out",
            "OUT",
        ],
        json_of("explain.json"),
    ),
    "sanity": Verb(
        ["sanity", "DATA", "--check", "duplicates", "--out", "OUT"],
        lambda folder: (json_of("result.json")(folder), files_of("report.html")(folder)),
    ),
    "train": Verb(
        ["train", "plain", "DATA", *TRAIN, "--set", "save_every=1", "--out", "OUT"],
        files_of("weights.npz"),
        ["train", "--resume", "OUT"],
        "result.json",
        needs_torch=True,
    ),
    "designs": Verb(
        ["designs", *TWO, "--out", "OUT"],
        lambda folder: (json_of("result.json")(folder), files_of("designs.md")(folder)),
        needs_torch=True,
    ),
    "mitigations": Verb(
        [
            "mitigations",
            *TWO,
            "--recipe",
            "plain",
            "--recipe",
            "threshold",
            "--seeds",
            "1",
            "--out",
            "OUT",
        ],
        lambda folder: (json_of("result.json")(folder), files_of("mitigations.md")(folder)),
        needs_torch=True,
    ),
    "study": Verb(
        [
            "study",
            "unli/table2",
            "builtin:bow",
            "DATA",
            "--limit",
            "40",
            "--q",
            "5",
            "--cache",
            "off",
            "--out",
            "OUT",
        ],
        lambda folder: json_of("result.json")(folder)["cells"],
    ),
    "human make": Verb(
        ["human", "make", "DATA", "--n", "20", "--out", "OUT"],
        files_of("items.jsonl", "key.jsonl", "instructions.md"),
    ),
    "compare": Verb(
        ["compare", "RUN", "OUT", "--html", "OUT.html"],
        lambda folder: (folder.with_suffix(".html").read_bytes(), printed(folder)),
        is_on_a_copy=True,
    ),
    "report": Verb(["report", "OUT"], files_of("report.html", "run.json"), is_on_a_copy=True),
    "gate": Verb(
        ["gate", "RUN", "--fail-if", "original:accuracy < 0", "--junit", "OUT.xml"],
        lambda folder: (folder.with_suffix(".xml").read_bytes(), printed(folder)),
    ),
    "board": Verb(["board", "RUN", "--out", "OUT"], files_of("index.html")),
    "plan": Verb(
        ["plan", "uniform", "DATA", "--score", "agreement", "--cache", "off", "--json"],
        lambda folder: re.sub(r'"(seconds|minutes)[^,}]*', "", printed(folder)),
    ),
}
