"""The terminal: a short help, tables that fit, perturbed texts without a file, usual columns."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conftest import Command
from disorder.data import read_data
from disorder.errors import BadData
from disorder.results.result import Cell, Column, Grid
from disorder.results.terminal import SafeConsole, fitted, show_result
from disorder.transformations.applying.parsing import suites
from disorder.verbs.audit import audit

SPECS = [
    "derange",
    "shuffle_ngrams:n=2",
    "drop_pos:tags=NOUN+VERB+ADJ+reverse",
    "keep_bigrams:share=0.75",
]


def test_disorder_alone_is_a_short_help(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = command()
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    of_plugin = [line for line in lines if line.startswith("  say ")]  # where it is installed
    assert len(lines) - len(of_plugin) <= 45
    assert sum(line.startswith("  disorder ") for line in lines) == 3
    for name in ("audit", "sanity", "explain", "gate", "report", "human", "train", "list"):
        assert any(line.startswith(f"  {name} ") for line in lines), name


@pytest.mark.parametrize("width", [50, 60, 200])
def test_the_short_help_fits_any_width(
    command: Command, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = command()
    assert max(map(len, out.splitlines())) <= min(width, 80)


def test_a_wrong_command_is_still_an_error(command: Command) -> None:
    code, out, err = command("adit")
    assert (code, out) == (2, "")
    assert "adit" in err


def _table(n_columns: int, names: list[str]) -> Grid:
    cell = Cell("0.673", ".65–.69")
    heads = ["accuracy", "agreement", "WOS", "confidence", "skill kept", "steadiness"][:n_columns]
    columns = [Column("all examples (1,000)", "name"), *map(Column, heads)]
    return Grid(columns, [[Cell(name), *[cell] * n_columns] for name in names])


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("n_columns", [1, 4, 6])
def test_a_table_fits_and_breaks_no_name(width: int, n_columns: int) -> None:
    lines = [line.plain for line in fitted(_table(n_columns, SPECS), width)]
    assert max(map(cell_len, lines)) <= width
    text = "\n".join(lines)
    for name in SPECS:
        assert name in text
    assert text.count("0.673") == len(SPECS) * n_columns
    assert text.count(".65–.69") == len(SPECS) * n_columns


def test_a_table_uses_the_width_it_has() -> None:
    table = _table(4, ["derange"])
    wide = fitted(table, 120)
    narrow = fitted(table, 60)
    assert len(wide) == 3, "a head, a rule, a row"
    assert len(narrow) > len(wide)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), max_size=90), max_size=4
    ),
    st.integers(20, 100),
)
def test_any_name_fits(names: list[str], width: int) -> None:
    for line in fitted(_table(2, names), width):
        assert cell_len(line.plain) <= max(width, 24)


@pytest.mark.parametrize("width", [60, 80])
def test_a_run_fits_the_terminal_whole(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a folder is never broken, however long
    with_ = ["derange", "shuffle_ngrams:n=2", "shuffle_window:window=3+reverse+sort"]
    run = audit("builtin", "builtin", with_=with_, q=4, limit=30, out="run")
    console = Console(width=width, file=io.StringIO())
    show_result(run.result, console, is_all=True)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(cell_len, lines)) <= width
    for name in run.transformations:
        assert any(name in line for line in lines), name
    assert any("P_c (p_c)" in line for line in lines), "the name that a gate takes"


@pytest.mark.parametrize("style", ["", "dim"])
@pytest.mark.parametrize("is_terminal", [False, True])
def test_no_line_ends_in_a_space(style: str, *, is_terminal: bool) -> None:
    text = "wrapped after ten letters, again and again, with names " * 3
    console = SafeConsole(width=20, file=io.StringIO(), force_terminal=is_terminal)
    table = Table("one", "two", "three")
    table.add_row("a", text, "")
    console.print(Text(text, style=style))
    console.print(text, style=style)
    console.print(table)
    console.print(Text("kept ", style=style), end="")
    printed = re.sub("\x1b\\[[0-9;]*m", "", console.file.getvalue())  # type: ignore[attr-defined]
    assert not [line for line in printed.splitlines()[:-1] if line.endswith(" ")]
    assert printed.endswith("kept ")
    assert printed.replace("\n", " ").count("wrapped after ten") == 6


def test_help_names_every_suite(command: Command) -> None:
    _, out, _ = command("audit", "--help")
    told = out.partition("Set of transformations:")[2].partition("[")[0]
    assert {word.strip(",") for word in told.split()} - {"│"} == set(suites())


def test_perturb_writes_to_the_terminal(command: Command) -> None:
    code, out, err = command("perturb", "builtin", "--with", "reverse", "--limit", 2)
    assert code == 0
    assert [json.loads(line)["transformation"] for line in out.splitlines()] == ["reverse"] * 2
    assert "2 variants written\n" in err
    assert "Written to standard output" in err


ROWS = {
    "premise,hypothesis,gold_label": ("text_a", "text_b"),
    "sentence1,sentence2,label": ("text_a", "text_b"),
    "Sentence,label": ("text_a", None),
    "text,gold_label": ("text_a", None),
    "question,label": ("text_a", None),
    "question,sentence,label": ("text_a", "text_b"),
}


@pytest.mark.parametrize("header", ROWS)
def test_usual_column_names_are_known_and_it_is_said(
    header: str, tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "data.csv"
    n_texts = header.count(",")
    rows = [[f"one two three four five {i} {k}" for k in range(n_texts)] for i in range(4)]
    body = "".join(f"{','.join(row)},{('yes', 'no')[i % 2]}\n" for i, row in enumerate(rows))
    path.write_text(f"{header}\n{body}", encoding="utf-8")
    code, _, err = command("perturb", path, "--with", "reverse")
    assert code == 0
    assert f"column {header.split(',')[0]} is read as text_a" in err
    assert err.count("is read as") == 1
    examples = read_data(path).examples
    assert {example.text_a for example in examples} == {row[0] for row in rows}
    assert {example.label for example in examples} == {"yes", "no"}
    assert all((example.text_b is None) == (n_texts == 1) for example in examples)


@pytest.mark.parametrize(
    "header", ["text,sentence,label", "premise,label", "premise,hypothesis,who"]
)
def test_what_is_not_clear_is_not_guessed(header: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"{header}\na b c d,e f,yes\n"[:-1], encoding="utf-8")
    with pytest.raises(BadData):
        read_data(path)


def test_what_the_user_says_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("premise,hypothesis,gold_label\na b c,d e f,yes\n", encoding="utf-8")
    (example,) = read_data(path, columns={"hypothesis": "text_a"}).examples
    assert (example.text_a, example.text_b, example.label) == ("d e f", None, "yes")


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_a_csv_with_other_separators_says_what_it_is(
    separator: str, name: str, tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "data.csv"
    rows = [["text_a", "label"], ["one, two and three", "yes"], ["four five six", "no"]]
    path.write_text("".join(f"{separator.join(row)}\n" for row in rows), encoding="utf-8")
    assert [example.text_a for example in read_data(path).examples].count(rows[1][0]) == 1
    code, out, err = command("perturb", path, "--with", "reverse")
    assert code == 0
    assert len(out.splitlines()) == 2
    assert f"separated by {name}, not by commas" in err


def test_the_ladder_uses_the_tagger_at_hand(
    monkeypatch: pytest.MonkeyPatch, nltk_data: Path, jsonl: Callable[..., Path]
) -> None:
    """Without any spaCy pipeline, NLTK's tagger is taken."""
    spacy = pytest.importorskip("spacy", reason="needs spacy")
    monkeypatch.setenv("NLTK_DATA", str(nltk_data))
    monkeypatch.setattr(spacy.util, "get_installed_models", list)
    run = audit("builtin", "builtin", suite="ladder", q=2, limit=20)
    assert any(name.startswith("trade_classes") for name in run.transformations)
    assert any("nltk" in note for note in run.notes)
