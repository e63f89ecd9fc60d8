"""Filters find the same examples as plain Python, and a damaged part is left out, not the whole
run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import disorder
from disorder.errors import BadData
from disorder.web.run_library import FoundRun, RunLibrary
from disorder.web.sample_queries import (
    ORDERS,
    PER_PAGE,
    PREDICTED,
    WORD,
    ExampleFilters,
    SampleQueries,
)

TRANSFORMATIONS = ["derange", "shuffle_ngrams:n=2", "reverse"]
PlainRows = list[dict[str, Any]]
Queried = tuple[SampleQueries, FoundRun, PlainRows]


def readable(library: RunLibrary) -> FoundRun:
    entry = library.all()[0]
    assert isinstance(entry, FoundRun)
    return entry


@pytest.fixture(scope="module")
def queried(tmp_path_factory: pytest.TempPathFactory) -> Queried:
    """A run in a folder whose name is full of special characters, and its rows summed up in plain
    Python.
    """
    folder = tmp_path_factory.mktemp("ru[n]s*") / "a=b?"
    disorder.audit(
        "builtin",
        "builtin",
        limit=90,
        q=8,
        with_=TRANSFORMATIONS,
        fidelity="paper",
        cache="off",
        out=folder / "run",
    )
    library = RunLibrary(folder)
    return SampleQueries(library), readable(library), summed_up(folder / "run")


def summed_up(folder: Path) -> PlainRows:
    examples = pq.read_table(folder / "examples.parquet").to_pylist()
    rows = [
        row
        for part in sorted((folder / "samples").glob("*.parquet"))
        for row in pq.read_table(part).to_pylist()
    ]
    originals = {row["example"]: row for row in rows if row["transformation"] == "original"}
    summed = []
    for number, example in enumerate(examples):
        for name in ["original", *TRANSFORMATIONS]:
            labels = [
                r["label"]
                for r in rows
                if (r["example"], r["transformation"]) == (example["id"], name)
            ]
            if labels:
                summed.append(
                    example
                    | {
                        "number": number,
                        "transformation": name,
                        "groups": dict(example["groups"]),
                        "n": len(labels),
                        "accepted": labels.count(example["label"]) / len(labels),
                        "is_right": originals[example["id"]]["label"] == example["label"],
                        "n_words": len(example["text_a"].split(" "))
                        + len(example["text_b"].split(" ")),
                    }
                )
    return summed


def _predicted(row: dict[str, Any]) -> set[str]:
    """What a reader may call the predictions of an example."""
    if row["is_right"]:
        return {"right", "lost"} if row["accepted"] < 0.5 else {"right"}
    return {"wrong", "won"} if row["accepted"] > 0.5 else {"wrong"}


shares = st.none() | st.sampled_from([0.0, 0.125, 0.3, 0.5, 1.0])
lengths = st.none() | st.integers(0, 40)


@given(
    filters=st.builds(
        ExampleFilters,
        transformation=st.sampled_from(["original", *TRANSFORMATIONS, "nothing"]),
        label=st.sampled_from(["", "neutral", "entailment"]),
        original=st.sampled_from(["", *PREDICTED]),
        group=st.sampled_from(["", "needs=order", "needs=nothing", "no=such"]),
        least=shares,
        most=shares,
        shortest=lengths,
        longest=lengths,
        text=st.sampled_from(["", "the", "THE ", "%", "'", "' or 1=1 --", "_"]),
        order=st.sampled_from(list(ORDERS)),
    )
)
def test_filters_find_what_plain_python_finds(queried: Queried, filters: ExampleFilters) -> None:
    queries, found, rows = queried
    name, _, value = filters.group.partition("=")
    expected = [
        row
        for row in rows
        if row["transformation"] == filters.transformation
        and filters.label in ("", row["label"])
        and filters.original in ("", *_predicted(row))
        and (not filters.group or row["groups"].get(name) == value)
        and (filters.least is None or row["accepted"] >= filters.least)
        and (filters.most is None or row["accepted"] <= filters.most)
        and (filters.shortest is None or row["n_words"] >= filters.shortest)
        and (filters.longest is None or row["n_words"] <= filters.longest)
        and any(filters.text.lower() in text.lower() for text in (row["text_a"], row["text_b"]))
    ]
    keys = {
        "data": lambda row: row["number"],
        "most": lambda row: (-row["accepted"], row["number"]),
        "fewest": lambda row: (row["accepted"], row["number"]),
        "long": lambda row: (-row["n_words"], row["number"]),
        "short": lambda row: (row["n_words"], row["number"]),
    }
    total, shown = queries.page(found, filters)
    assert total == len(expected)
    wanted = sorted(expected, key=keys[filters.order])[:PER_PAGE]
    assert [(row["number"], row["text_a"], row["accepted"]) for row in shown] == [
        (row["number"], row["text_a"], row["accepted"]) for row in wanted
    ]


def test_what_perturbed_texts_lose_and_win_is_found(tmp_path: Path) -> None:
    rows = [{"text_a": f"a b c {i}", "label": "yn"[i % 2]} for i in range(9)]

    def in_order(texts: list[str]) -> list[str]:
        return ["y" if text.startswith("a b") else "n" for text in texts]

    disorder.audit(in_order, rows, with_="reverse", q=1, cache="off", out=tmp_path / "run")
    library = RunLibrary(tmp_path)
    queries, found = SampleQueries(library), readable(library)
    for wanted, label in (("lost", "y"), ("won", "n")):
        total, shown = queries.page(found, ExampleFilters("reverse", original=wanted))
        assert total == sum(row["label"] == label for row in rows)
        assert {row["gold"] for row in shown} == {label}


def test_an_example_is_found_by_its_id(queried: Queried) -> None:
    queries, found, rows = queried
    assert queries.page(found, ExampleFilters("original", text=rows[5]["id"].upper()))[0] == 1


def test_pages_follow_each_other_without_gap_or_overlap(
    queried: Queried,
) -> None:
    queries, found, rows = queried
    total = queries.page(found, ExampleFilters("derange"))[0]
    numbers = [
        row["number"]
        for page in range(1, total // PER_PAGE + 3)
        for row in queries.page(found, ExampleFilters("derange", order="most", page=page))[1]
    ]
    assert sorted(numbers) == [row["number"] for row in rows if row["transformation"] == "derange"]


def test_all_versions_of_an_example_come_in_order(
    queried: Queried,
) -> None:
    queries, found, rows = queried
    row = next(row for row in rows if row["transformation"] == "derange")
    variants = queries.variants(found, row["id"], "derange")
    assert [variant["variant"] for variant in variants] == list(range(row["n"]))
    assert (
        sum(variant["label"] == row["label"] for variant in variants) / row["n"] == row["accepted"]
    )
    assert queries.example(found, 10**6) is None


def test_a_damaged_part_is_left_out_and_named(tmp_path: Path) -> None:
    disorder.audit(
        "builtin",
        "builtin",
        limit=9,
        q=4,
        with_=["derange"],
        fidelity="paper",
        cache="off",
        out=tmp_path / "run",
    )
    queries = SampleQueries(RunLibrary(tmp_path))
    found = readable(queries.library)
    (tmp_path / "run" / "samples" / "01-derange-00000.parquet").write_bytes(b"PAR1 not any more")
    assert queries.page(found, ExampleFilters("original"))[0] == 9
    assert queries.damaged(found) == ["01-derange-00000.parquet"]
    assert queries.transformations(found) == ["original"]
    (tmp_path / "run" / "samples" / "00-original-00000.parquet").write_bytes(b"")
    again = SampleQueries(RunLibrary(tmp_path))
    with pytest.raises(BadData, match="no samples that can be read"):
        again.page(found, ExampleFilters("original"))


@pytest.mark.parametrize(("at", "variant"), [(1, 0), (1, -5)])
def test_rows_that_no_audit_wrote_are_one_line(tmp_path: Path, at: int, variant: int) -> None:
    settings: dict[str, Any] = {"limit": 9, "q": 4, "with_": ["derange"], "cache": "off"}
    settings |= {"fidelity": "paper"}
    disorder.audit("uniform", "builtin", out=tmp_path / "run", **settings)
    part = tmp_path / "run" / "samples" / "01-derange-00000.parquet"
    table = pq.read_table(part)
    variants = table["variant"].to_pylist()
    variants[at] = variant
    place = table.schema.get_field_index("variant")
    column = pa.array(variants, pa.int32())
    pq.write_table(table.set_column(place, "variant", column), part)
    queries = SampleQueries(RunLibrary(tmp_path))
    with pytest.raises(BadData, match=f"variant {variant} of example .* is twice there"):
        queries.page(readable(queries.library), ExampleFilters("original"))


def test_runs_are_joined_only_where_id_texts_and_label_agree(tmp_path: Path) -> None:
    rows = [
        {"id": f"e{i}", "text_a": f"one two three four {i}.", "label": "yn"[i % 2]}
        for i in range(12)
    ]
    other = [
        row | ({"text_a": "quite another text here."} if i < 3 else {})
        for i, row in enumerate(rows)
    ]
    for name, data in (("a", rows), ("b", other)):
        disorder.audit("uniform", data, q=4, with_=["derange"], cache="off", out=tmp_path / name)
    library = RunLibrary(tmp_path)
    total, shown = SampleQueries(library).most_different(
        [entry for entry in library.all() if isinstance(entry, FoundRun)], "derange", 1
    )
    assert total == 9
    assert {row["id"] for row in shown} == {f"e{i}" for i in range(3, 12)}
    assert [row["apart"] for row in shown] == sorted((row["apart"] for row in shown), reverse=True)


@pytest.mark.parametrize(
    ("text", "n_words"), [("我们 喜欢它", 5), ("the cat  sat\n", 3), ("GPT 模型", 3), ("", 0)]
)
def test_a_chinese_character_counts_as_a_word(text: str, n_words: int) -> None:
    found = duckdb.sql(
        f"select len(regexp_extract_all($text, '{WORD}'))", params={"text": text}
    ).fetchall()
    assert found == [(n_words,)]


@pytest.mark.parametrize("name", ["examples.parquet", "samples/01-derange-00000.parquet"])
def test_a_file_that_would_fill_memory_is_not_read(tmp_path: Path, name: str) -> None:
    given = {"limit": 20, "q": 2, "with_": "derange", "fidelity": "paper", "cache": "off"}
    disorder.audit("uniform", "builtin", out=tmp_path / "run", **given)
    path = tmp_path / "run" / name
    table = pq.read_table(path).take(pa.array([0] * 400))
    column = "text_a" if name.startswith("ex") else "written_a"
    texts = pa.array(["x" * 10**6] * 400)
    bomb = table.set_column(table.schema.get_field_index(column), column, texts)
    pq.write_table(bomb, path, compression="zstd")
    library = RunLibrary(tmp_path)
    queries = SampleQueries(library)
    found = readable(library)
    if column == "text_a":
        with pytest.raises(BadData, match="unpacks to far more than it has"):
            queries.transformations(found)
    else:
        assert queries.transformations(found) == ["original"]
        assert queries.damaged(found) == [path.name]
