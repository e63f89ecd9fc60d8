"""The options of `disorder study`, `disorder designs` and `disorder mitigations`."""

from functools import partial
from typing import Annotated, Literal, TypedDict

from disorder.requests.audit import BudgetOptions, WorkerOptions
from disorder.requests.groups import (
    LoadingOptions,
    Positive,
    PrecisionOptions,
    PrintsJson,
    ReadingOptions,
    SeedOptions,
    common_output,
    common_sampling,
    common_training,
    output,
    sampling,
    training,
)
from disorder.requests.option import Assigned, Names, Option, Place, Specs
from disorder.requests.train import EachTrainingOptions

RECIPES = ("plain", "threshold", "entropic", "invalid_class")
study = partial(Option, group="The study")
common_study = partial(study, is_common=True)
PaperFidelity = Literal["paper", "released"]  # whose definitions count where a paper is computed


class TestOptions(TypedDict, total=False):
    """How much is tested."""

    test_limit: Annotated[
        int | None, common_training("Test on this many examples, drawn at random", check=Positive)
    ]


class ComparisonOptions(EachTrainingOptions, TestOptions, SeedOptions, total=False):
    """What every comparison of trainings takes."""


class DesignsOptions(ComparisonOptions, total=False):
    """Everything beside the data and the transformations."""

    seeds: Annotated[
        int,
        common_training("Trainings of each model, with seeds 0, 1, …", default=1, check=Positive),
    ]


class MitigationsOptions(ComparisonOptions, total=False):
    """Everything beside the data."""

    recipe: Annotated[
        Names,
        common_training(
            "Mitigation, with settings as name:key=value; key=value/value are alternatives of "
            "which held-out data chooses; can be repeated",
            default=RECIPES,
        ),
    ]
    with_: Annotated[
        Names,
        common_training(
            "Transformation that makes texts invalid; can be repeated (default: Word Salad's)",
            recorded_as="on",
            was="on",
        ),
    ]
    transfer: Annotated[
        str | None,
        common_training(
            "Also train this mitigation on each transformation alone, and test it on all"
        ),
    ]
    refit: Annotated[
        bool,
        common_training(
            "Test models that are trained on all training data, with the settings and thresholds "
            "that a held-out tenth chose (Word Salad)"
        ),
    ]
    fidelity: Annotated[
        PaperFidelity,
        sampling("paper: as described; released: as the authors' code does", default="paper"),
    ]
    seeds: Annotated[
        int,
        common_training("Trainings of each model, with seeds 0, 1, …", default=3, check=Positive),
    ]


class ComparisonOutput(TypedDict):
    """What the commands alone take."""

    out: Annotated[
        Place, common_output("Folder of the trained models (default: models/DATE-MODEL-DATA)")
    ]
    as_json: PrintsJson


class DesignsOutput(ComparisonOutput):
    """What `disorder designs` takes beside the options."""

    with_: Annotated[
        Names, common_training("Transformation to perturb texts by; can be repeated", was="on")
    ]


class PredictingOptions(ReadingOptions, LoadingOptions, PrecisionOptions, total=False):
    """How data is read and predicted, as audits and explanations take it."""


class ItemOptions(TypedDict, total=False):
    """How an item is computed."""

    q: Annotated[
        int | None,
        common_sampling("Permutations per example (default: the paper's)", check=Positive),
    ]
    seeds: Annotated[
        int | None,
        common_training(
            "Trainings per model, for items that train (default: the item's, mostly 1)",
            check=Positive,
        ),
    ]
    limit: Annotated[
        int | None,
        common_sampling(
            "Examples to test on (items that train: to train on), drawn at random", check=Positive
        ),
    ]
    fidelity: Annotated[
        PaperFidelity | None, sampling("paper: as described; released: as the authors' code does")
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
        common_study(
            "A setting, of trainings (epochs=3) or of a part (swap_nouns.tagger=nltk); can be "
            "repeated",
            recorded_as="set",
        ),
    ]
    train: Annotated[
        Specs,
        common_training("Training data, for items that train; repeat it to put sets together"),
    ]
    device: Annotated[
        str | None,
        training("cpu, cuda or mps (default: the best there is)", changes_predictions=False),
    ]


class StudyOptions(
    ItemOptions,
    SeedOptions,
    TestOptions,
    PredictingOptions,
    BudgetOptions,
    WorkerOptions,
    total=False,
):
    """Everything beside the item, the models and the data."""


class StudyOutput(TypedDict):
    """What the command takes beside them."""

    as_: Annotated[
        Names,
        common_study("Published model that MODEL stands for; repeat it for several, in order"),
    ]
    list_all: Annotated[
        bool,
        common_output(
            "Show all items; with a name, what each needs", default=False, flags=("--list",)
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
        common_output("Folder of the study, resumed if it exists (default: runs/DATE-study-ITEM)"),
    ]
    as_json: PrintsJson
