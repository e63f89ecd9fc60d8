"""The options of `disorder sanity` and `disorder.sanity`."""

from functools import partial
from typing import Annotated, Any, Literal, TypedDict

from disorder.requests.groups import (
    FamilyOptions,
    GroupOptions,
    Positive,
    PrintsJson,
    ReadingOptions,
    SeedOptions,
    TrainingOptions,
    common_data,
    common_output,
    common_training,
    training,
)
from disorder.requests.option import Names, Need, Option, Place, at_least

checking = partial(Option, group="Checks")
common_checking = partial(checking, is_common=True)


class CheckOptions(TypedDict, total=False):
    """When something counts as needed."""

    train: Annotated[
        Any,
        common_data(
            "Its training data (default: found by name for known sets, else cross-fitting)"
        ),
    ]
    model: Annotated[
        str,
        common_training(
            "What is trained: linear (quick), or any that `disorder train` takes: bilstm, "
            "hf:NAME_OR_FOLDER",
            default="linear",
        ),
    ]
    margin: Annotated[
        float,
        common_checking(
            "Largest cost that still counts as none (0.05 is five points)",
            default=0.05,
            check=Need("a share above 0 and below 1", lambda margin: 0 < margin < 1),
        ),
    ]
    skill: Annotated[
        float,
        checking(
            "Share of the way from chance to perfect that a model must have gone for a 'not "
            "needed'",
            default=0.25,
            check=Need("a share from 0 to below 1", lambda skill: 0 <= skill < 1),
        ),
    ]
    folds: Annotated[
        int | None,
        checking(
            "Cross-fit in this many parts, training data included (default: 5 where it is needed)",
            check=at_least(2),
        ),
    ]
    limit: Annotated[
        int | None,
        common_data("Use this many rows of DATA, drawn at random by seed", check=Positive),
    ]
    train_limit: Annotated[
        int | None,
        training("Train on this many rows at most, drawn by seed (default 5,000)", check=Positive),
    ]
    role: Annotated[
        Literal["benchmark", "challenge"],
        checking(
            "benchmark: models are trained on such rows; challenge: they are trained elsewhere, "
            "and verdicts are read accordingly",
            default="benchmark",
        ),
    ]


class NamedCheckOptions(TypedDict, total=False):
    """Which checks are made."""

    check: Annotated[
        Names, common_checking("Run this check only (disorder list checks); can be repeated")
    ]


class SanityOptions(
    CheckOptions,
    SeedOptions,
    NamedCheckOptions,
    ReadingOptions,
    GroupOptions,
    FamilyOptions,
    TrainingOptions,
    total=False,
):
    """Everything beside the data."""


class SanityOutput(TypedDict):
    """What the command alone takes."""

    out: Annotated[Place, common_output("Folder of the report (default: runs/DATE-sanity-DATA)")]
    as_json: PrintsJson
