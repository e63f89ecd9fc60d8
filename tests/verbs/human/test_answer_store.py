"""Answers are stored once and durably, and undoing keeps what was undone."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st

from disorder.errors import BadData
from disorder.verbs.human.answer_store import AnswerStore, HumanAnswer, StaleAnswer


def counting(store: AnswerStore, annotator: str = "ann") -> dict[str, str]:
    return {given.item: given.answer for given in store.answers(annotator)}


def test_an_answer_is_stored_once(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    assert store.answer("ann", "i1", 1, "neutral", 2.5)
    assert not store.answer("ann", "i1", 1, "neutral", 2.5)
    with pytest.raises(StaleAnswer):  # another answer to the same attempt: a second window
        store.answer("ann", "i1", 1, "entailment", 0.1)
    assert counting(store) == {"i1": "neutral"}
    (stored,) = store.answers()
    assert (stored.seconds, stored.source, stored.undone) == (2.5, "page", None)


def test_undo_keeps_the_history_and_can_come_twice(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    store.answer("ann", "i1", 1, "neutral", 1.0)
    assert store.undo("ann", "i1", 1)
    assert not store.undo("ann", "i1", 1)
    assert counting(store) == {}
    assert store.attempt("ann", "i1") == 2
    assert not store.answer(
        "ann", "i1", 1, "neutral", 1.0
    )  # a late retry of what was undone brings nothing back
    assert counting(store) == {}
    assert store.answer("ann", "i1", 2, "entailment", 1.0)
    assert [(a.attempt, a.answer, a.undone is None) for a in store.answers(with_undone=True)] == [
        (1, "neutral", False),
        (2, "entailment", True),
    ]


def test_a_page_that_is_out_of_date_stores_nothing(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    store.answer("ann", "i1", 1, "neutral", 1.0)
    with pytest.raises(StaleAnswer, match="not undone"):
        store.answer("ann", "i1", 2, "entailment", 1.0)
    with pytest.raises(StaleAnswer, match="another window"):
        store.answer("ann", "i2", 5, "entailment", 1.0)
    assert counting(store) == {"i1": "neutral"}


def test_adding_is_all_or_nothing(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    store.answer("ann", "i3", 1, "neutral", 1.0)
    rows = [HumanAnswer("ann", f"i{k}", 0, "entailment", None, "now", "import") for k in range(5)]
    with pytest.raises(StaleAnswer, match="i3 with 'neutral' before"):
        store.add(rows)
    assert counting(store) == {"i3": "neutral"}
    assert store.add(rows[:3]) == 3
    assert store.add(rows[:3]) == 0


def test_many_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    def work(annotator: str) -> None:
        for k in range(15):
            for _ in range(2):
                store.answer(annotator, f"i{k}", 1, "neutral", 1.0)

    store = AnswerStore(tmp_path)
    threads = [
        threading.Thread(target=work, args=(name,)) for name in ("ann", "bob", "cleo", "ann")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.answers(with_undone=True)) == 45
    assert all(len(counting(store, name)) == 15 for name in ("ann", "bob", "cleo"))


def test_a_killed_process_keeps_what_it_reported_as_stored(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from disorder.verbs.human.answer_store import AnswerStore\n"
        "for k in range(10**6):\n"
        "    AnswerStore(Path(sys.argv[1])).answer('ann', f'i{k}', 1, 'neutral', 1.0)\n"
        "    print(k, flush=True)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    said += [int(line) for line in process.stdout.read().splitlines()]
    process.wait()
    process.stdout.close()
    stored = [given.item for given in AnswerStore(tmp_path).answers()]
    assert stored[: len(said)] == [f"i{k}" for k in said]
    assert len(stored) <= len(said) + 1


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(BadData, match="not a database"):
        AnswerStore(tmp_path).answer("ann", "i1", 1, "neutral", 1.0)


@given_any(
    st.lists(
        st.tuples(st.sampled_from(["answer", "undo"]), st.integers(0, 2), st.integers(1, 3)),
        max_size=25,
    )
)
def test_requests_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, requests: list[tuple[str, int, int]]
) -> None:
    """At most one answer of an item counts, attempts are numbered without gaps, and nothing stored
    is ever lost.
    """
    store, n_stored = AnswerStore(tmp_path_factory.mktemp("store")), 0
    for what, item, attempt in requests:
        try:
            if what == "answer":
                n_stored += store.answer("ann", f"i{item}", attempt, "neutral", None)
            else:
                store.undo("ann", f"i{item}", attempt)
        except StaleAnswer:
            pass
    history = store.answers(with_undone=True)
    assert len(history) == n_stored
    for item in {given.item for given in history}:
        mine = [given for given in history if given.item == item]
        assert [given.attempt for given in mine] == list(range(1, len(mine) + 1))
        assert sum(given.undone is None for given in mine) <= 1


def test_wal_is_on(tmp_path: Path) -> None:
    AnswerStore(tmp_path).answer("ann", "i1", 1, "neutral", 1.0)
    with sqlite3.connect(tmp_path / "answers.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
