"""The result of `disorder.sanity`: verdicts, the scores, figures and tables behind them, and what
it leaves: page, record, and a section for a dataset card.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disorder.errors import UnknownName
from disorder.results.grid import Cell, Column, Grid, as_markdown
from disorder.results.markup import markdown_code, markdown_text, yaml_value
from disorder.results.render import notebook
from disorder.results.result import Figure, Result, Row, Section, Table
from disorder.results.saving import check_folder as check_result_folder
from disorder.results.saving import write_result
from disorder.results.writing import score_row, with_interval
from disorder.store.storage import remove_files
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
        from disorder.verbs.sanity.result import result_of

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
        from disorder.verbs.sanity.result import check_folder, write_folder

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


METRICS = {
    "spearman": "a Spearman correlation",
    "balanced_accuracy": "a balanced accuracy (every label counts the same)",
}


def check_folder(folder: Path | None) -> None:
    """Raise on a folder whose report.html is another verb's."""
    check_result_folder(folder, "sanity")


def write_folder(folder: Path, found: Sanity) -> None:
    """Write report.html, result.json, card.md, and every figure and table."""
    remove_files(folder, ["sanity.json"])  # of an older version
    write_result(folder, found.result, beside={"card.md": card(found)})


def result_of(found: Sanity) -> Result:
    """The envelope of what the checks of a dataset found."""
    facts = {"data": f"{found.data} ({found.hashes['data']})"}
    if found.train:
        facts["training data"] = f"{found.train} ({found.hashes['train']})"
    facts |= {"version": f"disorder {found.version}", "time": f"{found.seconds:.0f} s"}
    return Result(
        verb="sanity",
        about=found.about,
        headline=found.headline,
        request=found.settings,
        body=found,
        conclusion=[
            {"question": each.question, "answer": each.answer} for each in found.main_verdicts
        ],
        records=found.records,
        lead=list(_lead(found)),
        grids=[verdict_grid(found)],
        sections=[*found.sections, _how(found), _overall(found)],
        notes=found.notes,
        command=found.command,
        facts=facts,
    )


def _lead(found: Sanity) -> list[str]:
    lines = [f"{found.design}."]
    if found.original:
        metric = METRICS.get(found.metric, found.metric)
        lines.append(
            f"On original texts the model has {metric} of {with_interval(found.original)}; chance "
            f"is {found.chance:.3f}. Costs are in points of a hundred below that; up to "
            f"{100 * found.settings['margin']:g} points count as none."
        )
    return lines


def _how(found: Sanity) -> Section[None]:
    margin = f"{100 * found.settings['margin']:g} points"
    skill = f"{100 * found.settings['skill']:g} %"
    terms = {
        "needed": f"the 95 % interval of the cost lies wholly above the margin of {margin}",
        "not needed": f"it lies wholly below the margin, and the model goes at least {skill} of "
        "the way from chance to perfect: as far as such a model can tell",
        "undecided": "the interval contains the margin, or the model has not learned enough of the "
        "task to have much to lose",
        "cost": "score of the model trained and tested on original texts, minus that of one "
        "trained and tested on perturbed ones (corrupt-both), over the same rows; corrupt-test "
        "and corrupt-train perturb one of the two. Swapped texts are judged by corrupt-test.",
    }
    return Section("how", "How verdicts are reached", terms=terms)


def _overall(found: Sanity) -> Section[str]:
    """Stands last, in the terminal too."""
    return Section("overall", "What to fix first", found=found.overall, notes=[found.overall])


CARD_METRICS = {
    "spearman": "Spearman's rank correlation",
    "balanced_accuracy": "Accuracy with every label counting the same",
}


def card(result: Sanity) -> str:
    """Front matter in YAML, then the section."""
    return "\n".join([*_front_matter(result), "", *_section(result)]) + "\n"


def _front_matter(result: Sanity) -> Iterator[str]:
    yield "---"
    yield "disorder_sanity:"
    yield f"  data: {yaml_value(result.data)}"
    yield f"  model: {yaml_value(result.model)}"
    yield f"  version: {json.dumps(result.version)}"
    yield f"  metric: {json.dumps(result.metric)}"
    yield f"  language: {json.dumps(result.language)}"
    yield f"  role: {json.dumps(result.settings['role'])}"
    yield f"  margin: {result.settings['margin']}"
    yield f"  seed: {result.settings['seed']}"
    yield f"  hash: {json.dumps(result.hashes['data'])}"
    if result.original:
        yield f"  original: {json.dumps(score_row(result.original))}"
    yield "  verdicts:" if result.verdicts else "  verdicts: []"
    for verdict in result.verdicts:
        yield f"    - {yaml_value(_entry(verdict))}"
    yield "---"


def _entry(verdict: Verdict) -> dict[str, object]:
    entry: dict[str, object] = {
        "question": verdict.question,
        "group": verdict.group,
        "answer": verdict.answer,
    }
    if verdict.score:
        entry |= score_row(verdict.score)
    if verdict.original:
        entry["original"] = score_row(verdict.original)
    return entry


def _section(result: Sanity) -> Iterator[str]:
    yield "## Sanity check"
    yield ""
    yield (
        f"What this data needs of a model, measured by disorder {result.version} with the model "
        f"{markdown_code(result.model)};"
    )
    yield f"{markdown_text(result.design)}."
    if result.original:
        yield ""
        yield (
            f"{CARD_METRICS.get(result.metric, result.metric)}: {with_interval(result.original)}; "
            f"chance is {result.chance:.3f}. Costs are differences to that, in points of a"
        )
        yield (
            "hundred, with 95 % intervals over rows; "
            f"up to {100 * result.settings['margin']:g} points count as none."
        )
    yield ""
    yield from as_markdown(verdict_grid(result))
    if result.command:
        yield ""
        yield f"Run it again: {markdown_code(result.command)}"
