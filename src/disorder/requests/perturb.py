"""The options of `disorder perturb` and `disorder.perturb`."""

from typing import Annotated, Any, Literal, TypedDict

from disorder.requests.groups import (
    ChatOptions,
    LabelOptions,
    OnePromptOptions,
    Positive,
    ReadingOptions,
    RenderingOptions,
    SeedOptions,
    ShotOptions,
    common_output,
    common_sampling,
    model,
)
from disorder.requests.option import Names, Place


class VariantOptions(TypedDict, total=False):
    """Which texts are written."""

    with_: Annotated[
        Names,
        common_sampling(
            "Transformation, e.g. derange or shuffle_ngrams:n=2+reverse; can be repeated",
            recorded_as="transformations",
            own="transformation",
        ),
    ]
    suite: Annotated[
        str | None,
        common_sampling("Set of transformations instead: alldrop, order, … (as for audit)"),
    ]
    q: Annotated[int, common_sampling("Variants of each example", default=1, check=Positive)]
    limit: Annotated[
        int | None,
        common_sampling("Take this many examples, drawn at random by seed", check=Positive),
    ]


class PerturbOptions(
    VariantOptions, SeedOptions, RenderingOptions, ReadingOptions, LabelOptions, total=False
):
    """Everything beside the data."""

    model: Annotated[
        Any, model("Model whose important words are looked for (drop_least and the like)")
    ]


class ExportOptions(OnePromptOptions, ShotOptions, ChatOptions, total=False):
    """How the texts become a task of another tool."""


class PerturbOutput(TypedDict):
    """What the command alone takes."""

    out: Annotated[
        Place,
        common_output(
            "File to write, one JSON object per line (default: standard output); with --as a folder"
        ),
    ]
    as_: Annotated[
        Literal["jsonl", "training", "lm-eval", "inspect"],
        common_output(
            "jsonl; training: original texts with their label and perturbed ones with the label "
            "invalid, to learn from; or a folder with a task for another tool: lm-eval, inspect",
            default="jsonl",
        ),
    ]
