"""A memo computes each result once, keeps those used last, and is safe for threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from disorder.store.store import Memo


def test_each_key_is_made_once_and_in_one_batch() -> None:
    memo: Memo[str, str] = Memo()
    batches: list[list[int]] = []

    def ask(keys: Sequence[str]) -> list[str]:
        def make(missing: Sequence[int]) -> list[str]:
            batches.append(list(missing))
            return [keys[i].upper() for i in missing]

        return memo(keys, make)

    assert ask(["a", "b", "a"]) == ["A", "B", "A"]
    assert ask(["b", "c"]) == ["B", "C"]
    assert [len(batch) for batch in batches] == [2, 1]


def test_what_was_used_last_is_kept() -> None:
    memo: Memo[int, int] = Memo(2)
    made: list[int] = []

    def ask(key: int) -> int:
        def make(missing: Sequence[int]) -> list[int]:
            made.append(key)
            return [key * 10]

        [result] = memo([key], make)
        return result

    assert [ask(key) for key in (1, 2, 1, 3, 1, 2)] == [10, 20, 10, 30, 10, 20]
    assert made == [1, 2, 3, 2]


def test_more_keys_than_fit_are_all_given() -> None:
    memo: Memo[int, int] = Memo(3)
    assert memo(range(10), list) == list(range(10))


def test_threads_get_their_own_results() -> None:
    memo: Memo[int, int] = Memo(5)

    def ask(start: int) -> list[int]:
        keys = [start + i for i in range(20)]
        return memo(keys, lambda missing: [keys[i] ** 2 for i in missing])

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(200)))
    assert found == [[(start + i) ** 2 for i in range(20)] for start in range(200)]
