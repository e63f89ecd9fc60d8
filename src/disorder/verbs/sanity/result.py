"""Results of `disorder.sanity`: verdicts, and the scores, figures and tables behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disorder.errors import UnknownName
from disorder.results.grid import Cell, Column, Grid
from disorder.results.render import notebook
from disorder.results.result import Figure, Result, Row, Section, Table
from disorder.results.writing import score_row
from disorder.store.store import Store
from disorder.types import Score
from disorder.verbs.sanity.equivalence import (
    DOES_AS_WELL,
    GIVES_AWAY,
    NEEDED,
    NO_INFORMATION,
    NOT_NEEDED,
    UNDECIDED,
)

KINDS = {
    NEEDED: "needed",
    NOT_NEEDED: "open",
    GIVES_AWAY: "open",
    DOES_AS_WELL: "open",
    "found": "open",
    "differs": "open",
    "skewed": "open",
    "one label": "open",
    UNDECIDED: "unsure",
    NO_INFORMATION: "unsure",
}  # answer → whether it is a need, a weakness of the data, or not known; others are clean
IF_TRAINED = {
    NOT_NEEDED,
    GIVES_AWAY,
    DOES_AS_WELL,
}  # answers about models that are trained on such rows
MAIN = ("order", "both texts", "word classes")  # questions of the headline
IF_BAD = ("labels", "rare labels")  # questions that stand there too where there is a problem
CLASSES = "word classes"
TRAINED_ON_IT = "if trained on it"  # ends the answers of challenge sets


@dataclass(frozen=True)
class Verdict:
    """The answer to one question about the data, for all rows or for one group.

    `because` gives the reason in words, `score` the number it rests on, and `original` what the
    model scores on original texts. `is_learned` marks what only a model trained on such rows can
    know, where the answer does not tell.
    """

    question: str
    answer: str
    because: str
    score: Score | None = None
    group: str = "all"
    original: Score | None = None
    is_learned: bool = False

    @property
    def holds_if_trained(self) -> bool:
        """Whether it is about models that are trained on such rows, and no others."""
        return self.is_learned or self.answer in IF_TRAINED

    @property
    def kind(self) -> str:
        """How pages and the terminal mark the answer: needed, open, unsure or clean."""
        return KINDS.get(self.answer.removesuffix(f" {TRAINED_ON_IT}"), "clean")

    @property
    def name(self) -> str:
        """The question, and the group if it is about one."""
        return self.question if self.group == "all" else f"{self.question} ({self.group})"

    @property
    def is_class(self) -> bool:
        """Whether it is about one word class: those are named in capitals."""
        return self.question.isupper()

    @property
    def line(self) -> str:
        """The verdict in a line."""
        return f"{self.name}: {self.answer}. {self.because}"


@dataclass(frozen=True)
class CheckResult:
    """What a check returns.

    `scores` are rows of the results file: check, transformation, design, group, metric, value,
    low, high, n, skipped. `notes` are lines for the reader, such as what was left out and why.
    """

    verdicts: Sequence[Verdict]
    scores: Sequence[Row] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


def section_of(
    name: str, asks: str, paper: str, found: CheckResult | None = None, reason: str = ""
) -> Section[CheckResult]:
    """One check with its result, or with the reason why it could not be done."""
    about = " · ".join(filter(None, (name, paper)))
    if found is None:
        return Section(name, asks, about, reason=reason)
    verdicts = [each for each in found.verdicts if each.group == "all" and not each.is_class]
    return Section(
        name,
        asks,
        about,
        found,
        findings=[verdict.line for verdict in verdicts],
        figures=found.figures,
        tables=found.tables,
        notes=found.notes,
    )


@dataclass(frozen=True, repr=False)
class Sanity:
    """All that the checks of a dataset found; a notebook shows it as a page.

    `original` is the model's score on original texts, `own_words` the share of rows with a word
    that no other row has (few in templated data), `language` the code of its language, `command`
    what to type to run it again.
    """

    data: str
    train: str
    design: str
    model: str
    n_rows: Mapping[str, int]
    labels: Sequence[str]
    chance: float
    metric: str
    settings: Mapping[str, Any]
    hashes: Mapping[str, str]
    version: str
    sections: Sequence[Section[CheckResult]]
    original: Score | None = None
    own_words: float | None = None
    language: str = ""
    notes: Sequence[str] = field(default_factory=list)
    seconds: float = 0.0
    command: str = ""

    @property
    def results(self) -> Iterator[CheckResult]:
        """The result of every check that could be done, in order."""
        for section in self.sections:
            if section.found is not None:
                yield section.found

    @property
    def verdicts(self) -> list[Verdict]:
        """Every verdict, in the order of the checks."""
        return [verdict for found in self.results for verdict in found.verdicts]

    @property
    def records(self) -> list[Row]:
        """All scores as a flat list of records, ready for `pandas.DataFrame`."""
        return [dict(row) for found in self.results for row in found.scores]

    @property
    def about(self) -> str:
        """Data, rows, model, seed and role, in one line."""
        rows = f"{self.n_rows['data']:,} rows"
        if self.train:
            rows += f" and {self.n_rows['train']:,} of {self.train}"
        role = ", read as a challenge set" if self.settings["role"] == "challenge" else ""
        return f"{self.data}: {rows}, model {self.model}, seed {self.settings['seed']}{role}"

    @property
    def result(self) -> Result:
        """The envelope, from which page, terminal and record are made."""
        from disorder.verbs.sanity.folder import result_of

        return result_of(self)

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in the order of the page."""
        return self.result.figures

    @property
    def tables(self) -> list[Table]:
        """Every table, in the order of the page."""
        return self.result.tables

    def as_data(self) -> Row:
        """What was checked and found, as plain data."""
        from disorder.verbs.sanity.folder import plain_data

        return plain_data(self)

    @property
    def main_verdicts(self) -> list[Verdict]:
        """The verdicts of the headline."""
        main = [
            verdict
            for verdict in self.verdicts
            if verdict.group == "all"
            and (
                verdict.question in MAIN or (verdict.question in IF_BAD and verdict.kind == "open")
            )
        ]
        return main or self.verdicts

    @property
    def headline(self) -> str:
        """The main verdicts in one line."""
        undone = [
            f"{MAIN[0]}: not done ({section.reason})"
            for section in self.sections
            if section.name == MAIN[0] and section.found is None
        ]
        answers = [
            f"{verdict.question}: {verdict.answer}{self._other_groups(verdict)}"
            for verdict in self.main_verdicts
        ]
        line = ", ".join([*undone, *answers])
        return f"{line[0].upper()}{line[1:]}" if line else "Nothing could be checked"

    def _other_groups(self, verdict: Verdict) -> str:
        """The groups with another answer to the same question."""
        others = [
            f"{each.group}: {each.answer}"
            for each in self.verdicts
            if each.question == verdict.question
            and each.group != "all"
            and each.answer != verdict.answer
        ]
        return f" ({'; '.join(others)})" if others else ""

    def verdict(self, question: str, group: str = "all") -> Verdict:
        """The verdict on one question, such as "order" or "both texts"."""
        found = {(each.question, each.group): each for each in self.verdicts}
        if (question, group) in found:
            return found[question, group]
        groups = [name for asked, name in found if asked == question]
        if groups:
            raise UnknownName(f"group of the verdict {question!r}", group, groups)
        questions = {asked for asked, _ in found} or {"(nothing could be checked)"}
        raise UnknownName("question in this result", question, questions)

    def save(self, folder: str | Path) -> Path:
        """Write report.html, result.json, card.md, figures and tables; returns the folder."""
        from disorder.verbs.sanity.folder import check_folder, write_folder

        with Store.open(Path(folder)):
            check_folder(Path(folder))
            write_folder(Path(folder), self)
        return Path(folder)

    def __repr__(self) -> str:
        lines = [(each.name, each.answer, each.because) for each in self.verdicts]
        lines += [(each.name, "not done", each.reason) for each in self.sections if not each.found]
        name_width = max((len(name) for name, _, _ in lines), default=0)
        answer_width = max((len(answer) for _, answer, _ in lines), default=0)
        return "\n".join(
            [
                f"Sanity of {self.about}",
                *(
                    f"  {name:<{name_width}}  {answer:<{answer_width}}  {because}"
                    for name, answer, because in lines
                ),
            ]
        )

    def _repr_html_(self) -> str:
        return notebook(self.result)


def record(score: Score) -> Row:
    """A score as columns of a row of the results file."""
    return score_row(score) | {"skipped": score.skipped}


def verdict_grid(found: Sanity) -> Grid:
    """Question, answer and why, then what was not done; word classes and groups are parts of the
    question above them.
    """
    rows = []
    is_class = False
    for verdict in found.verdicts:
        is_class = is_class and verdict.is_class
        is_part = is_class or verdict.group != "all"
        where = "" if verdict.group == "all" else f", {verdict.group}"
        question = Cell(f"{verdict.question}{where}", mark="part" if is_part else "")
        rows.append([question, Cell(verdict.answer, mark=verdict.kind), Cell(verdict.because)])
        is_class = is_class or verdict.question == CLASSES
    rows += [
        [Cell(section.name), Cell("not done", mark="unsure"), Cell(section.reason)]
        for section in found.sections
        if section.found is None
    ]
    columns = [Column("question", "name"), Column("answer", "word"), Column("why", "text")]
    return Grid(columns, rows)
