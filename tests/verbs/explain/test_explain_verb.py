"""`disorder explain` in Python and on the command line: page, figures, CSV and JSON agree, and what
cannot be shown is one line.
"""

from __future__ import annotations

import csv
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import NLI, pairs
from disorder.errors import BadModel, DisorderError, NothingToMeasure, UnknownName
from disorder.models import load
from disorder.registry import ExplanationPart, explanation, parts, unregister
from disorder.requests.explain import ExplainOptions, ExplainOutput
from disorder.requests.option import declared_in
from disorder.requests.settings import Settings
from disorder.results.render import render
from disorder.types import Dataset, Example
from disorder.verbs.explain import (
    Explained,
    Explanations,
    Figure,
    Subject,
    Table,
    explain,
    write_folder,
)
from disorder.verbs.explain.result import command_of

Write = Callable[..., Path]
SMALL: dict[str, Any] = {"limit": 60, "q": 5}


@pytest.fixture
def added() -> Any:
    """Register explanations for one test."""
    before = parts(ExplanationPart)
    yield
    for name in set(parts(ExplanationPart)) - set(before):
        unregister(ExplanationPart, name)


def test_a_folder_holds_page_figures_and_the_data_behind_them(run: Any, tmp_path: Path) -> None:
    code, out, _ = run(
        "explain", "builtin", "--by", "omega_curve", "--limit", 60, "--q", 5, "--out", "seen"
    )
    assert code == 0
    assert "Ω_0.5 = " in out
    folder = tmp_path / "seen"
    html = (folder / "explain.html").read_text()
    svg = (folder / "omega_curve.svg").read_text()
    assert svg in html
    record = json.loads((folder / "explain.json").read_text())
    [section] = record["sections"]
    with (folder / "omega_curve.csv").open(newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert rows == [
        {name: float(value) for name, value in row.items()} for row in section["figures"][0]["rows"]
    ]
    assert section["findings"][0] in out


def test_report_and_explanations_of_one_model_link_to_each_other(run: Any, tmp_path: Path) -> None:
    settings = ["--limit", 60, "--q", 5]
    run("audit", "builtin", *settings, "--with", "derange", "--out", "seen")
    assert run("explain", "builtin:bow", *settings, "--by", "omega_curve", "--out", "seen")[0] == 0
    assert "explain.html" not in (tmp_path / "seen" / "report.html").read_text()
    assert run("explain", "builtin", *settings, "--by", "omega_curve", "--out", "seen")[0] == 0
    assert 'href="explain.html"' in (tmp_path / "seen" / "report.html").read_text()
    assert 'href="report.html"' in (tmp_path / "seen" / "explain.html").read_text()


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_figure_and_its_csv_go_where_the_user_says(run: Any, tmp_path: Path, form: str) -> None:
    options = ["--by", "omega_curve", "--limit", 60, "--q", 5]
    code, out, _ = run(
        "explain", "builtin", *options, "--figure", f"a/b.{form}", "--csv", "a/b.csv"
    )
    assert code == 0
    assert (tmp_path / "a" / f"b.{form}").read_bytes()[:5] in (b"<svg ", b"\x89PNG\r")
    assert (tmp_path / "a" / "b.csv").read_text().startswith("x,value,low,high,n\n0.0,")
    assert not (tmp_path / "runs").exists()
    assert f"a/b.{form}" in out


def test_json_is_pure(run: Any) -> None:
    code, out, _ = run(
        "explain", "builtin", "--by", "omega_curve", "--limit", 60, "--q", 5, "--json"
    )
    assert code == 0
    assert json.loads(out)["sections"][0]["name"] == "omega_curve"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "omega_curv"], "did you mean 'omega_curve'?"),
        (["--by", "omega_curve:x=1"], "unknown setting of omega_curve 'x'"),
        (["--by", "omega_curve:x"], "write settings as omega_curve:key=value"),
        (["--figure", "a.gif"], "end the name in .svg or .png"),
        (["--with", "derang"], "did you mean 'derange'?"),
        (["--by", "entropy", "--by", "entropy"], "explanation entropy is named twice"),
        (["--precision", "bf16"], "builtin runs in one precision only"),
        (["--by", "minitree:tagger=nltt"], "did you mean 'nltk'?"),
    ],
)
def test_mistakes_are_one_line(run: Any, arguments: list[str], message: str) -> None:
    code, _, err = run("explain", "builtin", "--limit", 60, "--q", 5, *arguments)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.usefixtures("added")
def test_what_a_model_cannot_show_is_one_line_and_the_rest_stays() -> None:
    @explanation(asks="What does it attend to?")
    def attended(subject: Subject) -> Explained:
        """Look at attentions."""
        raise BadModel("this model gives no attentions")

    found = explain("builtin", by=["attended", "omega_curve"], **SMALL)
    html = render(found.result, "page")
    assert "this model gives no attentions" in html
    assert "<svg" in html
    with pytest.raises(NothingToMeasure, match="no attentions"):
        found["attended"]
    with pytest.raises(DisorderError, match="attended: this model gives no attentions"):
        explain("builtin", by="attended", **SMALL)


@pytest.mark.usefixtures("added")
def test_texts_in_tables_and_figures_cannot_disturb_the_page(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"

    @explanation(asks="Is it safe?")
    def safe(subject: Subject) -> Explained:
        """Say something wild."""
        mark = {"mark": "point", "encoding": {"x": {"field": "x", "type": "nominal"}}}
        return Explained(
            evil,
            [Figure("p", evil, [{"x": evil}], mark)],
            [Table("t", evil, [{"x": evil}])],
            notes=[evil],
        )

    found = explain("builtin", by="safe", **SMALL)
    found.sections = [replace(found.sections[0], asks=evil)]
    found.command = evil
    write_folder(tmp_path, found)
    assert "<script" not in (tmp_path / "explain.html").read_text()
    assert "<script" not in found._repr_html_()


def test_numbers_where_labels_are_needed_are_said_so(jsonl: Write) -> None:
    path = jsonl([row | {"label": str(i / 10)} for i, row in enumerate(pairs(20))])
    with pytest.raises(DisorderError, match="omega_curve: it is for predictions that are labels"):
        explain(lambda texts: [[0.1]] * len(texts), str(path), by="omega_curve", **SMALL)


def test_an_unknown_explanation_is_found_before_data_is_read() -> None:
    with pytest.raises(UnknownName):
        explain("builtin", "no-such-file.jsonl", by="nothing")


@pytest.fixture(scope="module")
def explained() -> Explanations:
    """Two explanations, of which the built-in model shows one."""
    return disorder.explain("builtin", by=["omega_curve", "heads"], **SMALL)


def test_every_option_of_the_command_is_a_documented_keyword() -> None:
    known = inspect.signature(disorder.explain).parameters
    assert not any(each.kind is each.VAR_KEYWORD for each in known.values())
    command = {*declared_in(ExplainOptions), *declared_in(ExplainOutput)}
    command -= {"figure", "csv", "as_json"}
    assert command <= set(known)
    described = inspect.getdoc(disorder.explain) or ""
    assert all(re.search(rf"\b{name}(, \w+)*: ", described) for name in known)


def test_a_misspelt_keyword_is_told() -> None:
    misspelt: dict[str, Any] = {"limt": 5}
    with pytest.raises(UnknownName, match="keyword of explain 'limt'; did you mean 'limit'"):
        disorder.explain("builtin", **misspelt)
    with pytest.raises(DisorderError, match="fidelity='papr'"):
        disorder.explain("builtin", fidelity="papr")  # type: ignore[arg-type]


def test_a_folder_may_be_a_string_and_data_a_path(jsonl: Write, tmp_path: Path) -> None:
    path = jsonl(pairs(20))
    found = disorder.explain("uniform", path, by="omega_curve", q=5, out=str(tmp_path / "seen"))
    assert found.data == str(path)
    html = (tmp_path / "seen" / "explain.html").read_text()
    again = f"disorder explain uniform {path} --by omega_curve --with derange --q 5 --seed 0"
    assert again in html
    saved = found.save(tmp_path / "again")
    assert (saved / "explain.html").read_text() == html
    assert (saved / "omega_curve.csv").exists()


def test_the_repeating_command_has_the_settings_that_differ() -> None:
    found = disorder.explain(
        "uniform",
        by=["accepted_by_length:bins=2"],
        with_="shuffle_ngrams:n=2",
        short="use",
        labels={"neutral": "neutral"},
        **SMALL,
    )
    words = command_of(found).split()
    assert words[:4] == ["disorder", "explain", "uniform", "builtin"]
    assert words[words.index("--by") + 1] == "accepted_by_length:bins=2"
    assert words[words.index("--with") + 1] == "shuffle_ngrams:n=2"
    assert words[words.index("--limit") + 1] == "60"
    assert words[words.index("--short") + 1] == "use"
    assert words[words.index("--labels") + 1] == "neutral=neutral"
    assert "--fidelity" not in words


def test_a_result_prints_as_one_line_per_explanation(explained: Explanations) -> None:
    first, *lines = repr(explained).splitlines()
    assert first.startswith("Explanations of builtin on builtin: 60 of ")
    assert [line.split()[0] for line in lines] == ["omega_curve", "heads"]
    assert lines[0].endswith(explained["omega_curve"].finding)
    assert "not shown: builtin shows no attentions" in lines[1]


def test_a_notebook_shows_the_sections_of_the_page(explained: Explanations) -> None:
    html = explained._repr_html_()
    assert explained.plot("omega_curve").svg in html
    assert "Not done:" in html
    assert "http" not in html.replace("http://www.w3.org/", "")  # self-contained
    assert "<html" not in html


def test_scores_are_flat_records(explained: Explanations) -> None:
    scores = explained["omega_curve"].scores
    assert [record["score"] for record in explained.records] == list(scores)
    assert {tuple(record) for record in explained.records} == {
        ("explanation", "score", "value", "low", "high", "n", "skipped")
    }
    assert explained.records[0]["value"] == scores["omega@0"].value


def test_a_figure_displays_and_can_be_saved(explained: Explanations, tmp_path: Path) -> None:
    picture = explained.plot("omega_curve")
    assert picture._repr_svg_().startswith("<svg")
    assert picture.svg in picture._repr_html_()
    assert picture.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert picture.save(str(tmp_path / "a.svg")).read_text() == picture.svg
    with pytest.raises(DisorderError, match=r"in \.svg or \.pdf or \.png"):
        picture.save(tmp_path / "a.gif")
    with pytest.raises(UnknownName, match="did you mean 'omega_curve'"):
        explained.plot("omega_curv")


def test_an_explanation_that_was_not_asked_for_is_told(explained: Explanations) -> None:
    with pytest.raises(UnknownName, match="explanation in this result 'accepted_by_length'"):
        explained["accepted_by_length"]


def test_outcomes_have_the_task_of_the_data_and_mark_copies() -> None:
    task = replace(NLI, language="zh")
    texts = ("我 喜欢 猫 和 狗 。", "他 今天 去 学校 了 。")
    data = Dataset("toy", task, [Example.of(f"e{i}", *texts, "neutral") for i in range(3)])
    subject = Subject(load("uniform", task=task), data, Settings(q=2, short="use"))
    outcomes = subject.perturbed("derange").outcomes
    assert outcomes.task.language == "zh"
    assert not outcomes.is_copy
    assert outcomes.is_simple.all()
    assert subject.perturbed("copy_sort").outcomes.is_copy


def test_without_a_name_one_picture_answers_which_words_and_which_order() -> None:
    found = explain("builtin", limit=30)
    assert [section.name for section in found.sections] == ["overview"]
    assert [figure.name for figure in found.figures] == ["overview"]
    answer, question = found.result.headline, "What does the model rely on?"
    assert found["overview"].finding.startswith(answer[0].lower() + answer[1:])
    assert explain("builtin", limit=30, by=["ladder", "shuffles"]).result.headline == question


def test_numbers_have_more_than_one_explanation(jsonl: Write) -> None:
    rows = [row | {"label": str(i / 10)} for i, row in enumerate(pairs(20))]
    fit = [name for name, part in parts(ExplanationPart).items() if part.on != "labels"]
    assert {"overview", "ladder", "leave_one_out", "lime", "similarity"} <= {*fit}

    def lengths(texts: Any) -> list[float]:
        return [float(len(" ".join(text))) for text in texts]

    by = ["ladder:draws=2", "leave_one_out:n=4,q=2", "lime:n=4,samples=20,q=2", "similarity"]
    found = explain(lengths, str(jsonl(rows)), by=by, **SMALL)
    assert all(section.found is not None for section in found.sections)


def test_it_says_beforehand_how_many_model_calls_it_makes(run: Any) -> None:
    by = ["omega_curve", "entropy", "leave_one_out:n=10", "ladder:draws=2"]
    found = explain("builtin", by=by, cache="off", **SMALL)
    named = [word for each in by for word in ("--by", each)]
    _, _, err = run("explain", "builtin", *named, "--limit", 60, "--q", 5)
    assert err.splitlines()[0] == f"at most about {found.n_calls:,} model calls"
    assert found.n_made <= found.n_calls < 2.5 * found.n_made
    assert found.result.as_data()["n_calls"] == found.n_calls


def test_shared_permutations_are_planned_once() -> None:
    one = explain("builtin", by="omega_curve", **SMALL).n_calls
    assert explain("builtin", by=["omega_curve", "entropy"], **SMALL).n_calls == one == 60 * 6


def test_a_budget_ends_it_and_what_was_finished_stays(run: Any) -> None:
    by = ["--by", "omega_curve", "--by", "ladder:draws=5"]
    options = ["--limit", 60, "--q", 5, "--max-questions", 500, "--cache", "off"]
    code, out, _ = run("explain", "builtin", *by, *options)
    assert code == 0
    assert "Ω_0.5 = " in out
    assert "--max-questions: " in out
    code, _, err = run("explain", "builtin", "--by", "ladder", *options, "--max-questions", 20)
    assert code == 2
    assert "further model calls are needed" in err.splitlines()[-1]


@pytest.mark.usefixtures("added")
def test_a_page_says_where_two_explanations_disagree() -> None:
    @explanation(asks="Is order used?")
    def one(subject: Subject) -> Explained:
        """Say yes."""
        return Explained("yes", claims={"order": True})

    @explanation(asks="Is order used?")
    def another(subject: Subject) -> Explained:
        """Say no."""
        return Explained("no", claims={"order": False})

    found = explain("builtin", by=["one", "another"], **SMALL)
    [line] = found.disagreements
    assert "order is used according to one, and not according to another" in line
    assert "These explanations disagree" in render(found.result, "page")
    assert not explain("builtin", by="one", **SMALL).disagreements


def test_what_is_left_out_is_said_once(jsonl: Write, run: Any) -> None:
    """Eight explanations of short texts printed a line for each reason, each its own."""
    short = [row | {"id": f"short-{row['id']}"} for row in pairs(12, n_words=1)]
    path = jsonl([*pairs(12), *short])
    by = ["omega_curve", "accepted_by_length", "overlap", "minitree:tagger=at_hand"]
    named = [word for each in by for word in ("--by", each)]
    _, out, _ = run("explain", "uniform", path, *named, "--q", 5, "--language", "en")
    assert out.count("left out:") == 1
    told = " ".join(out.split())
    assert "omega_curve, accepted_by_length, overlap, minitree: left out: 12 (1 distinct" in told
