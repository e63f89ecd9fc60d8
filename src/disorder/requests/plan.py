"""The options of `disorder plan` and `disorder.plan`."""

from functools import partial
from typing import Annotated, TypedDict

from disorder.requests.groups import (
    AbstentionOptions,
    FamilyOptions,
    FidelityOptions,
    LoadingOptions,
    OnePromptOptions,
    Positive,
    PriceOptions,
    PrintsJson,
    PromptingOptions,
    ReadingOptions,
    SeedOptions,
    ServerOptions,
    common_sampling,
)
from disorder.requests.option import Need, Option, at_least

pilot = partial(Option, group="Pilot")
common_pilot = partial(pilot, is_common=True)


class WidthOptions(TypedDict, total=False):
    """The interval that one wants."""

    width: Annotated[
        float,
        common_sampling(
            "Width of the 95 % interval, low to high",
            default=0.05,
            check=Need("a number between 0 and 1, such as 0.05", lambda width: 0 < width < 1),
        ),
    ]
    score: Annotated[str | None, common_sampling("The score that it is for (default: skill_kept)")]
    with_: Annotated[
        str,
        common_sampling(
            "Transformation",
            default="derange",
            recorded_as="transformation",
            own="transformation",
        ),
    ]
    q: Annotated[
        int | None,
        common_sampling("Permutations of each example (default: the cheapest)", check=Positive),
    ]


class PilotOptions(TypedDict, total=False):
    """The size of the pilot."""

    pilot_examples: Annotated[
        int, common_pilot("Examples of the pilot", default=40, check=at_least(8))
    ]
    pilot_permutations: Annotated[
        int, common_pilot("Permutations of each of them", default=4, check=at_least(2))
    ]


class PlanOptions(
    WidthOptions,
    SeedOptions,
    FidelityOptions,
    PilotOptions,
    ReadingOptions,
    FamilyOptions,
    LoadingOptions,
    OnePromptOptions,
    PromptingOptions,
    ServerOptions,
    AbstentionOptions,
    PriceOptions,
    total=False,
):
    """Everything beside the model and the data."""


class PlanOutput(TypedDict):
    """What the command alone takes."""

    as_json: PrintsJson
