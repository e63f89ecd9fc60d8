"""Run folders, task folders and data files that others wrote: whatever is in them, every reader
says one line, and the viewer goes on.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from disorder.data import read_data
from disorder.errors import BadData, DisorderError
from disorder.models import load
from disorder.models.inputs.variants import text_parts
from disorder.results.render import render
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.results.terminal import show_result
from disorder.safe_io import parse_json, read_file, read_json
from disorder.store.prediction_cache import key_of
from disorder.store.sample_parts import read_examples
from disorder.types import Task
from disorder.types.predictions import Predictions
from disorder.verbs.audit import audit, resume
from disorder.web.run_library import DamagedRun, RunLibrary
from disorder.web.run_list import listed_runs
from faults.laboratory import changed, check_one_line, copied, note, rows, size

BRACKETS = "[" * 200_000


class TestJson:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            (BRACKETS, "deep|damaged"),
            ("[" * 70 + "]" * 70, "nested more than 64 deep"),
            ('{"a": NaN}', "NaN is not a number"),
            ('{"a": -Infinity}', "is not a number"),
            ('{"a": 1e999}', "too large"),
            ('{"a": 1, "a": 2}', "stands twice"),
            ("1" * 5000, "damaged"),
            ('"\ud800"'.encode("utf-8", "surrogatepass"), "damaged"),
            ("", "damaged"),
        ],
    )
    def test_what_no_program_of_ours_writes_is_damage(self, text: Any, told: str) -> None:
        with pytest.raises(BadData, match=told):
            parse_json(text, "x.json")

    def test_a_large_file_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / "large.json"
        with path.open("wb") as file:
            file.truncate(65 * 1024**2)  # no room is taken
        with pytest.raises(BadData, match="68,157,440 bytes; at most 67,108,864"):
            read_json(path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
    def test_a_pipe_does_not_block(self, tmp_path: Path, finished: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(BadData, match="not a regular file"):
            read_file(tmp_path / "pipe", max_bytes=10)
        run = copied(finished, tmp_path / "run")
        (run / "result.json").unlink()
        os.mkfifo(run / "result.json")
        with pytest.raises(BadData, match="not a regular file"):
            read_run(run)
        with pytest.raises(BadData, match="no run folder"):
            read_run(tmp_path / "pipe")


def _set(*keys: Any, to: Any) -> Any:
    def change(raw: dict[str, Any]) -> None:
        place: Any = raw
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    return change


TAMPERED = {
    "figures are a list": _set("figures", to=[1]),
    "a figure is a number": _set("figures", "derange", to=3),
    "a curve of words": _set("figures", "derange", "omega", to=[["a", "b"]]),
    "a curve of one number": _set("figures", "derange", "omega", to=[[1]]),
    "bars of another name": _set("figures", "derange", "acceptance", to={"left": [1]}),
    "bins without counts": _set("figures", "derange", "reliability", to={"before": [[0.1, 0.2]]}),
    "empty bins": _set("figures", "derange", "reliability", to={"before": [[0.1, 0.2, 0]]}),
    "a curve that is nothing": _set("figures", "derange", "omega", to=None),
    "bins that are nothing": _set("figures", "derange", "reliability", to=None),
    "telling is a word": _set("telling", to="x"),
    "telling without texts": _set("telling", to=[{"kind": "unmoved"}]),
    "settings are a list": _set("settings", to=[]),
    "q is a word": _set("settings", "q", to="many"),
    "labels are a number": _set("labels", to=7),
    "variants are zero": _set("variants", "derange", to=0),
    "variants are words": _set("variants", "derange", to="x"),
    "skips are numbers": _set("skips", to={"data": 3}),
    "stopped without bounds": _set("stopped", to={"derange": {"metric": "p_c"}}),
    "a count below zero": _set("n_examples", to=-1),
    "the version is a list": _set("schema_version", to=[1]),
    "a reference model without a name": _set("references", to={"": []}),
    "scores are a mapping": _set("scores", to={"a": 1}),
}


UNTOLD = {
    "a prompt without a name": _set("prompt", to={"rendered": "x", "label_words": {}}),
    "a mass that is a word": _set(
        "prompt", to={"name": "x", "rendered": "x", "label_words": {}, "label_mass": "x"}
    ),
    "a way without its server": _set(
        "prompt", to={"name": "x", "rendered": "x", "label_words": {}, "answers": "parse"}
    ),
    "costs without questions": _set("spent", to={"cost": 1.0}),
    "a spread without values": _set("prompt_spread", to=[{"group": "all"}]),
    "a gain without a control": _set("gains", to=[{"transformation": "derange"}]),
    "half a decision": _set("gate", to={"rulings": 3}),
}


@pytest.mark.parametrize("name", UNTOLD)
def test_what_is_told_of_a_run_is_all_there(name: str, finished: Path, tmp_path: Path) -> None:
    """Found by the fuzzer: a page of it was a KeyError."""
    with pytest.raises(BadData, match="damaged"):
        read_run(changed(finished, tmp_path / "bad", UNTOLD[name]))


class TestRun:
    @pytest.mark.parametrize("name", TAMPERED)
    def test_a_tampered_run_is_one_line_everywhere(
        self, name: str, finished: Path, tmp_path: Path, command: Any
    ) -> None:
        bad = changed(finished, tmp_path / "runs" / "bad", TAMPERED[name])
        copied(finished, tmp_path / "runs" / "good")
        for words in (
            ["report", bad],
            ["gate", bad, "--fail-if", "original:accuracy < 0"],
            ["compare", bad, finished],
            ["audit", "--resume", bad],
            ["human", "make", bad, "--out", tmp_path / "task"],
        ):
            code, _, err = command(*words)
            assert code == 2, words
            assert err.startswith("disorder: ")
            assert len(err.strip().splitlines()) == 1
        entries = RunLibrary(tmp_path / "runs").all()
        assert [isinstance(entry, DamagedRun) for entry in entries] == [True, False]

    def test_one_bad_run_leaves_the_list_of_the_viewer_whole(
        self, finished: Path, tmp_path: Path
    ) -> None:
        copied(finished, tmp_path / "good")
        for name, text in (("deep", BRACKETS), ("empty", ""), ("list", "[]")):
            (tmp_path / name).mkdir()
            (tmp_path / name / "run.json").write_text(text)
        found = listed_runs(RunLibrary(tmp_path).all(), "started", is_descending=True)
        assert [row["is_damaged"] for row in found] == [False, True, True, True]

    def test_settings_of_another_version_are_shown_but_not_resumed(
        self, finished: Path, tmp_path: Path
    ) -> None:
        def change(raw: dict[str, Any]) -> None:
            raw["settings"]["of_tomorrow"] = 1
            raw["status"] = "started"

        newer = changed(finished, tmp_path / "newer", change)
        assert "of_tomorrow" in read_run(newer).settings
        with pytest.raises(DisorderError, match="'of_tomorrow', which this version does not know"):
            resume(newer)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def _places(raw: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(raw, dict):
        for key, value in raw.items():
            found += _places(value, (*path, key))
    elif isinstance(raw, list):
        for i, value in enumerate(raw[:3]):
            found += _places(value, (*path, i))
    return found


def _alike(raw: Any, place: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """Other values of the type that is there."""
    for key in place:
        raw = raw[key]
    if isinstance(raw, str):
        return st.text(max_size=40)
    if isinstance(raw, float):
        return st.floats(0, 1)
    if isinstance(raw, int):
        return st.integers(0, 10**6)
    return st.just([] if isinstance(raw, list) else {})


def test_mutated_runs_are_read_and_drawn_or_refused(finished: Path, tmp_path: Path) -> None:
    """Any value of result.json replaced by any other: one line, or a page."""
    original = (finished / "result.json").read_text()
    places = _places(json.loads(original))
    folder = tmp_path / "run"
    folder.mkdir()
    counts = {"refused": 0, "read": 0}

    @settings(
        max_examples=size(80, 3_000),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(place=st.sampled_from(places), drawn=st.data())
    def mutate(place: tuple[Any, ...], drawn: st.DataObject) -> None:
        raw = json.loads(original)
        value = drawn.draw(JSON | _alike(raw, place))
        _set(*place, to=value)(raw)
        (folder / "result.json").write_text(json.dumps(raw), encoding="utf-8")
        try:
            found = read_run(folder)
        except DisorderError as error:
            check_one_line(error)
            counts["refused"] += 1
            return
        counts["read"] += 1
        _is_shown(found)

    mutate()
    assert counts["refused"] > 10
    assert counts["read"] > 10
    total = sum(counts.values())
    note("hostile result.json", total, survived=total, what="a value replaced by any other")


def _is_shown(run: Run) -> None:
    """Everything that a run is turned into without a chart."""
    from rich.console import Console

    from disorder.results import drawing

    before, drawing.svg = drawing.svg, lambda spec: json.dumps(spec)  # type: ignore[assignment]
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            show_result(run.result, Console(file=nowhere), is_all=True)
        render(run.result, "page")
    except DisorderError:
        pass
    finally:
        drawing.svg = before


def test_mutated_bytes_of_run_folders_are_refused_or_read(finished: Path, tmp_path: Path) -> None:
    """Bytes changed, removed or added anywhere in result.json, the examples and the samples."""
    folder = copied(finished, tmp_path / "run")
    originals = {
        path: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".json", ".jsonl", ".parquet")
    }
    n = 0

    @settings(
        max_examples=size(50, 1_500),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        path=st.sampled_from(list(originals)),
        at=st.floats(0, 1),
        cut=st.integers(0, 40),
        bytes_=st.binary(max_size=12),
    )
    def mutate(path: Path, at: float, cut: int, bytes_: bytes) -> None:
        nonlocal n
        n += 1
        content = originals[path]
        place = int(at * len(content))
        path.write_bytes(content[:place] + bytes_ + content[place + cut :])
        for read in (read_run, read_examples, lambda each: read_run(each).samples()):
            try:
                read(folder)
            except DisorderError as error:
                check_one_line(error)
        path.write_bytes(content)

    mutate()
    note("hostile run folders", n, survived=n, what="bytes changed, removed or added")


class TestParquetData:
    def test_odd_values_in_unused_columns_do_not_matter(self, tmp_path: Path) -> None:
        bad = pa.Array.from_buffers(
            pa.string(),
            2,
            [None, pa.py_buffer(np.array([0, 1, 2], "<i4")), pa.py_buffer(b"\xff\xfe")],
        )
        when = pa.array([2**62, 5], pa.timestamp("ms"))
        table = pa.table(
            {"text_a": ["one two", "three four"], "label": ["x", "y"], "b": bad, "t": when}
        )
        pq.write_table(table, tmp_path / "odd.parquet")
        found = read_data(str(tmp_path / "odd.parquet"))
        assert len(found.examples) == 2
        for column in ("b", "t"):
            with pytest.raises(BadData, match="not UTF-8, or a time beyond"):
                read_data(str(tmp_path / "odd.parquet"), columns={"label": "id", column: "label"})

    def test_texts_that_are_not_utf8_are_one_line(self, tmp_path: Path) -> None:
        bad = pa.Array.from_buffers(
            pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], "<i4")), pa.py_buffer(b"\xff\xfe")]
        )
        pq.write_table(pa.table({"text_a": bad, "label": ["x"]}), tmp_path / "bad.parquet")
        with pytest.raises(BadData):
            read_data(str(tmp_path / "bad.parquet"))


def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    line = b'{"text_a": "' + b"a" * 10**6 + b'", "label": "x"}\n'
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(100):
            file.write(line)
    assert path.stat().st_size < 200_000
    with pytest.raises(BadData, match="unpacks to more than 200 times its size"):
        read_data(str(path))


def test_labels_that_differ_in_case_are_two(tmp_path: Path) -> None:
    run = audit("uniform", rows(24, ("Yes", "yes")), q=2, with_="derange", cache="off")
    assert run.labels == ["Yes", "yes"]
    stages = [r.transformation for r in run.scores if r.metric == "accuracy"]
    assert sorted(stages) == ["derange", "original", "surface:of=derange"]


@pytest.mark.parametrize("values", [[0.5, np.nan], [np.inf, 0.0], [0.9, 0.9], [-0.5, 1.5]])
def test_kept_predictions_that_no_model_made_are_not_used(
    tmp_path: Path, values: list[float]
) -> None:
    class Costly:
        labels = ("no", "yes")
        fingerprint = "costly:1"
        is_costly = True

        def __call__(self, texts: Any, /) -> Any:
            return np.tile([0.25, 0.75], (len(texts), 1))

    task = Task("toy", ("no", "yes"), "a")
    model = load(Costly(), task=task, cache=tmp_path)
    assert model.cache is not None
    key = key_of("costly:1", "fp32", text_parts(("a", None)))
    model.cache.put([key], Predictions.answered(np.array([values])))
    assert model(["a", "b"]).tolist() == [[0.25, 0.75]] * 2
    assert model.counts["cached"] == 0
    again = load(Costly(), task=task, cache=tmp_path)
    assert again(["a", "b"]).tolist() == [[0.25, 0.75]] * 2
    assert again.counts["cached"] == 2


def test_long_specs_fit_into_file_names(tmp_path: Path) -> None:
    spec = "+".join(["reverse"] * 40)
    run = audit("uniform", rows(), with_=[spec], q=2, out=tmp_path / "run", cache="off")
    assert run.status == "done"
    assert run.samples().num_rows


class TestTraining:
    @pytest.mark.parametrize(
        "text",
        [
            BRACKETS,
            "[]",
            '{"status": "started"}',
            '{"status": "started", "request": [], "hashes": {}}',
            '{"status": "started", "request": {"limit": "x"}, "hashes": {}}',
            '{"status": "started", "request": {"model": 3}, "hashes": {}}',
            '{"status": "started", "request": {}, "hashes": {"data": 1}}',
        ],
    )
    @pytest.mark.parametrize("name", ["result.json", "training.json"])
    def test_a_tampered_training_is_one_line(
        self, tmp_path: Path, name: str, text: str, command: Any
    ) -> None:
        (tmp_path / name).write_text(text)
        code, _, err = command("train", "--resume", tmp_path)
        assert code == 2, err
        assert len(err.strip().splitlines()) == 1

    @pytest.mark.parametrize(
        "text",
        [BRACKETS, "[]", '{"temperature": "x"}', '{"temperature": NaN}', '{"temperature": 0}'],
    )
    def test_a_tampered_calibration_is_one_line(
        self, tmp_path: Path, text: str, command: Any
    ) -> None:
        from disorder.models.bow import fit

        data = [row | {"text_b": None} for row in rows()]
        fit(data, ["no", "yes"], epochs=1).save(tmp_path / "bow")
        (tmp_path / "bow" / "calibration.json").write_text(text)
        (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows())))
        words = ("audit", f"bow:{tmp_path / 'bow'}", tmp_path / "d.jsonl", "--out", tmp_path / "o")
        code, _, err = command(*words)
        assert code == 2, err
        assert len(err.strip().splitlines()) == 1


MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


@pytest.mark.parametrize("name", MODEL_FILES)
@pytest.mark.parametrize("content", ["cut", "", BRACKETS, "[]", "\x00\xff"])
def test_a_damaged_model_folder_is_one_line(
    tiny_bert: Path, tmp_path: Path, name: str, content: str, command: Any
) -> None:
    folder = copied(tiny_bert, tmp_path / "model")
    path = folder / name
    if not path.exists():
        pytest.skip(f"no {name}")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content == "cut" else content.encode("latin-1"))
    words = ("audit", f"hf:{folder}", "builtin", "--limit", 3, "--q", 2, "--out", tmp_path / "o")
    code, _, err = command(*words)
    assert "Traceback" not in err
    if code:  # transformers can do without some of them
        assert code == 2
        assert err.strip().splitlines()[-1].startswith("disorder: hf:")
