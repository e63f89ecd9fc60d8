"""Making a blind task: evenly drawn, the same for a seed, with the texts of the run, and nothing
of the key in what people see.
"""

from __future__ import annotations

import json
import shutil
import stat
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import disorder
from conftest import pairs
from disorder.errors import DisorderError
from disorder.verbs.human import make
from disorder.verbs.human.answer_store import AnswerStore
from disorder.verbs.human.task_drawing import draw_in_turn, even_shares, short_or_long
from disorder.verbs.human.task_folder import (
    ItemKey,
    order_for,
    read_annotators,
    read_instructions,
    read_items,
    read_key,
    read_task,
)

Q = 6


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a random model: D_c and D_f are both large."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    disorder.audit(
        "uniform",
        "builtin",
        limit=500,
        q=Q,
        with_=["derange", "reverse"],
        out=folder,
        cache="off",
        seed=3,
    )
    return folder


def samples(run: Path, transformation: str) -> dict[tuple[str, int], str]:
    """The predicted label of each variant."""
    found = {}
    for path in sorted((run / "samples").glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            if row["transformation"] == transformation:
                found[row["example"], row["variant"]] = row["label"]
    return found


def counts(key: list[ItemKey], *columns: str) -> Counter[tuple[str, ...]]:
    return Counter(tuple(str(getattr(entry, column)) for column in columns) for entry in key)


def test_a_run_gives_equal_parts_of_everything(run: Path, tmp_path: Path) -> None:
    """As UNLI: half D_c, half D_f, all accepted; here also even over labels and lengths."""
    made = make(str(run), tmp_path / "t", n=120)
    key = read_key(tmp_path / "t")
    assert counts(key, "set") == {("D_c",): 60, ("D_f",): 60}
    assert set(counts(key, "set", "label", "length").values()) == {10}
    assert len({entry.example for entry in key}) == 120
    assert made.task.notes == []
    assert all(entry.model_answer == entry.gold == entry.label for entry in key)
    assert all((entry.model_original == entry.gold) is (entry.set == "D_c") for entry in key)


def test_people_see_what_the_model_saw(run: Path, tmp_path: Path) -> None:
    make(str(run), tmp_path / "t", n=60)
    items = {item.item: item for item in read_items(tmp_path / "t")}
    predictions = samples(run, "derange")
    for entry in read_key(tmp_path / "t"):
        assert entry.variant is not None
        assert predictions[entry.example, entry.variant] == entry.model_answer
        shown = items[entry.item]
        assert shown.text_b is not None
        assert entry.original_b is not None
        for text, original in ((shown.text_a, entry.original_a), (shown.text_b, entry.original_b)):
            assert sorted(text.replace(".", "").replace(",", "").split()) == sorted(
                original.replace(".", "").replace(",", "").split()
            )
            assert text != original


def test_a_text_that_is_not_what_the_run_recorded_is_an_error(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    about = json.loads((tmp_path / "run" / "result.json").read_text())
    about["seed"] += 1
    (tmp_path / "run" / "result.json").write_text(json.dumps(about))
    with pytest.raises(DisorderError, match="another order than the run recorded"):
        make(str(tmp_path / "run"), tmp_path / "t", n=20)
    assert not (tmp_path / "t").exists()


def test_all_takes_also_what_was_not_accepted(run: Path, tmp_path: Path) -> None:
    make(str(run), tmp_path / "t", n=120, accepted=False)
    key = read_key(tmp_path / "t")
    assert 10 < sum(entry.model_answer != entry.gold for entry in key) < 110
    assert not read_task(tmp_path / "t").is_accepted_only


def test_the_seed_decides_the_sample_and_the_order_and_not_the_links(
    run: Path, tmp_path: Path
) -> None:
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        make(str(run), tmp_path / name, n=60, seed=seed)
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    assert read_key(one) == read_key(two) != read_key(three)
    assert read_items(one) == read_items(two) != read_items(three)
    assert {a.token for a in read_annotators(one)}.isdisjoint(
        {a.token for a in read_annotators(two)}
    )
    items = read_items(one)
    orders = [[item.item for item in order_for(name, items, 0)] for name in ("a", "b", "a")]
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == [item.item for item in items]


def test_items_tell_nothing_of_the_key(run: Path, tmp_path: Path) -> None:
    folder = make(str(run), tmp_path / "t", n=60).folder
    assert set(read_items(folder)[0].model_dump()) == {"item", "text_a", "text_b"}
    in_order = [entry.set for entry in read_key(folder)]
    assert in_order != sorted(str(name) for name in in_order)  # numbers do not follow the strata
    for name in ("key.jsonl", "annotators.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert all(len(a.token) >= 32 for a in read_annotators(folder))


def test_too_few_texts_are_noted_in_one_line(jsonl: Callable[..., Path], tmp_path: Path) -> None:
    data = str(jsonl(pairs(30)))
    disorder.audit(
        "always:neutral", data, q=3, with_=["derange"], out=tmp_path / "run", cache="off"
    )
    made = make(str(tmp_path / "run"), tmp_path / "t", n=40)
    assert made.task.n_items == 10  # only neutral examples are ever accepted, and those are in D_c
    assert len(made.task.notes) == 1
    assert "derange D_f has 0 of the 20 wanted" in made.task.notes[0]
    assert "derange D_c has 10 of the 20 wanted" in made.task.notes[0]


def test_validity_mixes_real_and_perturbed_as_word_salad_does(tmp_path: Path) -> None:
    make("builtin", tmp_path / "t", task="valid", n=80)
    key = read_key(tmp_path / "t")
    items = {item.item: item for item in read_items(tmp_path / "t")}
    assert counts(key, "transformation", "gold") == {
        ("original", "valid"): 40,
        ("sort", "invalid"): 10,
        ("reverse", "invalid"): 10,
        ("shuffle", "invalid"): 10,
        ("copy_sort", "invalid"): 10,
    }
    assert len({entry.example for entry in key}) == 80
    for entry in key:
        assert items[entry.item].text_b is None
        assert (items[entry.item].text_a == entry.original_b) is (entry.gold == "valid")
    task = read_task(tmp_path / "t")
    assert (task.labels, task.question) == (["valid", "invalid"], "Is this a sentence?")
    assert "**invalid**" in read_instructions(tmp_path / "t")


def test_single_texts_have_no_copies(tmp_path: Path) -> None:
    made = make("builtin:sentiment", tmp_path / "t", task="valid", n=60)
    assert made.task.transformations == ["reverse", "shuffle", "sort"]
    assert made.task.notes == []


def test_data_give_original_and_perturbed_texts(tmp_path: Path) -> None:
    make("builtin", tmp_path / "t", with_=["derange", "reverse"], n=60)
    key = read_key(tmp_path / "t")
    assert counts(key, "transformation") == {("original",): 30, ("derange",): 15, ("reverse",): 15}
    assert all(entry.model_answer is None for entry in key)
    with pytest.raises(DisorderError, match="add with_"):
        make("builtin", tmp_path / "u", whole=False)


def test_answers_are_never_written_over(tmp_path: Path) -> None:
    folder = make("builtin", tmp_path / "t", n=12).folder
    first = read_key(folder)
    make("builtin", folder, n=12, seed=1)  # nobody has answered yet
    assert read_key(folder) != first
    store = AnswerStore(folder)
    store.answer("a", "i001", 1, "neutral", 1.0)
    store.undo("a", "i001", 1)
    with pytest.raises(DisorderError, match="holds answers"):
        make("builtin", folder, n=12)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("all of it")
    with pytest.raises(DisorderError, match="something else"):
        make("builtin", tmp_path / "other", n=12)


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"n": 0}, "1 or more"),
        ({"task": "funny"}, "label or valid"),
        ({"annotators": ["a", "a"]}, "each once"),
        ({"annotators": ["all"]}, "none of them all"),
        ({"annotators": ["a\nb"]}, "names of"),
        ({"with_": "sort"}, "unknown transformation of this run"),
    ],
)
def test_a_setting_that_cannot_work_is_an_error(
    run: Path, tmp_path: Path, settings: dict[str, object], wrong: str
) -> None:
    with pytest.raises(DisorderError, match=wrong):
        make(str(run), tmp_path / "t", **settings)  # type: ignore[arg-type]
    assert not (tmp_path / "t").exists()


@given(
    st.dictionaries(st.text(max_size=2), st.integers(0, 9), min_size=1, max_size=6),
    st.integers(0, 40),
)
def test_the_draw_is_as_even_as_can_be(sizes: dict[str, int], n: int) -> None:
    drawn = draw_in_turn({name: range(size) for name, size in sizes.items()}, n)
    taken = {name: len(texts) for name, texts in drawn.items()}
    assert sum(taken.values()) == min(n, sum(sizes.values()))
    assert all(taken[name] <= sizes[name] for name in sizes)
    unbounded = [taken[name] for name in sizes if taken[name] < sizes[name]]
    if unbounded:
        assert max(unbounded) - min(unbounded) <= 1
        assert max(taken.values()) <= min(unbounded) + 1


@given(st.integers(0, 1000), st.integers(1, 20))
def test_shares_add_up(n: int, n_parts: int) -> None:
    parts = even_shares(n, n_parts)
    assert sum(parts) == n
    assert max(parts) - min(parts) <= 1


def test_lengths_are_cut_at_the_median() -> None:
    assert short_or_long([3, 9, 5, 7]) == ["short", "long", "short", "long"]
    assert short_or_long([4, 4, 4]) == ["short"] * 3


def test_texts_that_depend_on_the_model_are_shown_as_stored(tmp_path: Path) -> None:
    disorder.audit(
        "builtin:bow",
        "builtin",
        limit=40,
        q=2,
        with_=["drop_least"],
        out=tmp_path / "run",
    )
    make(str(tmp_path / "run"), tmp_path / "task", n=6, accepted=False)
    assert (tmp_path / "task" / "items.jsonl").read_text(encoding="utf-8").count("\n") == 6


def test_transformations_that_leave_good_sentences_are_not_called_invalid(tmp_path: Path) -> None:
    with pytest.raises(DisorderError, match="may rightly call valid"):
        make("builtin", tmp_path / "task", task="valid", with_="swap_texts", n=10)


def test_bare_numbers_get_their_meaning_or_a_note(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    lines = [json.dumps(row) for row in pairs(40, ("0", "1"))]
    rows.write_text("\n".join(lines), encoding="utf-8")
    bare = make(str(rows), tmp_path / "bare", n=8, with_="reverse")
    assert any("Annotators read the labels 0, 1 as they are" in note for note in bare.task.notes)
    meanings = {"0": "negative", "1": "positive"}
    said = make(str(rows), tmp_path / "said", n=8, with_="reverse", labels=meanings)
    assert not any("as they are" in note for note in said.task.notes)
    assert "- **1**: positive" in read_instructions(tmp_path / "said")
    assert read_task(tmp_path / "said").meanings == meanings
    with pytest.raises(DisorderError, match="unknown label '2'"):
        make(str(rows), tmp_path / "wrong", n=8, with_="reverse", labels={"2": "neutral"})
