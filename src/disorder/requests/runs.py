"""The options of verbs that read finished runs: compare, gate, board."""

from functools import partial
from typing import Annotated, Literal, TypedDict

from disorder.requests.groups import PrintsJson, output
from disorder.requests.option import BySpec, Names, Option, Place

compared = partial(Option, group="What is compared")
decided = partial(Option, group="How it is decided")


class CompareOptions(TypedDict, total=False):
    """Everything beside the runs."""

    metrics: Annotated[
        Names, compared("Compare this score only; can be repeated", flags=("--metric",))
    ]
    with_: Annotated[
        Names,
        compared(
            "Compare under this transformation only; can be repeated",
            recorded_as="transformations",
            own="transformation",
        ),
    ]
    groups: Annotated[
        Names,
        compared("Compare in this group; can be repeated", default=("all",), flags=("--group",)),
    ]
    pairs: Annotated[
        Literal["base", "all"],
        compared("base: each run with the base; all: each with each", default="base"),
    ]
    seed: Annotated[int, compared("Seed of the resampling", default=0)]


class CompareOutput(TypedDict):
    """What the command takes beside them."""

    base: Annotated[
        Place, compared("The run that the others are compared with (default: the first)")
    ]
    every_row: Annotated[
        bool,
        output("Show every row, not only those that matter most", default=False, flags=("--all",)),
    ]
    html: Annotated[Place, output("Write a self-contained page here")]
    latex: Annotated[bool, output("Print LaTeX tables (booktabs) and nothing else", default=False)]
    as_json: PrintsJson


class ImportOptions(TypedDict, total=False):
    """How logs of other tools are read."""

    perturbed: Annotated[
        BySpec, Option("Log of texts perturbed so, derange=LOG, where it does not say it itself")
    ]
    id: Annotated[str | None, Option("Column of the logs that pairs originals and perturbed texts")]
    scorer: Annotated[str | None, Option("Scorer or metric that grades answers (the first)")]
    inspect: Annotated[
        str | None,
        Option("inspect's program in another environment, which reads .eval files"),
    ]


class ImportOutput(TypedDict):
    """What the command takes beside them."""

    out: Annotated[Place, output("Run folder (default: below runs)")]
    as_json: PrintsJson


class GateOptions(TypedDict, total=False):
    """How rules are decided."""

    by: Annotated[
        Literal["interval", "value"],
        decided(
            "What decides: the interval, which leaves a rule undecided where it includes the "
            "limit, or the value alone",
            default="interval",
        ),
    ]
    undecided: Annotated[
        Literal["pass", "fail"],
        decided("Whether a rule that is undecided lets the gate pass or fail", default="pass"),
    ]
    on: Annotated[
        Literal["sure", "value", "doubt"] | None,
        decided("Old spelling: sure, value, doubt are --by interval, --by value, --undecided fail"),
    ]


class GateOutput(TypedDict):
    """What the command takes beside them."""

    fail_if: Annotated[Names, decided('Rule, e.g. "skill_kept > 0.8"; can be repeated')]
    junit: Annotated[Place, output("Write a JUnit XML file")]
    markdown: Annotated[Place, output("Write a summary for a pull request")]
    badge: Annotated[Place, output("Write an SVG badge")]
    as_json: PrintsJson


class CheckOutput(TypedDict):
    """What the command takes beside the options of an audit."""

    against: Annotated[
        Place,
        decided(
            "Run to compare with, or folder of runs, of which the last that was made alike is "
            "taken (default: runs)",
            is_common=True,
        ),
    ]
    out: Annotated[str | None, output("Run folder (default: a new one among the runs)")]
    junit: Annotated[Place, output("Write a JUnit XML file", is_common=True)]
    markdown: Annotated[Place, output("Write a summary for a pull request", is_common=True)]
    badge: Annotated[Place, output("Write an SVG badge")]
    as_json: PrintsJson


class BoardOptions(TypedDict, total=False):
    """What a board shows."""

    title: Annotated[str, output("What the page is called", default="Word order board")]
    score: Annotated[
        Names, output("Show this metric too, e.g. p_c or one of a plugin; can be repeated")
    ]


class BoardOutput(TypedDict):
    """What the command takes beside them."""

    out: Annotated[str, output("Folder of the page; its reports lie beside it", default="board")]
