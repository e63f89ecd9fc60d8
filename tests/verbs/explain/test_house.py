"""Does `disorder explain` do as it says? Pages, pictures, CSV and JSON agree, and what cannot be
shown is one line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import pairs
from disorder.errors import BadModel, DisorderError, NothingToMeasure, UnknownName
from disorder.registry import ExplanationPart, _parts, explanation, parts
from disorder.verbs.explain import Explained, Figure, Subject, Table, explain, page, write_folder

Write = Callable[..., Path]
SMALL: dict[str, Any] = {"limit": 60, "q": 5}


@pytest.fixture
def added() -> Any:
    """Register explanations for one test."""
    parts(ExplanationPart)
    before = dict(_parts["explanation"])
    yield
    _parts["explanation"].clear()
    _parts["explanation"].update(before)


def test_a_folder_holds_page_pictures_and_the_data_behind_them(run: Any, tmp_path: Path) -> None:
    code, out, _ = run(
        "explain", "builtin", "--by", "omega_curve", "--limit", 60, "--q", 5, "--out", "seen"
    )
    assert code == 0
    assert "Ω_0.5 = " in out
    folder = tmp_path / "seen"
    html, svg = (folder / "explain.html").read_text(), (folder / "omega_curve.svg").read_text()
    assert svg in html
    record = json.loads((folder / "explain.json").read_text())
    [section] = record["explanations"]
    with (folder / "omega_curve.csv").open(newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert rows == [
        {name: float(value) for name, value in row.items()} for row in section["figures"][0]["rows"]
    ]
    assert section["finding"] in out


def test_report_and_explanations_of_one_model_link_to_each_other(run: Any, tmp_path: Path) -> None:
    settings = ["--limit", 60, "--q", 5]
    run("audit", "builtin", *settings, "--with", "derange", "--out", "seen")
    assert run("explain", "builtin:bow", *settings, "--by", "omega_curve", "--out", "seen")[0] == 0
    assert "explain.html" not in (tmp_path / "seen" / "report.html").read_text()
    assert run("explain", "builtin", *settings, "--by", "omega_curve", "--out", "seen")[0] == 0
    assert 'href="explain.html"' in (tmp_path / "seen" / "report.html").read_text()
    assert 'href="report.html"' in (tmp_path / "seen" / "explain.html").read_text()


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_picture_and_its_csv_go_where_the_user_says(run: Any, tmp_path: Path, form: str) -> None:
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
    assert json.loads(out)["explanations"][0]["name"] == "omega_curve"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "omega_curv"], "did you mean 'omega_curve'?"),
        (["--by", "omega_curve:x=1"], "unknown setting of omega_curve 'x'"),
        (["--by", "omega_curve:x"], "write settings as name:key=value"),
        (["--figure", "a.gif"], "end the name in .svg or .png"),
        (["--with", "derang"], "did you mean 'derange'?"),
        (["--by", "length", "--by", "length:bins=3"], "explanation length is named twice"),
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
    html = page(found, "")
    assert "this model gives no attentions" in html
    assert "<svg" in html
    with pytest.raises(NothingToMeasure, match="no attentions"):
        found["attended"]
    with pytest.raises(DisorderError, match="attended: this model gives no attentions"):
        explain("builtin", by="attended", **SMALL)


@pytest.mark.usefixtures("added")
def test_texts_in_tables_and_pictures_cannot_disturb_the_page(tmp_path: Path) -> None:
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
    write_folder(tmp_path, found, evil)
    assert "<script" not in (tmp_path / "explain.html").read_text()


def test_the_package_is_a_function_too() -> None:
    found = disorder.explain("builtin", by="omega_curve", **SMALL)
    assert found["omega_curve"].scores["omega@0"].n == 60


def test_numbers_where_labels_are_needed_are_said_so(jsonl: Write) -> None:
    path = jsonl([row | {"label": str(i / 10)} for i, row in enumerate(pairs(20))])
    with pytest.raises(DisorderError, match="omega_curve: it is for answers that are labels"):
        explain(lambda texts: [[0.1]] * len(texts), str(path), by="omega_curve", **SMALL)


@pytest.mark.usefixtures("added")
def test_the_explanation_in_the_documentation_works() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explain.md").read_text(encoding="utf-8")
    code = re.search(r"## Add an explanation.*?```python\n(.*?)```", page, flags=re.DOTALL)
    assert code
    exec(compile(code[1], "explain.md", "exec", dont_inherit=True), {"__name__": "sureness"})
    found = explain("builtin", by="sureness", **SMALL)["sureness"]
    assert found.scores["whole"].value > found.scores["perturbed"].value
    assert found.figures[0].svg.startswith("<svg")


def test_an_unknown_explanation_is_found_before_data_is_read() -> None:
    with pytest.raises(UnknownName):
        explain("builtin", "no-such-file.jsonl", by="nothing")
