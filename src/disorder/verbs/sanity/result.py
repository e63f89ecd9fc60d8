"""The result of `disorder.sanity`: verdicts, and the scores, figures and tables behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disorder.errors import UnknownName
from disorder.results.render import render
from disorder.results.result import Cell, Column, Figure, Grid, Result, Row, Section, Table
from disorder.results.writing import score_row
from disorder.store.store import Store
from disorder.types import Score
from disorder.verbs.sanity.verdicts import (
    CLASSES,
    IF_BAD,
    MAIN,
    NOT_NEEDED,
    CheckResult,
    Verdict,
)


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
        from disorder.verbs.sanity.report import result_of

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
            f"{verdict.question}: {verdict.answer}{self._how_far(verdict)}"
            f"{self._other_groups(verdict)}"
            for verdict in self.main_verdicts
        ]
        line = ", ".join([*undone, *answers])
        if self.original and not any(map(self._how_far, self.main_verdicts)):
            reached = f"{self.original.value:.3f}, chance is {self.chance:.3f}"
            line += f" ({self._with_model} reaches {reached})"
        return f"{line[0].upper()}{line[1:]}" if line else "Nothing could be checked"

    @property
    def _with_model(self) -> str:
        return f"a {self.model} model" if self.model == "linear" else self.model

    def _how_far(self, verdict: Verdict) -> str:
        """How far the model got without what is not needed; more than that may need it."""
        if verdict.question != MAIN[0] or not verdict.answer.startswith(NOT_NEEDED):
            return ""
        if verdict.original is None:
            return ""
        reached = f"{verdict.original.value:.3f}, chance {self.chance:.3f}"
        return f" to reach {reached}, with {self._with_model}"

    @property
    def weaknesses(self) -> list[Verdict]:
        """What should be fixed, the most urgent first."""
        bad = [each for each in self.verdicts if each.group == "all" and each.kind == "open"]
        return sorted((each for each in bad if each.fix), key=lambda each: each.urgency)

    @property
    def overall(self) -> str:
        """One verdict over all checks, and what to fix first."""
        weak = self.weaknesses
        if weak:
            names = ", ".join(dict.fromkeys(each.question for each in weak))
            count = "1 weakness" if len(weak) == 1 else f"{len(weak)} weaknesses"
            return f"Overall: {count} ({names}). Fix first: {weak[0].fix}."
        main = [each for each in self.main_verdicts if each.question in MAIN]
        unsure = [each.question for each in main if each.kind == "unsure"]
        if unsure or not main:
            what = f"undecided: {', '.join(unsure)}" if unsure else "little was checked"
            advice = "Next: more rows, or a stronger --model."
            return f"Overall: no weakness was found, but {what}. {advice}"
        needed = ", ".join(each.question for each in main)
        return f"Overall: no weakness was found; needed: {needed}."

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
        from disorder.verbs.sanity.report import check_folder, write_folder

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
        return render(self.result, "notebook")


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


def plain_data(found: Sanity) -> Row:
    """What was checked and found, as result.json holds it."""
    return {
        "data": found.data,
        "train": found.train,
        "design": found.design,
        "model": found.model,
        "rows": dict(found.n_rows),
        "own_words": found.own_words,
        "language": found.language,
        "labels": list(found.labels),
        "metric": found.metric,
        "chance": found.chance,
        "original": record(found.original) if found.original else None,
        "settings": dict(found.settings),
        "hashes": dict(found.hashes),
        "version": found.version,
        "seconds": found.seconds,
        "notes": list(found.notes),
        "overall": found.overall,
        "fix": [{"question": each.question, "fix": each.fix} for each in found.weaknesses],
        "verdicts": [
            _verdict(section.name, verdict)
            for section in found.sections
            if section.found
            for verdict in section.found.verdicts
        ],
        "not_done": {each.name: each.reason for each in found.sections if not each.found},
    }


def _verdict(check: str, verdict: Verdict) -> Row:
    row: Row = {
        "check": check,
        "question": verdict.question,
        "group": verdict.group,
        "answer": verdict.answer,
        "because": verdict.because,
    }
    if verdict.score:
        row |= record(verdict.score)
    if verdict.original:
        row["original"] = record(verdict.original)
    return row
