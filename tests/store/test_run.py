"""A run in Python: its scores by name, as a frame, in pictures and in a notebook; and resumed."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conftest import pairs
from disorder.errors import BadData, DisorderError, UnknownName
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.store.sample_parts import SampleParts
from disorder.verbs.audit import audit, resume, sampling

HOSTILE = '"></iframe><script>alert(1)</script><img src=x onerror=alert(1)>\u202e'
COLUMNS = ["transformation", "metric", "group", "value", "low", "high", "n", "skipped"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "run"
    return audit(
        "uniform",
        [row | {"genre": "news" if i % 2 else "chat"} for i, row in enumerate(pairs(24))],
        q=4,
        with_=["derange", "reverse"],
        fidelity="paper",
        group_by="genre",
        cache="off",
        out=folder,
    )


class TestScores:
    def test_one_score_by_name(self, run: Run) -> None:
        assert run["derange", "accuracy"] == run.score("derange", "accuracy")
        assert run["derange", "accuracy", "genre=news"].n == 12

    @pytest.mark.parametrize(
        ("key", "told"),
        [
            (("derang", "accuracy"), "unknown transformation of this run 'derang'.*'derange'"),
            (("derange", "acuracy"), "unknown metric of this run 'acuracy'.*'accuracy'"),
            (("derange", "accuracy", "genre=new"), "group of this run 'genre=new'.*'genre=news'"),
        ],
    )
    def test_a_misspelt_name_gets_a_hint(self, run: Run, key: Any, told: str) -> None:
        with pytest.raises(UnknownName, match=told):
            run[key]

    def test_a_score_without_anything_to_measure_says_why(self) -> None:
        run = audit("always:neutral", pairs(12), q=3, with_="derange", cache="off")
        with pytest.raises(DisorderError, match="derange p_f was not measured: no wrong predict"):
            run["derange", "p_f"]

    def test_a_score_of_another_transformation_says_so(self, run: Run) -> None:
        with pytest.raises(DisorderError, match="p_c was not measured under original in all"):
            run["original", "p_c"]

    @pytest.mark.parametrize("key", ["derange", ("derange",), ("a", "b", "c", "d")])
    def test_a_key_of_another_shape_says_what_to_write(self, run: Run, key: Any) -> None:
        with pytest.raises(DisorderError, match=r'write run\["derange", "p_c"\]'):
            run[key]

    def test_to_frame_has_one_row_per_score(self, run: Run) -> None:
        pandas = pytest.importorskip("pandas", reason="needs pandas")
        frame = run.to_frame()
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame.columns) == COLUMNS
        assert len(frame) == len(run.scores)

    def test_the_task_is_the_one_of_the_data(self, run: Run) -> None:
        task = run.full_task
        assert (task.name, list(task.labels), task.language) == (run.task, run.labels, run.language)


class TestFolder:
    def test_samples_have_one_row_per_variant(self, run: Run) -> None:
        table = run.samples()
        assert isinstance(table, pa.Table)
        counts = Counter(table["transformation"].to_pylist())
        assert counts == {"original": 24, "derange": 24 * 4, "reverse": 24}
        assert {"example", "variant", "positions_a", "probabilities"} <= set(table.column_names)

    def test_samples_that_are_damaged_are_an_error(self, run: Run, tmp_path: Path) -> None:
        copy = read_run(run.save(tmp_path / "copy"))
        part = next((tmp_path / "copy" / "samples").glob("01-*.parquet"))
        part.write_bytes(b"")
        with pytest.raises(BadData, match="is missing or damaged"):
            copy.samples()

    def test_save_copies_the_folder(self, run: Run, tmp_path: Path) -> None:
        saved = run.save(tmp_path / "kept")
        assert saved == tmp_path / "kept"
        again = read_run(saved)
        assert again.scores == run.scores
        assert again.samples().equals(run.samples())
        assert (saved / "report.html").exists()
        with pytest.raises(DisorderError, match="is there already"):
            run.save(saved)

    def test_a_run_without_out_can_be_saved(self, tmp_path: Path) -> None:
        run = audit("uniform", pairs(6), q=2, with_="derange", cache="off")
        assert read_run(run.save(tmp_path / "kept")).scores == run.scores

    def test_a_run_without_a_folder_says_so(self, run: Run) -> None:
        bare = Run.model_validate(run.model_dump())
        assert bare.folder is None
        with pytest.raises(DisorderError, match="not read from a folder"):
            bare.samples()
        with pytest.raises(DisorderError, match="is not there"):
            bare.save("anywhere")


class Elements(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def graded() -> Run:
    """A run of a model with probabilities."""
    return audit("builtin", pairs(12), q=3, with_=["derange", "reverse"], cache="off")


class TestNotebook:
    @pytest.mark.parametrize(
        "name", ["forest", "omega_curve", "acceptance", "confidence", "reliability"]
    )
    def test_every_picture(self, graded: Run, name: str, tmp_path: Path) -> None:
        picture = graded.plot(name)
        assert picture.svg.startswith("<svg")
        saved = picture.save(tmp_path / "picture.svg")
        assert saved.read_text(encoding="utf-8") == picture.svg

    def test_a_picture_of_another_transformation(self, graded: Run) -> None:
        of_reverse = graded.plot("reliability", "reverse").svg
        of_derange = graded.plot("reliability", "derange").svg
        assert of_reverse != graded.plot("reliability").svg == of_derange

    def test_a_misspelt_picture_gets_a_hint(self, run: Run) -> None:
        with pytest.raises(UnknownName, match=r"unknown picture 'forrest'.*did you mean 'forest'"):
            run.plot("forrest")
        with pytest.raises(UnknownName, match="did you mean 'reverse'"):
            run.plot("confidence", "revers")

    def test_a_run_displays_itself_as_one_frame(self, run: Run) -> None:
        [(tag, attributes)] = Elements(run._repr_html_()).found
        assert tag == "iframe"
        assert attributes["sandbox"] == ""
        assert "<!DOCTYPE html>" in str(attributes["srcdoc"])

    def test_hostile_names_stay_text(self, run: Run) -> None:
        fields = ("model", "data", "verdict", "error")
        hostile = run.model_copy(update=dict.fromkeys(fields, HOSTILE))
        [(tag, attributes)] = Elements(hostile._repr_html_()).found
        assert tag == "iframe"
        inside = Elements(str(attributes["srcdoc"])).found
        assert not {"script", "img", "iframe"} & {tag for tag, _ in inside}
        assert not [name for _, found in inside for name in found if name.startswith("on")]
        assert "\u202e" not in str(attributes["srcdoc"])

    def test_repr_is_short_and_says_the_verdict(self, run: Run) -> None:
        first, second, *_ = repr(run).splitlines()
        assert first == f"Run(uniform on {run.data}, 24 examples, done)"
        assert second == run.result.headline

    def test_print_shows_the_caveats_of_the_report(self, run: Run) -> None:
        assert run.caveats
        shown = [line for line in repr(run).splitlines() if line.startswith("caveat: ")]
        assert shown == [f"caveat: {text}" for text in run.result.caveats]


class TestResume:
    def test_finished_parts_are_read_once_and_a_damaged_one_is_predicted_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sampling, "BLOCK", 40)  # parts of 10 examples with 4 variants
        settings: dict[str, Any] = {"q": 4, "with_": "derange", "cache": "off"}
        settings |= {"fidelity": "paper"}
        run = audit("uniform", pairs(30), out=tmp_path / "run", **settings)
        parts = sorted(path.name for path in (tmp_path / "run" / "samples").glob("*.parquet"))
        assert len(parts) == 1 + 3
        damaged = parts[-1]
        (tmp_path / "run" / "samples" / damaged).write_bytes(b"no Parquet")
        _unfinish(tmp_path / "run")

        reads: Counter[str] = Counter()
        read = SampleParts.read

        def counted(self: SampleParts, name: str) -> Any:
            reads[name] += 1
            return read(self, name)

        monkeypatch.setattr(SampleParts, "read", counted)
        again = resume(tmp_path / "run", data=pairs(30))
        assert reads == dict.fromkeys(parts, 1)
        assert again.scores == run.scores
        assert again.profile["resumed"] == 30 + 2 * 10 * 4
        assert again.profile["predicted"] == 10 * 4
        assert again.notes[-1] == f"{damaged} is damaged; it is predicted again"

    def test_a_finished_run_is_not_predicted_again(self, run: Run) -> None:
        assert resume(run) == run


def _unfinish(folder: Path) -> None:
    """Leave result.json as a killed run leaves it."""
    path = folder / "result.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    state |= {"status": "started", "scores": [], "profile": {}}
    path.write_text(json.dumps(state), encoding="utf-8")
