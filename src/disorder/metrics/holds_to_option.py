"""Whether answers hold to the content of an option: the same one, wherever it stands."""

from __future__ import annotations

from disorder.metrics.statistics.decomposition import Mean
from disorder.metrics.statistics.pairs_of_orders import followed
from disorder.registry import metric
from disorder.types import Outcomes


@metric(
    title="holds to the option",
    meaning="how far answers follow the content of an option when options move: 1 when the content "
    "decides, 0 when the model guesses or follows the place (of two options: more than the place)",
    better="near 1",
    of="options",
    position=17,
    copies="never",
    watched="never",
)
def holds_to_option(outcomes: Outcomes) -> Mean:
    """How far answers follow the content of an option, from pairs of different orders."""
    return followed(outcomes, "content")
