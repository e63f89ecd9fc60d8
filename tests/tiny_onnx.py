"""A small ONNX classifier (the sum of one row per word) and its tokenizer, made without the package
`onnx`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from conftest import pairs


def onnx_of(location: str, shape: tuple[int, int], output: str = "logits") -> bytes:
    """An ONNX file, written field by field: the package `onnx` is not needed for one."""
    external = [
        _pair("location", location),
        _pair("offset", "0"),
        _pair("length", str(4 * shape[0] * shape[1])),
    ]
    table = [
        _number(1, shape[0]),
        _number(1, shape[1]),
        _number(2, 1),
        _bytes(8, b"table"),
        *[_bytes(13, entry) for entry in external],
        _number(14, 1),
    ]
    axis = [_number(1, 1), _number(2, 7), _bytes(8, b"axis"), _bytes(9, (1).to_bytes(8, "little"))]
    keepdims = _bytes(1, b"keepdims") + _number(3, 0) + _number(20, 2)
    gather = [
        _bytes(1, b"table"),
        _bytes(1, b"input_ids"),
        _bytes(2, b"words"),
        _bytes(4, b"Gather"),
    ]
    total = [
        _bytes(1, b"words"),
        _bytes(1, b"axis"),
        _bytes(2, output.encode()),
        _bytes(4, b"ReduceSum"),
        _bytes(5, keepdims),
    ]
    graph = [
        _bytes(1, b"".join(gather)),
        _bytes(1, b"".join(total)),
        _bytes(2, b"g"),
        _bytes(5, b"".join(table)),
        _bytes(5, b"".join(axis)),
        _bytes(11, _value("input_ids", 7, ["n", "m"])),
        _bytes(12, _value(output, 1, ["n", "c"])),
    ]
    opset = _bytes(1, b"") + _number(2, 17)
    return _number(1, 9) + _bytes(7, b"".join(graph)) + _bytes(8, opset)


def _value(name: str, kind: int, dimensions: list[str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, each.encode())) for each in dimensions)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _pair(key: str, value: str) -> bytes:
    return _bytes(1, key.encode()) + _bytes(2, value.encode())


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def word_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[UNK]": 0} | {
        word: i
        for i, word in enumerate(sorted({w for r in pairs(12) for w in r["text_a"].split()}), 1)
    }
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))


def bag_of_words(
    folder: Path, weights: Mapping[str, Sequence[float]], others: Sequence[str], *, max_length: int
) -> Path:
    """A folder with a model that adds up the weights of the first `max_length` words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir()
    known = dict.fromkeys(["[UNK]", *others, *weights])
    tokenizer = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(known)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": max_length}))
    width = len(next(iter(weights.values())))
    table = np.array([weights.get(word, [0.0] * width) for word in known], dtype=np.float32)
    (folder / "weights").write_bytes(table.tobytes())
    (folder / "model.onnx").write_bytes(onnx_of("weights", table.shape))
    return folder
