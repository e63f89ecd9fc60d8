"""What may a transformation ask beside the text? The audited model and other data; the pipeline hands it in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from disorder import data as data_stage
from disorder.errors import DisorderError
from disorder.predict import Aligned
from disorder.types import Example, Floats, Pair


@dataclass
class Surroundings:
    """The `Context` of a run: the model that is audited, words of its data, and where data lies."""

    model: Aligned | None
    words: Sequence[str] = ()
    data_dir: str | None = None

    @property
    def predictor(self) -> Aligned:
        """The model, or an error that says one is missing."""
        if self.model is None:
            raise DisorderError("this transformation asks a model which words matter: name one with --model")
        return self.model

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Where the model's own tokens lie in a text."""
        return self.predictor.pieces(text)

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        """How much the model's loss hangs on each word of each text."""
        return self.predictor.importance(pairs)

    def vocabulary(self) -> Sequence[str]:
        """The whole words among the model's tokens, or the words of the data for a model that does not show its own."""
        return self.predictor.vocabulary() or self.words

    def training(self, spec: str) -> Iterator[Example]:
        """The examples of a data spec."""
        yield from data_stage.stream(spec, data_dir=self.data_dir)[2]
