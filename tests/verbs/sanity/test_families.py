"""Families: rows that share a text or most of its words stay together and count as one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_data import ZOO, some

import disorder
from disorder.data import read_data, word_hashes
from disorder.data.families import find_families, named_families
from disorder.data.word_hashes import N_BANDS, similar_sets
from disorder.errors import DisorderError
from disorder.requests.settings import Settings
from disorder.types import Dataset, Example, Task
from disorder.verbs.sanity.rows import read_rows


def having(example: Example, *, id: str = "", **texts: str) -> Example:
    return replace(example, id=id or example.id, segments={**example.segments, **texts})


def examples(n: int, n_words: int = 12, seed: int = 0) -> list[Example]:
    rng = np.random.default_rng(seed)
    return [
        Example.of(f"e{i:04d}", " ".join(some(rng, n_words)), " ".join(some(rng, n_words)), "yes")
        for i in range(n)
    ]


def together(found: Any, *rows: int) -> bool:
    return len({int(found.number[row]) for row in rows}) == 1


def test_unlike_rows_are_families_of_their_own() -> None:
    assert find_families(examples(200)).n == 200


def test_rows_that_share_words_in_another_order_are_one_family() -> None:
    rows = examples(100)
    turned = " ".join(reversed(rows[3].text_a.split()))
    rows.append(having(rows[0], id="turned", text_b=turned))  # the first text of row 0, too
    found = find_families(rows)
    assert together(found, 0, 3, 100)
    assert found.n == 99


def test_most_words_are_enough_and_few_are_not() -> None:
    rows = examples(100)
    words = rows[5].text_a.split()
    rows.append(having(rows[0], id="most", text_a=" ".join([*words[:-1], "xylo"]), text_b="so"))
    rows.append(having(rows[0], id="few", text_a=" ".join([*words[:6], *"abcdef"]), text_b="so"))
    found = find_families(rows)
    assert together(found, 5, 100)
    assert not together(found, 5, 101)


def test_short_texts_join_only_as_first_texts() -> None:
    rows = [having(each, text_b="it is so") for each in examples(100)]
    assert find_families(rows).n == 100
    rows = [having(each, text_a=f"it is {i // 2}") for i, each in enumerate(examples(100))]
    assert find_families(rows).n == 50


def test_families_do_not_depend_on_the_order_of_rows() -> None:
    rows = [
        Example.of(row["id"], row["text_a"], row["text_b"], row["label"])
        for row in ZOO["families"].rows(300)
    ]
    turns = np.random.default_rng(1).permutation(300)
    one = find_families(rows).number
    other = find_families([rows[i] for i in turns]).number
    assert (one[turns] == other).all()
    assert len(set(one.tolist())) == 50


def test_no_family_swallows_the_data() -> None:
    """Texts of a few templates are all alike: joined by 0.8 of their words they would be one."""
    rng = np.random.default_rng(0)
    frame = some(rng, 10)
    rows = [
        Example.of(str(i), " ".join([*frame, f"w{rng.integers(40)}"]), None, "yes")
        for i in range(1000)
    ]
    found = find_families(rows)
    assert np.bincount(found.number).max() <= 50
    assert found.n == len({row.text_a for row in rows})
    [note] = found.notes
    assert note.startswith(
        "1,000 of 1,000 rows share most words of a text with more than 50 others"
    )


def copies_of(texts: list[str], n: int, labels: list[str] | None = None) -> list[Example]:
    """So many near copies of each text, which differ in one word at the end."""
    labels = labels or [f"l{i}" for i in range(len(texts))]
    return [
        Example.of(f"{i}.{k}", f"{text} copy{k}", None, label)
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
        for k in range(n)
    ]


class TestCopies:
    """Near copies of each other are one family however large a share of the rows they are."""

    texts = (
        "the ferry left before dawn with nine tired sailors",
        "my aunt paints small birds on old wooden plates",
        "nobody could say who had moved that heavy piano",
    )

    @pytest.mark.parametrize("n", [10, 33, 100])
    def test_of_three_texts_are_three_families(self, n: int) -> None:
        found = find_families(copies_of(list(self.texts), n))
        assert found.n == 3
        assert np.bincount(found.number).tolist() == [n] * 3
        assert not found.notes

    def test_to_the_letter_are_one_family_whatever_their_labels(self) -> None:
        rows = [Example.of(str(i), self.texts[i % 3], None, f"l{i % 2}") for i in range(90)]
        assert find_families(rows).n == 3

    def test_one_row_that_is_mislabelled_or_less_alike_is_all_that_is_lost(self) -> None:
        rows = copies_of(list(self.texts), 100)
        noisy = [
            replace(row, label="l0" if row.label == "l1" else "l1") if i % 100 == 50 else row
            for i, row in enumerate(rows)
        ]
        found = find_families(noisy)
        assert found.n == 6
        assert sorted(np.bincount(found.number).tolist()) == [1, 1, 1, 99, 99, 99]
        [note] = found.notes
        assert note.startswith("3 of 300 rows")
        words = self.texts[0].split()
        further = having(rows[0], id="further", text_a=" ".join([*words[:-1], "copy7", "fog"]))
        assert np.bincount(find_families([*rows, further]).number).max() >= 100

    def test_of_pairs_need_both_texts(self) -> None:
        hub = "is this review of the film kind or is it not"
        single = copies_of(list(self.texts), 40)
        pairs = [having(row, text_b=f"{hub} {row.id[-1]}") for row in single]
        assert find_families(pairs).n == 3
        others = [having(row, text_b=f"{hub} {i}") for i, row in enumerate(examples(120))]
        assert find_families(others).n == 120

    def test_a_template_whose_words_decide_the_label_is_many_families(self) -> None:
        words = [f"w{i}" for i in range(40)]
        rows = [
            Example.of(str(i), f"{self.texts[0]} {words[i % 40]}", None, f"l{i % 40 % 2}")
            for i in range(400)
        ]
        assert find_families(rows).n == 40

    def test_a_template_with_two_gaps_is_many_families(self) -> None:
        rows = [
            Example.of(str(i), f"w{i % 20} said {self.texts[i % 2]} v{i // 20}", None, f"l{i % 2}")
            for i in range(200)
        ]
        assert find_families(rows).n == 200

    def test_the_same_words_in_other_orders_are_no_copies(self) -> None:
        rng = np.random.default_rng(0)
        words = some(rng, 10)
        rows = [
            Example.of(str(i), " ".join([*rng.permutation(words), f"is{i % 2}"]), None, f"l{i % 2}")
            for i in range(600)
        ]
        assert find_families(rows).n > 500


def test_a_text_in_every_row_joins_nothing() -> None:
    rows = [having(each, text_b="is this review kind or is it unkind") for each in examples(300)]
    assert find_families(rows).n == 300


def test_the_cost_grows_with_the_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    monkeypatch.setattr(
        word_hashes, "_members", lambda known, sets, i: looked.append(i) or frozenset((1, i))
    )
    rng = np.random.default_rng(0)
    frame = rng.integers(2**60, size=40, dtype=np.uint64)
    sets = [np.sort(np.append(frame, np.uint64(i))) for i in range(1000)]
    list(similar_sets(sets, 0.8))
    assert len(looked) <= 4 * N_BANDS * len(sets)  # two texts of two pairs per band


def test_a_family_is_in_one_part() -> None:
    data = ZOO["families"].rows(300)
    rows = read_rows(data, None, folds=None, margin=0.05, settings=Settings())
    parts: dict[int, set[int]] = {}
    for number, part in zip(rows.cluster.tolist(), rows.fold.tolist(), strict=True):
        parts.setdefault(number, set()).add(part)
    assert len(parts) == rows.n_families == 50
    assert all(len(found) == 1 for found in parts.values())
    assert "count as one: 50 families" in rows.design


def test_what_holds_in_one_family_only_is_not_learned() -> None:
    """Labels are drawn once per family: a model that knows its other rows predicts them all."""
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    found = disorder.sanity(ZOO["families"].rows(600), check="order")
    assert found.original is not None
    assert found.original.low <= 0.5
    assert found.n_rows["families_tested"] == 100
    assert found.original.high - found.original.low > 0.15  # a hundred families, not 600 rows


def test_families_of_paws_are_kept_together(shared_data: Any) -> None:
    data = shared_data / "paws_wiki" / "dev.jsonl.gz"
    rows = read_rows(str(data), None, folds=None, limit=8000, margin=0.05, settings=Settings())
    assert rows.n_families < 2500
    sizes = np.bincount(rows.cluster)
    assert sizes.max() <= 400


class TestNamedFamilies:
    def test_a_column_names_them(self) -> None:
        rows = [
            {"text_a": row.text_a, "label": str(i % 2), "source": i % 7 if i < 63 else None}
            for i, row in enumerate(examples(70))
        ]
        read = read_data(rows, family="source").examples
        assert find_families(read).n == 7 + 7  # a row that names none is one of its own
        assert len({row.family for row in read}) == 14

    def test_found_ones_are_named_after_a_member(self) -> None:
        rows = [*examples(10), *(replace(row, id=f"copy {row.id}") for row in examples(10))]
        named = named_families(Dataset("d", Task("t"), rows)).examples
        assert find_families(named).n == 10
        assert {row.family for row in named} <= {row.id for row in rows}

    def test_an_unknown_column_is_an_error_that_names_the_others(self) -> None:
        with pytest.raises(DisorderError, match=r"no column 'topic' .* it has .*source"):
            read_data([{"text_a": "a b c", "label": "x", "source": 1}], family="topic")
