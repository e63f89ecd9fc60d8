"""A comparison of runs: its records, and the same in words, tables and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from disorder.results.charts import BLUE, dotted_line, interval_layers
from disorder.results.conclusion import PAGE, conclusion_rules, loss
from disorder.results.markup import name_of
from disorder.results.result import Cell, Column, Figure, Grid, Result, Section
from disorder.results.row_export import data_frame
from disorder.results.run import Omitted
from disorder.results.run_tables import text_name
from disorder.results.writing import MINUS, meaning_of, place_of, title_of
from disorder.safe_io import one_line, visible
from disorder.store.storage import write_atomically
from disorder.types import ORIGINAL

SCHEMA_VERSION = 1
ALPHA = 0.05


class Difference(BaseModel):
    """One score of two runs: the other's minus the base's, with its 95 % interval."""

    transformation: str
    metric: str
    group: str
    base: str
    other: str
    base_value: float
    other_value: float
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    n: int
    test: str
    family: Literal["main", "other", "all"] = "all"  # the tests that p_holm is corrected for

    @property
    def is_sure(self) -> bool:
        """Whether the difference is significant after Holm's correction for its family of tests."""
        return self.p_holm < ALPHA


ComparisonKind = Literal["higher", "lower", "same", "undecided"]


class ComparisonConclusion(BaseModel):
    """What the comparison of two runs says: on the skill that is kept without word order, and on
    accuracy, each of the other run against the base. Where the skill cannot be compared it is None,
    and `because` says why.
    """

    base: str
    other: str
    group: str
    transformation: str
    order: ComparisonKind
    accuracy: ComparisonKind
    skill_kept: Difference | None
    original: Difference
    because: str = ""


class Compared(BaseModel):
    """One of the runs."""

    name: str
    folder: str
    model: str
    model_hash: str


class Comparison(BaseModel):
    """Runs on the same examples and the same permutations, and how their scores differ."""

    schema_version: int = SCHEMA_VERSION
    data: str
    n_examples: int
    audit_seed: int
    seed: int
    runs: list[Compared]
    main: str = ""  # the transformation that the conclusion is about
    has_chosen: bool = False  # whether the user named scores or transformations
    conclusions: list[ComparisonConclusion] = Field(default_factory=list)
    differences: list[Difference] = Field(default_factory=list)
    omitted: list[Omitted] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def pairs(self) -> Iterator[tuple[str, str, str, list[Difference]]]:
        """Base, other and group, with their differences."""
        for key in dict.fromkeys((d.base, d.other, d.group) for d in self.differences):
            yield *key, [d for d in self.differences if (d.base, d.other, d.group) == key]

    def to_frame(self) -> Any:
        """The differences as a pandas (or polars) data frame."""
        return data_frame([difference.model_dump() for difference in self.differences])

    def save(self, path: str | Path) -> Path:
        """Write the comparison: as JSON, or as a page where the name ends in .html."""
        from disorder.results.render import render

        target = Path(path)
        text = render(self.result, "page" if target.suffix == ".html" else "json")
        write_atomically(target, text.encode("utf-8", "backslashreplace"))
        return target

    @property
    def result(self) -> Result:
        """The envelope, from which page and record are made."""
        return result_of(self)

    def as_data(self) -> dict[str, Any]:
        """All that was compared, as plain data."""
        return self.model_dump(exclude={"schema_version"})

    def _repr_html_(self) -> str:
        from disorder.results.render import render

        return render(self.result, "frame")

    def __repr__(self) -> str:
        return f"Comparison({about(self)})\n{headline(self)}"

    __str__ = __repr__


def result_of(comparison: Comparison, *, every_row: bool = False, under: str = "") -> Result:
    """The envelope of a comparison: first what was found, and the differences that matter most, or
    those under one transformation, or every one; then all of them, with a picture.
    """
    grids = []
    n_hidden = 0
    for base, other, group, differences in comparison.pairs:
        rows = list(differences) if every_row else rows_that_matter(comparison, differences)
        if under:
            rows = [d for d in differences if d.transformation in (ORIGINAL, under)]
        n_hidden += len(differences) - len(rows)
        grids.append(short_grid(rows, _title(base, other, group)))
    facts = {
        run.name: f"{run.model} ({run.model_hash or 'no hash'}), {run.folder}"
        for run in comparison.runs
    }
    return Result(
        verb="compare",
        about=about(comparison),
        headline=headline(comparison),
        request={"seed": comparison.seed},
        body=comparison,
        conclusion=[found.model_dump() for found in comparison.conclusions],
        lead=[counted(comparison)] if comparison.conclusions else [],
        grids=grids,
        paper=list(paper_grids(comparison)),
        sections=list(_sections(comparison)),
        notes=[
            *([f"{n_hidden} more rows: --all shows them"] if n_hidden and not under else []),
            *footnotes(comparison),
        ],
        facts=facts | {"resampling": f"seed {comparison.seed}"},
    )


def _title(base: str, other: str, group: str) -> str:
    return f"{other} minus {base}" + ("" if group == "all" else f", only {group}")


def _sections(comparison: Comparison) -> Iterator[Section[None]]:
    for base, other, group, differences in comparison.pairs:
        title = _title(base, other, group)
        columns = [Column("test", "word")]
        grid = difference_grid(differences)
        rows = [[*row, Cell(d.test)] for row, d in zip(grid.rows, differences, strict=True)]
        yield Section(
            title,
            f"All {len(differences)} differences, {title}",
            f"Above 0 the score of {other} is higher; n is the number of examples that count for "
            "one of the two or both.",
            grids=[Grid([*grid.columns, *columns], rows, title)],
            figures=[forest(differences)],
            is_folded=True,
        )
    metrics = dict.fromkeys(d.metric for d in comparison.differences)
    terms = {title_of(metric): meaning_of(metric) for metric in metrics}
    yield Section("meanings", "What the scores mean", terms=terms, is_folded=True)
    if comparison.conclusions:
        rules = conclusion_rules({})
        decided = (
            "Which model uses word order more is decided on the difference of the skill that each "
            "keeps; whether one of them reads order at all is the conclusion of its own run. "
        )
        yield replace(rules, about=f"{decided}{rules.about}")


ORDER = {
    "lower": "{other} uses word order more than {base}",
    "higher": "{other} uses word order less than {base}",
    "same": "{other} and {base} use word order alike",
    "undecided": "Which of {other} and {base} uses word order more is undecided",
}
NOT_COMPARED = "Which of {other} and {base} uses word order more cannot be said"
ACCURACY = {
    "higher": "{title} is higher",
    "lower": "{title} is lower",
    "same": "{title} is the same",
    "undecided": "no difference of {title} was found",
}
TESTS = {
    "mcnemar": "exact McNemar test, Newcombe's interval (method 10)",
    "sign-flip": "sign-flip test over examples, paired bootstrap interval",
    "bootstrap": "paired bootstrap over examples",
    "fieller": "Fieller's intervals of both ratios, combined after Zou and Donner; p is that of "
    "the widest interval that leaves 0 out",
}


def headline(comparison: Comparison) -> str:
    """What was found, in a sentence or two."""
    if not comparison.conclusions:
        return counted(comparison)
    return "\n".join(map(sentence, comparison.conclusions))


def sentence(found: ComparisonConclusion) -> str:
    """One conclusion in words, about the other run."""
    of = f" (only {one_line(found.group)})" if found.group != "all" else ""
    words = NOT_COMPARED if found.skill_kept is None else ORDER[found.order]
    order = words.format(other=one_line(found.other), base=one_line(found.base))
    why = one_line(found.because)
    if found.skill_kept is not None and why:
        order = f"{why[:1].upper()}{why[1:]}"  # neither more nor less
    if found.skill_kept is not None:
        why = (
            f"skill kept {_with_interval(found.skill_kept)} {one_line(loss(found.transformation))}"
        )
    title = title_of(found.original.metric)
    accuracy = ACCURACY[found.accuracy].format(title=title)
    return f"{order}{of}: {why}; {accuracy} ({_with_interval(found.original)})."


def _with_interval(d: Difference) -> str:
    return f"{signed(d.difference, 2)} [{signed(d.low, 2)}, {signed(d.high, 2)}]"


def counted(comparison: Comparison) -> str:
    """How many differences are significant."""
    n = len(comparison.differences)
    if not n:
        return "No score could be compared."
    significant = sum(d.is_sure for d in comparison.differences)
    count = str(significant) if significant else "None"
    verb = "are" if significant > 1 else "is"
    return f"{count} of {n} differences {verb} significant at {ALPHA} after Holm's correction."


def rows_that_matter(comparison: Comparison, differences: Sequence[Difference]) -> list[Difference]:
    """The main scores on original texts and under the transformation of the conclusion; all, where
    the user named what to compare.
    """
    if comparison.has_chosen or not comparison.conclusions:
        return list(differences)
    places = (ORIGINAL, comparison.main)
    return [d for d in differences if d.transformation in places and place_of(d.metric) == "table"]


def about(comparison: Comparison) -> str:
    """What was compared, in one line."""
    names = " and ".join(run.name for run in comparison.runs)
    return (
        f"{names} on {comparison.data}: {comparison.n_examples:,} examples, "
        f"the same permutations (seed {comparison.audit_seed})"
    )


def footnotes(comparison: Comparison) -> list[str]:
    """How it was tested, and what could not be."""
    lines = []
    if comparison.conclusions:
        lines.append(
            "the conclusion rests on the main tests, skill kept and accuracy on original texts; "
            f"how conclusions are drawn: {PAGE}"
        )
    used = dict.fromkeys(d.test for d in comparison.differences)
    lines += [f"{name}: {TESTS[name]}" for name in used if name in TESTS]
    if comparison.differences:
        lines.append(
            f"p_holm: p after Holm's correction for {families(comparison)}; * below {ALPHA}"
        )
    lines += [
        f"not compared: {o.metric}, {where(o.transformation)}, {o.group} ({o.reason})"
        for o in comparison.omitted
    ]
    return lines + comparison.notes


def families(comparison: Comparison) -> str:
    """The families of tests that p-values are corrected for, with their sizes."""
    sizes = Counter(d.family for d in comparison.differences)
    if sizes["all"]:
        return f"all {sizes['all']} tests" if sizes["all"] > 1 else "one test"
    main = f"the {sizes['main']} main tests (skill kept, accuracy on original texts)"
    return (
        f"{main}, and apart from them for the {sizes['other']} others" if sizes["other"] else main
    )


def where(transformation: str) -> str:
    """A transformation as it is shown."""
    return "original texts" if transformation == ORIGINAL else transformation


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign, and a true minus; 0 has none."""
    if not round(value, digits):
        return f"{0:.{digits}f}"
    return f"{value:+.{digits}f}".replace("-", MINUS)


def shown_p(p: float) -> str:
    """A p-value, no more exact than one can believe."""
    if p < 0.0001:
        return "<.0001"
    digits = 4 if p < 0.1 else 2
    return f"{p:.{digits}f}".replace("0.", ".", 1)


def short_grid(differences: Sequence[Difference], caption: str = "") -> Grid:
    """One row per score, under a row with the transformation, where space is short."""
    names = ("n", "base", "other", "difference", "p_holm")
    rows: list[list[Cell]] = []
    before = ""
    for d in differences:
        if d.transformation != before:
            place = Cell(visible(where(d.transformation)), mark="strong")
            rows.append([place, *[Cell()] * len(names)])
        before = d.transformation
        n, base, other, change, p = _cells(d)
        p = Cell(p.text if d.is_sure else f"{p.text} ")
        rows.append([Cell(visible(title_of(d.metric)), mark="part"), n, base, other, change, p])
    return Grid([Column("", "name"), *map(Column, names)], rows, caption)


def difference_grid(differences: Sequence[Difference]) -> Grid:
    """One row per score, which names its texts."""
    heads = ("n", "base", "other", "difference", "p (Holm)")
    rows = [
        [text_name(d.transformation), Cell(title_of(d.metric)), *_cells(d, "")] for d in differences
    ]
    return Grid([Column("texts", "name"), Column("score", "word"), *map(Column, heads)], rows)


def paper_grids(comparison: Comparison) -> Iterator[Grid]:
    """One table for a paper per pair of runs and group."""
    for base, other, group, differences in comparison.pairs:
        only = "" if group == "all" else f", only `{group}`"
        caption = (
            f"`{other}` minus `{base}` on `{comparison.data}`{only}: paired differences on the "
            f"same {comparison.n_examples:,} examples and permutations, with 95 % intervals; bold "
            "where significant at 0.05 after Holm's correction."
        )
        name = name_of(base, other, group)
        yield replace(difference_grid(differences), caption=caption, name=name)


def _cells(d: Difference, star: str = "*") -> list[Cell]:
    """How many examples, both values, the difference and its p-value, which a star may mark."""
    mark = "strong" if d.is_sure else ""
    change = Cell(signed(d.difference), f"[{signed(d.low, 2)}, {signed(d.high, 2)}]", mark)
    p = Cell(f"{shown_p(d.p_holm)}{star if d.is_sure else ''}")
    return [
        Cell(f"{d.n:,}"),
        Cell(f"{d.base_value:.3f}"),
        Cell(f"{d.other_value:.3f}"),
        change,
        p,
    ]


PICTURE = (
    "Every difference with its 95 % interval; filled points: significant at 0.05 after Holm's "
    "correction; the dotted line is no difference."
)


def forest(differences: Sequence[Difference]) -> Figure:
    """Every difference with its interval; filled where significant after Holm's correction."""
    rows: list[dict[str, Any]] = [
        {
            "name": _name(d),
            "value": d.difference,
            "low": d.low,
            "high": d.high,
            "significant": d.is_sure,
        }
        for d in differences
    ]
    x = {"field": "value", "type": "quantitative", "title": "difference, with 95 % interval"}
    points = {"type": "point", "size": 60, "stroke": BLUE, "opacity": 1}
    fill = {"condition": {"test": "datum.significant", "value": BLUE}, "value": "#ffffff"}
    layers = [
        dotted_line({"x": {"datum": 0}}),
        *interval_layers(rows, x, points, label_limit=300, encoding={"fill": fill}),
    ]
    spec = {"layer": layers, "height": {"step": 20}}
    return Figure("", PICTURE, rows, spec)


def _name(d: Difference) -> str:
    return visible(f"{where(d.transformation)}: {title_of(d.metric)}").replace("\n", " ")
