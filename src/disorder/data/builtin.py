"""Built-in data: made by our own grammar, so that we know which examples need word order.

`scripts/make_builtin_data.py` writes its files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from disorder.data.examples import SourceRow
from disorder.errors import UnknownName
from disorder.registry import data
from disorder.specs import split_spec
from disorder.types import Task

FOLDER = Path(__file__).with_name("builtin_data")
SPLITS = ("test", "train")
NLI = Task("nli", ("entailment", "neutral", "contradiction"), "b", "neutral", "entailment")
SENTIMENT = Task("sentiment", ("negative", "positive"), "a")
TASKS = {
    "nli": NLI,
    "sentiment": SENTIMENT,
    "acceptability": Task("acceptability", ("unacceptable", "acceptable"), "a", "unacceptable"),
    "rare_nli": Task("rare_nli", NLI.labels, "b", "neutral", "entailment"),
    "rare_sentiment": Task("rare_sentiment", SENTIMENT.labels, "a"),
}


def task_of(address: str) -> Task:
    """The task that an address such as `sentiment:train` names."""
    return TASKS[parse(address)[0]]


@data(form="builtin[:TASK[:SPLIT]]", task=task_of, groups=("needs",))
def builtin(address: str = "") -> Iterator[SourceRow]:
    """Sentences of our own grammar: nli (the default), sentiment, acceptability, rare_nli,
    rare_sentiment (rare orders).
    """
    from pyarrow.parquet import ParquetFile

    name, split = parse(address)
    with ParquetFile(FOLDER / f"{name}-{split}.parquet") as file:
        rows = file.read().to_pylist()
    for number, row in enumerate(rows):
        yield f"row {number + 1}", {"id": f"{name}-{split}-{number:05d}", **row}


def parse(address: str) -> tuple[str, str]:
    """The task and split that an address such as `sentiment:train` names."""
    name, split = split_spec(address)
    if name and name not in TASKS:
        raise UnknownName("built-in data", name, TASKS)
    if split and split not in SPLITS:
        raise UnknownName("split of the built-in data", split, SPLITS)
    return name or "nli", split or "test"
