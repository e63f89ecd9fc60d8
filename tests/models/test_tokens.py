"""Are inputs put together from words, or from positions, those that the tokenizer would make?"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from disorder.errors import DoesNotApply
from disorder.models.inputs.token_blocks import EncodedInputs
from disorder.models.inputs.tokens import WordTokens
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.transformations.words import split
from disorder.types import Example, PositionRows, Task, Texts, Variants

CORPUS = [
    "The old man didn't see the dogs, but the dogs saw him (twice).",
    "A state-of-the-art model costs 1,000.50 dollars!",
    "naïve café in the Größe of İstanbul",
    "身上裹一件工厂发的棉大衣。",
    "мама мыла раму",
    "ok 👍🏽 fine 👨‍👩‍👧",
]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
MAX_LENGTH = 24


def wordpiece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=SPECIALS)
    )
    return framed(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")


def byte_bpe(*, prefix_space: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(vocab_size=500, special_tokens=SPECIALS, initial_alphabet=alphabet),
    )
    return framed(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] [SEP] $B [SEP]")


def unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=SPECIALS, unk_token="[UNK]")
    tokenizer.train_from_iterator(CORPUS, trainer)
    return framed(tokenizer, "$A [SEP] [CLS]", "$A [SEP] $B [SEP] [CLS]:2")


def framed(tokenizer: Tokenizer, single: str, pair: str) -> Tokenizer:
    numbers = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=numbers
    )
    tokenizer.enable_truncation(MAX_LENGTH)
    return tokenizer


TOKENIZERS = {
    "wordpiece": wordpiece(),
    "byte bpe": byte_bpe(prefix_space=False),
    "byte bpe, prefix space": byte_bpe(prefix_space=True),
    "unigram": unigram(),
}
SENTENCES = st.lists(
    st.sampled_from([*" ".join(CORPUS).split(), "", "\n", "a\tb", "don't", "(", "...", "a" * 30]),
    max_size=12,
).map(" ".join)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_words_are_enough_for_the_usual_tokenizers(name: str) -> None:
    tokens = WordTokens(TOKENIZERS[name], MAX_LENGTH)
    assert tokens.is_exact
    assert tokens.notes == []


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=300, deadline=None)
@given(a=SENTENCES, b=st.none() | SENTENCES)
def test_gathered_tokens_are_the_real_ones(name: str, a: str, b: str | None) -> None:
    tokenizer = TOKENIZERS[name]
    made = WordTokens(tokenizer, MAX_LENGTH).encode([(a, b)])[0]
    real = tokenizer.encode(a, b)
    assert (made.ids, made.type_ids) == (real.ids, real.type_ids)


def rows_of(text: str, orders: list[list[int]], **more: Any) -> PositionRows:
    """Rows over a text's words, every order cut to the words that are there."""
    sentence = split(text)
    n = len(sentence)
    width = min([n, *(len([i for i in order if i < n]) for order in orders)])
    positions = [[i for i in order if i < n][:width] for order in orders]
    matrix = np.array(positions, dtype=np.int64).reshape(len(orders), width)
    return PositionRows(sentence, matrix, **more)


ORDERS = st.lists(st.permutations(range(20)), min_size=1, max_size=5)
MODES = st.fixed_dictionaries({"is_spaced_out": st.booleans(), "is_lowered": st.booleans()})
TEXTS = SENTENCES | st.text("aΣ 'b,.-\n一İ", max_size=20)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=300, deadline=None)
@given(a=TEXTS, b=st.none() | TEXTS, orders=ORDERS, mode=MODES, is_shared=st.booleans())
def test_tokens_from_positions_are_those_of_the_texts(
    name: str, a: str, b: str | None, orders: list[list[int]], mode: Any, is_shared: bool
) -> None:
    tokenizer = TOKENIZERS[name]
    orders = orders * 4  # enough variants to be worth it
    first = rows_of(a, orders[:1] if is_shared else orders, is_shared=is_shared, **mode)
    second = None if b is None else rows_of(b, orders, **mode)
    written = PositionRows.of_texts(first.sentence, ["to be  written", "too"])
    variants = [
        Variants(first, second),
        Variants(written, None if b is None else rows_of(b, orders[:1], is_shared=True)),
    ]
    made = WordTokens(tokenizer, MAX_LENGTH).encode_variants(variants)
    texts = [texts for each in variants for texts in variant_texts(each)]
    assert listed(made) == [(e.ids, e.type_ids) for e in map(whole(tokenizer), texts)]


def whole(tokenizer: Tokenizer) -> Callable[[Texts], Any]:
    return lambda texts: tokenizer.encode(*texts)


def listed(made: EncodedInputs) -> list[tuple[list[int], list[int]]]:
    batches = [made.batch(np.array([i])) for i in range(len(made))]
    return [(ids[0].tolist(), types[0].tolist()) for ids, types in batches]


def test_positions_reach_the_tokens_without_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text is made of plain words, once the first ones were checked."""
    tokens = WordTokens(wordpiece(), MAX_LENGTH)
    orders = [list(range(8)), list(range(8))[::-1]] * 2
    rows = rows_of("The old man saw the dogs, twice.", orders)
    first = tokens.encode_variants([Variants(rows, rows)] * 150)
    monkeypatch.setattr("disorder.transformations.rendering.render", None)
    assert listed(tokens.encode_variants([Variants(rows, rows)])) == listed(first)[:4]


def test_variants_that_tokenise_otherwise_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TOKENIZERS["wordpiece"]
    tokens = WordTokens(tokenizer, MAX_LENGTH)
    monkeypatch.setattr(tokens, "_later_block", lambda chunk: [1])
    rows = rows_of("The old man", [[2, 1, 0]] * 3)
    made = tokens.encode_variants([Variants(rows, None)])
    real = tokenizer.encode("man old The")
    assert listed(made) == [(real.ids, real.type_ids)] * 3
    assert not tokens.is_exact
    assert "tokenised as a whole" in tokens.notes[0]


def test_a_tokenizer_that_joins_words_is_noticed() -> None:
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))  # no pre-tokenizer: merges cross spaces
    trainer = trainers.BpeTrainer(vocab_size=60, special_tokens=SPECIALS)
    tokenizer.train_from_iterator(["a b a b the dogs the dogs"] * 50, trainer)
    framed(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]")
    tokens = WordTokens(tokenizer, MAX_LENGTH)
    texts: list[Texts] = [("a b the dogs", "the dogs a b"), ("the dogs", None)]
    assert [t.ids for t in tokens.encode(texts)] == [tokenizer.encode(*text).ids for text in texts]
    assert not tokens.is_exact
    assert "tokenised as a whole" in tokens.notes[0]


def test_a_token_with_a_space_in_it_is_noticed() -> None:
    tokenizer = wordpiece()
    tokenizer.add_tokens(["new york"])
    assert not WordTokens(tokenizer, MAX_LENGTH).is_exact


def test_permuted_real_pairs_tokenise_the_same(shared: Path) -> None:
    tokenizer: Any = Tokenizer.from_file(str(shared / "models" / "minilm-mnli" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(64)
    with gzip.open(
        shared / "data" / "mnli" / "dev_matched.jsonl.gz", "rt", encoding="utf-8"
    ) as file:
        rows = [json.loads(next(file)) for _ in range(400)]
    task = Task("nli", ("e", "n", "c"), "b")
    variants = []
    for row in rows:
        try:
            example = Example.of(row["id"], row["text_a"], row["text_b"], "e")
            variants.append(parse("derange").apply(example, task=task, q=5, seed=0))
        except DoesNotApply:
            continue
    texts = [texts for each in variants for texts in variant_texts(each)]
    real = [(e.ids, e.type_ids) for e in tokenizer.encode_batch(texts)]
    assert len(texts) > 1000
    assert [(t.ids, t.type_ids) for t in WordTokens(tokenizer, 64).encode(texts)] == real
    assert listed(WordTokens(tokenizer, 64).encode_variants(variants)) == real
