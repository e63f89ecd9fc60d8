"""The context of a run: what a transformation may use beside the text, the audited model and other
data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from disorder import data as data_stage
from disorder.errors import DisorderError, option
from disorder.models import LoadedModel
from disorder.types import Example, Floats, Pair, Texts, TokenUnit


@dataclass(eq=False)  # what is learned from its data is kept as long as itself
class RunContext:
    """The `Context` of a run: the audited model if any, words of its data, where data lies."""

    predictor: LoadedModel | None = None
    words: Sequence[str] = ()
    data_dir: str | None = None

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Where the model's own tokens lie in a text."""
        return self._model.pieces(text)

    def token_units(self, texts: Texts) -> list[list[TokenUnit]]:
        """The model's own tokens of each text, as units that can be moved."""
        return self._model.token_units(texts)

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        """How much the model's loss depends on each word of each text."""
        return self._model.importance(pairs)

    def vocabulary(self) -> Sequence[str]:
        """The whole words among the model's tokens, or the words of the data for a model that does
        not show its own.
        """
        return self._model.vocabulary() or self.words

    def training(self, spec: str) -> Iterator[Example]:
        """The examples of a data spec."""
        yield from data_stage.stream(spec, data_dir=self.data_dir)[2]

    @property
    def _model(self) -> LoadedModel:
        if self.predictor is None:
            raise DisorderError(
                "this transformation needs a model, for its tokens or to say which words matter: "
                f"name one with {option('model')}"
            )
        return self.predictor
