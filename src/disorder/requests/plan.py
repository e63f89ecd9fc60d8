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
    PromptingOptions,
    ReadingOptions,
    SeedOptions,
    ServerOptions,
    json_output,
    sampling,
)
from disorder.requests.option import Need, Option, at_least

pilot = partial(Option, group="Pilot")


class WidthOptions(TypedDict, total=False):
    """The interval that one wants."""

    width: Annotated[
        float,
        sampling(
            "Width of the 95 % interval, low to high",
            default=0.05,
            check=Need("a number between 0 and 1, such as 0.05", lambda width: 0 < width < 1),
            is_common=True,
        ),
    ]
    score: Annotated[
        str | None,
        sampling("The score that it is for (default: skill_kept)", is_common=True),
    ]
    with_: Annotated[
        str,
        sampling(
            "Transformation",
            default="derange",
            recorded_as="transformation",
            is_common=True,
        ),
    ]
    q: Annotated[
        int | None,
        sampling(
            "Permutations of each example (default: the cheapest)", check=Positive, is_common=True
        ),
    ]


class PilotOptions(TypedDict, total=False):
    """The size of the pilot."""

    pilot_examples: Annotated[
        int, pilot("Examples of the pilot", default=40, check=at_least(8), is_common=True)
    ]
    pilot_permutations: Annotated[
        int, pilot("Permutations of each of them", default=4, check=at_least(2), is_common=True)
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

    as_json: Annotated[bool, json_output("Print the plan as JSON and nothing else")]
