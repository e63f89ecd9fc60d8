"""Groups of options that several verbs share, each declared once."""

from functools import partial
from typing import Annotated, Literal, TypedDict

from disorder.requests.option import (
    NOT_NEGATIVE,
    Assigned,
    Fields,
    Names,
    Need,
    OneName,
    Option,
    Pairs,
    Place,
    at_least,
)

sampling = partial(Option, group="Perturbed texts")
common_sampling = partial(sampling, is_common=True)
data = partial(Option, group="Data")
common_data = partial(data, is_common=True)
model = partial(Option, group="Model")
common_model = partial(model, is_common=True)
prompting = partial(Option, group="Prompts of language models", for_prompt=True)
server = partial(Option, group="Servers", for_model=True)
address = partial(server, changes_predictions=False, named_again="must")
budget = partial(Option, group="Costs", changes_predictions=False)
output = partial(Option, group="Output")
common_output = partial(output, is_common=True)
training = partial(Option, group="Training")
common_training = partial(training, is_common=True)

Positive = at_least(1)
PrintsJson = Annotated[
    bool,
    common_output(
        "Print result.json on standard output and nothing else", default=False, flags=("--json",)
    ),
]


class SeedOptions(TypedDict, total=False):
    """The seed, for every verb that draws anything."""

    seed: Annotated[
        int,
        Option("Seed of every draw", default=0, group="Draws", is_always_said=True, is_common=True),
    ]


class PermutationOptions(TypedDict, total=False):
    """How many variants of a text there are, where an audit's number is meant."""

    q: Annotated[
        int,
        common_sampling(
            "Permutations of each example (shuffle and shuffle_ngrams draw 10 at most, or :q=N)",
            default=100,
            check=Need("1 or more, at most 1,000,000", lambda q: 1 <= q <= 1_000_000),
            is_always_said=True,
        ),
    ]


class FidelityOptions(TypedDict, total=False):
    """How words are cut out of a text and written back."""

    fidelity: Annotated[
        Literal["natural", "paper", "released"],
        sampling(
            "natural: words with all that is glued to them; paper: as described; released: as the "
            "authors' code does",
            default="natural",
        ),
    ]


class RenderingOptions(FidelityOptions, total=False):
    """How texts are perturbed, whatever the transformation."""

    short: Annotated[
        Literal["skip", "use"],
        sampling(
            "Examples with fewer than q distinct variants: skip them, or use those there are",
            default="skip",
        ),
    ]


class FileOptions(TypedDict, total=False):
    """Where data lies, and which columns it has."""

    columns: Annotated[
        Pairs, common_data("Which columns are which: premise=text_a,hypothesis=text_b,gold=label")
    ]
    data_dir: Annotated[
        Place,
        data("Folder with the papers' datasets (else DISORDER_DATA)", changes_predictions=False),
    ]


class ReadingOptions(FileOptions, total=False):
    """How data is read: what a data spec does not say."""

    task: Annotated[
        str | None,
        data(
            "What the data is: a known task (disorder list data), or a kind (disorder list tasks): "
            "labels, choice, pair, text, likelihood"
        ),
    ]
    language: Annotated[
        str,
        data(
            "Language of the texts: en, de, zh, th, … (disorder list languages); auto finds it out",
            default="auto",
        ),
    ]


class GroupOptions(TypedDict, total=False):
    """How results are split."""

    group_by: Annotated[Names, data("Split scores by this column; can be repeated")]


class FamilyOptions(TypedDict, total=False):
    """Which examples are not independent."""

    family: Annotated[
        str | None,
        data(
            "Column that names families: examples that share a value count as one observation "
            "(default: those that share a text, or nearly all words of one)",
            changes_predictions=False,
        ),
    ]


class LabelOptions(TypedDict, total=False):
    """What a model's own labels mean."""

    labels: Annotated[
        Pairs, common_model("What the model's labels mean: LABEL_0=entailment,LABEL_1=neutral")
    ]


class CacheOptions(TypedDict, total=False):
    """Where predictions are kept from run to run."""

    cache: Annotated[
        Place,
        model(
            "Folder of the prediction cache, or off", changes_predictions=False, named_again="may"
        ),
    ]


class PickleOptions(TypedDict, total=False):
    """Whether a file that can run code may be loaded."""

    allow_pickle: Annotated[
        bool,
        model(
            "Load a joblib or pickle file, which can run any code: only what you trust",
            default=False,
            for_model=True,
            changes_predictions=False,
            named_again="must",
        ),
    ]


class LoadingOptions(LabelOptions, CacheOptions, PickleOptions, total=False):
    """How a model is loaded."""

    batch_size: Annotated[
        int | None,
        model("Texts in a batch (default: by length)", check=Positive, changes_predictions=False),
    ]


class PrecisionOptions(TypedDict, total=False):
    """The number format of a model."""

    precision: Annotated[
        str,
        model(
            "fp32, bf16, int8, or auto: a faster one if its predictions agree",
            default="fp32",
            choices=("fp32", "bf16", "int8", "auto"),
        ),
    ]


class ChatOptions(TypedDict, total=False):
    """Whether a prompt is written as turns of a chat."""

    chat: Annotated[
        Literal["auto", "on", "off"],
        prompting(
            "Use the model's chat template: on, off, or auto where it has one", default="auto"
        ),
    ]


class OnePromptOptions(TypedDict, total=False):
    """The prompt, where there is one at most."""

    prompt: Annotated[
        OneName, prompting("Prompt of a language model: a name (disorder list prompts) or a file")
    ]


class ShotOptions(TypedDict, total=False):
    """What a prompt shows beside the text."""

    shots: Annotated[
        int,
        prompting(
            "Examples with answers in the prompt, as many of each label as can be",
            default=0,
            check=at_least(0),
        ),
    ]
    shots_from: Annotated[
        Place,
        prompting(
            "Data that the examples come from (default: the training split of DATA); never those "
            "that are audited"
        ),
    ]
    choose_by: Annotated[
        Literal["letter", "likelihood", "normalised"],
        prompting(
            "How an option of multiple choice is chosen: by its letter, as the likeliest "
            "continuation, or as the likeliest per character",
            default="letter",
        ),
    ]
    label_words: Annotated[Pairs, prompting("Word for each label: entailment=yes,neutral=maybe")]


class MatchOptions(TypedDict, total=False):
    """How open answers and rankings are scored."""

    match: Annotated[
        str | None,
        data(
            "How an open answer is scored: f1 (as in SQuAD; the default), exact, contains, or "
            "FILE.py:FUNCTION with (answer, gold answers) → 0 to 1. Of a ranking: ndcg@10 (the "
            "default), mrr@10, recall@10, with any number",
            named_again="must",
        ),
    ]
    candidates: Annotated[
        str | None,
        data(
            "Rank only the documents that come first for the original query: bm25:20 or "
            "embed:FOLDER:20 (default: all)",
            named_again="must",
        ),
    ]


class PromptingOptions(MatchOptions, ShotOptions, ChatOptions, total=False):
    """How a language model is asked."""

    option_orders: Annotated[
        int,
        prompting(
            "Orders in which the options are listed; predictions are their mean",
            default=1,
            check=Positive,
        ),
    ]
    calibrate: Annotated[
        Literal["content-free"] | None,
        prompting("content-free: subtract what the model says of an empty text"),
    ]


class ServerAddressOptions(TypedDict, total=False):
    """The server that is asked."""

    base_url: Annotated[
        str | None,
        address("Address of an OpenAI-compatible server, e.g. http://127.0.0.1:8080/v1"),
    ]
    proxy: Annotated[
        str | None,
        address("Proxy to the server, http://HOST:PORT (default: that of the environment, if any)"),
    ]
    ca_bundle: Annotated[
        Place,
        address("File with the certificates that a server's own is checked against"),
    ]


class RequestOptions(TypedDict, total=False):
    """What goes with every request to a server."""

    temperature: Annotated[
        float | None,
        server("Temperature of a server's answers (default: 0, where the server takes it)"),
    ]
    top_p: Annotated[float | None, server("Share of the probability that answers are drawn from")]
    reasoning_effort: Annotated[
        str | None, server("How long a model thinks: none, minimal, low, medium, high, …")
    ]
    max_answer_tokens: Annotated[
        int | None,
        server(
            "Tokens that an answer may take, thoughts among them (default: few, and more for a "
            "model that thinks)",
            check=Positive,
        ),
    ]
    extra_body: Annotated[
        Fields,
        server(
            "More fields of each request: top_k=1,chat_template_kwargs.enable_thinking=false "
            "(a dot goes one level down)"
        ),
    ]


class ServerOptions(ServerAddressOptions, RequestOptions, total=False):
    """How a server is asked."""

    answers: Annotated[
        str | None,
        server(
            "How a server's answers are read: auto, decisions, prompt-logprobs, first-token, "
            "constrained, parse"
        ),
    ]
    max_connections: Annotated[
        int | None,
        server("Requests at once (default: 8)", check=Positive, changes_predictions=False),
    ]
    timeout: Annotated[
        float | None, server("Seconds for one request (default: 120)", changes_predictions=False)
    ]
    max_retries: Annotated[
        int | None,
        server(
            "How often a failed request is sent again", check=at_least(0), changes_predictions=False
        ),
    ]


class EmbedderOptions(TypedDict, total=False):
    """From which cosine on an embedder takes two texts for similar."""

    threshold: Annotated[
        float | None,
        Option(
            "Cosine above which an embedder takes a pair for similar (default: chosen on other "
            "data)",
            group="Embedders",
            for_model=True,
            check=Need("a number from -1 to 1", lambda value: -1 <= value <= 1),
        ),
    ]
    threshold_from: Annotated[
        Place,
        Option(
            "Data with labels that it is chosen on (default: the training split of DATA); never "
            "rows that are audited",
            group="Embedders",
        ),
    ]


class AbstentionOptions(TypedDict, total=False):
    """What becomes of texts without an answer."""

    no_answer: Annotated[
        Literal["skip", "abstain"],
        Option(
            "With --fidelity paper or released, texts that a model does not answer: skip and count "
            "them, or abstain. Natural audits book what the model declines as an abstention, and "
            "skip failures only",
            default="skip",
            group="Servers",
        ),
    ]


class PriceOptions(TypedDict, total=False):
    """What tokens cost."""

    price_in: Annotated[float | None, budget("Price of a million tokens sent", check=NOT_NEGATIVE)]
    price_out: Annotated[
        float | None, budget("Price of a million tokens received", check=NOT_NEGATIVE)
    ]


class TrainingOptions(TypedDict, total=False):
    """How networks are trained."""

    settings: Annotated[
        Assigned,
        common_training(
            "Setting as name=value, e.g. lr=2e-5; can be repeated", flags=("--set", "--settings")
        ),
    ]
    device: Annotated[
        str | None,
        training("cpu, cuda or mps (default: the best there is)", changes_predictions=False),
    ]
