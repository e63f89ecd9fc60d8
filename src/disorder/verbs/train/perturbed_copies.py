"""How are examples perturbed for a mitigation? One perturbed copy of each, by one of several transformations
drawn for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from disorder.errors import DoesNotApply
from disorder.randomness import generator
from disorder.transformations import parse, suite
from disorder.transformations.rendering import variant_texts
from disorder.types import Context, Example, Task, Texts


@dataclass
class Broken:
    """Perturbed texts with the places of the examples they were made of; those left out are counted by
    reason.
    """

    texts: list[Texts] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    skips: dict[str, Counter[str]] = field(default_factory=dict)


def mixed(
    examples: Sequence[Example],
    task: Task,
    specs: Sequence[str],
    *,
    seed: int,
    context: Context | None,
) -> Broken:
    """One perturbed copy of every example that any of the transformations applies to, in the order of
    the examples.
    """
    first = [int(generator(seed, "mix", example.id).integers(len(specs))) for example in examples]
    found: dict[int, Texts] = {}
    skips: dict[str, Counter[str]] = {spec: Counter() for spec in specs}
    for turn in range(
        len(specs)
    ):  # what the drawn transformation does not apply to goes to the next one
        for number, spec in enumerate(specs):
            places = [
                i
                for i, k in enumerate(first)
                if i not in found and (k + turn) % len(specs) == number
            ]
            some = [examples[i] for i in places]
            made = parse(spec).apply_all(
                some, task=task, q=1, seed=seed, short="use", context=context
            )
            for i, variants in zip(places, made, strict=True):
                if isinstance(variants, DoesNotApply):
                    skips[spec][str(variants)] += 1
                else:
                    found[i] = variant_texts(variants)[0]
    kept = sorted(found)
    return Broken([found[i] for i in kept], kept, skips)


def salad(*, is_pair: bool, asks_model: bool) -> list[str]:
    """Word Salad's transformations that can be made: those for pairs, and with a model those that
    ask it which words matter.
    """
    found = [parse(spec) for spec in suite("salad")]
    return [
        each.spec
        for each in found
        if "training data" not in each.needs
        and (is_pair or all(step.part.scope == "sentence" for step in each.steps))
        and (asks_model or not each.needs - {"tags"})
    ]
