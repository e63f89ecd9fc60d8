"""Whether answers follow the place of an option: the same letter, whatever stands there."""

from __future__ import annotations

from disorder.metrics.statistics.decomposition import Mean
from disorder.metrics.statistics.pairs_of_orders import followed
from disorder.registry import metric
from disorder.types import Outcomes


@metric(
    title="follows the place",
    meaning="how far answers follow the place of an option when options move: 0 when the content "
    "decides or the model guesses, 1 when it always gives the same letter (of two options: more "
    "than the content, −1 when that alone decides)",
    better="near 0",
    of="options",
    position=16,
    copies="never",
    watched="never",
)
def follows_place(outcomes: Outcomes) -> Mean:
    """How far answers follow the place of an option, from pairs of different orders."""
    return followed(outcomes, "place")
