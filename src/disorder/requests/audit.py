"""The options of `disorder audit` and `disorder.audit`."""

from functools import partial
from typing import Annotated, Literal, TypedDict

from disorder.requests.groups import (
    AbstentionOptions,
    CacheOptions,
    EmbedderOptions,
    FamilyOptions,
    FidelityOptions,
    GroupOptions,
    LoadingOptions,
    MatchOptions,
    PickleOptions,
    Positive,
    PrecisionOptions,
    PriceOptions,
    PrintsJson,
    PromptingOptions,
    ReadingOptions,
    SeedOptions,
    ServerAddressOptions,
    ServerOptions,
    budget,
    common_output,
    common_sampling,
    model,
    output,
    prompting,
    sampling,
)
from disorder.requests.option import NOT_NEGATIVE, HeldAs, Names, Need, Option, Thresholds

scores = partial(Option, group="Scores and conclusion")
common_scores = partial(scores, is_common=True)
engine = partial(Option, group="Engine", changes_predictions=False)


def _is_engine(name: str) -> bool:
    from disorder.registry import EnginePart, parts

    return name in parts(EnginePart)


KnownEngine = Need("one that `disorder list engines` shows", _is_engine)
AUTO = "auto"
DECIDED = "decided"
CONTINUED = "continued"  # recorded where a run went on after that
MOST_VARIANTS = 1_000_000
Share = Need("a share above 0, at most 1", lambda value: 0 < value <= 1)
PartialShare = Need("a share between 0 and 1", lambda value: 0 < value < 1)


def is_number_of_variants(q: int | Literal["auto"]) -> bool:
    """Whether it is auto, or a number that can be drawn."""
    return q == AUTO or (isinstance(q, int) and 1 <= q <= MOST_VARIANTS)


def variants_asked_for(name: str, given: int | str | None) -> int | None:
    """A number of variants; None where it follows from the data."""
    return None if given in (None, AUTO) else int(given or 0)


class TransformationOptions(TypedDict, total=False):
    """Which transformations are applied, by name."""

    with_: Annotated[
        Names,
        common_sampling(
            "Transformation, or FILE.py:FUNCTION; can be repeated",
            recorded_as="transformations",
            is_always_said=True,
            own="transformation",
        ),
    ]


def _as_typed(until: str | None) -> str:
    """How a recorded value is typed: a run that was continued has all examples."""
    return "never" if until == CONTINUED else str(until)


class UntilOptions(TypedDict, total=False):
    """When a run has enough examples."""

    until: Annotated[
        Literal["decided", "never"] | None,
        HeldAs(str | None, lambda name, given: given, join=_as_typed),
        Option(
            "Stop as soon as the conclusion is decided, or never before the last example (default: "
            "decided where it would take over a minute or is paid)",
            group="Scores and conclusion",
            check=Need("decided or never", lambda value: value in (None, DECIDED, "never")),
            choices=(DECIDED, "never"),
            changes_predictions=False,
        ),
    ]


class SamplingOptions(TransformationOptions, SeedOptions, total=False):
    """Which texts are predicted."""

    q: Annotated[
        int | Literal["auto"],
        HeldAs(int | None, variants_asked_for),
        common_sampling(
            "Permutations of each example; auto: 5 to 10, as predictions vary (100 for Ω)",
            default=AUTO,
            check=Need("1 or more, at most 1,000,000, or auto", is_number_of_variants),
            is_always_said=True,
        ),
    ]
    short: Annotated[
        Literal["skip", "use"] | None,
        sampling(
            "Examples with fewer than q distinct variants: skip them, or use those there are "
            "(default: use with --q auto, else skip)"
        ),
    ]

    suite: Annotated[
        str,
        common_sampling(
            "Set of transformations: order, salad, classes, ladder, characters, alldrop, full",
            default="order",
            is_implied=True,
        ),
    ]
    limit: Annotated[
        int | None,
        common_sampling("Audit this many examples, drawn at random by seed", check=Positive),
    ]
    repeats: Annotated[
        int,
        sampling(
            "How often some texts are predicted again, to know how often the model changes its "
            "prediction by itself",
            default=1,
            check=NOT_NEGATIVE,
        ),
    ]


class MetricOptions(TypedDict, total=False):
    """Which scores are measured, by name."""

    score: Annotated[
        Names,
        scores("Measure this score only, also FILE.py:FUNCTION; can be repeated", own="metric"),
    ]


class ScoreOptions(MetricOptions, total=False):
    """What is measured, and what is concluded."""

    omega: Annotated[Thresholds, scores("More thresholds x for Ω_x, e.g. 0.25,0.95")]
    curtail: Annotated[
        bool, scores("Stop predicting for an example once its Ω scores are decided", default=False)
    ]
    stop_when: Annotated[
        str | None, scores('Stop when an interval is narrow enough, e.g. "width(p_c) < 0.02"')
    ]
    reads_below: Annotated[
        float,
        scores(
            "A model that keeps at most this share of its skill reads word order",
            default=0.2,
            check=PartialShare,
        ),
    ]
    bag_above: Annotated[
        float,
        scores(
            "One that keeps at least this share behaves like a bag of words",
            default=0.8,
            check=Share,
        ),
    ]
    least_skill: Annotated[
        float,
        scores(
            "Skill above chance that counts as none, of all there could be",
            default=0.1,
            check=PartialShare,
        ),
    ]
    fail_if: Annotated[
        Names,
        common_scores(
            'Rule as for disorder gate, e.g. "skill_kept > 0.8"; exit code 1 if it fails; stops as '
            "soon as it is decided; can be repeated",
            changes_predictions=False,
        ),
    ]


class AgreementOptions(TypedDict, total=False):
    """When a faster number format will do."""

    agree: Annotated[
        float,
        model(
            "Share of sampled predictions that must agree for --precision auto",
            default=0.995,
            check=Share,
            changes_predictions=False,
        ),
    ]


class NameOptions(TypedDict, total=False):
    """What the model is called."""

    name: Annotated[
        str | None,
        model(
            "Name of the model in reports, comparisons and boards (default: its spec)",
            check=Need("some letters", lambda name: name is None or bool(name.strip())),
            changes_predictions=False,
        ),
    ]


class PromptOptions(TypedDict, total=False):
    """The prompts, of which there may be several."""

    prompt: Annotated[
        Names,
        prompting(
            "Prompt of a language model: a name (disorder list prompts) or a file; of several, the "
            "scores are those of the first, with their range over all"
        ),
    ]


class PerturbedPartOptions(TypedDict, total=False):
    """What a transformation is applied to."""

    on: Annotated[
        str,
        Option(
            "What is perturbed, one segment or two (text_b; context,question): the words of a "
            "text, the order of a list (options, passages), or of a prompt its instruction, system "
            "message or shots; text: what the task says",
            default="text",
            group="Prompts of language models",
            recorded_as="break_",
            was="break_",
        ),
    ]


class BudgetOptions(PriceOptions, total=False):
    """What an audit may spend; what is measured by then is a random part of the data."""

    max_questions: Annotated[
        int | None, budget("Stop before more questions are sent to the model", check=Positive)
    ]
    max_tokens: Annotated[int | None, budget("Stop before more tokens are spent", check=Positive)]
    max_cost: Annotated[
        float | None, budget("Stop before more money is spent (needs prices)", check=NOT_NEGATIVE)
    ]


class ClusterOptions(TypedDict, total=False):
    """The Ray cluster to join."""

    address: Annotated[
        str | None,
        engine("Ray cluster to join (default: start one on this machine)", named_again="must"),
    ]


class WorkerOptions(TypedDict, total=False):
    """Where the model runs."""

    engine: Annotated[
        str, engine("Where the model runs: local or ray", default="local", check=KnownEngine)
    ]
    workers: Annotated[
        int | None, engine("Ray workers (default: one per GPU, else one per core)", check=Positive)
    ]


class EngineOptions(ClusterOptions, WorkerOptions, total=False):
    """Where the model runs, on a cluster too."""


class AuditOptions(
    SamplingOptions,
    FidelityOptions,
    UntilOptions,
    ScoreOptions,
    ReadingOptions,
    GroupOptions,
    FamilyOptions,
    LoadingOptions,
    MatchOptions,
    PrecisionOptions,
    AgreementOptions,
    NameOptions,
    PromptOptions,
    PromptingOptions,
    PerturbedPartOptions,
    ServerOptions,
    EmbedderOptions,
    AbstentionOptions,
    BudgetOptions,
    EngineOptions,
    total=False,
):
    """Everything beside the model and the data."""


class ResumeOptions(
    TransformationOptions,
    MetricOptions,
    UntilOptions,
    CacheOptions,
    PickleOptions,
    PromptOptions,
    MatchOptions,
    ServerAddressOptions,
    ClusterOptions,
    total=False,
):
    """What a folder does not say by itself: code, files and machines that the user names again."""


class AuditOutput(TypedDict):
    """What the command alone takes."""

    out: Annotated[
        str | None, common_output("Run folder, or an address like s3://… (default: below runs)")
    ]
    resume: Annotated[str | None, common_output("Resume a run that was stopped")]
    dry_run: Annotated[
        bool,
        common_output(
            "Say how many model calls it takes, with one prompt, and make none", default=False
        ),
    ]
    every: Annotated[
        bool,
        common_output(
            "Show everything that was measured, not one screen", default=False, flags=("--all",)
        ),
    ]
    profile: Annotated[bool, output("Say where the time went", default=False)]
    as_json: PrintsJson
