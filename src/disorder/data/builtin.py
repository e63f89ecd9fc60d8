"""Data that is always there: made by our own grammar, so that on it we know which examples need
word order.
"""

from __future__ import annotations

from collections.abc import Iterator

from disorder.data import grammar
from disorder.data.examples import Row
from disorder.data.tasks import BUILTIN
from disorder.errors import UnknownName
from disorder.registry import data

SPLITS = ("test", "train")


@data(form="builtin[:TASK[:SPLIT]]")
def builtin(address: str = "") -> Iterator[Row]:
    """Sentences of our own grammar: nli (the default), sentiment, acceptability, rare_nli,
    rare_sentiment (rare orders).
    """
    name, split = parse(address)
    for number, row in enumerate(grammar.rows(name, split), start=1):
        yield f"row {number}", row


def parse(address: str) -> tuple[str, str]:
    """The task and split that an address such as `sentiment:train` names."""
    name, _, split = address.partition(":")
    if name and name not in BUILTIN:
        raise UnknownName("built-in data", name, BUILTIN)
    if split and split not in SPLITS:
        raise UnknownName("split of the built-in data", split, SPLITS)
    return name or "nli", split or "test"
