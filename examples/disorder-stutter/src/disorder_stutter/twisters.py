"""A data set that declares its task: tongue twisters and plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from disorder.registry import data
from disorder.types import Task

TASK = Task("twisters", ("plain", "twister"), breaks="a", reject_label="plain")
ANIMALS = ("badger", "beetle", "hamster", "heron", "lizard", "lobster", "panther", "parrot")
VERBS = ("baked", "borrowed", "hid", "held", "liked", "lifted", "painted", "packed")
THINGS = ("biscuits", "bottles", "hats", "hammers", "lamps", "ladders", "pots", "pears")


@data(form="twisters", task=TASK)
def twisters(address: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Sixty-four sentences: in a twister animal, verb and thing begin alike."""
    for i, animal in enumerate(ANIMALS):
        for j, verb in enumerate(VERBS):
            thing = THINGS[(i + j) % len(THINGS)]
            starts = {animal[0], verb[0], thing[0]}
            text = f"Yesterday the busy {animal} quietly {verb} {j + 2} of the new {thing}."
            label = "twister" if len(starts) < 3 else "plain"
            yield f"row {i * 8 + j}", {"id": f"{animal}-{verb}", "text_a": text, "label": label}
