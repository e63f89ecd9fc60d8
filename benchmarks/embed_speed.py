"""What an audit of an embedder costs: retrieval, every query perturbed q times, beside one call of
`SentenceTransformer.encode` on the same texts and beside the forward passes alone. CPU time,
medians.

MODEL=sentence-transformers-folder DATA=beir-folder python benchmarks/embed_speed.py --rounds 3
(or --toy)

The audit goes first in each round and leaves the texts that it embedded, and the inputs of its
forward passes, for the others.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import _measure
import numpy as np
from _forward import Feed, on_single_threads, recorded
from _measure import TOY

import disorder
from disorder.data import read_data
from disorder.models.embed import embedder_in
from disorder.types import Example, Floats

AUDIT = "disorder, the whole audit"
ALL = "one call of encode, all texts of the audit"
PERTURBED = "one call of encode, perturbed queries alone"
PASSES = "bare forward passes"
PLACE = "EMBEDDED"  # where the audit leaves what the others take
TEXTS = "texts.json"
FEEDS = "feeds.npz"


def place() -> Path:
    return Path(os.environ[PLACE])


def beir_folder() -> Path:
    """The data; for --toy some built-in pairs as queries and their documents."""
    if not TOY:
        return Path(os.environ["DATA"])
    folder = place() / "beir"
    if folder.exists():
        return folder
    (folder / "qrels").mkdir(parents=True)
    pairs = [each.texts for each in read_data("builtin").examples[:240:8]]
    for name, column in (("corpus", 0), ("queries", 1)):
        rows = [{"_id": f"{name}{i}", "text": pair[column]} for i, pair in enumerate(pairs)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = [
        "query-id\tcorpus-id\tscore",
        *(f"queries{i}\tcorpus{i}\t1" for i in range(len(pairs))),
    ]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines))
    return folder


class Recording:
    """An embedder that remembers what it was given."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.fingerprint = ""  # no cache
        self.texts: list[str] = []

    def embed(self, texts: list[str], /) -> Floats:
        self.texts += texts
        found: Floats = self.inner.embed(texts)
        return found


def audit() -> Callable[[], object]:
    embedder = Recording(embedder_in(os.environ["MODEL"]))
    folder = beir_folder()
    network: Any = embedder.inner.network

    def run() -> object:
        with recorded(network) as feeds:
            found = disorder.audit(embedder, folder, with_="derange", until="never")
        keep(feeds, embedder.texts)
        return found.variants["derange"]

    return run


def keep(feeds: Sequence[Feed], texts: Sequence[str]) -> None:
    """Leave texts, and inputs of forward passes, for the other contestants."""
    (place() / TEXTS).write_text(json.dumps(texts))
    arrays = {
        f"{i} {name}": np.asarray(value)
        for i, feed in enumerate(feeds)
        for name, value in feed.items()
    }
    np.savez(place() / FEEDS, **arrays)


def encode(is_perturbed: bool) -> Callable[[], object]:
    """One call of the library's own function; on perturbed queries alone, or on all texts."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(os.environ["MODEL"], device="cpu")
    texts = json.loads((place() / TEXTS).read_text())
    if is_perturbed:
        task = read_data(beir_folder()).task
        assert task.corpus is not None
        known = {*task.corpus.texts, *(str(e.segments["query"]) for e in queries())}
        texts = [text for text in texts if text not in known]

    def run() -> object:
        model.encode(texts, show_progress_bar=False)
        return len(texts)

    return run


def queries() -> Sequence[Example]:
    return read_data(beir_folder()).examples


def passes() -> Callable[[], object]:
    """The network on the inputs of the audit, and the mean of its vectors; nothing else."""
    import torch

    embedder: Any = embedder_in(os.environ["MODEL"])
    feeds: dict[int, Feed] = defaultdict(dict)
    for name, value in np.load(place() / FEEDS).items():
        number, _, field = name.partition(" ")
        feeds[int(number)][field] = torch.from_numpy(value)

    def one(feed: Feed) -> Any:
        with torch.inference_mode():
            return embedder.read_outputs(embedder.network(**feed))

    def run() -> object:
        return sum(len(rows) for rows in on_single_threads(one, list(feeds.values())))

    return run


def report(medians: dict[str, float], facts: dict[str, object]) -> None:
    own = medians[AUDIT]
    print(f"q = {facts[AUDIT]}; texts embedded: {facts[PASSES]}")
    print("| | texts | CPU s | this ÷ disorder |\n| --- | ---: | ---: | ---: |")
    for name, seconds in medians.items():
        n = facts[PASSES] if name == AUDIT else facts[name]
        print(f"| {name} | {n} | {seconds:.1f} | {seconds / own:.2f} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(PLACE, folder)
        arms = {
            AUDIT: audit,
            ALL: partial(encode, False),
            PERTURBED: partial(encode, True),
            PASSES: passes,
        }
        _measure.main(__file__, arms, report)
