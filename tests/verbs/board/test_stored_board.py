"""The stored board: every line is of a pair of its list, and the list can be run."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import disorder
from disorder.data import named_set_of
from disorder.specs import split_spec

ROOT = Path(__file__).parents[3]
FOLDERS = ("DISORDER_DATA", "MINILM", "ENCODER", "SMOLLM2")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in FOLDERS:
        monkeypatch.setenv(name, f"/folders/{name.lower()}")
    spec = importlib.util.spec_from_file_location("make_board", ROOT / "scripts" / "make_board.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "make_board", module)
    spec.loader.exec_module(module)
    return module


def test_what_is_listed_is_known(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    trained, pairs = script.pairs()
    networks = {pair.model.partition(":")[2] for pair in pairs}
    assert set(trained) <= networks, "nothing is trained that is not audited"
    for how in trained.values():
        assert named_set_of(how["data"]) is not None
    for pair in pairs:
        name, address = split_spec(pair.model)
        assert name in ("builtin", "hf", "embed", "causal") or address in trained
    assert len({pair.name for pair in pairs}) == len(pairs), "no run stands for two pairs"
    monkeypatch.delenv("MINILM")
    assert len(script.pairs()[1]) < len(pairs)


def test_every_line_of_the_page_is_a_pair_of_the_list(script: ModuleType) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    table = page.partition(script.BEGIN)[2].partition(script.END)[0].splitlines()[2:]
    assert table
    listed = {
        (split_spec(pair.model)[0], Path(pair.data).name.removesuffix(".jsonl.gz"))
        for pair in script.pairs()[1]
    }
    for line in table:
        model, data, n, *_ = (cell.strip(" `") for cell in line.strip("|").split("|"))
        assert (split_spec(model)[0], data) in listed
        assert int(n.replace(",", "")) > 0


def test_a_run_becomes_a_line(script: ModuleType, tmp_path: Path, monkeypatch: Any) -> None:
    pair = script.Pair("builtin", "builtin:nli", {"limit": 60})
    monkeypatch.setattr(script, "pairs", lambda: ({}, [pair]))
    monkeypatch.chdir(tmp_path)
    script.run_all(tmp_path / "board", [])
    run = disorder.read_run(tmp_path / "board" / "runs" / pair.name)
    found = run.conclusion
    assert found is not None
    *_, line = script.table(tmp_path / "board")
    assert line.startswith("| `builtin` | `builtin:nli` | 60 |")
    assert f"| {found.value:.2f} [{found.low:.2f}, {found.high:.2f}] |" in line, (
        "the number that the audit concludes from"
    )
    page = tmp_path / "board" / "runs" / pair.name / "report.html"
    page.unlink()
    script.run_all(tmp_path / "board", [])
    assert page.is_file(), "a run that was stopped is resumed"
