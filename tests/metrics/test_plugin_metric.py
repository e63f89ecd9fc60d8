"""A metric and a transformation of a plugin appear wherever built-in ones do, with nothing but
their declarations.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator
from rich.console import Console

from conftest import Command, pairs
from disorder.errors import UnknownName
from disorder.metrics import Mean
from disorder.registry import (
    MetricPart,
    TransformationPart,
    metric,
    transformation,
    unregister,
)
from disorder.results.model_card import card_result
from disorder.results.render import latex_table, render
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.results.run_tables import paper_grid
from disorder.results.terminal import show_result
from disorder.types import Outcomes, PositionRows, Sentence
from disorder.verbs.audit import audit
from disorder.verbs.board import board
from disorder.verbs.compare import compare
from disorder.verbs.gate import gate

MEANING = "share of permutations with the prediction of the first one"


@pytest.fixture(scope="module", autouse=True)
def _plugin() -> Iterator[None]:
    @metric(title="calm", meaning=MEANING, better="low", of="permutations", position=25)
    def calmness(outcomes: Outcomes) -> Mean:
        """Share of permutations with the prediction of the first one."""
        is_same = outcomes.label == outcomes.label[:, :1]
        return Mean.over_all(np.asarray(is_same.mean(axis=1)))

    @transformation(keeps="words", keeps_words=True, destroys="order", deterministic=True)
    def last_first(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
        """Put the last word first."""
        return PositionRows(sentence, np.roll(np.arange(len(sentence)), 1)[None, :])

    yield
    unregister(MetricPart, "calmness")
    unregister(TransformationPart, "last_first")


@pytest.fixture(scope="module")
def folder(_plugin: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs on the same data."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("uniform", "always:neutral"):
        settings = {"q": 5, "with_": ["derange", "last_first"], "cache": "off"}
        audit(name, pairs(24), out=folder / name[:3], **settings)
    return folder


@pytest.fixture
def run(folder: Path) -> Run:
    return read_run(folder / "alw")


def test_it_is_measured(run: Run) -> None:
    assert run["derange", "calmness"].value == 1
    assert run.score("original", "calmness") is None  # it is one of permutations


def test_the_terminal_has_its_column_and_its_meaning(run: Run) -> None:
    console = Console(file=io.StringIO(), width=120)
    show_result(run.result, console, is_all=True)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert f"calm (calmness): {MEANING}" in " ".join(text.split())
    heads = next(line for line in text.splitlines() if " agreement" in line).split()
    assert heads.index("agreement") < heads.index("calm")  # ordered by position


def test_the_report_has_its_column_and_its_meaning(run: Run) -> None:
    html = render(run.result, "page")
    assert '<th scope="col" class="number">calm</th>' in html
    assert f"<dt>calm (calmness)</dt><dd>{MEANING}</dd>" in html


def test_compare_shows_its_difference(folder: Path) -> None:
    found = compare(folder / "uni", folder / "alw")
    [difference] = [d for d in found.differences if d.metric == "calmness"]
    assert difference.other_value == 1
    assert difference.low > 0
    assert "  calm " in render(found.result, "terminal")
    assert MEANING in render(found.result, "page")


def test_a_gate_decides_on_it(run: Run) -> None:
    decision = gate(run, "calmness > 0.8")
    assert (decision.passed, decision.rulings[0].metric) == (False, "calmness")


def test_it_can_stop_an_audit() -> None:
    rule = "width(calmness) < 0.9"
    run = audit("uniform", pairs(60), q=5, with_="derange", stop_when=rule, cache="off")
    assert run.stopped[0].metric == "calmness"


def test_it_can_be_the_only_score() -> None:
    run = audit("uniform", pairs(12), q=5, with_="derange", score="calmness", cache="off")
    measured = {record.metric for record in run.scores if record.transformation == "derange"}
    assert measured == {"calmness"}


def test_the_viewer_shows_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi", reason="needs fastapi")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "web"))
    from asgi_request import request

    from disorder.web.access_control import AccessControl
    from disorder.web.run_library import RunLibrary
    from disorder.web.viewer_app import viewer_app

    viewer = AccessControl(viewer_app(folder))
    ids = {entry.name: entry.id for entry in RunLibrary(folder).all()}
    response = request(viewer, f"/run/{ids['alw']}")
    assert response.status == 200
    assert ">calm</th>" in response.text
    assert MEANING in response.text
    compared = request(viewer, f"/compare?run={ids['uni']}&run={ids['alw']}")
    assert "calm" in compared.text


def test_papers_cards_and_the_board_show_both(folder: Path, run: Run) -> None:
    table = latex_table(paper_grid(run))
    assert "calm" in table
    assert "last\\_first" in table
    card = render(card_result(run), "card")
    assert "calmness" in card
    assert "last_first" in card
    made = board(folder, score="calmness")
    assert all(row.scores["calmness"] is not None for row in made.rows)
    html = render(made.result, "page")
    assert "calm</button>" in html
    assert MEANING in html
    with pytest.raises(UnknownName, match="did you mean 'calmness'"):
        board(folder, score="calmnes")


def test_pages_show_the_transformation(run: Run) -> None:
    assert "last_first" in render(run.result, "page")
    assert "Put the last word first" in render(run.result, "page")


def test_a_reference_of_your_own_has_both() -> None:
    pytest.importorskip("yaml", reason="needs PyYAML")
    path = Path(__file__).parents[2] / "scripts" / "reference.py"
    spec = spec_from_file_location("reference", path)
    assert spec is not None
    assert spec.loader is not None
    reference = module_from_spec(spec)
    spec.loader.exec_module(reference)
    for plugins in (True, False):
        lines = "\n".join(reference._parts(plugins=plugins))
        assert ("calmness" in lines) is plugins
        assert ("Put the last word first" in lines) is plugins


def test_it_is_listed(command: Command) -> None:
    code, out, _ = command("list", "metrics")
    assert code == 0
    assert "calmness" in out
    assert "shown as calm · better: low" in out


def test_a_run_is_shown_when_its_plugin_is_gone(run: Run) -> None:
    lost = run.model_copy(deep=True)
    for record in lost.scores:
        record.metric = record.metric.replace("calmness", "composure")
    html = render(lost.result, "page")
    assert '<th scope="col" class="number">composure</th>' in html
    assert "measured by a plugin that is not installed here" in html
