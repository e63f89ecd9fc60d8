"""The options of `disorder explain` and `disorder.explain`."""

from functools import partial
from typing import Annotated, TypedDict

from disorder.requests.audit import BudgetOptions
from disorder.requests.groups import (
    EmbedderOptions,
    FamilyOptions,
    LoadingOptions,
    OnePromptOptions,
    Positive,
    PrecisionOptions,
    PromptingOptions,
    ReadingOptions,
    RenderingOptions,
    SeedOptions,
    ServerOptions,
    json_output,
    output,
    sampling,
)
from disorder.requests.option import Names, Need, Option, Place

explaining = partial(Option, group="Explanations")


class ExplanationOptions(TypedDict, total=False):
    """Which explanations, of which texts."""

    by: Annotated[
        Names,
        explaining(
            "Explanation, e.g. lime or minitree:r=1,k=2; can be repeated (default: overview, which "
            "words and which kind of order)",
            is_common=True,
        ),
    ]
    with_: Annotated[
        str,
        sampling(
            "Transformation that perturbs texts (Out of Order: shuffle_ngrams)",
            default="derange",
            recorded_as="transformation",
            is_always_said=True,
            is_common=True,
        ),
    ]
    limit: Annotated[
        int | None,
        sampling(
            "Look at this many examples, drawn at random by seed",
            default=200,
            check=Positive,
            is_common=True,
        ),
    ]
    q: Annotated[
        int,
        sampling(
            "Permutations of each example, for explanations that do not say their own number",
            default=20,
            check=Need("1 or more, at most 1,000,000", lambda q: 1 <= q <= 1_000_000),
            is_always_said=True,
            is_common=True,
        ),
    ]


class ExplainOptions(
    ExplanationOptions,
    SeedOptions,
    RenderingOptions,
    ReadingOptions,
    FamilyOptions,
    LoadingOptions,
    PrecisionOptions,
    OnePromptOptions,
    PromptingOptions,
    ServerOptions,
    BudgetOptions,
    EmbedderOptions,
    total=False,
):
    """Everything beside the models and the data."""


class ExplainOutput(TypedDict):
    """What the command takes beside them."""

    beside: Annotated[
        Names,
        explaining("Another model to show in the same pictures; can be repeated", is_common=True),
    ]
    out: Annotated[
        Place,
        output("Folder for page, figures and CSV (default: runs/DATE-MODEL-DATA)", is_common=True),
    ]
    figure: Annotated[
        Place, output("Write the figure here (.svg, .png); of several, one file each")
    ]
    csv: Annotated[
        Place, output("Write the data behind the figure here; of several, one file each")
    ]
    as_json: Annotated[
        bool, json_output("Print the findings as JSON on standard output and nothing else")
    ]
