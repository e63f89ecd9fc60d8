"""LaTeX for papers: tables that compile, whatever names are in them; figures; the methods."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import Command
from disorder.errors import DisorderError, UnknownName
from disorder.papers.study import read_study
from disorder.results.citations import PAPERS, bibtex, methods_sentence, papers_of
from disorder.results.comparison import Comparison, paper_grids
from disorder.results.markup import latex_text
from disorder.results.render import latex_table, render
from disorder.results.run import Record, Run
from disorder.results.run_tables import paper_grid

PREAMBLE = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
HOSTILE = "a_b & 100% #1 {x} ~ ^ \\ $y$ <z> | − … Ω_max"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("builtin", "builtin:bow"):
        out = folder / name.replace(":", "-")
        given = {"with_": ["derange", "shuffle_ngrams:n=2"], "q": 5, "limit": 60}
        disorder.audit(name, "builtin", out=out, fidelity="paper", **given)
    return folder / "builtin", folder / "builtin-bow"


@pytest.fixture
def run(runs: tuple[Path, Path]) -> Run:
    return disorder.read_run(runs[0])


def run_table(run: Run, **chosen: Any) -> str:
    return latex_table(paper_grid(run, **chosen))


def latex_tables(found: Comparison) -> str:
    return "".join(map(latex_table, paper_grids(found)))


def compiled(text: str, folder: Path) -> str:
    """The log of pdflatex, which must end well."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("needs pdflatex (Debian: texlive-latex-recommended)")
    (folder / "paper.tex").write_text(f"{PREAMBLE}{text}\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder,
        capture_output=True,
        timeout=120,
    )
    log = (folder / "paper.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-2000:]
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")
    return log


def test_the_table_has_all_rows_and_the_values_of_the_run(run: Run) -> None:
    text = run_table(run)
    record = run["derange", "agreement"]
    assert f"{record.value:.3f} {{\\small [{record.low:.2f}, {record.high:.2f}]}}" in text
    assert r"\texttt{shuffle\_ngrams:n=2}" in text
    widths = {line.count("&") for line in text.splitlines() if line.endswith(r"\\")}
    assert len(widths) == 1, "every row has as many cells as the head"
    assert len([line for line in text.splitlines() if line.endswith(r"\\")]) == 4


def test_rows_and_columns_can_be_chosen(run: Run) -> None:
    table = run_table(
        run, metrics=["p_c", "omega_max"], transformations=["derange"], has_intervals=False
    )
    head, row = (line.strip() for line in table.splitlines() if line.endswith(r"\\"))
    assert head == r"texts & $P_{\mathrm{c}}$ & $\Omega_{\mathrm{max}}$ \\"
    values = [f"{run['derange', name].value:.3f}" for name in ("p_c", "omega_max")]
    assert row == rf"\texttt{{derange}} & {' & '.join(values)} \\"
    grouped = run_table(run, group="needs=order")
    assert r"only \texttt{needs=order}" in grouped
    for wrong in ({"metrics": ["p_x"]}, {"transformations": ["derang"]}, {"group": "need=order"}):
        with pytest.raises(UnknownName):
            run_table(run, **wrong)


def test_tables_compile(run: Run, runs: tuple[Path, Path], tmp_path: Path) -> None:
    hostile = run.model_copy(
        update={"model": HOSTILE, "data": HOSTILE, "transformations": [HOSTILE]}
    )
    hostile.scores = [
        Record(transformation=HOSTILE, metric=HOSTILE, value=-0.5, low=-1, high=0, n=9, skipped=0)
    ]
    comparison = disorder.compare(*runs)
    tables = [run_table(run), run_table(hostile), latex_tables(comparison)]
    sentence = methods_sentence(run).replace("\\citep", "\\cite")
    log = compiled("\n".join([*tables, sentence, latex_text(HOSTILE)]), tmp_path)
    assert "Undefined control sequence" not in log


def test_a_comparison_marks_what_is_significant(runs: tuple[Path, Path]) -> None:
    found = disorder.compare(*runs)
    text = latex_tables(found)
    assert text.count(r"\textbf{") == sum(d.is_sure for d in found.differences) > 0
    assert "-" not in re.sub(r"\$-\$|--|hf-|tab:[\w-]+|0-9", "", re.sub(r"%.*", "", text)), (
        "true minus signs"
    )


def test_the_command_prints_only_the_table(runs: tuple[Path, Path], command: Command) -> None:
    code, out, err = command("report", runs[0], "--latex", "--metric", "accuracy")
    assert (code, err) == (0, "")
    assert out == run_table(disorder.read_run(runs[0]), metrics=["accuracy"])
    code, out, _ = command("compare", *runs, "--latex")
    assert code == 0
    assert out.startswith("% needs")
    assert command("report", runs[0], "--metric", "accuracy")[0] == 2, "only for --latex"


@pytest.mark.parametrize(
    ("ending", "start"), [("pdf", b"%PDF"), ("svg", b"<svg"), ("png", b"\x89PNG")]
)
def test_figures_are_written(
    ending: str, start: bytes, runs: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "figures" / f"forest.{ending}"
    code, out, err = command("report", runs[0], "--figure", path)
    assert (code, out) == (0, "")
    assert str(path) in err
    assert path.read_bytes().startswith(start)


def test_a_figure_that_is_none_is_named(
    runs: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    code, _, err = command("report", runs[0], "--figure", tmp_path / "forrest.pdf")
    assert code == 2
    assert "did you mean 'forest'" in err
    assert command("report", runs[0], "--figure", tmp_path / "forest.bmp")[0] == 2


def test_the_methods_sentence_says_what_was_done(
    run: Run, command: Command, runs: tuple[Path, Path]
) -> None:
    sentence = methods_sentence(run)
    for told in (
        "builtin",
        "seed 0",
        "5 variants",
        "60 of",
        r"\texttt{paper}",
        run.versions["numpy"],
    ):
        assert told in sentence, told
    assert papers_of(run) == list(PAPERS)
    alone = run.model_copy(update={"transformations": ["derange"], "scores": []})
    assert papers_of(alone) == ["UNLI"]
    entries = bibtex(run)
    cited = re.search(r"\\citep\{([^}]+)\}", sentence)
    assert cited
    for key in cited[1].split(", "):
        assert f"{{{key}," in entries
    code, out, _ = command("report", runs[0], "--methods")
    assert code == 0
    assert out.startswith(sentence)


def test_a_released_run_says_so(run: Run) -> None:
    changed = run.model_copy(update={"settings": run.settings | {"fidelity": "released"}})
    assert "as their released code does it" in methods_sentence(changed)


def test_a_study_has_its_table(tmp_path: Path, command: Command) -> None:
    pytest.importorskip("spacy", reason="needs spacy")
    found = disorder.study("unli/table7", "builtin", limit=40, out=tmp_path / "study")
    text = (tmp_path / "study" / "study.tex").read_text(encoding="utf-8")
    assert text == render(found.result, "latex")
    assert text == render(read_study(tmp_path / "study").result, "latex")
    assert r"\textbf{" in text
    code, out, _ = command("report", tmp_path / "study", "--latex")
    assert (code, out) == (0, text)
    compiled(text, tmp_path)


def test_a_damaged_study_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text("{", encoding="utf-8")
    with pytest.raises(DisorderError, match="damaged"):
        read_study(tmp_path)
