"""What a model can do beside predicting: one small protocol per capability.

A model needs to be a `Predictor` and nothing else. A backend that can do more has the methods of a
protocol below, and whoever wants the capability tests `isinstance(model, Protocol)`. Nothing is
looked for by name anywhere else. Objects that are no predictors yet (functions with labels,
scikit-learn estimators) are described at the end, and `MadeOf`, for a predictor made of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from typing import Any, Protocol, runtime_checkable

from disorder.errors import BadModel, option
from disorder.types import (
    Costs,
    Floats,
    Pair,
    Segments,
    Texts,
    TokenUnit,
    Variants,
)
from disorder.types.predictions import Prediction, Predictions

Head = tuple[int, int]  # layer, number within the layer


@runtime_checkable
class Tokens(Protocol):
    """Takes words and rows of positions as they are; no string is made of a perturbed text."""

    def predict_variants(self, variants: Sequence[Variants], /) -> Floats:
        """Probabilities, one row per variant of every example in turn: the same as for their
        texts, to the last bit.
        """


@runtime_checkable
class TokenUnits(Tokens, Protocol):
    """Takes its own tokens in another order, as numbers that never become a text in between."""

    def token_units(self, texts: Texts, /) -> list[list[TokenUnit]]:
        """The tokens of each text of an example, as they stand in the model's input."""


@runtime_checkable
class Truncates(Protocol):
    """Reads long texts to some length only, and says where that is."""

    def readable(self, texts: Texts, /) -> Texts:
        """The texts of an example, cut at a word so that all of them are read in whatever order."""


@runtime_checkable
class Pieces(Protocol):
    """Shows how it cuts texts, and which words it has a token for."""

    def pieces(self, text: str, /) -> list[tuple[int, int]]:
        """Where its own tokens lie in a text."""

    def vocabulary(self) -> Sequence[str]:
        """The whole words among its tokens."""


@runtime_checkable
class Gradients(Protocol):
    """Differentiates its loss by its word embeddings."""

    def has_gradients(self) -> bool:
        """Whether the gradients of this network tell words apart; some normalise them away."""

    def importance(self, pairs: Sequence[Pair], targets: Floats, /) -> list[list[Floats]]:
        """Embedding · gradient of the loss, summed over each word's tokens, one array per text.

        `targets` has one row per pair: 1 for every label of the model's own that means the gold
        one, or the gold number.
        """

    def integrated_gradients(
        self, pairs: Sequence[Pair], targets: Floats, /, *, n_steps: int
    ) -> list[list[Floats]]:
        """What each word adds to the probability of the labels marked in `targets`."""


@runtime_checkable
class Attention(Protocol):
    """Shows its attention weights and can predict without some heads."""

    def n_heads(self) -> tuple[int, int]:
        """Layers, and heads per layer."""

    def attentions(self, pairs: Sequence[Pair], seen: Callable[[int, Floats], None], /) -> None:
        """Call `seen` with the number of each pair and the weights between its words."""

    def predict_without(self, texts: Sequence[Texts], heads: Collection[Head], /) -> Floats:
        """Probabilities when these heads contribute nothing."""


@runtime_checkable
class Scores(Protocol):
    """Gives the log-probability of a text: a language model."""

    def log_likelihoods(self, texts: Sequence[str], /) -> Floats:
        """The log-probability of each text as a whole (its pseudo-log-likelihood for a masked
        model).
        """


@runtime_checkable
class Embeds(Protocol):
    """Gives a vector for a text: an embedder."""

    fingerprint: str

    def embed(self, texts: Sequence[str], /) -> Floats:
        """One row per text; how long it is does not matter, cosines are compared."""


@runtime_checkable
class Reranks(Protocol):
    """Reads a query with each of its documents: a reranker."""

    fingerprint: str

    def relevance(self, requests: Sequence[tuple[str, Sequence[str]]], /) -> list[Floats]:
        """A number for each document of each query, the largest for the most relevant."""


@runtime_checkable
class Generates(Protocol):
    """Writes an answer to a request: a language model."""

    def generate(self, requests: Sequence[str], /, *, max_tokens: Sequence[int]) -> list[str]:
        """The likeliest answer to each request, cut off after so many tokens."""


@runtime_checkable
class Precision(Protocol):
    """Runs in more than one number format."""

    precisions: tuple[str, ...]

    def use_precision(self, precision: str, /) -> None:
        """Predict in this number format from now on."""


@runtime_checkable
class Batching(Protocol):
    """Predicts in batches whose size can be set; None leaves it to the model."""

    batch_size: int | None


@runtime_checkable
class Costly(Protocol):
    """Says whether a prediction costs more than looking it up in the cache."""

    is_costly: bool


@runtime_checkable
class Counting(Protocol):
    """Counts what it does beside predicting, as sums that add up over workers."""

    counts: Costs


@runtime_checkable
class Notes(Protocol):
    """Has something to tell the user about how it is run."""

    notes: list[str]


@runtime_checkable
class Timed(Protocol):
    """Counts the seconds that it spent on inputs, before the network ran."""

    input_seconds: float


@runtime_checkable
class Streaming(Protocol):
    """Gives predictions one by one as they come, so that each is kept the moment it is there."""

    def as_they_come(
        self, inputs: Sequence[Texts] | Sequence[Segments], /
    ) -> Generator[tuple[int, Prediction], None, None]:
        """Number of an input and its prediction, in any order."""


@runtime_checkable
class TakesSegments(Protocol):
    """Takes inputs by the names of their segments: it is asked by a prompt, or chooses among the
    options of a question.
    """

    def predict_segments(self, inputs: Sequence[Segments], /) -> Floats | Predictions:
        """Predictions, one row per input; probabilities of options by place, 0 where there is
        none.
        """


@runtime_checkable
class Labelled(Protocol):
    """A function that says what its columns mean."""

    labels: Sequence[Any]


@runtime_checkable
class Estimator(Protocol):
    """A scikit-learn estimator, or anything with its `predict`."""

    def predict(self, texts: Any, /) -> Any:
        """One label or number per text."""


@runtime_checkable
class ProbabilityEstimator(Protocol):
    """A scikit-learn classifier with probabilities."""

    classes_: Any

    def predict_proba(self, texts: Any, /) -> Any:
        """One row per text and one column per class."""


@runtime_checkable
class ClassEstimator(Protocol):
    """A fitted scikit-learn classifier, which knows its classes."""

    classes_: Any


class MadeOf:
    """A predictor that is made of a model: what it costs, how it runs and what it says of itself
    are those of the model.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.is_costly = isinstance(model, Costly) and model.is_costly
        self.counts = model.counts if isinstance(model, Counting) else Costs()
        self.precisions = model.precisions if isinstance(model, Precision) else ("fp32",)

    @property
    def notes(self) -> list[str]:
        """What the model says of itself."""
        return list(self.model.notes) if isinstance(self.model, Notes) else []

    @property
    def batch_size(self) -> int | None:
        """Texts in a batch; None leaves it to the model."""
        return self.model.batch_size if isinstance(self.model, Batching) else None

    @batch_size.setter
    def batch_size(self, value: int | None) -> None:
        if isinstance(self.model, Batching):
            self.model.batch_size = value

    def use_precision(self, precision: str) -> None:
        """Predict in this number format from now on."""
        if not isinstance(self.model, Precision):
            raise BadModel(
                f"this model runs in one precision only; {option('precision', precision)} is for "
                "models of a folder or the hub"
            )
        self.model.use_precision(precision)
