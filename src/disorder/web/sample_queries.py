"""Which examples did a model answer how? Asked of the Parquet parts where they lie, with DuckDB,
page by page.

A run's rows are summed up once to a row an example and transformation; filters work on that, so
they take the same time for a hundred variants as for one.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from disorder.errors import BadData
from disorder.metrics import ORIGINAL
from disorder.web.library import Found, Library

PER_PAGE = 25
KEPT = 12  # runs whose summary stays in memory
ORDERS = {
    "data": ("as in the data", "number"),
    "most": ("most accepted first", "accepted desc nulls last, number"),
    "fewest": ("fewest accepted first", "accepted nulls last, number"),
    "long": ("longest first", "n_words desc, number"),
    "short": ("shortest first", "n_words, number"),
}
WORD = r"\p{Han}|[^\s\p{Han}]+"  # where words are not set apart, a character is one
SUMMARY = """
create or replace table {name} as
with examples as (
    select file_row_number as number, id, label as gold, hash(text_a, text_b) as content,
           len(regexp_extract_all(text_a, '{word}')) + coalesce(len(regexp_extract_all(text_b, '{word}')), 0) as n_words
    from read_parquet($examples, file_row_number = true, hive_partitioning = false)
),
answers as (
    select example, transformation, label, probabilities
    from read_parquet($parts, hive_partitioning = false)
),
whole as (select example, label, probabilities from answers where transformation = $original)
select number, examples.id as id, content, gold, n_words, transformation,
       any_value(whole.label) as answer,
       any_value(list_max(whole.probabilities)) as confidence,
       any_value(whole.label) = gold as is_right,
       count(*) as n,
       count(*) filter (answers.label = gold) as n_accepted,
       case when any_value(answers.label) is null then null else n_accepted / n end as accepted,
       avg(abs(answers.probabilities[1] - whole.probabilities[1])) as shift
from answers join examples on answers.example = examples.id left join whole on whole.example = answers.example
group by number, examples.id, content, gold, n_words, transformation
"""


@dataclass(frozen=True)
class Filters:
    """What the reader wants to see; empty means everything."""

    transformation: str
    label: str = ""
    whole: str = ""
    group: str = ""
    least: float | None = None
    most: float | None = None
    shortest: int | None = None
    longest: int | None = None
    text: str = ""
    order: str = "data"
    page: int = 1

    def conditions(self) -> tuple[str, dict[str, Any]]:
        """The filters as SQL and its values; no value is ever part of the SQL."""
        wanted: dict[str, tuple[str, Any]] = {
            "transformation": ("transformation = $transformation", self.transformation),
            "label": ("gold = $label", self.label),
            "whole": ("is_right = ($whole = 'right')", self.whole),
            "least": ("accepted >= $least", self.least),
            "most": ("accepted <= $most", self.most),
            "shortest": ("n_words >= $shortest", self.shortest),
            "longest": ("n_words <= $longest", self.longest),
        }
        used = {name: pair for name, pair in wanted.items() if pair[1] not in (None, "")}
        return " and ".join(sql for sql, _ in used.values()), {
            name: value for name, (_, value) in used.items()
        }


@dataclass
class Samples:
    """Questions about the samples of the runs in a library."""

    library: Library
    _lock: Lock = field(default_factory=Lock)
    _tables: OrderedDict[str, tuple[Any, ...]] = field(default_factory=OrderedDict)
    _damaged: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import duckdb

        self._failed = duckdb.Error
        self._database = duckdb.connect(
            config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )

    def damaged(self, found: Found) -> list[str]:
        """The parts that were left out of the answers."""
        return self._damaged.get(found.id, [])

    def transformations(self, found: Found) -> list[str]:
        """What there are answers to, in the order of the run."""
        rows = self._ask(found, "select distinct transformation from {table}")
        present = {row["transformation"] for row in rows}
        assert found.run is not None
        return [name for name in [ORIGINAL, *found.run.transformations] if name in present]

    def page(self, found: Found, filters: Filters) -> tuple[int, list[dict[str, Any]]]:
        """How many examples pass the filters, and those of one page with their texts."""
        sql, values = filters.conditions()
        if filters.text or filters.group:
            sql += (
                " and number in (select file_row_number from {examples} where "
                + _text_sql(filters, values)
                + ")"
            )
        total = self._ask(found, "select count(*) as n from {table} where " + sql, values)[0]["n"]
        order, offset = ORDERS[filters.order][1], (filters.page - 1) * PER_PAGE
        rows = self._ask(
            found,
            f"select * from {{table}} where {sql} order by {order} limit {PER_PAGE} offset {offset:d}",
            values,
        )
        return total, self._with_texts(found, rows)

    def example(self, found: Found, number: int) -> dict[str, Any] | None:
        """One example by its place in the data."""
        rows = self._ask(
            found, "select * from {examples} where file_row_number = $number", {"number": number}
        )
        return rows[0] if rows else None

    def variants(self, found: Found, id: str, transformation: str) -> list[dict[str, Any]]:
        """Every answer to an example under one transformation."""
        return self._ask(
            found,
            "select * exclude (transformation, example) from {parts} where example = $id and transformation = $transformation "
            "order by variant",
            {"id": id, "transformation": transformation},
        )

    def differing(
        self, runs: list[Found], transformation: str, page: int
    ) -> tuple[int, list[dict[str, Any]]]:
        """Examples that all runs have, by how far apart their accepted shares lie."""
        with self._lock:
            tables = [self._table(found) for found in runs]
        names = [f"t{i}" for i in range(len(runs))]
        chosen = ", ".join(
            f"{n}.accepted as accepted_{i}, {n}.n as n_{i}, {n}.n_accepted as k_{i}, {n}.answer as answer_{i}, "
            f"{n}.number as number_{i}"
            for i, n in enumerate(names)
        )
        shares = ", ".join(f"{n}.accepted" for n in names)
        others = zip(tables[1:], names[1:], strict=True)
        joined = "".join(
            f" join {table} {name} using (id, content, gold, transformation)"
            for table, name in others
        )
        source = f"from {tables[0]} t0{joined} where transformation = $transformation"
        values = {"transformation": transformation}
        total = self._fetch(f"select count(*) as n {source}", values)[0]["n"]
        rows = self._fetch(
            f"select id, t0.number as number, gold, t0.n_words as n_words, {chosen}, "
            f"greatest({shares}) - least({shares}) as apart {source} "
            f"order by apart desc nulls last, t0.number limit {PER_PAGE} offset {(page - 1) * PER_PAGE:d}",
            values,
        )
        return total, self._with_texts(runs[0], rows)

    def _with_texts(self, found: Found, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        numbers = [row["number"] for row in rows]
        texts = (
            self._ask(
                found,
                "select file_row_number, text_a, text_b from {examples} where file_row_number in $numbers",
                {"numbers": numbers},
            )
            if rows
            else []
        )
        by_number = {row["file_row_number"]: row for row in texts}
        return [
            row | {name: by_number[row["number"]][name] for name in ("text_a", "text_b")}
            for row in rows
        ]

    def _ask(
        self, found: Found, sql: str, values: dict[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Rows of a question about one run; {table}, {examples} and {parts} stand for its own."""
        files = dict(values or {})
        sources = {"table": ""}
        if "{table}" in sql:
            with self._lock:
                sources["table"] = self._table(found)
        if "{examples}" in sql:
            files["example_file"] = _literal(self._examples(found))
            sources["examples"] = (
                "read_parquet($example_file, file_row_number = true, hive_partitioning = false)"
            )
        if "{parts}" in sql:
            files["part_files"] = [_literal(path) for path in self._sound(found)]
            sources["parts"] = "read_parquet($part_files, hive_partitioning = false)"
        return self._fetch(sql.format(**sources), files)

    def _fetch(self, sql: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        try:
            cursor = self._database.cursor()
            done = cursor.execute(sql, values)
            names = [column[0] for column in done.description or ()]
            return [dict(zip(names, row, strict=True)) for row in done.fetchall()]
        except self._failed as error:
            raise BadData(f"the samples cannot be read: {str(error).splitlines()[0]}") from None

    def _table(self, found: Found) -> str:
        """The summary of a run, made when it is first asked for and again when parts were added."""
        parts = self.library.parts(found)
        stamp = (found.stamp, len(parts), parts[-1].stat().st_mtime_ns if parts else 0)
        known = self._tables.get(found.id)
        if known != stamp:
            self._make(found)
            self._tables[found.id] = stamp
        self._tables.move_to_end(found.id)
        while len(self._tables) > KEPT:
            old, _ = self._tables.popitem(last=False)
            self._fetch(f"drop table if exists summary_{old}", {})
        return f"summary_{found.id}"

    def _make(self, found: Found) -> None:
        values = {"examples": _literal(self._examples(found)), "original": ORIGINAL}
        sql = SUMMARY.format(name=f"summary_{found.id}", word=WORD)
        self._damaged[found.id] = []
        try:
            self._fetch(sql, values | {"parts": [_literal(path) for path in self._sound(found)]})
        except BadData:
            self._damaged[found.id] = damaged(self.library.parts(found))
            if not self._damaged[found.id]:
                raise
            self._fetch(sql, values | {"parts": [_literal(path) for path in self._sound(found)]})

    def _examples(self, found: Found) -> Path:
        path = self.library.examples(found)
        if path is None:
            raise BadData("examples.parquet is not there")
        return path

    def _sound(self, found: Found) -> list[Path]:
        """The parts of a run that can be read."""
        left_out = self._damaged.get(found.id, [])
        parts = [path for path in self.library.parts(found) if path.name not in left_out]
        if not parts:
            is_young = found.run is not None and found.run.status == "started" and not left_out
            raise BadData(
                "there are no samples yet" if is_young else "no samples are there that can be read"
            )
        return parts


def damaged(parts: list[Path]) -> list[str]:
    """The names of the parts that cannot be read to their end."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = []
    for path in parts:
        try:
            pq.read_table(path)
        except (pa.ArrowException, OSError):
            names.append(path.name)
    return names


def _literal(path: Path) -> str:
    """A path that DuckDB takes as it is, whatever characters a folder's name has."""
    return re.sub(r"([\[*?])", r"[\1]", str(path))


def _text_sql(filters: Filters, values: dict[str, Any]) -> str:
    """Conditions on the examples themselves: words in their texts, and the group they are in."""
    parts = []
    if filters.text:
        values["text"] = filters.text.lower()
        parts.append(
            "(contains(lower(text_a), $text) or contains(lower(coalesce(text_b, '')), $text) or lower(id) = $text)"
        )
    if filters.group:
        values["group_name"], _, values["group_value"] = filters.group.partition("=")
        parts.append("groups[$group_name] = $group_value")
    return " and ".join(parts)
