"""The report: verdicts decided on intervals, texts shown as texts, and everything drawn from
run.json alone.
"""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path
from tempfile import gettempdir

import pytest
from rich.console import Console

import disorder
from conftest import pairs
from disorder.errors import BadData, DisorderError
from disorder.results.render import render
from disorder.results.run import Run
from disorder.results.run_folder import read_run, write_report
from disorder.results.run_tables import command
from disorder.results.terminal import show_result
from disorder.safe_io import visible
from disorder.verbs.audit.pipeline import audit

HOSTILE = [
    "<script>alert(1)</script> is what the old man said to her",
    "the </style></title><img src=x onerror=alert(1)> picture fell off the wall",
    "a\x00b \x1b[31mred\x1b[0m words that are not quite what they seem",
    "\u202eright to left override turns this sentence round for you",
]


def answers(pairs: list[str]) -> list[list[float]]:
    return [[0.9, 0.1] if len(text) % 2 else [0.2, 0.8] for text in pairs]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    rows = [
        f'{{"text_a": {_json(text)}, "label": "{label}"}}'
        for text in HOSTILE
        for label in ("<b>x</b>", "y")
    ]
    rows += [
        f'{{"text_a": "the {i} dogs saw nine small cats in a garden", "label": "y"}}'
        for i in range(20)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return audit(answers, str(tmp_path / "data.jsonl"), q=5, out=tmp_path / "run")


def _json(text: str) -> str:
    import json

    return json.dumps(text)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs


def test_untrusted_texts_show_as_text(run: Run) -> None:
    html = render(run.result, "page")
    tags = Tags()
    tags.feed(html)
    assert "script" not in tags.names
    assert "img" not in tags.names
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert "&lt;script&gt;" in html
    assert not {"\x00", "\x1b", "\u202e"} & set(html)


def test_page_needs_no_network(run: Run) -> None:
    tags = Tags()
    tags.feed(render(run.result, "page"))
    links = [
        value for name, value in tags.attributes if name in ("src", "href", "xlink:href", "action")
    ]
    assert [link for link in links if not str(link).startswith("#")] == []
    assert {"link", "iframe", "object"}.isdisjoint(tags.names)
    assert "default-src 'none'" in render(run.result, "page")


def test_report_is_drawn_from_the_run_folder_alone(run: Run, tmp_path: Path) -> None:
    write_report(tmp_path / "run", run)
    first = (tmp_path / "run" / "report.html").read_bytes()
    write_report(tmp_path / "run", read_run(tmp_path / "run"))
    assert (tmp_path / "run" / "report.html").read_bytes() == first


def test_terminal_fits_eighty_columns_and_starts_with_the_verdict(run: Run) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    show_result(run.result, console, is_all=True)
    text = console.export_text()
    assert text.strip().startswith(run.result.headline[:30])
    # a path stays whole, so that it can be copied
    without_paths = [line for line in text.splitlines() if gettempdir() not in line]
    assert max(map(len, without_paths)) <= 80
    assert "…" not in text


@pytest.fixture(scope="module")
def labels_only() -> Run:
    """A model that gives one label to all texts, on data with two labels of three."""
    given = {"q": 3, "with_": ["derange", "sort"], "fidelity": "paper", "cache": "off"}
    return audit("always:neutral", pairs(12), **given)


def test_what_was_not_measured_is_said_once_with_the_reason(labels_only: Run) -> None:
    printed = _printed(labels_only)
    (reason,) = {entry.reason for entry in labels_only.omitted if entry.metric == "confidence"}
    assert printed.count(reason) == 1
    (line,) = [line for line in printed.splitlines() if reason in line]
    assert line.startswith("not measured: confidence, ece")
    assert "not measured: wos under derange, sort (no one-sentence text" in printed
    drawn = render(labels_only.result, "page")
    assert "The confidence of the model's predictions before and after" not in drawn
    assert "(1.00)" not in drawn, "the confidence of telling examples"
    with pytest.raises(DisorderError, match="no picture confidence of derange: it was not meas"):
        labels_only.plot("confidence")


def test_the_page_says_each_reason_once(labels_only: Run) -> None:
    (reason,) = {entry.reason for entry in labels_only.omitted if entry.metric == "confidence"}
    assert len([entry for entry in labels_only.omitted if entry.reason == reason]) > 1
    assert render(labels_only.result, "page").count(reason) == 1


def test_what_the_tables_hold_is_explained(run: Run, labels_only: Run) -> None:
    for each in (run, labels_only):
        printed = _printed(each)
        for grid in each.result.sections[0].grids:
            for column in grid.columns[2:]:
                assert re.search(rf"^{re.escape(column.title)}( \([a-z_]+\))?: ", printed, re.M)
    assert "A, B, C: what imaginary models would score" in _printed(labels_only)
    assert "\nB, C: what imaginary models would score; B guesses" in _printed(run)


@pytest.mark.parametrize("name", ["", "D: of tomorrow"])
def test_reference_models_of_other_names_have_no_legend(labels_only: Run, name: str) -> None:
    strange = labels_only.model_copy(update={"references": {name: []}})
    assert "imaginary models" not in _printed(strange)


def test_the_language_is_named() -> None:
    german = audit("uniform", pairs(6), q=2, with_="sort", language="de", cache="off")
    assert "6 examples in German (de), " in _printed(german)
    assert "6 examples in German (de), " in render(german.result, "page")


def _printed(run: Run) -> str:
    console = Console(width=300, file=io.StringIO())
    show_result(run.result, console, is_all=True)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_command_repeats_the_run(run: Run, tmp_path: Path) -> None:
    words = command(run).split()
    assert words[:2] == ["disorder", "audit"]
    named = [spec for spec in run.transformations if not spec.startswith("surface:")]
    assert [words[i + 1] for i, word in enumerate(words) if word == "--with"] == named
    again = audit(answers, str(tmp_path / "data.jsonl"), q=5, with_=named)
    assert again.transformations == run.transformations
    assert again.scores == run.scores


def test_visible_shows_controls() -> None:
    assert visible("a\x00\x1b\u202eb") == "a␀␛⟨U+202E⟩b"


def test_permutation_scores_are_shown_where_no_transformation_keeps_the_words() -> None:
    """The example plugin's `stutter` repeats words, so that none of the usual ones is there."""
    pytest.importorskip("disorder_stutter", reason="needs the example plugin")
    run = audit("uniform", pairs(12), q=4, with_="stutter", cache="off")
    console = Console(width=120, record=True, file=io.StringIO())
    show_result(run.result, console, is_all=True)
    printed = console.export_text()
    assert "permutations (stutter)" in printed
    assert re.search(r"Ω_max +\d", printed)
    single = audit("uniform", pairs(12), with_="sort", cache="off")
    show_result(single.result, console, is_all=True)
    assert "permutations (" not in console.export_text()


def test_nothing_stands_between_a_text_and_what_finds_its_direction() -> None:
    """`dir="auto"` looks at the letters of a paragraph, but not at those in a `bdi` inside it: with
    one, Arabic would be set from the left.
    """
    package = Path(disorder.__file__).parent
    files = [*package.rglob("*.html")]
    templates = {file.name: file.read_text(encoding="utf-8") for file in files}
    with_texts = {name for name, text in templates.items() if 'dir="auto"' in text}
    assert {"exhibits.html", "macros.html", "example.html", "annotate_item.html"} <= with_texts
    assert [name for name, text in templates.items() if 'dir="auto"><bdi' in text] == []


def test_a_folder_that_is_no_run_says_what_it_holds(tmp_path: Path) -> None:
    explained = tmp_path / "explained"
    explained.mkdir()
    (explained / "explain.html").touch()
    with pytest.raises(BadData, match=r"is no run folder: open .*explained/explain.html"):
        read_run(explained)
    for name in ("a", "b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").touch()
    with pytest.raises(BadData, match=r"it holds 2 runs: b, a$"):
        read_run(tmp_path / "runs")
