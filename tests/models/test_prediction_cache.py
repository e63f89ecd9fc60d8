"""Is a cached prediction the prediction? Shared by processes, bounded, and never used when a byte
is wrong.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from disorder.models.inputs.variants import text_parts
from disorder.models.loaded_model import LoadedModel
from disorder.store import prediction_cache
from disorder.store.prediction_cache import (
    FILE,
    OLDER,
    KeptPredictions,
    PredictionCache,
    key_of,
)
from disorder.types import Floats, Texts
from disorder.types.predictions import Predictions


def keys(n: int, start: int = 0) -> list[bytes]:
    return [key_of("model", "fp32", [("text_a", f"text {i}")]) for i in range(start, start + n)]


def predictions(n: int, start: int = 0) -> Predictions:
    first = np.arange(start, start + n) / 1000
    return Predictions.answered(np.stack([first, 1 - first], axis=1))


def is_same(found: KeptPredictions, n: int, start: int = 0) -> bool:
    expected = predictions(n, start).values
    is_near = np.allclose(found.predictions.values, expected, atol=1e-6)
    return bool(found.is_kept.all() and is_near)


def test_what_was_put_is_found_by_another_run(tmp_path: Path) -> None:
    PredictionCache(tmp_path).put(keys(1200), predictions(1200))
    assert is_same(PredictionCache(tmp_path).get(keys(1200), 2), 1200)
    found = PredictionCache(tmp_path).get(keys(1300), 2)
    assert found.is_kept.tolist() == [True] * 1200 + [False] * 100
    assert np.isnan(found.predictions.values[1200:]).all()


def test_outcome_and_label_mass_are_kept(tmp_path: Path) -> None:
    outcomes = np.array(["answered", "failed: the model refused", "answered"], dtype=object)
    given = Predictions(np.array([[0.5, 0.5], [np.nan, np.nan], [0.25, 0.75]]), outcomes)
    masses = np.array([0.5, np.nan, np.nan])
    PredictionCache(tmp_path).put(keys(3), given, masses)
    found = PredictionCache(tmp_path).get(keys(3), 2)
    assert found.is_kept.all()
    assert found.predictions.outcomes.tolist() == outcomes.tolist()
    assert np.array_equal(found.predictions.values, given.values, equal_nan=True)
    assert np.array_equal(found.masses, masses, equal_nan=True)


def test_an_older_cache_is_named_once_and_left(tmp_path: Path) -> None:
    (tmp_path / OLDER).write_bytes(b"of an earlier version")
    first = PredictionCache(tmp_path)
    first.put(keys(1), predictions(1))
    assert [OLDER in note for note in first.notes] == [True]
    assert PredictionCache(tmp_path).notes == []


def test_two_versions_on_one_folder_never_answer_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = PredictionCache(tmp_path)
    monkeypatch.setattr(prediction_cache, "FILE", "predictions-3.sqlite")
    later = PredictionCache(tmp_path)
    here.put(keys(5), predictions(5))
    later.put(keys(5), predictions(5, start=100))
    assert is_same(here.get(keys(5), 2), 5)
    assert is_same(later.get(keys(5), 2), 5, start=100)
    assert here.notes == []


def test_a_table_of_another_version_under_our_name_only_costs_the_cache(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as base:
        base.execute("CREATE TABLE predictions (key BLOB PRIMARY KEY, answer BLOB, more TEXT)")
        base.execute("INSERT INTO predictions VALUES (?, ?, '')", (keys(1)[0], b"12345678"))
    cache = PredictionCache(tmp_path)
    assert not cache.get(keys(1), 2).is_kept.any()
    cache.put(keys(1), predictions(1))
    assert len(cache.notes) == 1
    with sqlite3.connect(tmp_path / FILE) as base:  # and what is another version's stays whole
        assert base.execute("SELECT answer FROM predictions").fetchall() == [(b"12345678",)]


def test_keys_tell_model_precision_and_text_apart() -> None:
    told = {
        key_of(model, precision, text_parts(texts))
        for model in ("m", "n")
        for precision in ("fp32", "bf16")
        for texts in (("a", "b"), ("b", "a"), ("a b", None), ("a", ""), ("a", None), ("a\0b", None))
    }
    assert len(told) == 2 * 2 * 6


def test_no_text_can_pass_for_the_border_between_two() -> None:
    one = text_parts(("good\0\2movie here", "bad film"))
    other = text_parts(("good", "movie here\0\2bad film"))
    assert key_of("m", "fp32", one) != key_of("m", "fp32", other)


def test_two_inputs_that_join_to_one_have_their_own_predictions(tmp_path: Path) -> None:
    texts: list[Texts] = [("good\0\2movie here", "bad film"), ("good", "movie here\0\2bad film")]
    loaded = LoadedModel(Counting(), "m", ("x", "y"), np.eye(2), "fp32", PredictionCache(tmp_path))
    assert np.array_equal(loaded(texts), Counting()(texts).astype(np.float32))


def test_a_kept_row_that_is_no_probability_is_predicted_again(tmp_path: Path) -> None:
    cache = PredictionCache(tmp_path)
    model = Counting()
    loaded = LoadedModel(model, "m", ("x", "y"), np.eye(2), "fp32", cache)
    key = key_of("counting", "fp32", text_parts(("word", None)))
    cache.put([key], Predictions.answered(np.array([[7.0, -6.0]])))
    assert loaded([("word", None)]).tolist() == loaded([("word", None)]).tolist()
    assert model.n_predicted == 1
    assert loaded([("word", None)])[0] == pytest.approx([0.4, 0.6])
    assert loaded.notes == [
        f"the prediction cache {tmp_path / FILE} holds rows that are damaged or no predictions "
        "(1); these texts were predicted again"
    ]


@pytest.mark.parametrize(
    ("outcome", "is_kept"),
    [("answered", True), ("abstained", True), ("failed: x", True), ("gone", False), ("", False)],
)
def test_an_outcome_is_one_that_a_model_can_have(
    tmp_path: Path, outcome: str, is_kept: bool
) -> None:
    cache = PredictionCache(tmp_path)
    cache.put(keys(1), Predictions(np.array([[7.0, 7.0]]), np.array([outcome], dtype=object)))
    found = cache.get(keys(1), 2)
    assert found.is_kept.tolist() == [is_kept]
    assert np.isnan(found.predictions.values).all() == outcome.startswith("failed") or not is_kept


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
    assert again.get(keys(3), 2).is_kept.tolist() == [True, False, True]
    assert again.n_damaged == 1


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database at all" * 1000)
    cache = PredictionCache(tmp_path)
    cache.put(keys(3), predictions(3))
    assert is_same(cache.get(keys(3), 2), 3)
    assert "put aside" in cache.notes[0]
    assert len(list(tmp_path.glob(f"{FILE}.damaged-*"))) == 1


def test_it_stays_within_its_size(tmp_path: Path) -> None:
    cache = PredictionCache(tmp_path, max_bytes=300_000)
    for start in range(0, 40_000, 2_000):
        cache.put(keys(2_000, start), predictions(2_000, start))
    cache.close()
    assert (tmp_path / FILE).stat().st_size < 2 * 300_000
    newest = PredictionCache(tmp_path).get(keys(2_000, 38_000), 2)
    assert newest.is_kept.all()


def fill(folder: str, start: int) -> bool:
    cache = PredictionCache(Path(folder))
    for i in range(start, start + 500, 50):
        cache.put(keys(50, i), predictions(50, i))
        if not is_same(cache.get(keys(50, i), 2), 50, i):
            return False
    return cache.notes == []


def test_two_processes_can_share_it(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        assert all(pool.map(fill, [str(tmp_path)] * 4, [0, 250, 500, 750]))
    assert is_same(PredictionCache(tmp_path).get(keys(1250), 2), 1250)


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
    assert not cache.get(keys(2), 2).is_kept.any()
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
