"""Results of explanations: one `Explained` per explanation, and all of them as `Explanations`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError, NothingToMeasure, UnknownName, option
from disorder.registry import ExplanationPart
from disorder.requests.explain import ExplainOptions
from disorder.requests.option import changed, command_line
from disorder.results import drawing
from disorder.results.render import render
from disorder.results.result import Figure, Picture, Result, Row, Section, Table, as_csv
from disorder.results.run import Run
from disorder.results.run_folder import read_run, write_report, write_result
from disorder.results.writing import MINUS, score_row, with_interval
from disorder.store.storage import make_folder, write_atomically
from disorder.store.store import Store
from disorder.types import Score

RECORDED = (
    *("model", "beside", "data", "n_examples", "n_available", "n_calls", "labels"),
    *("transformation", "settings", "hashes", "version", "notes"),
)
FORMATS = (".svg", ".png")
LEFT_OUT = "left out:"  # how a note on examples that were left out begins
CLAIMS = ("order", "words")  # what explanations may disagree on
said = with_interval  # a number with its interval, for a sentence
bounds = score_row  # a number with its interval, for a row of a figure or table


@dataclass(frozen=True)
class Explained:
    """What one explanation found.

    `finding` is one line with numbers and intervals; `scores` holds those numbers by name; `skips`
    counts examples left out, by reason; `claims` says whether `order` or `words` are used, where
    that is shown either way, so that explanations that disagree are noticed; `headline` is the
    answer without numbers, of an explanation that may stand alone.
    """

    finding: str
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    notes: Sequence[str] = ()
    skips: Mapping[str, int] = field(default_factory=dict)
    claims: Mapping[str, bool] = field(default_factory=dict)
    headline: str = ""


def section_of(
    part: ExplanationPart, spec: str, found: Explained | None, reason: str = ""
) -> Section[Explained]:
    """One explanation as requested, with what it found or the reason why it found nothing."""
    about = " · ".join(filter(None, (spec, part.paper, part.summary.replace("`", ""))))
    section: Section[Explained] = Section(part.name, part.asks, about, reason=reason, spec=spec)
    return section if found is None else with_found(section, found)


def with_found(section: Section[Explained], found: Explained) -> Section[Explained]:
    """A section with what its explanation found."""
    skips = [f"{LEFT_OUT} {said_skips(found.skips)}"] if found.skips else []
    return replace(
        section,
        found=found,
        reason="",
        findings=[found.finding],
        figures=found.figures,
        tables=found.tables,
        notes=[*found.notes, *skips],
    )


def said_skips(skips: Mapping[str, int]) -> str:
    """How many examples are left out for which reasons, in one line."""
    return ", ".join(f"{count:,} ({reason})" for reason, count in skips.items())


def said_once(sections: Sequence[Section[Explained]]) -> tuple[list[Section[Explained]], list[str]]:
    """The sections without what several say was left out, and that in one line each."""
    by_line: dict[str, list[str]] = {}
    for section in sections:
        for line in section.notes:
            if line.startswith(LEFT_OUT):
                by_line.setdefault(line, []).append(section.name)
    shared = {line: names for line, names in by_line.items() if len(names) > 1}
    shorter = [
        replace(section, notes=[line for line in section.notes if line not in shared])
        for section in sections
    ]
    return shorter, [f"{', '.join(names)}: {line}" for line, names in shared.items()]


@dataclass(repr=False)
class Explanations:
    """All explanations of one model on one dataset, or of several models side by side (`beside`).

    `found["overlap"]` is what one explanation found. A notebook shows the figures and tables.
    """

    model: str
    data: str
    n_examples: int
    n_available: int
    labels: Sequence[str]
    settings: Mapping[str, Any]
    transformation: str
    hashes: Mapping[str, str]
    sections: list[Section[Explained]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    version: str = version("disorder")
    beside: Sequence[str] = ()
    n_calls: int = 0  # planned, at most
    n_made: int = 0  # model calls made, without what was kept on disk
    spent: Mapping[str, float] = field(default_factory=dict)  # of a budget, by all models
    command: str = ""  # repeats it, where it is part of something larger

    @property
    def about(self) -> str:
        """Models, data, number of examples and seed, in one line."""
        of = f" of {self.n_available:,}" if self.n_available > self.n_examples else ""
        examples = f"{self.n_examples:,}{of} examples, seed {self.settings['seed']}"
        models = ", ".join([self.model, *self.beside])
        return f"{models} on {self.data}: {examples}"

    @property
    def records(self) -> list[dict[str, Any]]:
        """All scores as a flat list of records, ready for `pandas.DataFrame`."""
        return [
            {"explanation": section.spec, "score": name, **asdict(score)}
            for section in self.sections
            if section.found is not None
            for name, score in section.found.scores.items()
        ]

    @property
    def result(self) -> Result:
        """The envelope, from which page and record are made."""
        sections, left_out = said_once(self.sections)
        return Result(
            verb="explain",
            about=self.about,
            headline=self.headline,
            request=self.settings,
            body=self,
            records=self.records,
            sections=sections,
            caveats=self.disagreements,
            notes=[*self.notes, *left_out],
            command=self.command or command_of(self),
            facts={
                "data": f"{self.data} ({self.hashes['data']})",
                "model": f"{self.model} ({self.hashes['model'] or 'no hash'})",
                "version": f"disorder {self.version}",
                "model calls": f"{self.n_made:,} made, at most about {self.n_calls:,} planned",
            },
        )

    @property
    def headline(self) -> str:
        """The answer of an explanation that stands alone, or the question of several."""
        answers = [each.found.headline for each in self.sections if each.found is not None]
        alone = answers[0] if len(answers) == 1 else ""
        return alone or "What does the model rely on?"

    @property
    def disagreements(self) -> list[str]:
        """What some explanations claim and others deny."""
        found = []
        for what in CLAIMS:
            claimed = {
                each.spec: each.found.claims[what]
                for each in self.sections
                if each.found is not None and what in each.found.claims
            }
            yes = " and ".join(name for name, holds in claimed.items() if holds)
            no = " and ".join(name for name, holds in claimed.items() if not holds)
            if yes and no:
                found.append(
                    f"these explanations disagree: {what} is used according to {yes}, and not "
                    f"according to {no}; their sentences say what each has measured"
                )
        return found

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in the order of the page."""
        return self.result.figures

    @property
    def tables(self) -> list[Table]:
        """Every table, in the order of the page."""
        return self.result.tables

    def as_data(self) -> Row:
        """What was explained, and on what."""
        return {name: getattr(self, name) for name in RECORDED}

    def plot(self, name: str) -> Picture:
        """The figure of that name, as a picture that a notebook displays and `.save` writes."""
        figures = {figure.name: figure for figure in self.figures}
        if name not in figures:
            raise UnknownName("figure", name, figures or {"(there is none)"})
        return Picture(figures[name].svg)

    def save(self, folder: str | Path) -> Path:
        """Write the page, every figure and the data behind it into a folder; returns the folder."""
        with Store.open(Path(folder)):
            write_folder(Path(folder), self)
        return Path(folder)

    def __getitem__(self, name: str) -> Explained:
        """What the explanation of that name found."""
        for section in self.sections:
            if name in (section.name, section.spec):
                if section.found is None:
                    raise NothingToMeasure(f"{name}: {section.reason}")
                return section.found
        raise UnknownName("explanation in this result", name, [each.name for each in self.sections])

    def __repr__(self) -> str:
        width = max((len(section.spec) for section in self.sections), default=0)
        lines = [f"  {section.spec:<{width}}  {section.line}" for section in self.sections]
        return "\n".join([f"Explanations of {self.about}", *lines])

    def _repr_html_(self) -> str:
        return render(self.result, "notebook")


def signed(score: Score, scale: float = 1.0) -> str:
    """A change with its interval, for a sentence."""
    value, low, high = (scale * each for each in (score.value, score.low, score.high))
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]".replace("-", MINUS)


def write_folder(folder: Path, found: Explanations) -> None:
    """Write explain.html, explain.json and every figure with its CSV, where an audit may lie."""
    audit = _audited(folder, found)
    links = {"The audit of this model": "report.html"} if audit is not None else {}
    result = replace(found.result, links=links)
    write_result(folder, result, record="explain.json", page_name="explain.html")
    if audit is not None:
        write_report(folder, audit)


def _audited(folder: Path, result: Explanations) -> Run | None:
    """The finished audit of the same model and data here, if any: both pages link then."""
    if not (folder / "run.json").exists():
        return None
    run = read_run(folder)
    is_same = run.hashes == dict(result.hashes) and run.model == result.model
    return run if run.status == "done" and is_same else None


def write_figures(path: Path, result: Explanations) -> list[Path]:
    """Write the figures as SVG or PNG, by the ending of `path`; of several, each by its name."""
    check_format(path)
    figures = result.figures
    if not figures:
        raise DisorderError(f"{option('figure')}: there is no figure to write")
    paths = _paths(path, [figure.name for figure in figures])
    for where, figure in zip(paths, figures, strict=True):
        _write(where, drawing.png(figure.svg) if where.suffix == ".png" else figure.svg.encode())
    return paths


def check_format(path: Path) -> None:
    """Raise on a file ending that is not supported for figures."""
    if path.suffix not in FORMATS:
        raise DisorderError(f"{option('figure', path)}: end the name in {' or '.join(FORMATS)}")


def write_csvs(path: Path, result: Explanations) -> list[Path]:
    """Write the data behind the figures, and the tables; of several, each by its name."""
    exhibits: list[Figure | Table] = [*result.figures, *result.tables]
    if not exhibits:
        raise DisorderError(f"{option('csv')}: there is no table to write")
    paths = _paths(path, [each.name for each in exhibits])
    for where, each in zip(paths, exhibits, strict=True):
        _write(where, as_csv(each.rows))
    return paths


def _paths(path: Path, names: Sequence[str]) -> list[Path]:
    """The path itself for one exhibit, one file per name for several."""
    if len(names) == 1:
        return [path]
    stem = path.stem
    return [
        path.with_stem(name if f"{name}_".startswith(f"{stem}_") else f"{stem}-{name}")
        for name in names
    ]


def command_of(result: Explanations) -> str:
    """The command that repeats a result: every setting that differs from its default."""
    settings = result.settings
    made = {
        **settings,
        "by": [section.spec for section in result.sections],
        "transformation": result.transformation,
        "limit": result.n_examples if settings["limit"] is None else settings["limit"],
    }
    beside = [word for name in result.beside for word in ("--beside", name)]
    words = [result.model, result.data, *beside, *changed(ExplainOptions, made)]
    return command_line("explain", *words)


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, in a folder that need not exist yet."""
    make_folder(path.parent)
    write_atomically(path, content)
