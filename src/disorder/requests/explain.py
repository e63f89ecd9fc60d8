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
    PrintsJson,
    PromptingOptions,
    ReadingOptions,
    RenderingOptions,
    SeedOptions,
    ServerOptions,
    common_output,
    common_sampling,
    output,
)
from disorder.requests.option import Names, Need, Option, Place

explaining = partial(Option, group="Explanations")
common_explaining = partial(explaining, is_common=True)


class ExplanationOptions(TypedDict, total=False):
    """Which explanations, of which texts."""

    by: Annotated[
        Names,
        common_explaining(
            "Explanation, e.g. lime or minitree:r=1,k=2; can be repeated (default: overview, which "
            "words and which kind of order)"
        ),
    ]
    with_: Annotated[
        str,
        common_sampling(
            "Transformation that perturbs texts (Out of Order: shuffle_ngrams)",
            default="derange",
            recorded_as="transformation",
            is_always_said=True,
            own="transformation",
        ),
    ]
    limit: Annotated[
        int | None,
        common_sampling(
            "Look at this many examples, drawn at random by seed", default=200, check=Positive
        ),
    ]
    q: Annotated[
        int,
        common_sampling(
            "Permutations of each example, for explanations that do not say their own number",
            default=20,
            check=Need("1 or more, at most 1,000,000", lambda q: 1 <= q <= 1_000_000),
            is_always_said=True,
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
        Names, common_explaining("Another model to show in the same pictures; can be repeated")
    ]
    out: Annotated[
        Place, common_output("Folder for page, figures and CSV (default: runs/DATE-MODEL-DATA)")
    ]
    figure: Annotated[
        Place, output("Write the figure here (.svg, .png); of several, one file each")
    ]
    csv: Annotated[
        Place, output("Write the data behind the figure here; of several, one file each")
    ]
    as_json: PrintsJson
