"""The options of `disorder study`, `disorder designs` and `disorder mitigations`."""

from functools import partial
from typing import Annotated, Literal, TypedDict

from disorder.requests.audit import WorkerOptions
from disorder.requests.groups import (
    LoadingOptions,
    Positive,
    PrecisionOptions,
    ReadingOptions,
    SeedOptions,
    json_output,
    output,
    sampling,
    training,
)
from disorder.requests.option import Assigned, Names, Option, Place, Specs
from disorder.requests.train import EachTrainingOptions

RECIPES = ("plain", "threshold", "entropic", "invalid_class")
study = partial(Option, group="The study")
PaperFidelity = Literal["paper", "released"]  # whose definitions count where a paper is computed


class TestOptions(TypedDict, total=False):
    """How much is tested."""

    test_limit: Annotated[
        int | None,
        training("Test on this many examples, drawn at random", check=Positive, is_common=True),
    ]


class ComparisonOptions(EachTrainingOptions, TestOptions, SeedOptions, total=False):
    """What every comparison of trainings takes."""


class DesignsOptions(ComparisonOptions, total=False):
    """Everything beside the data and the transformations."""

    seeds: Annotated[
        int,
        training(
            "Trainings of each model, with seeds 0, 1, …",
            default=1,
            check=Positive,
            is_common=True,
        ),
    ]


class MitigationsOptions(ComparisonOptions, total=False):
    """Everything beside the data."""

    recipe: Annotated[
        Names,
        training(
            "Mitigation, with settings as name:key=value; key=value/value are alternatives of "
            "which held-out data chooses; can be repeated",
            default=RECIPES,
            is_common=True,
        ),
    ]
    with_: Annotated[
        Names,
        training(
            "Transformation that makes texts invalid; can be repeated (default: Word Salad's)",
            recorded_as="on",
            was="on",
            is_common=True,
        ),
    ]
    transfer: Annotated[
        str | None,
        training(
            "Also train this mitigation on each transformation alone, and test it on all",
            is_common=True,
        ),
    ]
    fidelity: Annotated[
        PaperFidelity,
        sampling("paper: as described; released: as the authors' code does", default="paper"),
    ]
    seeds: Annotated[
        int,
        training(
            "Trainings of each model, with seeds 0, 1, …",
            default=3,
            check=Positive,
            is_common=True,
        ),
    ]


class ComparisonOutput(TypedDict):
    """What the commands alone take."""

    out: Annotated[
        Place,
        output("Folder of the trained models (default: models/DATE-MODEL-DATA)", is_common=True),
    ]
    as_json: Annotated[bool, json_output("Print the results as JSON and nothing else")]


class DesignsOutput(ComparisonOutput):
    """What `disorder designs` takes beside the options."""

    with_: Annotated[
        Names,
        training("Transformation to perturb texts by; can be repeated", was="on", is_common=True),
    ]


class PredictingOptions(ReadingOptions, LoadingOptions, PrecisionOptions, total=False):
    """How data is read and predicted, as audits and explanations take it."""


class ItemOptions(TypedDict, total=False):
    """How an item is computed."""

    q: Annotated[
        int | None,
        sampling("Permutations per example (default: the paper's)", check=Positive, is_common=True),
    ]
    seeds: Annotated[
        int | None,
        training(
            "Trainings per model, for items that train (default: the item's, mostly 1)",
            check=Positive,
            is_common=True,
        ),
    ]
    limit: Annotated[
        int | None,
        sampling(
            "Examples to test on (items that train: to train on), drawn at random",
            check=Positive,
            is_common=True,
        ),
    ]
    fidelity: Annotated[
        PaperFidelity | None,
        sampling("paper: as described; released: as the authors' code does"),
    ]
    short: Annotated[
        Literal["skip", "use"] | None,
        sampling("Examples with fewer than q distinct variants: skip or use (default: the item's)"),
    ]
    curtail: Annotated[
        bool,
        sampling(
            "Stop predicting for an example once its scores are decided, where that is exact",
            default=False,
            changes_predictions=False,
        ),
    ]
    set_: Annotated[
        Assigned,
        study(
            "A setting, of trainings (epochs=3) or of a part (swap_nouns.tagger=nltk); can be "
            "repeated",
            recorded_as="set",
            is_common=True,
        ),
    ]
    train: Annotated[
        Specs,
        training(
            "Training data, for items that train; repeat it to put sets together", is_common=True
        ),
    ]
    device: Annotated[
        str | None,
        training("cpu, cuda or mps (default: the best there is)", changes_predictions=False),
    ]


class StudyOptions(
    ItemOptions, SeedOptions, TestOptions, PredictingOptions, WorkerOptions, total=False
):
    """Everything beside the item, the models and the data."""


class StudyOutput(TypedDict):
    """What the command takes beside them."""

    as_: Annotated[
        Names,
        study(
            "Published model that MODEL stands for; repeat it for several, in order",
            is_common=True,
        ),
    ]
    list_all: Annotated[
        bool,
        output(
            "Show all items; with a name, what each needs",
            default=False,
            flags=("--list",),
            is_common=True,
        ),
    ]
    check: Annotated[
        bool,
        output(
            "Count the printed cells of every item: reachable, and computed in --studies",
            default=False,
        ),
    ]
    studies: Annotated[Place, output("Folder of finished studies, for --check")]
    out: Annotated[
        Place,
        output(
            "Folder of the study, resumed if it exists (default: runs/DATE-study-ITEM)",
            is_common=True,
        ),
    ]
    as_json: Annotated[bool, json_output("Print result.json on standard output and nothing else")]
