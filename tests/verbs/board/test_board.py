"""The board: ranks that are ranges where intervals overlap, one row per run, names as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import disorder
from conftest import Command
from disorder.errors import DisorderError
from disorder.results.board import Board, BoardRow
from disorder.results.render import render
from disorder.results.run import Record, Run
from disorder.store.store import JOURNAL
from disorder.verbs import board as boarding
from disorder.verbs.board import ranked


def row(model: str, low: float, high: float, *, data: str = "d", kind: str = "mixed") -> BoardRow:
    kept = Record(
        transformation="derange",
        metric="skill_kept",
        value=(low + high) / 2,
        low=low,
        high=high,
        n=9,
        skipped=0,
    )
    return BoardRow(model, data, kind, "said", kept, None, "derange", 9, "2026-01-01T00:00:00")


def test_ranks_are_ranges_where_intervals_overlap() -> None:
    rows = ranked(
        [row("c", 0.5, 0.9), row("a", 0.0, 0.1), row("b", 0.4, 0.6), row("x", 0.0, 1.0, data="e")]
    )
    assert [(r.model, r.rank, r.n_ranked) for r in rows] == [
        ("a", "1", 3),
        ("b", "2–3", 3),
        ("c", "2–3", 3),
        ("x", "1", 1),
    ]


def test_runs_under_other_transformations_are_no_rivals() -> None:
    """Little is lost where neighbours change places: such a run says nothing on one that moves
    every word.
    """
    rows = ranked([row("a", 0.1, 0.2), replace(row("b", 0.8, 0.9), transformation="rotate")])
    assert [(r.model, r.rank, r.n_ranked) for r in rows] == [("a", "1", 1), ("b", "1", 1)]
    assert "under rotate" in render(Board("t", rows).result, "page")


def test_models_without_skill_have_no_rank() -> None:
    rows = ranked([row("a", 0.0, 0.1), row("b", 0.0, 0.0, kind="no_skill")])
    assert [(r.model, r.rank) for r in rows] == [("a", "1"), ("b", "")]
    assert rows[0].n_ranked == 1


def test_of_several_runs_the_newest_counts() -> None:
    old = replace(row("a", 0.8, 0.9), started="2025-01-01T00:00:00")
    rows = ranked([old, row("a", 0.1, 0.2), row("b", 0.4, 0.5)])
    assert [(r.model, r.rank, r.is_newest) for r in rows] == [
        ("a", "1", True),
        ("b", "2", True),
        ("a", "", False),
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("builtin", "builtin:bow", "uniform"):
        out = folder / name.replace(":", "-")
        given = {"with_": "derange", "q": 5, "limit": 80, "fidelity": "paper"}
        disorder.audit(name, "builtin", out=out, **given)
    return folder


def test_a_folder_of_runs_becomes_a_site(runs: Path, tmp_path: Path, command: Command) -> None:
    code, out, err = command("board", runs, "--out", tmp_path / "site", "--title", "<b>Ours")
    assert (code, err) == (0, "")
    assert "3 runs of 3 models on 1 dataset:" in out
    text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;Ours" in text
    assert "<b>Ours" not in text
    reports = sorted(path.name for path in (tmp_path / "site" / "reports").glob("*.html"))
    assert len(reports) == 3
    for name in reports:
        assert f'href="reports/{name}"' in text


def test_a_report_is_drawn_again_only_where_its_run_or_its_page_changed(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []

    def draw(run: Run) -> bytes:
        drawn.append(run.model)
        return f"<p>{run.model}, seed {run.seed}".encode()

    monkeypatch.setattr(boarding, "_encoded_report", draw)
    found = [disorder.read_run(folder) for folder in sorted(runs.iterdir())]
    disorder.board(*found, out=tmp_path)
    assert drawn == ["builtin", "builtin:bow", "uniform"]
    disorder.board(*found, out=tmp_path)
    assert len(drawn) == 3
    found[2] = found[2].model_copy(update={"seed": 7})
    disorder.board(*found, out=tmp_path)
    assert drawn[3:] == ["uniform"]
    (tmp_path / "reports" / "builtin-builtin.html").write_text("<p>of somebody else")
    (tmp_path / "reports" / "uniform-builtin.html").unlink()
    disorder.board(*found, out=tmp_path)
    assert drawn[4:] == ["builtin", "uniform"]
    (tmp_path / "reports" / JOURNAL).write_text("[1")
    disorder.board(*found, out=tmp_path)
    assert drawn[6:] == ["builtin", "builtin:bow", "uniform"]
    assert (tmp_path / "reports" / "uniform-builtin.html").read_text() == "<p>uniform, seed 7"


def test_reports_are_drawn_again_when_any_code_of_ours_changed(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "package" / "languages" / "names.py"
    source.parent.mkdir(parents=True)
    compiled = source.parent / "__pycache__"
    compiled.mkdir()
    n_drawn = 0

    def draw(run: Run) -> bytes:
        nonlocal n_drawn
        n_drawn += 1
        return b"<p>"

    monkeypatch.setattr(boarding, "files", {"disorder": tmp_path / "package"}.__getitem__)
    monkeypatch.setattr(boarding, "_drawing_code", boarding._drawing_code.__wrapped__)
    monkeypatch.setattr(boarding, "_encoded_report", draw)
    run = disorder.read_run(runs / "builtin")
    for text, expected in (("a = 1", 1), ("a = 1", 1), ("a = 2", 2)):
        source.write_text(text)
        (compiled / f"names{n_drawn}.pyc").touch()
        disorder.board(run, out=tmp_path / "board")
        assert n_drawn == expected


def test_from_python_it_is_a_table_that_displays_itself(runs: Path) -> None:
    found = disorder.board(runs / "builtin", disorder.read_run(runs / "builtin-bow"))
    assert [row.model for row in found.rows] == ["builtin", "builtin:bow"]
    frame = found.to_frame()
    assert list(frame["skill_kept"]) == [row.kept.value for row in found.rows if row.kept]
    assert found._repr_html_().startswith("<iframe")
    assert "&lt;script" not in render(found.result, "frame")


def test_a_model_that_guesses_has_no_rank(runs: Path) -> None:
    found = disorder.board(runs)
    assert [row.model for row in found.rows if not row.rank] == ["uniform"]


def test_a_folder_without_runs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DisorderError, match="no finished run"):
        disorder.board(tmp_path)
    with pytest.raises(DisorderError, match="is no folder"):
        disorder.board(tmp_path / "nothing")


def test_an_unfinished_run_that_is_named_is_an_error(runs: Path, tmp_path: Path) -> None:
    unfinished = disorder.read_run(runs / "uniform").model_copy(update={"status": "started"})
    from disorder.results.run_folder import write_run

    (tmp_path / "r").mkdir()
    write_run(tmp_path / "r", unfinished)
    with pytest.raises(DisorderError, match="not finished"):
        disorder.board(tmp_path / "r")
