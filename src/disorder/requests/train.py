"""The options of `disorder train` and `disorder.train`."""

from typing import Annotated, Any, TypedDict

from disorder.requests.groups import (
    FidelityOptions,
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
from disorder.requests.option import Names, Place


class NetworkOptions(TypedDict, total=False):
    """What is trained."""

    model: Annotated[
        str,
        common_training(
            "What is trained: bilstm, infersent, convnet, esim, transformer, bow, or "
            "hf:NAME_OR_FOLDER",
            default="bilstm",
        ),
    ]
    dev: Annotated[
        Any,
        common_data(
            "Data that chooses the best epoch (default: 10 % of the training data, held out)"
        ),
    ]
    limit: Annotated[
        int | None,
        common_data("Train on this many examples, drawn at random by seed", check=Positive),
    ]


class EachTrainingOptions(NetworkOptions, TrainingOptions, ReadingOptions, total=False):
    """What is the same for all trainings of a comparison."""


class AsksOptions(TypedDict, total=False):
    """The model that says which words matter."""

    asks: Annotated[
        str | None,
        training(
            "Trained model that says which words matter (default: --model, if it is trained)",
            named_again="must",
        ),
    ]


class TrainOptions(EachTrainingOptions, AsksOptions, SeedOptions, FidelityOptions, total=False):
    """Everything beside the recipe and the data."""

    with_: Annotated[
        Names,
        common_training(
            "Train on this transformation of the texts; can be repeated; original: original texts",
            recorded_as="on",
            was="on",
            own="transformation",
        ),
    ]


class TrainOutput(TypedDict):
    """What the command alone takes."""

    out: Annotated[
        Place, common_output("Folder of the trained model (default: models/DATE-MODEL-DATA)")
    ]
    resume: Annotated[Place, common_output("Resume a training that was stopped")]
    audit: Annotated[
        str | None,
        common_output(
            "Audit the model before and after training, on this data or as in this run folder, and "
            "say what changed"
        ),
    ]
    as_json: PrintsJson
