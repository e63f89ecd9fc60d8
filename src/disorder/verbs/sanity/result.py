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
from disorder.results.markup import markdown_code, markdown_text, yaml_value
from disorder.results.render import markdown_table, render
from disorder.results.result import Cell, Column, Figure, Grid, Result, Row, Section, Table
from disorder.results.run_folder import check_folder, write_result
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
        facts = {"data": f"{self.data} ({self.hashes['data']})"}
        if self.train:
            facts["training data"] = f"{self.train} ({self.hashes['train']})"
        facts |= {"version": f"disorder {self.version}", "time": f"{self.seconds:.0f} s"}
        # stands last, in the terminal too
        overall = Section("overall", "What to fix first", found=self.overall, notes=[self.overall])
        return Result(
            verb="sanity",
            about=self.about,
            headline=self.headline,
            request=self.settings,
            body=self,
            conclusion=[
                {"question": each.question, "answer": each.answer} for each in self.main_verdicts
            ],
            records=self.records,
            lead=_lead(self),
            grids=[verdict_grid(self)],
            sections=[*self.sections, _how(self), overall],
            notes=self.notes,
            command=self.command,
            facts=facts,
        )

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in the order of the page."""
        return self.result.figures

    @property
    def tables(self) -> list[Table]:
        """Every table, in the order of the page."""
        return self.result.tables

    def as_data(self) -> Row:
        """What was checked and found, as result.json holds it."""
        return {
            "data": self.data,
            "train": self.train,
            "design": self.design,
            "model": self.model,
            "rows": dict(self.n_rows),
            "own_words": self.own_words,
            "language": self.language,
            "labels": list(self.labels),
            "metric": self.metric,
            "chance": self.chance,
            "original": record(self.original) if self.original else None,
            "settings": dict(self.settings),
            "hashes": dict(self.hashes),
            "version": self.version,
            "seconds": self.seconds,
            "notes": list(self.notes),
            "overall": self.overall,
            "fix": [{"question": each.question, "fix": each.fix} for each in self.weaknesses],
            "verdicts": [
                {"check": section.name, **verdict.as_row(record)}
                for section in self.sections
                if section.found
                for verdict in section.found.verdicts
            ],
            "not_done": {each.name: each.reason for each in self.sections if not each.found},
        }

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
        with Store.open(Path(folder)):
            check_folder(Path(folder), "sanity")
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
    """Question, answer and why, then what was not done; classes and groups are parts."""
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


METRICS = {
    "spearman": "a Spearman correlation",
    "balanced_accuracy": "a balanced accuracy (every label counts the same)",
}


def write_folder(folder: Path, found: Sanity) -> None:
    """Write report.html, result.json, card.md, and every figure and table."""
    remove_files(folder, ["sanity.json"])  # of an older version
    write_result(folder, found.result, beside={"card.md": card(found)})


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
        entry = verdict.as_row(score_row)
        del entry["because"]
        yield f"    - {yaml_value(entry)}"
    yield "---"


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
    yield from markdown_table(verdict_grid(result))
    if result.command:
        yield ""
        yield f"Run it again: {markdown_code(result.command)}"
