"""Replace the second text by a phrase-based translation of the first (PBSMT).

Does a label depend on words that go together, whether or not they make a sentence? BERT & Family
Eat Word Salad (Gupta et al., 2021): one translator per label, trained on that label's pairs alone.
Single texts are cut in half: the first half stays, its translation follows it.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.errors import BadSetting, DisorderError, DoesNotApply
from disorder.papers.translation.trained_translators import PairSelection, halves, sides, translator
from disorder.papers.translation.translator import LONGEST_TEXT, DecoderName, thot
from disorder.registry import transformation
from disorder.transformations.positions.orders import unchanged
from disorder.transformations.rendering import row_texts
from disorder.transformations.words import split
from disorder.types import Context, Pair, PositionRows, Sentence, Variants


@transformation(
    keeps="the first text, phrases that go with the label",
    destroys="the second text, often grammar and sense",
    paper="WS",
    scope="pair",
    deterministic=True,
    needs=("training data",),
    single=True,
)
def pbsmt(
    pair: Pair,
    rng: Generator,
    count: int,
    context: Context | None,
    *,
    train: str = "",
    limit: int = 5000,
    longest: int = 60,
    seed: int = 0,
    decoder: DecoderName = "quick",
) -> Variants:
    """Replace the second text by a translation of the first, learned from pairs of the same label
    in train=DATA.

    At most `limit` pairs per label are learned from (0: all, as in the paper), none of more than
    `longest` words per text; `seed` says which. decoder=moses searches as widely as Moses, which
    the paper used, and takes many times as long.
    """
    selection = _checked(PairSelection(train, limit, longest, seed))
    if context is None:
        raise DisorderError("pbsmt learns from other data: give it a context that can read them")
    sentence = split(row_texts(unchanged(pair.a))[0])
    source, _ = sides(sentence.text, None if pair.b is None else "")
    if not source or (pair.b is None and len(sentence.body) < 2):
        is_short = pair.b is None
        raise DoesNotApply(
            "it is too short to be cut in half" if is_short else "there is nothing to translate"
        )
    if len(source) > LONGEST_TEXT:
        raise DoesNotApply(f"it has more than {LONGEST_TEXT} words, too many to translate")
    translate = translator(
        context, pair.label, is_pair=pair.b is not None, selection=selection, decoder=decoder
    )
    written = translate(source)
    if not written:
        raise DoesNotApply("the translation is empty")
    if pair.b is None:
        completed = _completed(sentence, written)
        return Variants(PositionRows.of_texts(pair.a, [completed], is_shared=True), None)
    return Variants(
        unchanged(pair.a), PositionRows.of_texts(pair.b, [joined(written)], is_shared=True)
    )


def _checked(selection: PairSelection) -> PairSelection:
    needs = {
        "train": (bool(selection.train), "the data to learn from, e.g. pbsmt:train=mnli:train"),
        "limit": (selection.limit >= 0, "1 or more pairs per label; 0: all"),
        "longest": (1 <= selection.longest <= LONGEST_TEXT, f"1 to {LONGEST_TEXT} words per text"),
    }
    for name, (is_good, need) in needs.items():
        if not is_good:
            raise BadSetting("pbsmt", need=need, **{name: getattr(selection, name)})
    thot("translation")  # a missing package shows before any data is read
    return selection


def _completed(sentence: Sentence, written: list[str]) -> str:
    """The first half as it stood, the translation, the final punctuation."""
    first, _ = halves(sentence)
    end_of_first = int(sentence.ends[first[-1]])
    start_of_tail = int(sentence.ends[sentence.body[-1]])
    space = " " if sentence.is_spaced[first[-1]] else ""
    return sentence.text[:end_of_first] + space + joined(written) + sentence.text[start_of_tail:]


def joined(words: list[str]) -> str:
    """Words with a space between them, but none where either is written without.

    >>> joined(["he", "did", "not", "."]), joined(["我", "不", "吃", "。"])
    ('he did not .', '我不吃。')
    """
    sentence = split(" ".join(words))
    gaps = sentence.is_spaced[:-1] & sentence.is_spaced[1:]
    pieces = [
        (" " if gap else "") + word
        for word, gap in zip(sentence.words, [False, *gaps.tolist()], strict=True)
    ]
    return "".join(pieces)
