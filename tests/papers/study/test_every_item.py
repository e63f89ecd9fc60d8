"""Every item of every paper runs with tiny models and data, and every numbered table is listed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import pairs
from disorder.data import honest_name, read_data
from disorder.errors import BadData, DisorderError, MissingData, MissingPackage
from disorder.papers.study import Study, StudyCell, StudyItem, study_items
from disorder.papers.study.means import over_seeds, student
from disorder.papers.study.pipelines.accuracy_scatter import mean_overlap
from disorder.papers.study.published_tables import published_tables
from disorder.papers.training import designs
from disorder.verbs.perturb import perturb

TEXTS = {
    "unli": "unnatural-language-inference.txt",
    "ooo": "out-of-order.md",
    "ws": "word-salad.txt",
    "ndsc": "nli-data-sanity-check.txt",
}
MINE = [item for item in study_items().values() if item.paper_name in ("unli", "ndsc")]
MEASURED = [item for item in MINE if not item.commands]
TABLES = [item for item in MEASURED if item.published_table.rows and "/fig" not in item.name]
SHOWN = [item for item in MINE if item.commands]
WORDS = {
    "ant": "The ant",
    "bee": "quickly",
    "cat": "sees",
    "dog": "two",
    "eel": "old",
    "fox": "and",
    "gnu": "it",
}


def sentence(text: str) -> str:
    """Words of all classes in place of animals, so that there is something to drop and something to
    keep.
    """
    return " ".join(WORDS.get(word, word) for word in text.split())


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of pairs with words of all classes."""
    path = tmp_path_factory.mktemp("study") / "pairs.jsonl"
    made = [
        {**row, "text_a": sentence(row["text_a"]), "text_b": sentence(row["text_b"])}
        for row in pairs(30)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return path


def made(item: StudyItem, rows: Path, **more: Any) -> Study:
    """The item with the smallest model that can stand for one."""
    given: dict[str, Any] = {"data": [str(rows)], "q": 3} | more
    if item.pipeline.needs_model:
        given |= {"models": ["bow" if item.pipeline.trains else "builtin:bow"]}
    if item.pipeline.needs_training_data:
        given |= {"train": str(rows)}
    if item.pipeline.trains:
        pytest.importorskip("torch", reason="needs torch")
        given |= {"train": str(rows), "set_": {"epochs": "1"}}
    try:
        return disorder.study(item.name, **given)
    except (MissingPackage, MissingData) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "item", [item for item in MEASURED if item.name != "ndsc/fig1"], ids=lambda item: item.name
)
def test_it_runs_and_its_columns_are_those_of_the_published_table(
    item: StudyItem, rows: Path
) -> None:
    found = made(item, rows)
    check_result(found)
    check_reach(item, found)
    if item in TABLES:
        check_columns(item, found)


def check_result(found: Study) -> None:
    """A study that was computed has numbers or pictures, and every number lies in its interval."""
    assert found.status == "done"
    assert found.cells or found.pictures
    assert found.title
    for cell in found.cells:
        assert cell.column in found.columns
        assert cell.low is None or cell.high is None or cell.low <= cell.value <= cell.high
    assert all(picture.svg.startswith("<svg") for picture in found.pictures)


def check_reach(item: StudyItem, found: Study) -> None:
    """What a pipeline says it can fill is what it fills: every cell of a printed column, and every
    such column.
    """
    reach = item.pipeline.reach
    declared = {column for each in reach for column in each.columns}
    for cell in found.cells:
        if cell.column in declared and cell.column in item.own_table.columns:
            about = {k: v for k, v in cell.row.items() if k not in ("model", "data")}
            assert any(each.holds(cell.column, about) for each in reach), (cell.column, about)
    filled = {cell.column for cell in found.cells}
    printed = {column for row in item.own_table.rows for column in row.cells}
    assert printed & declared <= filled | {"p_f"}


def check_columns(item: StudyItem, found: Study) -> None:
    """Every printed number of a table can be matched; what is printed of figures may be
    statements.
    """
    assert {cell.column for cell in found.cells} | {"p_f"} >= set(item.published_table.columns)
    keys = {key for row in item.published_table.rows for key in row.about}
    assert keys <= set(found.cells[0].row)


@pytest.mark.parametrize("item", SHOWN, ids=lambda item: item.name)
def test_an_item_that_is_not_computed_says_what_to_type(item: StudyItem) -> None:
    found = disorder.study(item.name)
    assert found.title
    assert not found.cells
    assert all(command.startswith("disorder ") for command in found.commands)


@pytest.mark.parametrize(
    "item", [i for i in study_items().values() if "/fig" not in i.name], ids=lambda item: item.name
)
def test_its_models_are_rows_of_the_published_table(item: StudyItem) -> None:
    named = set(item.models.values())
    known = {*item.published_table.values("model"), *([item.subject] if item.subject else [])}
    known |= {name for mean in item.means if mean.key == "model" for name in mean.members}
    assert not known or named <= known


@pytest.mark.parametrize("paper", sorted(TEXTS))
def test_every_numbered_table_and_figure_is_listed(paper: str, shared: Path) -> None:
    path = shared / "papers" / TEXTS[paper]
    if not path.is_file():
        pytest.skip("needs the papers' texts")
    captions = re.findall(r"\b(Table|Figure) ([A-Z]?\d+):", path.read_text(encoding="utf-8"))
    assert len(captions) > 5
    wanted: list[str] = []
    for kind, number in captions:
        name = f"{paper}/{'table' if kind == 'Table' else 'fig'}{number}"
        wanted.append(
            f"{paper}/appendix{number}" if name in wanted else name
        )  # a second Table 1 is the appendix's
    assert [name for name in wanted if name not in study_items()] == []
    file = next(item.published for item in study_items().values() if item.paper_name == paper)
    assert [name for name in published_tables(file) if f"{paper}/{name}" not in study_items()] == []


def test_the_papers_own_counts_come_out(shared_data: Path) -> None:
    pytest.importorskip("spacy", reason="needs spaCy's tokenizer")
    found = disorder.study("unli/table7", "anli:r1", data_dir=str(shared_data))
    assert found.cell("used", data="anli:r1").value == 756
    assert found.verdict == "2 of 2 published numbers equal ours"


def test_other_definitions_and_a_part_of_the_data_are_not_compared(shared_data: Path) -> None:
    pytest.importorskip("spacy", reason="needs spaCy's tokenizer")
    found = disorder.study("unli/table7", "anli:r1", data_dir=str(shared_data), fidelity="paper")
    assert found.cell("used").value > 756
    assert found.verdict == "1 of 1 published numbers equal ours"
    assert (same := found.cell("used").same) is not None
    assert "--fidelity released" in same.why_not
    part = disorder.study("unli/table7", "anli:r1", data_dir=str(shared_data), limit=50)
    same = part.cell("used").same
    assert same is not None
    assert same.is_within is None
    assert same.why_not == "counted over 50 examples"


def test_a_part_of_a_papers_data_keeps_its_own_name(shared_data: Path) -> None:
    assert honest_name("mnli:train", data_dir=str(shared_data)) == "mnli:train_part"
    assert honest_name("mnli", data_dir=str(shared_data)) == "mnli"
    assert honest_name("mnli:matched", data_dir=str(shared_data)) == "mnli:matched"
    assert honest_name("builtin") == "builtin"


@pytest.fixture(scope="module")
def figure(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path]:
    """NDSC's Figure 1 for a bag of words, and the folder of the designs in it."""
    folder = tmp_path_factory.mktemp("designs") / "study"
    found = made(study_items()["ndsc/fig1"], rows, out=folder)
    [designed] = (folder / "models").iterdir()
    return found, designed


def test_designs_are_those_of_the_command(
    rows: Path, figure: tuple[Study, Path], tmp_path: Path
) -> None:
    found, _ = figure
    check_result(found)
    spec = "drop_pos:tags=VERB"
    [_, corrupt_train, *_] = designs(
        str(rows), str(rows), [spec], out=tmp_path, model="bow", settings={"epochs": "1"}
    )
    cell = found.cell("delta", transformation=spec)
    assert corrupt_train.delta is not None
    assert cell.value == pytest.approx(corrupt_train.delta.value)
    texts = perturb(str(rows), with_=spec)
    assert len(list(texts)) == 30
    assert found.cell("premises", transformation=spec).value == texts.removed[spec]["a"] > 0


def test_finished_designs_stand_in_for_a_model(rows: Path, figure: tuple[Study, Path]) -> None:
    trained, folder = figure
    found = disorder.study("ndsc/fig1", str(folder))
    assert found.cells == trained.cells
    assert found.request["models"] == [str(folder)]
    assert any(str(folder) in note and str(rows) in note for note in found.notes)


def test_designs_of_other_transformations_or_items_are_refused(
    figure: tuple[Study, Path], tmp_path: Path
) -> None:
    designed = figure[1]
    with pytest.raises(DisorderError, match=r"has no drop_pos:tags=NOUN\+PRON"):
        disorder.study("ndsc/table2", str(designed))
    with pytest.raises(DisorderError, match="unli/table2 is not made of designs"):
        disorder.study("unli/table2", str(designed))
    for name in ("designs.json", "request.json"):
        (tmp_path / name).write_text("[]")
    with pytest.raises(BadData, match=r"request\.json is damaged"):
        disorder.study("ndsc/fig1", str(tmp_path))


def of_seeds(values: Sequence[float], half: float = 0.03, column: str = "accuracy") -> StudyCell:
    [cell] = over_seeds(
        [
            StudyCell(row={}, column=column, value=v, low=v - half, high=v + half, n=9)
            for v in values
        ]
    )
    return cell


def test_the_interval_over_seeds_includes_examples_and_seeds_and_shrinks_with_seeds() -> None:
    cell = of_seeds([0.80, 0.82, 0.84])
    assert (cell.value, cell.by_seed, cell.n) == (0.82, [0.80, 0.82, 0.84], 9)
    assert cell.low == pytest.approx(0.82 - 0.05804, abs=1e-5)  # √(0.03² + (4.303 · 0.02 / √3)²)
    assert cell.high == pytest.approx(0.82 + 0.05804, abs=1e-5)
    many = of_seeds([0.80, 0.82, 0.84] * 4)
    assert many.low is not None
    assert cell.low is not None
    assert cell.low < many.low < 0.79, (
        "more seeds, a narrower interval; the part of the examples stays"
    )


def test_intervals_over_seeds_stay_where_scores_can_lie() -> None:
    cell = of_seeds([0.9, 1.0])
    assert (cell.low, cell.high) == (pytest.approx(0.95 - 0.636, abs=1e-2), 1.0)
    low = of_seeds([-0.1, 0.1], column="spearman").low
    assert low is not None
    assert low < -0.9
    [count] = over_seeds([StudyCell(row={}, column="used", value=n) for n in (4, 6)])
    assert (count.value, count.low, count.high, count.by_seed) == (5, None, None, [4, 6])


def test_points_of_students_t_are_those_of_the_table() -> None:
    stats = pytest.importorskip("scipy.stats", reason="needs scipy")
    for freedom in (1, 2, 5, 10, 11, 20, 60):
        assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=2e-3)


def test_several_seeds_are_a_mean_in_an_interval(rows: Path) -> None:
    found = made(study_items()["unli/table6"], rows, seeds=2)
    cell = found.cell("accuracy", trained_on="original")
    assert len(cell.by_seed) == 2
    assert cell.value == pytest.approx(sum(cell.by_seed) / 2, abs=1e-6)
    assert cell.low is not None
    assert cell.high is not None
    assert 0 <= cell.low < cell.value <= cell.high <= 1


def test_the_models_of_table_5_do_not_abstain(rows: Path, tmp_path: Path) -> None:
    found = made(study_items()["unli/table5"], rows, out=tmp_path)
    assert len(list(tmp_path.glob("models/*max-entropy*/result.json"))) == 2
    assert not list(tmp_path.glob("models/*/calibration.json"))
    assert {cell.row["recipe"] for cell in found.cells} == {
        "plain",
        "max_entropy",
        "max_entropy:fidelity=released",
    }


def test_a_finished_training_is_reused(rows: Path, tmp_path: Path) -> None:
    made(study_items()["unli/table6"], rows, out=tmp_path)
    records = {path: path.stat().st_mtime_ns for path in tmp_path.glob("models/*/result.json")}
    assert len(records) == 2
    made(study_items()["unli/table6"], rows, out=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in records} == records


def test_word_overlap_is_the_share_of_the_second_texts_words() -> None:
    data = [
        {"id": "1", "text_a": "A b c", "text_b": "a b x y", "label": "entailment"},
        {"id": "2", "text_a": "p q", "text_b": "q p", "label": "neutral"},
    ]
    assert mean_overlap(read_data(data), "original", 0).value == pytest.approx(0.75)
