"""Networks from scratch: padding changes nothing, and some cannot see order by construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from disorder.errors import BadModel, BadSetting
from disorder.models.networks import Shape
from disorder.models.scratch import UNKNOWN, Vocabulary, by_size, count_words, feed
from disorder.registry import NetworkPart, SplitterPart, part, parts

torch = pytest.importorskip("torch", reason="needs torch")

NETWORKS = [name for name, entry in parts(NetworkPart).items() if entry.is_built_in]
PAIRS = [
    ([2, 3, 4], [5, 6]),
    ([7], [3, 2, 8, 9, 4]),
    ([4, 4, 9, 8, 7, 6, 2], [2]),
    ([5, 3], [9, 9, 9]),
]


def built(name: str, *, is_pair: bool = True, **settings: Any) -> Any:
    torch.manual_seed(0)
    return part(NetworkPart, name).function(Shape(12, 8, 3, is_pair), **settings).eval()


def logits(network: Any, pairs: Sequence[tuple[list[int], list[int] | None]]) -> Any:
    with torch.inference_mode():
        return network(
            **{key: torch.from_numpy(array) for key, array in feed(pairs).items()}
        ).numpy()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_padded_batch_gives_what_each_pair_gives_alone(name: str) -> None:
    network = built(name)
    together = logits(network, PAIRS)
    alone = np.concatenate([logits(network, [pair]) for pair in PAIRS])
    assert np.abs(together - alone).max() < 1e-5
    assert np.ptp(together, axis=0).max() > 1e-4, "predictions depend on the texts"


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "esim"])
def test_single_texts_too(name: str) -> None:
    network = built(name, is_pair=False)
    texts = [(a, None) for a, _ in PAIRS]
    together = logits(network, texts)
    assert (
        np.abs(together - np.concatenate([logits(network, [text]) for text in texts])).max() < 1e-5
    )


def test_esim_says_that_it_needs_pairs() -> None:
    with pytest.raises(BadModel, match="compares two texts"):
        built("esim", is_pair=False)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_see_order(name: str) -> None:
    network = built(name)
    found = logits(network, [([2, 3, 4, 5, 6], [7, 8, 9]), ([6, 4, 2, 5, 3], [9, 7, 8])])
    assert np.abs(found[0] - found[1]).max() > 1e-4


@pytest.mark.parametrize(
    ("name", "settings"),
    [("convnet", {"reach": 1}), ("transformer", {"positions": False})],
    ids=["convnet", "transformer"],
)
def test_some_are_blind_to_order_by_construction(name: str, settings: dict[str, Any]) -> None:
    network = built(name, **settings)
    found = logits(network, [([2, 3, 4, 5, 6], [7, 8, 9]), ([6, 4, 2, 5, 3], [9, 7, 8])])
    assert np.abs(found[0] - found[1]).max() < 1e-5


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("convnet", {"reach": 2}),
        ("convnet", {"layers": 0}),
        ("transformer", {"heads": 3}),
        ("transformer", {"layers": 0}),
    ],
)
def test_settings_that_cannot_work(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(BadSetting):
        built(name, **settings)


def test_words_are_numbered_and_the_rest_is_unknown() -> None:
    vocabulary = Vocabulary(["dog", ".", "the"], max_length=4)
    assert vocabulary.encode("The dog.") == [4, 2, 3]
    assert vocabulary.encode("A dog") == [UNKNOWN, 2]
    assert vocabulary.encode("dog dog dog dog dog") == [2, 2, 2, 2]
    assert vocabulary.encode("") == vocabulary.encode("  ") == [UNKNOWN]
    assert len(vocabulary) == 5


@pytest.mark.parametrize(
    "text",
    [
        "Don't panic: it's 3.5 well-known dogs.",
        "我喜欢 a ❤️ emoji",
        " tab\tand\nline ",
        "a--b 'c' …d",
    ],
)
def test_cutting_between_spaces_gives_the_words_of_the_whole_text(text: str) -> None:
    for splitter in ("simple", "spaces"):
        words = [word.lower() for word in part(SplitterPart, splitter).function(text).words]
        known = Vocabulary(sorted(set(words)), splitter)
        assert [known.known[i - 2] for i in known.encode(text)] == words
        assert count_words([text, text], splitter) == {
            word: 2 * words.count(word) for word in words
        }


def test_batches_hold_every_input_once_and_neighbours_in_length() -> None:
    rng = np.random.default_rng(0)
    sizes = [(int(a), int(b)) for a, b in rng.integers(1, 40, size=(3000, 2))]
    batches = by_size(sizes)
    assert sorted(i for batch in batches for i in batch) == list(range(3000))
    assert max(map(len, by_size(sizes, batch_size=7))) == 7
    assert all(len(batch) * max(sum(sizes[i]) for i in batch) <= 8192 for batch in batches)
