"""Write what statistics would write: does a label hang on words that go together, whether or not
they make a sentence?

BERT & Family Eat Word Salad (Gupta et al., 2021): one phrase-based translator a label, trained on
that label's pairs alone, turns the first text into the second. Single texts are cut in half: the
first half stays, its translation follows it.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.errors import BadSetting, DisorderError, DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.plain_rows import untouched
from disorder.transformations.rendering import row_texts
from disorder.transformations.translation.lessons import LONGEST, Lessons, halves, sides, translator
from disorder.transformations.translation.translator import thot
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
) -> Variants:
    """Replace the second text by a translation of the first, learned from pairs of the same label
    in train=DATA.

    At most `limit` pairs a label are learned from, none of more than `longest` words a side; `seed`
    says which.
    """
    lessons = _checked(Lessons(train, limit, longest, seed))
    if context is None:
        raise DisorderError(
            "pbsmt learns from other data, which nobody here can read: give it a context"
        )
    sentence = split(row_texts(untouched(pair.a))[0])
    source, _ = sides(sentence.text, None if pair.b is None else "")
    if not source or (pair.b is None and len(sentence.body) < 2):
        raise DoesNotApply(
            "there is nothing to translate"
            if pair.b is not None
            else "it is too short to be cut in half"
        )
    if len(source) > LONGEST:
        raise DoesNotApply(f"it has more than {LONGEST} words, too many to translate")
    written = translator(context, pair.label, is_pair=pair.b is not None, lessons=lessons)(source)
    if not written:
        raise DoesNotApply("the translation is empty")
    if pair.b is None:
        return Variants(
            PositionRows.of_texts(pair.a, [_completed(sentence, written)], is_shared=True), None
        )
    return Variants(
        untouched(pair.a), PositionRows.of_texts(pair.b, [joined(written)], is_shared=True)
    )


def _checked(lessons: Lessons) -> Lessons:
    if not lessons.train:
        raise BadSetting(
            "pbsmt", train=lessons.train, need="the data to learn from, e.g. pbsmt:train=mnli:train"
        )
    if lessons.limit < 1:
        raise BadSetting("pbsmt", limit=lessons.limit, need="1 or more pairs a label")
    if not 1 <= lessons.longest <= LONGEST:
        raise BadSetting("pbsmt", longest=lessons.longest, need=f"1 to {LONGEST} words a side")
    thot("translation")
    return lessons


def _completed(sentence: Sentence, written: list[str]) -> str:
    """The first half as it stood, the translation, the final punctuation."""
    first, _ = halves(sentence)
    end, tail = int(sentence.ends[first[-1]]), int(sentence.ends[sentence.body[-1]])
    space = " " if sentence.is_spaced[first[-1]] else ""
    return sentence.text[:end] + space + joined(written) + sentence.text[tail:]


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
