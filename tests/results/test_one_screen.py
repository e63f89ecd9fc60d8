"""One screen: what an audit says in 24 lines of 80 columns, and commands that run."""

from __future__ import annotations

import importlib
import io
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import Command
from disorder.data import read_data
from disorder.results.conclusion import Caveat
from disorder.results.next_steps import THEIR_OWN
from disorder.results.run import Run
from disorder.results.run_result import HEADLINES
from disorder.results.run_tables import command as command_of
from disorder.results.terminal import SCREEN, SafeConsole, continued, summary
from disorder.verbs.audit import audit
from fake_server import FakeServer
from oracles import BagOfWords
from screen_cases import MODELS, MORE, ROWS


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models_of_a_user.py").write_text(MODELS)
    monkeypatch.syspath_prepend(tmp_path)


SCRIPTS = Path(__file__).parents[2] / "scripts"


def written(rows: list[Any]) -> str:
    Path("data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return "data.jsonl"


def check_screen(command: Command, *words: object) -> dict[str, Any]:
    """One screen, whose commands run; gives the record."""
    code, printed, told = command("audit", *words, "--fidelity", "natural", "--out", "run")
    assert code == 0, told
    lines = printed.rstrip("\n").splitlines()
    assert len(lines) <= SCREEN, printed
    assert max(map(len, lines)) <= 80
    assert " ".join(printed.split()).count("bag of words trained on") <= 1, "it is said once"
    found: dict[str, Any] = json.loads(Path("run/result.json").read_text(encoding="utf-8"))
    assert printed.startswith(found["headline"])
    assert "What to do" in lines
    assert 1 <= len(found["next_steps"]) <= 3
    joined = re.sub(r" \\\n +", " ", printed)
    is_shown = [step["command"] in joined for step in found["next_steps"]]
    assert is_shown[0]
    assert is_shown == sorted(is_shown, reverse=True), "the last ones make room"
    for step in found["next_steps"]:
        program, *rest = shlex.split(step["command"])
        assert program == "disorder"
        code, printed_then, told = command(*rest)
        assert code == 0, (step, told)
        assert printed_then or told
    return found


@pytest.mark.parametrize("name", ROWS)
def test_a_model_of_a_user(name: str, command: Command) -> None:
    rows, kinds = ROWS[name]
    Path(THEIR_OWN).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    more = ("--q", 5, "--with", "derange", "--with", "reverse", "--with", "sort")
    more += MORE.get(name, ())
    found = check_screen(command, f"python:models_of_a_user:{name}", written(list(rows)), *more)
    kind = found["conclusion"]["kind"]
    assert kind in kinds
    assert found["headline"] == HEADLINES[kind]


@pytest.fixture(scope="module")
def run() -> Run:
    return audit("builtin", "builtin", limit=60, q=3, fidelity="natural", cache="off")


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("kind", HEADLINES)
def test_every_kind_fits(kind: str, width: int, run: Run) -> None:
    caveat = Caveat(kind="left_out", text="some of the examples are left out, for a reason " * 3)
    changes = {"kind": kind, "more_examples": 1234, "caveats": [caveat, caveat]}
    if kind in ("no_skill", "one_label", "one_gold_label"):
        changes |= {"value": None, "low": None, "high": None}
    found = run.model_copy()
    assert found.conclusion is not None
    found.conclusion = found.conclusion.model_copy(update=changes)
    console = SafeConsole(width=width, file=io.StringIO())
    lines = summary(found.result, console, ["Report: run/report.html", "more: disorder report run"])
    assert lines[0].plain in HEADLINES[kind]
    assert max(line.cell_len for line in lines) <= width
    if width == 80:
        assert len(lines) <= SCREEN


def test_long_commands_leave_what_the_data_needs_and_an_example(command: Command) -> None:
    rows, _ = ROWS["bag"]
    name = "the_tickets_of_our_customers.jsonl"
    renamed = [{"Ticket text": row["text"], "Team": row["label"]} for row in rows]
    lines = map(json.dumps, [*renamed, *renamed[:12]])
    Path(name).write_text("\n".join(lines), encoding="utf-8")
    columns = ("--columns", "Ticket text=text_a,Team=label")
    model = "python:models_of_a_user:bag"
    code, printed, told = command("audit", model, name, *columns, "--with=derange", "--out=run")
    assert code == 0, told
    lines = printed.splitlines()
    assert len(lines) <= SCREEN
    assert "Does this data need order?" in printed
    assert sum(line.startswith('  "') for line in lines) == 2, "an example"
    assert "disorder explain" in printed
    assert "disorder sanity" in printed
    assert "skill kept of original" in printed, "the headline's is of the surface control"
    assert f"12 of {len(rows) + 12} rows left out (repeated row)" in told


def test_moved_options_are_shown_with_the_place_that_was_answered(command: Command) -> None:
    Path("first.py").write_text("def first(rows):\n    return [0 for _ in rows]\n")
    colours = ["dark red", "blue", "light green", "grey"]
    rows = [
        {"question": f"Which colour has thing {i}?", "choices": colours, "answer": i % 4}
        for i in range(24)
    ]
    words = ("python:first:first", written(rows), "--on", "options", "--q", 4, "--out", "run")
    code, printed, told = command("audit", *words)
    assert code == 0, told
    before, after = re.findall(r'^  "(.*)" → (\w)$', printed, re.MULTILINE)
    assert before == ("A dark red B blue C light green D grey", "A")
    assert after[0] != before[0]
    assert sorted(re.split(r" ?[A-D] ", after[0])[1:]) == sorted(colours)
    assert after[1] == "A", "the letter of the place that was answered"
    assert printed.count("disorder report run --all") == 1


def test_no_data_is_said_and_controls_are_no_part_of_a_command(command: Command, run: Run) -> None:
    code, _, told = command("audit", "builtin", "--limit", 24, "--q", 2, "--with", "derange")
    assert code == 0
    assert "no data named: the built-in data is used" in told
    again = command_of(run, limit=50)
    assert "--limit 50" in again
    assert "derange" in again
    assert "surface:" not in again


def test_few_examples_leave_it_undecided(command: Command) -> None:
    found = check_screen(command, "builtin", "builtin", "--limit", 24, "--q", 2)
    assert found["conclusion"]["kind"] in ("undecided", "reads_or_mixed", "mixed_or_bag", "mixed")


@pytest.fixture
def server() -> Iterator[str]:
    pytest.importorskip("httpx2", reason="needs httpx2")
    with FakeServer(brain=BagOfWords(read_data("builtin").examples)) as found:
        yield found.url


def test_a_language_model(command: Command, server: str) -> None:
    words = ("openai:m", "builtin", "--base-url", server, "--limit", 40, "--q", 2)
    check_screen(command, *words, "--with", "derange")


def test_all_shows_what_the_screen_leaves_out(command: Command) -> None:
    command("audit", "builtin", "builtin", "--limit", 24, "--q", 2, "--out", "run")
    _, screen, _ = command("report", "run")
    _, printed, _ = command("report", "run", "--all")
    assert len(printed.splitlines()) > 2 * SCREEN
    meaning = "P_c (p_c): share of permutations"
    for text in ("Ω_max", "imaginary models", meaning, "Only needs=order"):
        assert text in printed
        assert text not in screen


def test_the_demo_finds_what_is_known(command: Command) -> None:
    code, printed, told = command("audit")
    assert code == 0, told
    lines = printed.rstrip("\n").splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80
    told = " ".join(printed.split())
    for name, says in (
        ("a bag of words", "hardly uses word order"),
        ("a mixed model", "uses word order for part"),
        ("a reader", "without it, its skill"),
    ):
        assert name in told
        assert says in told
    assert "not known" not in printed
    assert len([*Path("runs").iterdir()]) == 2


def test_a_long_command_can_be_copied() -> None:
    words = ["d a.csv", "--columns", "body=text_a,mood=label", "--x", "'q'"]
    words += [f"--option-{i}" for i in range(20)]
    for width in (40, 80):
        lines = list(continued(shlex.join(["printf", "%s\\n", *words]), width))
        assert max(map(len, lines)) <= width
        typed = ["sh", "-c", "\n".join(lines)]
        assert subprocess.check_output(typed, text=True).splitlines() == words


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("screens")


def test_the_page_of_ten_screens_is_what_audits_print(script: ModuleType) -> None:
    pytest.importorskip("httpx2", reason="needs httpx2")
    page = script.page()
    assert script.PAGE.read_text(encoding="utf-8") == page, "run scripts/screens.py"
    shown = re.findall(r"(?<=```console\n)\$.*?\n(?! )(.*?)\n(?=```)", page, re.DOTALL)
    assert len(shown) == 10
    for each in shown:
        lines = each.splitlines()
        assert len(lines) <= SCREEN
        assert max(map(len, lines)) <= 80
    for kind in ("reads_order", "bag_of_words", "mixed", "no_skill", "surface", "reads_or_mixed"):
        assert f"\n{HEADLINES[kind]}\n" in page
