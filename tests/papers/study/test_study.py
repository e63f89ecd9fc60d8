"""A study gives the audit's numbers, matches the right printed ones, and can be resumed."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import pairs
from disorder.data import read_data
from disorder.errors import DisorderError
from disorder.papers.study import Study, StudyCell, study_items
from disorder.papers.study.published_tables import PublishedRow, PublishedTable, TableMatcher
from disorder.papers.study.resolving import split_models_and_data
from disorder.papers.study.result import PublishedNumber
from disorder.papers.study.table_lines import lines, title, why_not
from disorder.results.render import render

Command = Callable[..., tuple[int, str, str]]
SMALL: dict[str, Any] = {"limit": 40, "q": 5}


@pytest.fixture
def as_mnli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Built-in pairs under the name of MNLI, so that published rows are about this data."""
    examples = read_data("builtin").examples[:60]
    rows = [
        {"id": e.id, "text_a": e.text_a, "text_b": e.text_b, "label": e.label} for e in examples
    ]
    (tmp_path / "data" / "mnli").mkdir(parents=True)
    path = tmp_path / "data" / "mnli" / "dev_matched.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setenv("DISORDER_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_a_bag_of_words_accepts_every_permutation_of_what_it_gets_right() -> None:
    found = disorder.study("unli/table2", "builtin:bow", "builtin", **SMALL)
    assert found.cell("p_c").value == 1
    assert found.cell("omega_max").value == found.cell("omega_rand").value
    assert not any(cell.theirs for cell in found.cells), "the paper has no row about this data"


def test_it_says_what_the_audit_says(tmp_path: Path) -> None:
    small: dict[str, Any] = {"limit": 150, "q": 5, "seed": 3, "fidelity": "paper"}
    found = disorder.study("unli/table2", "builtin", "builtin", out=tmp_path / "study", **small)
    run = disorder.audit("builtin", "builtin", with_=["derange"], **small)
    records = {
        metric: run.score("derange", metric)
        for metric in ("omega_max", "p_c", "p_f", "omega_rand", "accuracy_used")
    }
    assert {cell.column for cell in found.cells} == {
        "accuracy",
        *(metric for metric, record in records.items() if record),
    }
    for column, record in records.items():
        if record is not None:
            cell = found.cell(column)
            assert (cell.value, cell.low, cell.high, cell.n) == (
                record.value,
                record.low,
                record.high,
                record.n,
            )
    whole = run.score("original", "accuracy")
    assert whole is not None
    assert found.cell("accuracy").value == whole.value
    [link] = found.links
    assert (tmp_path / "study" / link.page).is_file()


def test_a_finished_run_stands_for_its_model_and_data(tmp_path: Path) -> None:
    given = {"with_": ["derange"], "fidelity": "paper", **SMALL}
    run = disorder.audit("builtin:bow", "builtin", out=tmp_path / "run", **given)
    found = disorder.study("unli/table2", str(tmp_path / "run"), q=5, out=tmp_path / "study")
    record = run.score("derange", "p_c")
    assert record is not None
    assert found.cell("p_c", model="builtin:bow", data="builtin").n == record.n
    assert (tmp_path / "study" / found.links[0].page).is_file()
    assert found.request["models"] == [str(tmp_path / "run")]
    with pytest.raises(DisorderError, match="has q 5, the study 100; say q=5"):
        disorder.study("unli/table2", str(tmp_path / "run"))
    with pytest.raises(DisorderError, match="has no shuffle_ngrams"):
        disorder.study("ndsc/table6", str(tmp_path / "run"))
    with pytest.raises(DisorderError, match="has q 5, the study 100; say q=5"):
        disorder.study("unli/fig2", str(tmp_path / "run"))
    with pytest.raises(DisorderError, match="needs the model itself: it trains"):
        disorder.study("unli/table6", str(tmp_path / "run"), "builtin")


def test_another_models_numbers_stand_beside_and_are_not_compared(as_mnli: Path) -> None:
    found = disorder.study("unli/table2", "builtin", "mnli:matched", **SMALL)
    beside = found.cell("accuracy").theirs
    assert [each.model for each in beside][:2] == ["RoBERTa-Large", "BART-Large"]
    assert all(
        not each.is_same and each.difference is None and each.is_within is None for each in beside
    )
    assert "beside" in found.verdict


def test_what_is_printed_about_other_models_is_said_once_and_after_ours(as_mnli: Path) -> None:
    found = disorder.study(
        "unli/table2",
        models=["builtin", "builtin:bow"],
        data=["mnli:matched"],
        as_=["ConvNet"],
        **SMALL,
    )
    told = [(line.whose, line.about[0]) for line in lines(found)]
    assert told[:4] == [
        ("ours", "builtin"),
        ("published", "published: ConvNet"),
        ("difference", "difference"),
        ("ours", "builtin:bow"),
    ]
    others = [name for whose, name in told[4:] if whose == "other"]
    assert others == [
        f"published: {name}"
        for name in ("RoBERTa-Large", "BART-Large", "DistilBERT", "InferSent", "BiLSTM")
    ]


def test_a_model_that_stands_for_a_row_is_compared_with_it_alone(as_mnli: Path) -> None:
    found = disorder.study(
        "unli/table2", "builtin", "mnli:matched", as_=["InferSent"], q=100, limit=20
    )
    cell = found.cell("accuracy")
    assert [each.model for each in cell.theirs if each.is_same] == ["InferSent"]
    assert cell.same is not None
    assert cell.same.printed == "0.658"
    assert cell.same.difference == pytest.approx(cell.value - 0.658)
    assert cell.low is not None
    assert cell.high is not None
    assert cell.same.is_within == (cell.low - 0.0005 <= 0.658 <= cell.high + 0.0005)
    assert found.verdict.endswith("lie in our 95 % intervals")


def test_scores_that_depend_on_the_number_of_draws_are_compared_with_as_many_only(
    as_mnli: Path,
) -> None:
    found = disorder.study("unli/table2", "builtin", "mnli:matched", as_=["InferSent"], **SMALL)
    by_draws, same = found.cell("omega_max").same, found.cell("accuracy").same
    assert by_draws is not None
    assert by_draws.is_within is None
    assert by_draws.why_not == "5 permutations here, 100 in the paper"
    assert same is not None
    assert same.is_within is not None


def test_what_was_printed_by_the_released_definitions_is_shown_and_not_judged(
    as_mnli: Path,
) -> None:
    how: dict[str, Any] = {"as_": ["InferSent"], "fidelity": "paper", **SMALL}
    found = disorder.study("unli/table2", "builtin", "mnli:matched", **how)
    same = found.cell("p_c").same
    assert same is not None
    assert same.difference == pytest.approx(found.cell("p_c").value - 0.842)
    assert same.is_within is None
    assert any(
        note.startswith(f"not judged: {title('p_c')} (") and "--fidelity released" in note
        for note in why_not(found)
    )
    assert any(cell.endswith("not judged") for line in lines(found) for cell in line.cells)


def test_definitions_matter_by_column_and_by_row_and_only_where_ours_differ() -> None:
    rows = [
        PublishedRow({"transformation": name}, {"x": "0.5", "y": "0.5"})
        for name in ("sort", "shuffle")
    ]
    table = PublishedTable(columns=["x", "y"], rows=rows)
    cells = [
        StudyCell(row={"transformation": name}, column=c, value=0.6)
        for name in ("sort", "shuffle")
        for c in "xy"
    ]
    found = TableMatcher(table, by_code={"y": "one", "transformation=shuffle": "other"}).match(
        cells
    )
    assert [cell.theirs[0].why_not for cell in found] == ["", "one", "other", "one"]
    assert [cell.theirs[0].is_within for cell in found] == [False, None, None, None]
    assert {cell.theirs[0].difference for cell in found} == {0.1}
    assert all(cell.theirs[0].is_within is False for cell in TableMatcher(table).match(cells))


def test_in_the_table_to_paste_numbers_alone_are_bold_and_a_minus_is_a_minus() -> None:
    theirs = PublishedNumber(model="BERT", printed="-3.02", value=-0.0302, is_same=False)
    row = {"model": "m", "shown": "prediction stays"}
    cell = StudyCell(row=row, column="delta", value=-0.01, n=4, theirs=[theirs])
    found = Study(
        item="ndsc/table2",
        title="t",
        kind="designs",
        does="d",
        request={"models": [], "data": [], "names": {}},
        columns=["delta"],
        units={"delta": "points"},
        cells=[cell],
    )
    text = render(found.result, "markdown")
    assert "| m | **−1.0** |" in text
    assert "| published: BERT | −3.02 |" in text


def test_words_of_data_are_no_markup_in_the_table_to_paste(tmp_path: Path) -> None:
    rows = {"model": "m", "data": "d*a*ta.jsonl|<img src=x>`x`"}
    found = Study(
        item="a/b",
        title="t",
        kind="audits",
        does="d",
        request={"models": [], "data": [], "names": {}},
    )
    found.cells, found.columns, found.units = (
        [StudyCell(row=rows, column="x", value=0.5)],
        ["x"],
        {"x": "share"},
    )
    found.notes = ["left out: <img src=x> `a` *b* | c\n# d"]
    text = render(found.result, "markdown")
    assert "<img" not in text
    assert r"**data d\*a\*ta.jsonl\|&lt;img src=x>\`x\`**" in text
    assert r"- left out: &lt;img src=x> \`a\` \*b\* \| c # d" in text


@pytest.mark.parametrize(
    ("unit", "printed", "value", "low", "high", "within"),
    [
        ("percent", "82.37", 0.82, 0.81, 0.83, True),
        ("percent", "82.37", 0.8, 0.79, 0.81, False),
        ("share", "0.907", 0.9, 0.9, 0.9066, True),
        ("share", "0.907", 0.9, 0.9, 0.9064, False),
        ("points", "-1.37", -0.02, -0.03, -0.01, True),
        ("count", "6,655", 6655, None, None, True),
        ("count", "6,655", 6656, None, None, False),
    ],
)
def test_printed_numbers_are_read_in_their_unit_and_rounding_is_allowed_for(
    unit: str, printed: str, value: float, low: float | None, high: float | None, within: bool
) -> None:
    table = PublishedTable(
        unit=unit, columns=["x"], rows=[PublishedRow({"data": "d"}, {"x": printed})]
    )
    [cell] = TableMatcher(table).match(
        [StudyCell(row={"data": "d"}, column="x", value=value, low=low, high=high)]
    )
    assert cell.same is not None
    assert cell.same.is_within is within


def test_a_row_about_something_else_is_not_beside() -> None:
    table = PublishedTable(
        columns=["x"], rows=[PublishedRow({"data": "d", "design": "both"}, {"x": "0.5"})]
    )
    cells = [
        StudyCell(row={"data": "d"}, column="x", value=0.5),
        StudyCell(row={"data": "d", "design": "train"}, column="x", value=0.5),
    ]
    assert [cell.theirs for cell in TableMatcher(table).match(cells)] == [[], []]


def test_where_no_row_can_be_the_same_the_reason_is_said() -> None:
    table = PublishedTable(columns=["x"], rows=[PublishedRow({"data": "d"}, {"x": "0.5"})])
    [cell] = TableMatcher(table, not_comparable="other data").match(
        [StudyCell(row={"data": "d"}, column="x", value=0.5)]
    )
    assert cell.theirs[0].why_not == "other data"
    assert cell.theirs[0].is_within is None


def test_models_and_data_are_told_apart() -> None:
    models, data = (
        ["hf:some/model", "bilstm:folder"],
        ["mnli:matched", "hf:glue/mnli:validation", "rows.jsonl"],
    )
    assert split_models_and_data([models[0], *data[:2], models[1], data[2]], needs_model=True) == (
        models,
        data,
    )
    assert split_models_and_data(["builtin", "builtin"], needs_model=True) == (
        ["builtin"],
        ["builtin"],
    )
    assert split_models_and_data(["builtin"], needs_model=False) == ([], ["builtin"])
    assert split_models_and_data([len, [{"text_a": "a"}]], needs_model=True) == (
        [len],
        [[{"text_a": "a"}]],
    )


def test_a_study_resumes_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "study"

    def progress(stage: str, done: int, total: int, note: str) -> None:
        if "builtin:bow" in stage:
            raise KeyboardInterrupt

    given = ("builtin", "builtin:bow", "builtin")
    with pytest.raises(KeyboardInterrupt):
        disorder.study(
            "unli/table2", models=given[:2], data=given[2:], out=out, progress=progress, **SMALL
        )
    before = {
        path: os.stat(path).st_mtime_ns for path in out.glob("runs/builtin--*/samples/*.parquet")
    }
    assert before
    found = disorder.study("unli/table2", models=given[:2], data=given[2:], out=out, **SMALL)
    assert {cell.row["model"] for cell in found.cells} == {"builtin", "builtin:bow"}
    assert {path: os.stat(path).st_mtime_ns for path in before} == before


def test_model_calls_are_said_beforehand_and_bounded_over_all_audits(run: Command) -> None:
    words = ["study", "unli/table2", "builtin", "builtin", "--limit", 60, "--q", 5]
    words += ["--cache", "off", "--max-questions"]
    code, out, err = run(*words, 150, "--out", "one")
    assert code == 0
    assert "builtin on builtin: at most 360 model calls" in err
    assert "builtin on builtin: 35 examples not predicted (--max-questions)" in out
    words.insert(3, "builtin:bow")
    code, _, err = run(*words, 360, "--out", "two")
    assert code == 2
    assert "--max-questions 360 is spent before the end of the study" in err.splitlines()[-1]
    code, out, _ = run(*words, 450, "--out", "three")
    assert code == 0
    assert "bow on builtin: 45 examples not predicted (--max-questions)" in out


def test_rows_that_cannot_be_told_apart_are_an_error() -> None:
    with pytest.raises(DisorderError, match="'builtin:bow' is named twice"):
        disorder.study(
            "unli/table2", models=["builtin:bow", "builtin:bow"], data=["builtin"], **SMALL
        )


def test_other_settings_are_not_mixed_in(tmp_path: Path) -> None:
    disorder.study("unli/table2", "builtin:bow", "builtin", out=tmp_path, **SMALL)
    with pytest.raises(DisorderError, match=r"another q \(5 there, 6 now\); choose another out"):
        disorder.study("unli/table2", "builtin:bow", "builtin", out=tmp_path, limit=40, q=6)


class TestPythonInterface:
    """Keywords are explicit, mistakes are one line, and the result shows itself."""

    def test_a_misspelt_keyword_gets_the_nearest_one(self) -> None:
        with pytest.raises(DisorderError, match="did you mean 'limit'"):
            disorder.study("unli/table2", "builtin:bow", limits=3)  # type: ignore[call-arg]

    def test_the_signature_shows_real_parameters(self) -> None:
        parameters = inspect.signature(disorder.study).parameters
        assert {"q", "seed", "limit", "fidelity", "set_", "as_", "out"} <= set(parameters)
        assert inspect.Parameter.VAR_KEYWORD not in {each.kind for each in parameters.values()}

    @pytest.mark.parametrize(
        ("keyword", "value", "said"),
        [
            ("q", "many", "study: q='many' does not work; need a whole number"),
            ("seeds", 0, "study: seeds=0 does not work; need 1 or more"),
            ("fidelity", "both", "need paper or released"),
            ("labels", {"a": ["b"]}, "labels="),
        ],
    )
    def test_a_value_that_cannot_work_is_one_line(
        self, keyword: str, value: Any, said: str
    ) -> None:
        with pytest.raises(DisorderError, match=said):
            disorder.study("unli/table2", "builtin:bow", "builtin", **{keyword: value})

    def test_single_values_and_paths_work(self, jsonl: Callable[..., Path], tmp_path: Path) -> None:
        path = jsonl(pairs(12))
        found = disorder.study("unli/table2", models="builtin:bow", data=path, q=2, out=tmp_path)
        assert found.cells[0].row == {"model": "builtin:bow", "data": str(path)}
        again = disorder.study("unli/table2", "builtin:bow", path, q=2)
        assert again.cells == found.cells
        rows = disorder.study("unli/table2", models="builtin:bow", data=pairs(12), q=2)
        assert [cell.value for cell in rows.cells] == [cell.value for cell in found.cells]

    def test_records_are_flat_and_have_the_printed_number(self, as_mnli: Path) -> None:
        found = disorder.study("unli/table2", "builtin:bow", "mnli:matched", as_="BiLSTM", **SMALL)
        records = {record["column"]: record for record in found.records}
        assert len(records) == len(found.records) == len(found.cells)
        accuracy = records["accuracy"]
        assert accuracy["model"] == "builtin:bow"
        assert accuracy["published_model"] == "BiLSTM"
        assert accuracy["difference"] == pytest.approx(accuracy["value"] - accuracy["published"])
        assert len({tuple(record) for record in found.records}) == 1, "all have the same keys"

    def test_it_shows_itself_and_can_be_saved(self, tmp_path: Path) -> None:
        found = disorder.study("unli/table2", "builtin:bow", "builtin", **SMALL)
        shown = repr(found).splitlines()
        assert shown[0].lower() == found.verdict
        assert shown[1].startswith("unli/table2: ")
        assert ["model", "accuracy"] in [line.split()[:2] for line in shown]
        html = found._repr_html_()
        assert "<table>" in html
        assert "<svg" in html or not found.pictures
        assert "<html" not in html
        folder = found.save(tmp_path / "saved")
        names = {path.name for path in folder.iterdir()}
        assert names == {"result.json", "study.csv", "study.md", "study.tex", "report.html"}
        html = (folder / "report.html").read_text(encoding="utf-8")
        assert not re.search('href="[^#]', html.split("<body")[-1])

    def test_one_without_numbers_shows_itself_too(self) -> None:
        found = disorder.study("unli/fig1")
        assert repr(found).splitlines()[0] == "Nothing is measured here"
        assert "disorder list metrics" in found._repr_html_()


class Always:
    """Predicts one label for all."""

    def __init__(self, label: str) -> None:
        self.label = label

    def __call__(self, texts: Sequence[Any]) -> list[str]:
        return [self.label] * len(texts)


class TestWhatWasMadeFromOtherDataIsNotReused:
    def test_counts(self, jsonl: Callable[..., Path], tmp_path: Path) -> None:
        pytest.importorskip("spacy", reason="needs spaCy's tokenizer")
        path, out = jsonl(pairs(10)), tmp_path / "out"
        assert disorder.study("unli/table7", str(path), out=out).cell("examples").value == 10
        assert disorder.study("unli/table7", str(path), out=out).cell("examples").value == 10
        path.write_text(
            "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:7]),
            encoding="utf-8",
        )
        with pytest.raises(
            DisorderError, match=r"\.json was made from other data; choose another out"
        ):
            disorder.study("unli/table7", str(path), out=out)

    def test_runs(self, jsonl: Callable[..., Path], tmp_path: Path) -> None:
        path, out = jsonl(pairs(10)), tmp_path / "out"
        found = disorder.study("unli/table2", "builtin:bow", str(path), q=2, out=out)
        assert (
            disorder.study("unli/table2", "builtin:bow", str(path), q=2, out=out).cells
            == found.cells
        )
        path.write_text(
            "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:7]),
            encoding="utf-8",
        )
        with pytest.raises(DisorderError, match="was made from other data; choose another out"):
            disorder.study("unli/table2", "builtin:bow", str(path), q=2, out=out)

    def test_lists(self, tmp_path: Path) -> None:
        pytest.importorskip("spacy", reason="needs spaCy's tokenizer")
        found = disorder.study("unli/table7", data=[pairs(10), pairs(7)], out=tmp_path)
        assert [found.cell("examples", data=f"rows {i}").value for i in (1, 2)] == [10, 7]
        with pytest.raises(DisorderError, match="was made from other data"):
            disorder.study("unli/table7", pairs(8), out=tmp_path)
        twice = pairs(5)
        with pytest.raises(DisorderError, match="'rows 1' is named twice"):
            disorder.study("unli/table7", data=[twice, twice])

    def test_models_of_one_class(self, tmp_path: Path) -> None:
        disorder.study("unli/table2", Always("entailment"), pairs(10), q=2, out=tmp_path)
        with pytest.raises(
            DisorderError,
            match="a model that cannot be told from others of its kind; choose another out",
        ):
            disorder.study("unli/table2", Always("neutral"), pairs(10), q=2, out=tmp_path)
        with pytest.raises(DisorderError, match="'Always' is named twice"):
            disorder.study(
                "unli/table2",
                models=[Always("entailment"), Always("neutral")],
                data=["builtin"],
                **SMALL,
            )

    def test_explanations(self, tmp_path: Path) -> None:
        given: dict[str, Any] = {"data": [pairs(12)], "q": 2, "out": tmp_path}
        found = disorder.study("unli/fig6", "builtin:bow", **given)
        assert disorder.study("unli/fig6", "builtin:bow", **given).cells == found.cells
        with pytest.raises(DisorderError, match="was made from other data"):
            disorder.study("unli/fig6", "builtin:bow", **{**given, "data": [pairs(11)]})

    def test_a_run_of_a_model_from_python_is_resumed(self, tmp_path: Path) -> None:
        def first(texts: Sequence[Any]) -> list[str]:
            return ["entailment"] * len(texts)

        def progress(stage: str, done: int, total: int, note: str) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            disorder.study("unli/table2", first, pairs(10), q=2, out=tmp_path, progress=progress)
        assert disorder.study("unli/table2", first, pairs(10), q=2, out=tmp_path).status == "done"


class TestCommand:
    def test_it_leaves_a_folder_and_prints_the_table(self, run: Command, as_mnli: Path) -> None:
        code, out, _ = run(
            "study",
            "unli/table2",
            "builtin:bow",
            "mnli:matched",
            "--limit",
            30,
            "--q",
            4,
            "--out",
            "s",
        )
        assert code == 0
        assert "RoBERTa-Large" in out
        assert "s/report.html" in out
        record = json.loads(Path("s/result.json").read_text(encoding="utf-8"))
        assert record["status"] == "done"
        assert record["request"]["q"] == 4
        rows = list(csv.DictReader(io.StringIO(Path("s/study.csv").read_text(encoding="utf-8"))))
        assert {row["published_model"] for row in rows} >= {"RoBERTa-Large", "BiLSTM"}
        table = Path("s/study.md").read_text(encoding="utf-8")
        assert "| builtin:bow | **" in table
        page = Path("s/report.html").read_text(encoding="utf-8")
        assert "<svg" in page
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "disorder study unli/table2 builtin:bow mnli:matched --q 4" in page

    def test_json_is_the_record_and_nothing_else(self, run: Command) -> None:
        code, out, _ = run(
            "study", "unli/table2", "builtin:bow", "builtin", "--limit", 30, "--q", 4, "--json"
        )
        assert code == 0
        assert json.loads(out)["item"] == "unli/table2"

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["unli/tabel2"], "did you mean unli/table2 or"),
            (["what"], "see disorder study --list"),
            ([], "name an item"),
            (["unli/table2"], "needs a model to test"),
            (["unli/table2", "bilstm", "builtin"], "tests trained models and trains none"),
            (["unli/table2", "builtin", "--as", "BERT"], "unknown model of unli/table2 'BERT'"),
            (
                ["unli/table2", "builtin", "builtin", "--as", "BiLSTM", "--as", "ConvNet"],
                "--as was given 2 times for 1 model",
            ),
            (["unli/table2", "builtin", "--limit", "0"], "1 or more"),
            (["unli/table2", "builtin"], "unli/table2 needs data: mnli:matched, "),
            (["unli/table2", "builtin", "nowhere.jsonl"], "no such file"),
            (["ndsc/table5", "bow", "builtin"], "--train DATA"),
            (["unli/table7", "builtin", "builtin"], "unli/table7 takes data only"),
            (["unli/table7", "builtin:bow", "builtin"], "unli/table7 takes data only"),
            (["unli/table4", "builtin:bow"], "unli/table4 takes folders that people answered"),
            (["unli/table2", "builtin", "--fidelity", "both"], "paper or released"),
        ],
    )
    def test_mistakes_are_one_line(
        self, run: Command, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("DISORDER_DATA", raising=False)
        code, out, error = run("study", *words)
        assert (code, out) == (2, "")
        assert said in error
        assert error.count("\n") == 1

    def test_an_item_for_people_leaves_no_folder(self, run: Command) -> None:
        code, out, _ = run("study", "unli/table4")
        assert code == 0
        assert "disorder human make" in out
        assert "0.581" in out
        assert not Path("runs").exists()

    def test_the_list_names_every_item_and_what_it_lacks(self, run: Command) -> None:
        code, out, _ = run("study", "--list")
        assert code == 0
        assert all(name in out for name in study_items())
        assert out.count("\n") <= len(study_items()) + 2, "one line per item"
        needs = run("study", "--list", "unli/table2")[1]
        assert "needs hf:FacebookAI/roberta-large-mnli" in needs
        assert max(map(len, (out + needs).splitlines())) <= 80
        rows = json.loads(run("study", "--list", "--json")[1])
        assert [row["item"] for row in rows] == list(study_items())
        assert any("MODEL" in reason for row in rows for reason in row["lacking"])
