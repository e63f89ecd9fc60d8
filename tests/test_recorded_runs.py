"""The same numbers as before: scores and perturbed texts recorded with round 1's code, in
tests/recorded, come out again to the last digit.

Reasons for skips may be reworded, so their counts are compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from conftest import Command, RunContext
from disorder.data import read_data
from disorder.errors import DoesNotApply
from disorder.registry import TransformationPart, metric_named, parts
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Dataset

FOLDER = Path(__file__).parent / "recorded"
COLUMNS = ("transformation", "metric", "group", "value", "low", "high", "n", "skipped")
OF_NLTK = ("classes", "full")  # their word classes are those of NLTK's data
N_EXAMPLES = 10
Q = 3
NEWER = ("skill_kept",)  # metrics that came after the recording


def recorded(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def marked(name: str, *, needs_nltk: bool) -> Any:
    return pytest.param(name, marks=pytest.mark.shared if needs_nltk else ())


def is_recorded(record: dict[str, Any]) -> bool:
    """Whether a score can have been recorded: that of a plugin, or of a newer metric, cannot."""
    metric = metric_named(record["metric"])
    return metric is not None and metric.is_built_in and metric.name not in NEWER


def rows(records: list[dict[str, Any]]) -> list[list[Any]]:
    return [[record[column] for column in COLUMNS] for record in records if is_recorded(record)]


def still_measured(scores: list[list[Any]], omitted: list[dict[str, Any]]) -> list[list[Any]]:
    """Recorded scores without those of confidence where the model gives labels only, with a
    confidence of 1: they are not measured any more.
    """
    gone = {
        (each["transformation"], each["metric"], each["group"])
        for each in omitted
        if metric_named(each["metric"]).needs_probabilities
    }
    certain = [row for row in scores if tuple(row[:3]) in gone and row[1] == "confidence"]
    assert all(row[COLUMNS.index("value")] == 1 for row in certain)
    return [row for row in scores if tuple(row[:3]) not in gone]


def counts(skips: dict[str, dict[str, int]]) -> dict[str, list[int]]:
    return {name: sorted(reasons.values()) for name, reasons in skips.items()}


RUNS = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "texts")


@pytest.mark.parametrize("name", [marked(name, needs_nltk=name in OF_NLTK) for name in RUNS])
def test_a_recorded_run_has_the_same_scores(name: str, run: Command, tmp_path: Path) -> None:
    before = recorded(name)
    code, printed, told = run(*before["command"], "--json", "--out", tmp_path / "run")
    assert code == 0, told
    after = json.loads(printed)
    assert after["transformations"] == before["transformations"]
    assert after["variants"] == before["variants"]
    assert counts(after["skips"]) == counts(before["skips"])
    assert rows(after["scores"]) == still_measured(before["scores"], after["omitted"])
    assert [rows(scores) for scores in after["references"].values()] == list(
        before["references"].values()
    )


TEXTS = recorded("texts")


@pytest.fixture(scope="module")
def builtin() -> Dataset:
    return read_data("builtin")


def uses_nltk_data(title: str) -> bool:
    return title.startswith(("drop_pos ", "keep_pos "))


@pytest.mark.parametrize(
    "title", [marked(title, needs_nltk=uses_nltk_data(title)) for title in TEXTS]
)
def test_a_recorded_transformation_makes_the_same_texts(title: str, builtin: Dataset) -> None:
    spec, _, rest = title.rpartition(" (")
    fidelity: Literal["paper", "released"] = "paper" if rest == "paper)" else "released"
    made = parse(spec, fidelity=fidelity).apply_all(
        builtin.examples[:N_EXAMPLES],
        task=builtin.task,
        q=Q,
        seed=0,
        short="use",
        context=RunContext(),
    )
    for before, after in zip(TEXTS[title], made, strict=True):
        if isinstance(after, DoesNotApply):
            assert isinstance(before, str)  # the reason
        else:
            assert [list(texts) for texts in variant_texts(after)] == before


def test_every_built_in_transformation_is_recorded() -> None:
    names = {name for name, part in parts(TransformationPart).items() if part.is_built_in}
    assert {title.split(" ")[0].split(":")[0] for title in TEXTS} == names
