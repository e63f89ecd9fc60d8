"""The options of `disorder human make`."""

from functools import partial
from typing import Annotated, Literal

from disorder.requests.groups import FileOptions, Positive, SeedOptions
from disorder.requests.option import Listed, Names, Option, Pairs

drawn = partial(Option, group="The sample")


class HumanMakeOptions(SeedOptions, FileOptions, total=False):
    """Everything beside the source and the folder."""

    task: Annotated[
        Literal["label", "valid"],
        drawn("label: give the label; valid: is this a sentence?", default="label"),
    ]
    n: Annotated[
        int,
        drawn(
            "Items, evenly over D_c and D_f, labels, short and long texts",
            default=200,
            check=Positive,
        ),
    ]
    with_: Annotated[
        Names,
        drawn("Transformation (of the run); can be repeated", recorded_as="transformations"),
    ]
    accepted: Annotated[
        bool,
        drawn(
            "From a run: only perturbed texts that got the gold label, or any",
            default=True,
            flags=("--accepted/--all",),
        ),
    ]
    whole: Annotated[
        bool | None,
        drawn(
            "Mix in as many original texts (default: unless labelling a run)",
            flags=("--whole/--no-whole",),
        ),
    ]
    labels: Annotated[
        Pairs, drawn("What labels mean, as annotators read them: 0=negative,1=positive")
    ]
    annotators: Annotated[
        Listed,
        drawn("Names, separated by commas; each gets a personal link", default=("a", "b", "c")),
    ]
