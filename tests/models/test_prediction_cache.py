"""Is a cached prediction the prediction? Shared by processes, bounded, and never used when a byte
is wrong.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from disorder.models.loaded_model import LoadedModel
from disorder.runs.prediction_cache import FILE, PredictionCache, key_of
from disorder.types import Floats, Texts


def keys(n: int, start: int = 0) -> list[bytes]:
    return [key_of("model", "fp32", (f"text {i}", None)) for i in range(start, start + n)]


def predictions(n: int, start: int = 0) -> Floats:
    first = np.arange(start, start + n) / 1000
    return np.stack([first, 1 - first], axis=1)


def test_what_was_put_is_found_by_another_run(tmp_path: Path) -> None:
    PredictionCache(tmp_path).put(keys(1200), predictions(1200))
    found = PredictionCache(tmp_path).get(keys(1300), 2)
    assert np.allclose(found[:1200], predictions(1200), atol=1e-6)
    assert np.isnan(found[1200:]).all()


def test_keys_tell_model_precision_and_text_apart() -> None:
    told = {
        key_of(model, precision, texts)
        for model in ("m", "n")
        for precision in ("fp32", "bf16")
        for texts in (("a", "b"), ("b", "a"), ("a b", None), ("a", ""), ("a", None), ("a\0b", None))
    }
    assert len(told) == 2 * 2 * 6


def test_a_flipped_byte_is_predicted_again(tmp_path: Path) -> None:
    cache = PredictionCache(tmp_path)
    cache.put(keys(3), predictions(3))
    cache.close()
    base = sqlite3.connect(tmp_path / FILE)
    value = base.execute("SELECT value FROM predictions WHERE key = ?", (keys(3)[1],)).fetchone()[0]
    flipped = bytes([value[0] ^ 1]) + value[1:]
    base.execute("UPDATE predictions SET value = ? WHERE key = ?", (flipped, keys(3)[1]))
    base.commit()
    base.close()
    again = PredictionCache(tmp_path)
    found = again.get(keys(3), 2)
    assert np.isnan(found[1]).all()
    assert not np.isnan(found[[0, 2]]).any()
    assert again.n_damaged == 1


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database at all" * 1000)
    cache = PredictionCache(tmp_path)
    cache.put(keys(3), predictions(3))
    assert np.allclose(cache.get(keys(3), 2), predictions(3), atol=1e-6)
    assert "put aside" in cache.notes[0]
    assert len(list(tmp_path.glob(f"{FILE}.damaged-*"))) == 1


def test_it_stays_within_its_size(tmp_path: Path) -> None:
    cache = PredictionCache(tmp_path, max_bytes=300_000)
    for start in range(0, 40_000, 2_000):
        cache.put(keys(2_000, start), predictions(2_000, start))
    cache.close()
    assert (tmp_path / FILE).stat().st_size < 2 * 300_000
    assert not np.isnan(
        PredictionCache(tmp_path).get(keys(2_000, 38_000), 2)
    ).any()  # the newest are still there


def fill(folder: str, start: int) -> bool:
    cache = PredictionCache(Path(folder))
    for i in range(start, start + 500, 50):
        cache.put(keys(50, i), predictions(50, i))
        found = cache.get(keys(50, i), 2)
        if not np.allclose(found, predictions(50, i), atol=1e-6):
            return False
    return cache.notes == []


def test_two_processes_can_share_it(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        assert all(pool.map(fill, [str(tmp_path)] * 4, [0, 250, 500, 750]))
    assert np.allclose(PredictionCache(tmp_path).get(keys(1250), 2), predictions(1250), atol=1e-6)


def open_and_close(folder: str) -> list[str]:
    cache = PredictionCache(Path(folder))
    cache.put(keys(1), predictions(1))
    cache.close()
    return cache.notes


def test_processes_that_start_together_on_a_new_file_wait_for_each_other(tmp_path: Path) -> None:
    folders = [str(tmp_path / str(i // 4)) for i in range(200)]
    with ProcessPoolExecutor(4) as pool:
        assert list(pool.map(open_and_close, folders)) == [[]] * 200


def test_an_unusable_folder_only_costs_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = PredictionCache(tmp_path / "file" / "cache")
    cache.put(keys(2), predictions(2))
    assert np.isnan(cache.get(keys(2), 2)).all()
    assert "no prediction cache" in cache.notes[0]


class Counting:
    labels = ("x", "y")
    fingerprint = "counting"

    def __init__(self) -> None:
        self.n_predicted = 0

    def __call__(self, texts: list[Texts], /) -> Floats:
        self.n_predicted += len(texts)
        return np.array([[len(a) % 10 / 10, 1 - len(a) % 10 / 10] for a, _ in texts])


@pytest.mark.parametrize("order", [1, -1])
def test_a_model_predicts_each_text_once(tmp_path: Path, order: int) -> None:
    model = Counting()
    loaded = LoadedModel(model, "m", ("x", "y"), np.eye(2), "fp32", PredictionCache(tmp_path))
    texts: list[Texts] = [("w" * i, None) for i in range(1, 60)]
    first = loaded(texts)
    again = LoadedModel(model, "m", ("x", "y"), np.eye(2), "fp32", PredictionCache(tmp_path))(
        texts[::order]
    )
    assert model.n_predicted == 59
    assert np.array_equal(first.astype(np.float32), again[::order].astype(np.float32))
    assert loaded.counts["cached"] == 0
