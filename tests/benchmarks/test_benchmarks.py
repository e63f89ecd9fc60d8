"""Every benchmark runs at toy size and prints its ratios."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
OF_TRANSFORMERS = (
    "again.py",
    "audit_speed.py",
    "embed_speed.py",
    "runtimes.py",
    "verdict_speed.py",
)
# how the line with the ratio reads
RATIOS = {
    "again.py": r"again is \d+ × faster",
    "audit_speed.py": r"\| e bare forward passes +\| +[\d.]+ \| +[\d.]+ \| +1\.00 \|",
    "embed_speed.py": r"\| bare forward passes \| [\d,]+ \| [\d.]+ \| [\d.]+ \|",
    "family_speed.py": r"per row, largest ÷ smallest = [\d.]+",
    "llm_speed.py": r"\| d1 curtailed, Ω_max +\| +[\d.]+ \| +[\d.]+ \| +[\d.]+ \|",
    "lime_speed.py": r"lime, loop +[\d.]+ s CPU +[\d.]+x   same top word: \d+ of 2",
    "overlap_speed.py": r"disorder +[\d,]+ permutations per second +[\d.]+ ×",
    "permute_speed.py": r"\| shuffle_letters \| [\d.]+ \| [\d.]+ \| [\d.]+ \|",
    "pipeline_speed.py": r"\| the pipeline object \| [\d.]+ \| [\d.]+ \|",
    "runtimes.py": r"\| torch, plain attention \| [\d.]+ \| [\d.]+ \|",
    "scale.py": r"largest ÷ smallest = [\d.]+",
    "server_speed.py": r"ours, 8 connections +[\d.]+ s +[\d.]+ ×",
    "start.py": r"\| disorder --help \| [\d.]+ \| [\d.]+ \|",
    "throughput.py": r"\| `derange` \| [\d,]+ \| [\d,]+ \|",
    "verdict_speed.py": r"\| disorder, until decided +\|.*\| +[\d.]+ \|",
    "words_per_text.py": r"\| builtin \| en \| icu \| [\d.]+ \| [\d.]+ \| [\d.]+ \|",
    "view_speed.py": r"\| open a run \(fresh server\) \| [\d.]+ \| [\d.]+ \| 2 \|",
}


def test_every_benchmark_is_run_here() -> None:
    assert {path.name for path in FOLDER.glob("[!_]*.py")} == set(RATIOS)


@pytest.fixture
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder can be imported from, and what a benchmark changes is as before afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("HF_HUB_OFFLINE", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    yield
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.usefixtures("_benchmarks")
@pytest.mark.parametrize("name", RATIOS)
def test_a_benchmark_prints_its_ratio(
    name: str,
    tiny_bert: Path,
    tiny_llama: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [str(FOLDER / name), "--toy"])
    if name in OF_TRANSFORMERS:
        monkeypatch.setenv("MODEL", str(tiny_bert))
        monkeypatch.setenv("DATA", "builtin")
    if name == "embed_speed.py":
        pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    if name == "llm_speed.py":
        pytest.importorskip("lm_eval", reason="needs lm-eval (pip install --group peers)")
        monkeypatch.setenv("MODEL", str(tiny_llama))
        monkeypatch.setenv("DATA", "builtin")
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert re.search(RATIOS[name], printed), printed


@pytest.mark.usefixtures("_benchmarks")
def test_pieces_are_added_up_and_compared_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = runpy.run_path(str(FOLDER / "llm_speed.py"))
    fact = {"questions": 10, "peak": 100, "omega_max": 0.5, "omega_rand": 0.5}
    found["report_pieces"](
        {
            found["HARNESS"]: [(30.0, {"questions": 10, "batch": 4}), (60.0, {"questions": 10})],
            found["FULL"]: [(10.0, fact), (10.0, fact | {"peak": 90, "omega_max": 0.25})],
            found["MAX"]: [(5.0, fact | {"questions": 4})],
        }
    )
    printed = re.sub(r" +", " ", capsys.readouterr().out)
    assert "| 2 | 20.0 | 4.50 [3.00, 6.00] | – | 20 | | 100 | 0.375 | 0.5 |" in printed
    # one piece is compared with the same piece of others, not with all of them
    assert "| 1 | 5.0 | 6.00 [6.00, 6.00] | – | 4 |" in printed


@pytest.mark.usefixtures("_benchmarks")
def test_a_score_that_curtailment_changes_is_seen_in_every_piece() -> None:
    found = runpy.run_path(str(FOLDER / "llm_speed.py"))
    full = [(1.0, {"questions": 1, "omega_max": value}) for value in (0.5, 0.25)]
    changed = [(1.0, {"questions": 1, "omega_max": value}) for value in (0.25, 0.5)]
    with pytest.raises(AssertionError, match="changed a score"):
        found["report_pieces"]({found["FULL"]: full, found["MAX"]: changed})
