"""Opening and filtering a run of 1,000,000 sample rows in `disorder view`, through HTTP.

Makes the run with the project's own audit (10,000 examples × 100 permutations, a model that hashes
its input), starts `disorder view` on it, and times each page: the first opening of a fresh server,
then filters, an example, a comparison. The bar: opens in less than 2 s, filters in less than 1 s.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _measure import TOY

import disorder

N_EXAMPLES = 40 if TOY else 10_000
Q = 3 if TOY else 100
SEED = 0
OPENS, FILTERS = 2.0, 1.0  # seconds
WORDS = (
    "the",
    "a",
    "small",
    "dog",
    "cat",
    "man",
    "child",
    "runs",
    "sees",
    "eats",
    "near",
    "house",
    "old",
    "never",
    "often",
)
LABELS = ("entailment", "neutral", "contradiction")
PAGES = {
    "list of runs": "/",
    "filter by label and answer": "/run/ID?transformation=derange&label=neutral&whole=right",
    "filter by accepted share": "/run/ID?least=0.3&most=0.4&order=most",
    "filter by length, page 20": "/run/ID?shortest=20&page=20",
    "text search": "/run/ID?text=old+dog",
    "one example": f"/run/ID/example/{N_EXAMPLES - 1}",
}


class Hashing:
    """A model that predicts by a hash of the text: quick, and the same every time."""

    labels = LABELS

    def __init__(self, salt: str) -> None:
        self.salt = salt

    def __call__(self, texts: Sequence[Any]) -> Any:
        digests = b"".join(
            hashlib.blake2b(f"{self.salt}{text}".encode(), digest_size=12).digest()
            for text in texts
        )
        weights = (np.frombuffer(digests, dtype=np.uint32).reshape(-1, 3) / 2**32) ** 4
        return weights / weights.sum(axis=1, keepdims=True)


def make(folder: Path, name: str) -> None:
    rng = np.random.default_rng(SEED)
    rows = [
        {
            "id": f"e{i:06d}",
            "text_a": " ".join(rng.choice(WORDS, size=rng.integers(8, 22))) + ".",
            "text_b": " ".join(rng.choice(WORDS, size=rng.integers(7, 15))) + ".",
            "label": LABELS[i % 3],
        }
        for i in range(N_EXAMPLES)
    ]
    disorder.audit(Hashing(name), rows, with_=["derange"], q=Q, cache="off", out=folder / name)


def timed(url: str) -> float:
    began = time.perf_counter()
    with urllib.request.urlopen(url) as answer:
        answer.read()
    return time.perf_counter() - began


class Viewer:
    """A fresh `disorder view`."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "disorder", "view", str(folder), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://[0-9.:]+", self.process.stdout.readline())
        assert found
        self.url = found[0]

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, help="where the runs lie, or are made (default: a temporary folder)"
    )
    parser.add_argument("--rounds", type=int, default=1 if TOY else 5)
    parser.add_argument("--toy", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for name in ("first", "second"):
            if not (folder / name / "run.json").exists():
                print(f"making the run {name}: {N_EXAMPLES * Q:,} rows", file=sys.stderr)
                make(folder, name)
        measure(folder, given.rounds)


def measure(folder: Path, rounds: int) -> None:
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        with Viewer(folder) as viewer:
            with urllib.request.urlopen(viewer.url) as answer:
                link = r'href="/run/([0-9a-f]{12})"[^>]*><bdi>([^<]*)'
                ids = dict(re.findall(link, answer.read().decode()))
            first, second = sorted(ids, key=lambda id: ids[id])
            times.setdefault("open a run (fresh server)", []).append(
                timed(f"{viewer.url}/run/{first}")
            )
            for name, path in PAGES.items():
                times.setdefault(name, []).append(timed(viewer.url + path.replace("ID", first)))
            times.setdefault("compare two such runs", []).append(
                timed(f"{viewer.url}/compare?run={first}&run={second}")
            )
    print(f"{N_EXAMPLES * Q:,} sample rows, {rounds} rounds, wall-clock seconds through HTTP")
    print("| page | median | slowest | bar |\n| --- | --- | --- | --- |")
    missed = []
    for name, values in times.items():
        bar = OPENS if name.startswith(("open", "compare")) else FILTERS
        missed += [name] if max(values) >= bar and not TOY else []
        print(f"| {name} | {statistics.median(values):.3f} | {max(values):.3f} | {bar:.0f} |")
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
