"""Are inputs put together from kept words the inputs that the tokenizer itself would make?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

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
from disorder.models.inputs.tokens import WordTokens
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Example, Task, Texts

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
    task, texts = Task("nli", ("e", "n", "c"), "b"), []
    for row in rows:
        try:
            made = parse("derange").apply(
                Example(row["id"], row["text_a"], row["text_b"], "e"), task=task, q=5, seed=0
            )
        except DoesNotApply:
            continue
        texts += variant_texts(made)
    made_tokens = WordTokens(tokenizer, 64).encode(texts)
    assert len(texts) > 1000
    assert [(t.ids, t.type_ids) for t in made_tokens] == [
        (e.ids, e.type_ids) for e in tokenizer.encode_batch(texts)
    ]
