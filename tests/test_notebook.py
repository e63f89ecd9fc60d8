"""The example notebook runs in a real kernel, and runs, comparisons and progress display in it."""

from __future__ import annotations

import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import disorder
from disorder.results import progress as notebook_progress
from disorder.results.progress import bar_html, shown_progress, silent

ROOT = Path(__file__).parents[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_the_notebook_displays_runs_pictures_and_progress(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    notebook = nbformat.read(ROOT / "examples" / "first_audit.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    audit, score, picture, frame, comparison, run = [
        cell.outputs for cell in notebook.cells if cell.cell_type == "code"
    ]
    shown = "".join(_data(output).get("text/html", "") for output in audit)
    assert 'max="120" value="120"' in shown, "a bar per stage, at its end"
    assert "Record(transformation='derange'" in _data(score[-1])["text/plain"]
    assert _data(picture[-1])["image/svg+xml"].startswith("<svg")
    assert "p_c" in _data(frame[-1])["text/html"] or "accuracy" in _data(frame[-1])["text/html"]
    assert "<iframe" in _data(comparison[-1])["text/html"]
    assert "<iframe" in _data(run[-1])["text/html"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_results_display_themselves(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    notebook = nbformat.read(ROOT / "examples" / "results_display.ipynb", as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    _, comparison, explanations, sanity, picture = [
        cell.outputs for cell in notebook.cells if cell.cell_type == "code"
    ]
    assert "Holm" in _data(comparison[-1])["text/html"]
    assert "<svg" in _data(explanations[-1])["text/html"]
    assert "duplicates" in _data(sanity[-1])["text/html"]
    assert _data(picture[-1])["image/svg+xml"].startswith("<svg")
    assert (tmp_path / "forest.pdf").read_bytes().startswith(b"%PDF")


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'</style>"


def test_hostile_labels_texts_and_names_are_shown_as_they_are_written() -> None:
    rows = [
        {
            "id": f"{i}{HOSTILE}",
            "text_a": f"{HOSTILE} b c d {i}",
            "label": HOSTILE if i % 2 else "x",
        }
        for i in range(12)
    ]
    run = disorder.audit("always:x", rows, with_="reverse", q=1, cache="off", short="use")
    shown = run._repr_html_()
    inside = unescape(shown)  # what the frame holds
    assert "&lt;script&gt;alert(1)" in inside
    for text in (shown, inside, bar_html(HOSTILE, 1, 2, HOSTILE)):
        assert "<script>alert" not in text
        assert "<img src=x" not in text


def test_every_notebook_is_run_by_a_test() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    for path in (ROOT / "examples").glob("*.ipynb"):
        assert f'"{path.name}"' in text


def _data(output: Any) -> dict[str, str]:
    return dict(output.get("data", {}))


def test_elsewhere_nothing_is_shown() -> None:
    def mine(stage: str, done: int, total: int, note: str) -> None:
        """A callback of the user's."""

    assert shown_progress(mine) is mine
    assert shown_progress(None) is silent


def test_a_terminal_with_ipython_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    class TerminalInteractiveShell:
        """What `ipython` in a terminal runs."""

    class FakeIPython:
        get_ipython = TerminalInteractiveShell

    monkeypatch.setitem(sys.modules, "IPython", FakeIPython)  # type: ignore[arg-type]
    assert not notebook_progress.in_notebook()


def test_names_of_stages_are_escaped() -> None:
    assert "<b>" not in bar_html("<b>", 1, 2, "<i>")
