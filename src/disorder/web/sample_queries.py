"""Queries over the samples of runs: DuckDB reads the Parquet parts in place, one page at a time.

The rows of a run are first summed up to one row per example and transformation; filters work on
that table, so they take the same time for a hundred variants as for one.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from disorder.errors import BadData
from disorder.safe_io import check_file, read_parquet, visible
from disorder.store.samples import ROW
from disorder.types import ORIGINAL
from disorder.web.run_library import FoundRun, RunLibrary

PER_PAGE = 25
MAX_SUMMARIES = 12  # runs whose summary stays in memory
ORDERS = {
    "data": ("as in the data", "number"),
    "most": ("most accepted first", "accepted desc nulls last, number"),
    "fewest": ("fewest accepted first", "accepted nulls last, number"),
    "long": ("longest first", "n_words desc, number"),
    "short": ("shortest first", "n_words, number"),
}
PREDICTED = {
    "right": ("right", "is_right"),
    "wrong": ("wrong", "not is_right"),
    "lost": ("right, and mostly wrong when perturbed", "is_right and accepted < 0.5"),
    "won": ("wrong, and mostly right when perturbed", "not is_right and accepted > 0.5"),
}
WORD = r"\p{Han}|[^\s\p{Han}]+"  # Chinese is written without spaces: one character is one word
SUMMARY = """
create or replace table {name} as
with examples as (
    select
        file_row_number as number, id, label as gold, hash(text_a, text_b) as content,
        len(regexp_extract_all(text_a, '{word}'))
            + coalesce(len(regexp_extract_all(text_b, '{word}')), 0) as n_words
    from read_parquet($examples, file_row_number = true, hive_partitioning = false)
),
predictions as (
    select example, transformation, label, probabilities from {parts}
),
originals as (
    select example, label, probabilities from predictions where transformation = $original
)
select number, examples.id as id, content, gold, n_words, transformation,
       any_value(originals.label) as prediction,
       any_value(list_max(originals.probabilities)) as confidence,
       any_value(originals.label) = gold as is_right,
       count(*) as n,
       count(*) filter (predictions.label = gold) as n_accepted,
       case when any_value(predictions.label) is null then null else n_accepted / n end as accepted,
       avg(abs(predictions.probabilities[1] - originals.probabilities[1])) as shift
from predictions
join examples on predictions.example = examples.id
left join originals on originals.example = predictions.example
group by number, examples.id, content, gold, n_words, transformation
"""

WRONG_ROWS = """
select any_value(example) as example, variant
from read_parquet($parts, hive_partitioning = false)
group by {row}
having count(*) > 1 or variant < 0
limit 1
"""

QueryRow = dict[str, Any]


@dataclass(frozen=True)
class ExampleFilters:
    """Which examples a reader wants to see; an empty value means all."""

    transformation: str
    label: str = ""
    original: str = ""
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
            "least": ("accepted >= $least", self.least),
            "most": ("accepted <= $most", self.most),
            "shortest": ("n_words >= $shortest", self.shortest),
            "longest": ("n_words <= $longest", self.longest),
        }
        used = {name: pair for name, pair in wanted.items() if pair[1] not in (None, "")}
        predicted = [PREDICTED[self.original][1]] if self.original else []
        sql = " and ".join([*predicted, *(condition for condition, _ in used.values())])
        return sql, {name: value for name, (_, value) in used.items()}

    def text_conditions(self) -> tuple[str, dict[str, Any]]:
        """Conditions on the examples themselves: words in their texts, and their group."""
        conditions = []
        values: dict[str, Any] = {}
        if self.text:
            values["text"] = self.text.lower()
            conditions.append(
                "(contains(lower(text_a), $text) "
                "or contains(lower(coalesce(text_b, '')), $text) or lower(id) = $text)"
            )
        if self.group:
            name, _, value = self.group.partition("=")
            values |= {"group_name": name, "group_value": value}
            conditions.append("groups[$group_name] = $group_value")
        return " and ".join(conditions), values


@dataclass
class SampleQueries:
    """Queries over the samples of the runs in a library."""

    library: RunLibrary
    _lock: Lock = field(default_factory=Lock)
    _summaries: OrderedDict[str, tuple[Any, ...]] = field(default_factory=OrderedDict)
    _damaged: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import duckdb

        self._error = duckdb.Error
        self._database = duckdb.connect(
            config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )

    def damaged(self, found: FoundRun) -> list[str]:
        """The parts that were left out since they cannot be read."""
        return self._damaged.get(found.id, [])

    def transformations(self, found: FoundRun) -> list[str]:
        """The transformations that there are predictions for, in the order of the run."""
        rows = self._query(found, "select distinct transformation from {summary}")
        present = {row["transformation"] for row in rows}
        return [name for name in [ORIGINAL, *found.run.transformations] if name in present]

    def page(self, found: FoundRun, filters: ExampleFilters) -> tuple[int, list[QueryRow]]:
        """How many examples pass the filters, and those of one page with their texts."""
        sql, values = filters.conditions()
        text_sql, text_values = filters.text_conditions()
        if text_sql:
            sql += f" and number in (select file_row_number from {{examples}} where {text_sql})"
            values |= text_values
        count = self._query(found, f"select count(*) as n from {{summary}} where {sql}", values)
        order = ORDERS[filters.order][1]
        offset = (filters.page - 1) * PER_PAGE
        rows = self._query(
            found,
            f"select * from {{summary}} where {sql} "
            f"order by {order} limit {PER_PAGE} offset {offset:d}",
            values,
        )
        return count[0]["n"], self._with_texts(found, rows)

    def example(self, found: FoundRun, number: int) -> QueryRow | None:
        """One example by its place in the data."""
        rows = self._query(
            found, "select * from {examples} where file_row_number = $number", {"number": number}
        )
        return rows[0] if rows else None

    def variants(self, found: FoundRun, id: str, transformation: str) -> list[QueryRow]:
        """Every variant of an example under one transformation, with its prediction."""
        return self._query(
            found,
            "select * exclude (transformation, example) from {parts} "
            "where example = $id and transformation = $transformation order by variant",
            {"id": id, "transformation": transformation},
        )

    def most_different(
        self, runs: list[FoundRun], transformation: str, page: int
    ) -> tuple[int, list[QueryRow]]:
        """Examples that all runs have, ordered by how far apart their accepted shares are."""
        with self._lock:
            tables = [self._summary(found) for found in runs]
        names = [f"t{i}" for i in range(len(runs))]
        columns = ", ".join(
            f"{name}.accepted as accepted_{i}, {name}.n as n_{i}, {name}.n_accepted as k_{i}, "
            f"{name}.prediction as prediction_{i}, {name}.number as number_{i}"
            for i, name in enumerate(names)
        )
        shares = ", ".join(f"{name}.accepted" for name in names)
        joined = "".join(
            f" join {table} {name} using (id, content, gold, transformation)"
            for table, name in zip(tables[1:], names[1:], strict=True)
        )
        source = f"from {tables[0]} t0{joined} where transformation = $transformation"
        values = {"transformation": transformation}
        total = self._fetch(f"select count(*) as n {source}", values)[0]["n"]
        offset = (page - 1) * PER_PAGE
        rows = self._fetch(
            f"select id, t0.number as number, gold, t0.n_words as n_words, {columns}, "
            f"greatest({shares}) - least({shares}) as apart {source} "
            f"order by apart desc nulls last, t0.number limit {PER_PAGE} offset {offset:d}",
            values,
        )
        return total, self._with_texts(runs[0], rows)

    def _with_texts(self, found: FoundRun, rows: list[QueryRow]) -> list[QueryRow]:
        if not rows:
            return []
        texts = self._query(
            found,
            "select file_row_number, text_a, text_b from {examples} "
            "where file_row_number in $numbers",
            {"numbers": [row["number"] for row in rows]},
        )
        by_number = {row.pop("file_row_number"): row for row in texts}
        return [row | by_number[row["number"]] for row in rows]

    def _query(
        self, found: FoundRun, sql: str, values: dict[str, Any] | None = None
    ) -> list[QueryRow]:
        """The rows of a query on one run; {summary}, {examples} and {parts} stand for its own."""
        values = dict(values or {})
        sources = {}
        if "{summary}" in sql:
            with self._lock:
                sources["summary"] = self._summary(found)
        if "{examples}" in sql:
            values["example_file"] = _literal(self._examples(found))
            sources["examples"] = (
                "read_parquet($example_file, file_row_number = true, hive_partitioning = false)"
            )
        if "{parts}" in sql:
            values["part_files"] = self._readable_parts(found)
            sources["parts"] = self._first_predictions(values["part_files"], "part_files")
        return self._fetch(sql.format(**sources), values)

    def _fetch(self, sql: str, values: dict[str, Any]) -> list[QueryRow]:
        try:
            result = self._database.cursor().execute(sql, values)
            names = [column[0] for column in result.description or ()]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        except self._error as error:
            raise BadData(f"the samples cannot be read: {str(error).splitlines()[0]}") from None

    def _summary(self, found: FoundRun) -> str:
        """The name of a run's summary table, made when first needed and again after new parts."""
        parts = self.library.parts(found)
        last_change = parts[-1].stat().st_mtime_ns if parts else 0
        stamp = (found.stamp, len(parts), last_change)
        if self._summaries.get(found.id) != stamp:
            self._make_summary(found)
            self._summaries[found.id] = stamp
        self._summaries.move_to_end(found.id)
        while len(self._summaries) > MAX_SUMMARIES:
            old, _ = self._summaries.popitem(last=False)
            self._fetch(f"drop table if exists summary_{old}", {})
        return f"summary_{found.id}"

    def _make_summary(self, found: FoundRun) -> None:
        examples = self._examples(found)
        if _is_too_large(examples):
            raise BadData("examples.parquet unpacks to far more than it has")
        values = {"examples": _literal(examples), "original": ORIGINAL}
        parts = self.library.parts(found)
        self._damaged[found.id] = [path.name for path in parts if _is_too_large(path)]
        try:
            self._summarise(found, values)
        except BadData:
            self._damaged[found.id] = damaged_parts(parts)
            if not self._damaged[found.id]:
                raise
            self._summarise(found, values)
        self._check_rows(self._readable_parts(found))

    def _summarise(self, found: FoundRun, values: dict[str, Any]) -> None:
        parts = self._readable_parts(found)
        source = self._first_predictions(parts, "parts")
        sql = SUMMARY.format(name=f"summary_{found.id}", word=WORD, parts=source)
        self._fetch(sql, values | {"parts": parts})

    def _first_predictions(self, parts: list[str], name: str) -> str:
        """What to select from: the samples without those of texts that were predicted again."""
        whole = f"read_parquet(${name}, hive_partitioning = false)"
        if "repeat" not in self._columns(parts):
            return whole
        return f"(select * from {whole} where coalesce(repeat, 0) = 0)"

    def _columns(self, parts: list[str]) -> set[str]:
        described = self._fetch(
            "describe select * from read_parquet($parts, hive_partitioning = false)",
            {"parts": parts},
        )
        return {column["column_name"] for column in described}

    def _check_rows(self, parts: list[str]) -> None:
        """Raise where a variant stands there twice or has no possible number."""
        present = self._columns(parts)
        row = [name for name in ("transformation", *ROW) if name in present]
        wrong = self._fetch(WRONG_ROWS.format(row=", ".join(row)), {"parts": parts})
        if wrong:
            told = f"variant {wrong[0]['variant']} of example {visible(wrong[0]['example'])}"
            raise BadData(f"the samples are damaged: {told} is twice there, or cannot be")

    def _examples(self, found: FoundRun) -> Path:
        path = self.library.examples(found)
        if path is None:
            raise BadData("examples.parquet is missing")
        return path

    def _readable_parts(self, found: FoundRun) -> list[str]:
        """The parts of a run that can be read, as DuckDB takes them."""
        left_out = self._damaged.get(found.id, [])
        parts = [path for path in self.library.parts(found) if path.name not in left_out]
        if parts:
            return [_literal(path) for path in parts]
        if found.run.status == "started" and not left_out:
            raise BadData("there are no samples yet")
        raise BadData("there are no samples that can be read")


def _is_too_large(path: Path) -> bool:
    """Whether a file would fill memory; what else may be wrong with it is DuckDB's to say."""
    import pyarrow as pa

    try:
        check_file(path)
    except BadData:
        return True
    except (pa.ArrowException, OSError, ValueError):
        return False
    return False


def damaged_parts(parts: list[Path]) -> list[str]:
    """The names of the parts that cannot be read to their end."""
    names = []
    for path in parts:
        try:
            read_parquet(path)
        except (BadData, FileNotFoundError):
            names.append(path.name)
    return names


def _literal(path: Path) -> str:
    """A path that DuckDB takes as it is, whatever characters a folder's name has."""
    return re.sub(r"([\[*?])", r"[\1]", str(path))
