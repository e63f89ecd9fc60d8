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
        places = {"OUT": out, "RUN": run, "DATA": run.parent / DATA}
        return [_replaced(word, places) for word in words]


def _replaced(word: str, places: Mapping[str, Path]) -> str:
    for name, path in places.items():
        word = word.replace(name, str(path))
    return word


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
        lambda folder: (json_of("run.json", "profile")(folder), samples_of(folder)),
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
        "training.json",
        needs_torch=True,
    ),
    "designs": Verb(
        ["designs", *TWO, "--out", "OUT"],
        lambda folder: (json_of("designs.json")(folder), files_of("designs.md")(folder)),
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
        lambda folder: (json_of("mitigations.json")(folder), files_of("mitigations.md")(folder)),
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
