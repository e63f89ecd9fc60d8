"""Train the built-in readers: small transformers that do read order, on the train split of the
grammar.

    python scripts/train_builtin.py [nli] [sentiment] [acceptability]

They are instruments with a known answer: words alone must settle `needs=words`, and order must
matter on `needs=order`. So the words half is also shown shuffled under its own label, and the order
half never is.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor, nn

import grammar

OUT = Path(__file__).parents[1] / "src/disorder/models/builtin_models"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PAD, UNK, CLS, SEP = range(4)
MAX_LENGTH = 64
REACH = 6

# Order is learned much sooner when hypotheses of a few plain shapes come first.
EASY = ("Leaving", "Never", "Forgetting")

Row = dict[str, str | None]


@dataclass(frozen=True)
class Recipe:
    """What differs between the three readers."""

    labels: tuple[str, ...]
    n_rows: int
    n_epochs: int
    words_survive_shuffling: bool = True
    width: int = 64
    n_layers: int = 2
    n_heads: int = 4
    batch: int = 128
    rate: float = 1.5e-3
    unk_share: float = 0.01
    n_easy_epochs: int = 0
    order_share: float = 1.0
    enough: float = 0.0
    seed: int = 0


RECIPES = {
    "nli": Recipe(
        ("entailment", "neutral", "contradiction"),
        n_rows=300_000,
        n_epochs=12,
        n_easy_epochs=15,
        order_share=0.3,
        rate=2e-3,
    ),
    "sentiment": Recipe(("negative", "positive"), n_rows=40_000, n_epochs=5),
    "acceptability": Recipe(
        ("unacceptable", "acceptable"), n_rows=60_000, n_epochs=6, words_survive_shuffling=False
    ),
}


# The model

BOW_ROWS = {"nli": 100_000, "sentiment": 20_000, "acceptability": 20_000}


class Layer(nn.Module):
    """Self-attention and a feed-forward step, each after a normalisation."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.before_attention, self.before_step = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.step = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )
        with torch.no_grad():
            self.query_key_value.weight[: 2 * width] *= 0.5  # so that the gaze decides at first

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        x = x + self.attention(self.before_attention(x), bias)
        return x + self.step(self.before_step(x))

    def attention(self, x: Tensor, bias: Tensor) -> Tensor:
        batch, length, width = x.shape
        heads = self.query_key_value(x).view(batch, length, 3, self.n_heads, width // self.n_heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) / math.sqrt(width // self.n_heads) + bias
        return self.out((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width))


class Gaze(nn.Module):
    """What each head looks for besides meaning: the same word in the other text, or a word at some
    distance.

    Learned, but started at that: two heads on the same word, one on the three words before and one
    on the three after. Without such a start, training idles at chance for many epochs.
    """

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.same, self.near = (
            nn.Parameter(torch.zeros(n_heads)),
            nn.Embedding(2 * REACH + 1, n_heads),
        )
        nn.init.zeros_(self.near.weight)
        with torch.no_grad():
            self.same[:2] = 6.0
            self.near.weight[REACH - 3 : REACH, 2] = self.near.weight[REACH + 1 : REACH + 4, 3] = (
                4.0
            )

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """A bias on the scores of attention: (batch, head, from, to)."""
        place = torch.arange(input_ids.shape[1])
        distance = (place[None, :] - place[:, None]).clamp(-REACH, REACH) + REACH
        same = (input_ids[:, :, None] == input_ids[:, None, :]) & (
            token_type_ids[:, :, None] != token_type_ids[:, None, :]
        )
        hidden = (attention_mask.to(self.same.dtype)[:, None, None, :] - 1) * 1e4
        return (
            same[:, None].to(hidden.dtype) * self.same[:, None, None]
            + self.near(distance).permute(2, 0, 1)
            + hidden
        )


class Reader(nn.Module):
    """Words, positions that start again at the second text, a few layers, and the most of each
    feature over words.
    """

    def __init__(self, n_words: int, recipe: Recipe) -> None:
        super().__init__()
        width = recipe.width
        self.word = nn.Embedding(n_words, width)
        self.position, self.text = nn.Embedding(MAX_LENGTH, width), nn.Embedding(2, width)
        self.gaze = Gaze(recipe.n_heads)
        self.layers = nn.ModuleList(Layer(width, recipe.n_heads) for _ in range(recipe.n_layers))
        self.norm = nn.LayerNorm(width)
        self.answer = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, len(recipe.labels))
        )
        with torch.no_grad():  # the first head of the first layer starts by looking for like words
            weight, size = self.layers[0].query_key_value.weight, width // recipe.n_heads
            weight[:size] *= 6
            weight[width : width + size] = weight[:size]
        for table, spread in ((self.word, 0.5), (self.position, 0.4), (self.text, 0.2)):
            nn.init.normal_(table.weight, std=spread)

    def read(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        n_first = (attention_mask * (1 - token_type_ids)).sum(1, keepdim=True)
        place = (attention_mask.cumsum(1) - 1 - token_type_ids * n_first).clamp(0, MAX_LENGTH - 1)
        x = self.word(input_ids) + self.position(place) + self.text(token_type_ids)
        bias = self.gaze(input_ids, attention_mask, token_type_ids)
        for layer in self.layers:
            x = layer(x, bias)
        return self.norm(x)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        states = self.read(input_ids, attention_mask, token_type_ids)
        padding = (attention_mask.to(states.dtype)[:, :, None] - 1) * 1e4
        return self.answer((states + padding).amax(1))


# The texts as numbers


def make_tokenizer(rows: list[Row]) -> Tokenizer:
    split = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    )
    texts = (text.lower() for row in rows for text in (row["text_a"], row["text_b"]) if text)
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    vocabulary = {word: i for i, word in enumerate([*SPECIALS, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), split
    tokenizer.add_special_tokens(SPECIALS)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    return tokenizer


@dataclass
class Encoded:
    """Padded token ids and text ids, and the number of the label."""

    ids: np.ndarray
    types: np.ndarray
    labels: np.ndarray
    needs_words: np.ndarray
    easy: np.ndarray

    def where(self, mask: np.ndarray) -> Encoded:
        """The rows that the mask marks."""
        return Encoded(
            self.ids[mask],
            self.types[mask],
            self.labels[mask],
            self.needs_words[mask],
            self.easy[mask],
        )

    def __len__(self) -> int:
        return len(self.ids)


def encode(tokenizer: Tokenizer, rows: list[Row], labels: tuple[str, ...]) -> Encoded:
    texts = [(row["text_a"], row["text_b"]) if row["text_b"] else row["text_a"] for row in rows]
    encodings = tokenizer.encode_batch(texts)
    longest = max(len(encoding.ids) for encoding in encodings)
    ids, types = np.zeros((2, len(rows), longest), np.int64)
    for i, encoding in enumerate(encodings):
        ids[i, : len(encoding.ids)], types[i, : len(encoding.ids)] = encoding.ids, encoding.type_ids
    answers = np.array([labels.index(row["label"]) for row in rows])
    needs_words = np.array([row["needs"] == "words" for row in rows])
    easy = ~needs_words & np.array([(row["text_b"] or "").startswith(EASY) for row in rows])
    return Encoded(ids, types, answers, needs_words, easy)


def shuffled(
    data: Encoded, first: np.ndarray, second: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The ids with the words of the first or second text of the chosen rows shuffled, the final
    full stop kept.
    """
    n, length = data.ids.shape
    body = data.ids > SEP
    last = np.roll(data.ids, -1, axis=1) == SEP
    moves = body & ~last & np.where(data.types == 0, first[:, None], second[:, None])
    # Sorting by (stretch, random) permutes words within their own text and leaves all others where
    # they are.
    stretch = np.cumsum(~moves, axis=1) * 2 + moves
    fixed = np.broadcast_to(np.arange(length) / length, (n, length))
    keys = stretch + np.where(moves, rng.random((n, length)), fixed) * 0.5
    return np.take_along_axis(data.ids, np.argsort(keys, axis=1), axis=1)


# Training


class Batch(NamedTuple):
    """Ids of words, the text that each belongs to, and the labels of the rows."""

    ids: np.ndarray
    types: np.ndarray
    labels: np.ndarray


def batches(data: Encoded, recipe: Recipe, rng: np.random.Generator) -> Iterator[Batch]:
    """One epoch, rows of like length together, words shuffled or hidden as the recipe says."""
    half = rng.random((2, len(data))) < 0.4
    may = data.needs_words & recipe.words_survive_shuffling
    ids = shuffled(data, half[0] & may, half[1] & may, rng)
    hidden = (rng.random(ids.shape) < recipe.unk_share) & (ids > SEP)
    ids = np.where(hidden, UNK, ids)
    lengths = (ids != PAD).sum(1)
    chosen = rng.permutation(
        np.flatnonzero(data.needs_words | (rng.random(len(data)) < recipe.order_share))
    )
    for pool in np.array_split(chosen, max(1, len(chosen) // (recipe.batch * 64))):
        by_length = pool[np.argsort(lengths[pool], kind="stable")]
        parts = np.array_split(by_length, math.ceil(len(pool) / recipe.batch))
        for i in rng.permutation(len(parts)):
            longest = lengths[parts[i]].max()
            yield Batch(
                ids[parts[i], :longest], data.types[parts[i], :longest], data.labels[parts[i]]
            )


def inputs(ids: np.ndarray, types: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
    return (
        torch.from_numpy(ids),
        torch.from_numpy((ids != PAD).astype(np.int64)),
        torch.from_numpy(types),
    )


def train(data: Encoded, n_words: int, recipe: Recipe) -> Reader:
    """A reader trained on the easy rows, if there are any, and then on all of them."""
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    reader = Reader(n_words, recipe)
    if data.easy.any():
        fit(
            reader,
            data.where(data.easy),
            replace(recipe, n_epochs=recipe.n_easy_epochs, order_share=1.0, enough=0.5),
            rng,
        )
    fit(reader, data, recipe, rng)
    return reader.eval()


def fit(reader: Reader, data: Encoded, recipe: Recipe, rng: np.random.Generator) -> None:
    """AdamW; the rate rises for some steps and then falls in a line. Stops early at a loss of
    `enough`.
    """
    optimiser = torch.optim.AdamW(reader.parameters(), lr=recipe.rate, weight_decay=0.01)
    n_rows = data.needs_words.sum() + recipe.order_share * (~data.needs_words).sum()
    n_steps, n_rising = recipe.n_epochs * n_rows // recipe.batch, 200
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: max(0.01, min(step / n_rising, 1 - (step - n_rising) / n_steps))
    )
    for epoch in range(recipe.n_epochs):
        start, losses = time.time(), []
        for batch in batches(data, recipe, rng):
            logits = reader(*inputs(batch.ids, batch.types))
            loss = nn.functional.cross_entropy(logits, torch.from_numpy(batch.labels))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        took = f"loss {np.mean(losses):.4f}, {time.time() - start:.0f} s"
        print(f"epoch {epoch + 1}, {len(data):,} rows: {took}", flush=True)
        if np.mean(losses) < recipe.enough:
            return


# Results


def predict(reader: Reader, data: Encoded, ids: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        parts = np.array_split(np.arange(len(data)), max(1, len(data) // 256))
        return np.concatenate(
            [reader(*inputs(ids[rows], data.types[rows])).argmax(1).numpy() for rows in parts]
        )


def check(reader: Reader, data: Encoded, rows: list[Row]) -> dict[str, float]:
    """Accuracy by half and phenomenon, whole and shuffled; shuffled accuracy is that of rows
    answered right whole.
    """
    right = predict(reader, data, data.ids) == data.labels
    phenomena = np.array([row["phenomenon"] for row in rows])
    figures = {
        f"accuracy/{name}": float(right[phenomena == name].mean())
        for name in sorted(set(phenomena))
    }
    yes, no = np.ones(len(data), bool), np.zeros(len(data), bool)
    sides = {"text_b": (no, yes), "both": (yes, yes)} if data.types.any() else {"text_a": (yes, no)}
    for half, mask in (("words", data.needs_words), ("order", ~data.needs_words)):
        figures[f"accuracy/needs={half}"] = float(right[mask].mean())
        for side, (first, second) in sides.items():
            ids = shuffled(data, first, second, np.random.default_rng(1))
            still = predict(reader, data, ids) == data.labels
            figures[f"shuffled_{side}/needs={half}"] = balanced(still, mask & right, data.labels)
    return figures


def balanced(still: np.ndarray, mask: np.ndarray, labels: np.ndarray) -> float:
    """The mean over labels of the share still right, so that rows answered right count alike for
    each label.
    """
    return float(
        np.mean([still[mask & (labels == label)].mean() for label in np.unique(labels[mask])])
    )


def export(reader: Reader, path: Path) -> None:
    """One ONNX file, weights inside, for any batch size and length."""
    example = (
        torch.full((2, 12), CLS),
        torch.ones(2, 12, dtype=torch.int64),
        torch.zeros(2, 12, dtype=torch.int64),
    )
    shape = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}
    names = ["input_ids", "attention_mask", "token_type_ids"]
    torch.onnx.export(
        reader,
        example,
        str(path),
        dynamo=True,
        external_data=False,
        input_names=names,
        output_names=["logits"],
        dynamic_shapes=(shape, shape, shape),
        opset_version=18,
    )


def check_export(reader: Reader, data: Encoded, path: Path) -> float:
    """The largest difference between the logits of the ONNX file and of the reader."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path))
    few = inputs(data.ids[:64], data.types[:64])
    names = ["input_ids", "attention_mask", "token_type_ids"]
    (ours,) = session.run(None, dict(zip(names, (tensor.numpy() for tensor in few), strict=True)))
    with torch.no_grad():
        return float(np.abs(ours - reader(*few).numpy()).max())


def write_card(
    task: str, folder: Path, recipe: Recipe, figures: dict[str, float], n_words: int
) -> None:
    settings = {
        "model_type": "disorder-builtin",
        "task": task,
        "id2label": {str(i): label for i, label in enumerate(recipe.labels)},
        "label2id": {label: i for i, label in enumerate(recipe.labels)},
        "max_length": MAX_LENGTH,
        "vocab_size": n_words,
        "training": {
            "rows": recipe.n_rows,
            "epochs": recipe.n_epochs,
            "seed": recipe.seed,
            "split": "train",
        },
        "test": {name: round(value, 4) for name, value in figures.items()},
    }
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    (folder / "README.md").write_text(card(task, recipe, figures))


def card(task: str, recipe: Recipe, figures: dict[str, float]) -> str:
    table = "\n".join(f"| {name} | {value:.3f} |" for name, value in figures.items())
    shuffling = (
        "The words half was also shown shuffled under the same label, the order half never."
        if recipe.words_survive_shuffling
        else "No text was shown shuffled: a shuffled sentence is not acceptable."
    )
    easy = ", after some epochs on its plainest hypotheses alone" if recipe.n_easy_epochs else ""
    return f"""# The built-in {task} reader

A transformer of {recipe.n_layers} layers and width {recipe.width}, trained from scratch on
{recipe.n_rows:,} rows that the grammar of `disorder` writes (its train split),
{recipe.n_epochs} epochs, seed {recipe.seed}{easy}.
{shuffling}
Its attention starts out biased towards the same word in the other text and neighbouring words.

It knows the words of that grammar and no others. It is a measuring instrument whose right answer is
known, not a model of English: use it to see what an audit looks like, not to label texts.

Test split (never trained on; shuffled figures count the rows whose original text was right, labels
weighted alike):

| measure | value |
| --- | --- |
{table}

Made by `scripts/train_builtin.py`. The same licence as `disorder`; no outside data.
"""


def train_bow(task: str) -> None:
    """The bag-of-words reader of the same task, beside the transformer."""
    from disorder.models.bow import fit

    rows = grammar.rows(task, "train", BOW_ROWS[task])
    fit(rows, RECIPES[task].labels).save(OUT / task / "bow")


def make(task: str) -> None:
    recipe, folder = RECIPES[task], OUT / task
    rows, test = list(grammar.rows(task, "train", recipe.n_rows)), list(grammar.rows(task, "test"))
    tokenizer = make_tokenizer(rows)
    reader = train(encode(tokenizer, rows, recipe.labels), tokenizer.get_vocab_size(), recipe)
    data = encode(tokenizer, test, recipe.labels)
    figures = check(reader, data, test)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    export(reader, folder / "model.onnx")
    write_card(task, folder, recipe, figures, tokenizer.get_vocab_size())
    print(
        json.dumps(figures, indent=2),
        f"\nONNX differs by at most {check_export(reader, data, folder / 'model.onnx'):.1e}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(RECIPES))
    parser.add_argument("--without-bow", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for task in arguments.tasks:
        make(task)
        if not arguments.without_bow:
            train_bow(task)


if __name__ == "__main__":
    main()
