"""Long texts cost time and memory in proportion to their length, and pages of them are cut."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disorder.data import read_data
from disorder.data.examples import LONG_REASON, LONGEST
from disorder.errors import DoesNotApply
from disorder.metrics.wos import is_one_sentence
from disorder.models.servers.replies import visible_reply
from disorder.results.row_export import csv_text
from disorder.transformations import parse
from disorder.transformations.positions import orders
from disorder.transformations.surface_control import _ending
from disorder.transformations.words.lines import lines
from disorder.types import Example, Ints, Task
from disorder.verbs.audit import audit
from disorder.verbs.audit.sampling import BLOCK_LETTERS, in_blocks
from faults.laboratory import rows


def slow_repair(row: Ints, firsts: Ints, lasts: Ints, old: orders.Bigrams, rng: Any) -> Ints | None:
    """The repair as it was: every pair is looked at after every swap."""

    def bad_places() -> Ints:
        return np.flatnonzero(old.hold(lasts[row[:-1]], firsts[row[1:]]))

    row = row.copy()
    bad = bad_places()
    for _ in range(orders.REPAIRS):
        if not len(bad):
            return row
        i = int(bad[rng.integers(len(bad))]) + int(rng.integers(2))
        j = int(rng.integers(len(row)))
        row[[i, j]] = row[[j, i]]
        after = bad_places()
        if len(after) > len(bad):
            row[[i, j]] = row[[j, i]]
        else:
            bad = after
    return None


@pytest.mark.parametrize(("n", "n_kinds"), [(9, 3), (12, 5), (40, 12), (120, 30), (300, 290)])
def test_repairs_are_the_same_as_before(n: int, n_kinds: int) -> None:
    """Perturbed texts of a seed do not change."""
    for seed in range(12):
        kinds = np.random.default_rng(seed).integers(n_kinds, size=n)
        old = orders.Bigrams.of(kinds)
        row = np.random.default_rng(seed + 100).permutation(n)
        one, two = np.random.default_rng(7), np.random.default_rng(7)
        expected = slow_repair(row, kinds, kinds, old, one)
        found = orders.repaired_order(row, kinds, kinds, old, two)
        assert (expected is None) == (found is None)
        if expected is not None and found is not None:
            assert found.tolist() == expected.tolist()
            assert found.dtype == expected.dtype
        assert one.integers(10**9) == two.integers(10**9)  # as many draws


def test_shuffle_of_many_equal_words_looks_at_few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of a text once for each order drawn, then those around a swap alone."""
    words = [f"w{i}" if i % 2 else "the" for i in range(2_500)]
    looked_at = []
    hold = orders.Bigrams.hold

    def counted(self: orders.Bigrams, before: Ints, after: Ints) -> Any:
        looked_at.append(before.size)
        return hold(self, before, after)

    monkeypatch.setattr(orders.Bigrams, "hold", counted)
    example = Example.of("1", " ".join(words), None, "x")
    with suppress(DoesNotApply):  # whether there is such an order at all is not the question
        parse("shuffle").apply(example, task=Task("t", ("x", "y"), "a"), q=10, seed=0, short="use")
    assert sum(looked_at) < 400 * len(words)  # after every swap again, it would be thousands


def example_of(letters: int) -> Example:
    return Example.of(str(letters), "a" * letters, None, "x")


def test_usual_texts_stay_in_blocks_of_one_size() -> None:
    examples = [example_of(400)] * 100
    assert [len(block) for block in in_blocks(examples, 40, 100)] == [40, 40, 20]


def test_long_texts_get_blocks_of_their_own() -> None:
    long = BLOCK_LETTERS // 100
    examples = [example_of(letters) for letters in (10, long, long, 10, 10)]
    assert [len(block) for block in in_blocks(examples, 40, 100)] == [1, 1, 1, 2]
    assert list(in_blocks([], 40, 100)) == []


def test_a_text_without_end_is_left_out_and_counted(tmp_path: Path) -> None:
    """A file of one line, for instance."""
    path = tmp_path / "d.jsonl"
    long = {"id": "long", "text_a": "word " * (LONGEST // 5 + 1), "label": "no"}
    path.write_text("\n".join(map(json.dumps, [long, *rows(4)])))
    found = read_data(str(path))
    assert len(found.examples) == 4
    assert dict(found.skipped) == {LONG_REASON: 1}


def test_a_page_of_long_texts_is_cut(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb")
    from starlette.testclient import TestClient

    from disorder.web.viewer_app import viewer_app

    rows = [
        {"id": f"e{i}", "text_a": " ".join(f"w{i}x{k}" for k in range(20_000)), "label": label}
        for i, label in enumerate(["no", "yes"])
    ]
    audit("uniform", rows, q=5, with_="derange", out=tmp_path / "run", cache="off")
    client = TestClient(viewer_app(tmp_path), base_url="http://127.0.0.1")
    listed = client.get("/").text
    id = listed.split('href="/run/')[1].split('"')[0].split("?")[0]
    page = client.get(f"/run/{id}/example/0").text
    assert len(page) < 3_000_000
    assert "show more" in page
    assert "19,600 more words" in page
    more = client.get(f"/run/{id}/example/0?words=999999999").text
    assert len(page) < len(more) < 25_000_000
    assert "the run folder holds all of them" in more


PATTERNS: dict[str, tuple[Callable[[str], Any], str]] = {
    "one token of letters": (is_one_sentence, "a" * 60_000),
    "a row of closing brackets": (is_one_sentence, "." + ")" * 60_000),
    "a row of marks": (_ending, "." * 60_000 + "x"),
    "a line of spaces": (lines, "a\n" + " " * 60_000),
    "a number that is none": (lambda text: csv_text(["x"], [[text]]), "+" + "1" * 60_000 + "x"),
    "thoughts without an end": (lambda text: visible_reply(text, "stop"), "<think>" * 60_000),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_begins_again_at_every_character(name: str) -> None:
    """Each took 10 s and more: the square of the length."""
    read, text = PATTERNS[name]
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 1
