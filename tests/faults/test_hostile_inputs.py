"""Generated hostile texts, data files, model, task and study folders: used, or refused in one line,
within seconds.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import NLI, pairs
from disorder.data import read_data
from disorder.errors import DisorderError, DoesNotApply
from disorder.models import load
from disorder.transformations import parse
from disorder.types import Example, Task
from disorder.verbs import human
from disorder.verbs.audit import audit
from faults.laboratory import check_one_line, note, rows, size
from models.test_fingerprint_contract import bow_folder, network_folder, onnx_folder

pytestmark = pytest.mark.laboratory

HANG = 5.0  # seconds of CPU time for one input
ODD = [
    b"\x00",
    b"[" * 5000,
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"1e999",
    b"NaN",
    b'"',
    b"\n",
    b"\\ud800",
    b"{}",
    b"-1",
    b"9" * 400,
]
MUTATION = st.tuples(
    st.floats(0, 1), st.integers(0, 40), st.binary(max_size=12) | st.sampled_from(ODD)
)
Use = Callable[[], object]


@contextmanager
def bounded() -> Iterator[None]:
    """One input: an error is one line, and nothing takes long."""
    began = time.process_time()
    try:
        yield
    except DisorderError as error:
        check_one_line(error)
    assert time.process_time() - began < HANG


def generated(n: int) -> Any:
    return settings(
        max_examples=n,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


def mutated(content: bytes, mutation: tuple[float, int, bytes]) -> bytes:
    at, cut, new = mutation
    place = int(at * len(content))
    return content[:place] + new + content[place + cut :]


def try_mutations(folder: Path, n: int, use: Use, *, names: list[str] | None = None) -> int:
    """Change, remove or add bytes in a file of a folder, n times, and use the folder each time."""
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (names is None or path.name in names)
    ]
    originals = {path: path.read_bytes() for path in paths}
    n_tried = 0

    @generated(n)
    @given(path=st.sampled_from(paths), mutation=MUTATION)
    def mutate(path: Path, mutation: tuple[float, int, bytes]) -> None:
        nonlocal n_tried
        n_tried += 1
        path.write_bytes(mutated(originals[path], mutation))
        try:
            with bounded():
                use()
        finally:
            path.write_bytes(originals[path])

    mutate()
    return n_tried


LETTERS = st.characters(exclude_categories=())  # half a character too, and everything unassigned
ODD_WORDS = ["the", "\u202e", "\x1b[31m", "a\u0301", "\u200d", "{{ x }}", "%s", "\x00", "ﷺ", "🙂"]
TEXT = st.text(LETTERS, max_size=60) | st.lists(st.sampled_from(ODD_WORDS), max_size=30).map(
    " ".join
)


def test_hostile_texts_are_perturbed_or_left_out() -> None:
    specs = ["derange", "reverse", "shuffle_ngrams:n=2", "sort", "swap_adjacent", "copy_one"]
    known = [parse(spec) for spec in specs if _is_known(spec)]
    assert len(known) > 2
    task = Task("t", ("x", "y"), "a")
    n_tried = 0

    @generated(size(60, 4_000))
    @given(text=TEXT, number=st.integers(0, len(known) - 1))
    def perturb(text: str, number: int) -> None:
        nonlocal n_tried
        n_tried += 1
        with bounded(), suppress(DoesNotApply):
            known[number].apply(
                Example.of("1", text, None, "x"), task=task, q=3, seed=0, short="use"
            )

    perturb()
    note("hostile texts", n_tried, survived=n_tried, what="any characters, halves of them too")


def _is_known(spec: str) -> bool:
    try:
        parse(spec)
    except DisorderError:
        return False
    return True


def test_an_audit_of_hostile_texts_ends(tmp_path: Path) -> None:
    draw = random.Random(0)
    letters = [chr(draw.randrange(0x20, 0x3000)) for _ in range(300)] + ["\u202e", "\x1b", "🙂"]
    n = size(30, 500)
    data = [
        {
            "id": f"{i}",
            "text_a": " ".join(
                "".join(draw.choices(letters, k=draw.randrange(1, 6))) for _ in range(8)
            ),
            "label": draw.choice(["no", "yes\x1b[31m"]),
        }
        for i in range(n)
    ]
    run = audit("uniform", data, q=2, with_="reverse", out=tmp_path / "run", cache="off")
    assert run.status == "done"
    note("hostile texts in an audit", n, survived=n)


def data_files(folder: Path) -> None:
    """The same rows in every format that is read."""
    folder.mkdir()
    found = rows(6)
    lines = "\n".join(map(json.dumps, found)).encode()
    (folder / "d.jsonl").write_bytes(lines)
    (folder / "z.jsonl.gz").write_bytes(gzip.compress(lines))
    for name, between in (("d.csv", ","), ("d.tsv", "\t")):
        table = [between.join(found[0]), *(between.join(row.values()) for row in found)]
        (folder / name).write_text("\n".join(table))
    pq.write_table(pa.Table.from_pylist(found), folder / "d.parquet")


@pytest.mark.parametrize("name", ["d.jsonl", "z.jsonl.gz", "d.csv", "d.tsv", "d.parquet"])
def test_mutated_data_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    data_files(tmp_path / "data")
    path = str(tmp_path / "data" / name)
    n = try_mutations(tmp_path / "data", size(20, 600), lambda: read_data(path), names=[name])
    note("hostile data files", n, survived=n, what=f"bytes of {name} changed, removed or added")


MODELS: dict[str, tuple[Callable[[Path], str], int, int]] = {
    "bow": (bow_folder, 10, 200),
    "onnx": (onnx_folder, 10, 150),
    "bilstm": (network_folder("bilstm"), 6, 100),
}


@pytest.mark.parametrize("name", MODELS)
def test_mutated_model_folders_are_loaded_or_refused(name: str, tmp_path: Path) -> None:
    make, small, full = MODELS[name]
    folder = tmp_path / "model"
    spec = make(folder)
    texts = [(row["text_a"], row["text_b"]) for row in pairs(3)]
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    unused = ("README.md", "result.json")
    names = [path.name for path in folder.iterdir() if path.name not in unused]

    def use() -> None:
        load(spec, task=NLI)(texts)

    n = try_mutations(folder, size(small, full), use, names=names)
    note("hostile model folders", n, survived=n, what=f"bytes of {name}: folders")


def test_mutated_task_folders_are_scored_or_refused(tmp_path: Path) -> None:
    from disorder.verbs.human.answer_store import AnswerStore
    from disorder.web.annotation_app import ServedTask

    made = human.make("builtin", tmp_path / "task", n=8, annotators=["ann", "bo"])
    items = human_items(made.folder)
    for name in ("ann", "bo"):
        for item in items:
            AnswerStore(made.folder).answer(name, item, 1, made.task.labels[0], 1.0)

    def use() -> None:
        human.score(made.folder)
        ServedTask(made.folder).check()

    n = try_mutations(made.folder, size(25, 500), use)
    note("hostile task folders", n, survived=n)


def human_items(folder: Path) -> list[str]:
    lines = (folder / "items.jsonl").read_text().splitlines()
    return [json.loads(line)["item"] for line in lines]


def test_mutated_studies_are_shown_or_refused(tmp_path: Path) -> None:
    from disorder.papers.study import study
    from disorder.papers.study.folder import read_study
    from disorder.results.render import render

    folder = tmp_path / "study"
    study("unli/table2", "uniform", data="builtin", limit=9, q=2, cache="off", out=folder)

    def use() -> None:
        found = read_study(folder)
        for kind in ("markdown", "latex", "page"):
            render(found.result, kind)

    n = try_mutations(folder, size(25, 500), use, names=["result.json"])
    note("hostile studies", n, survived=n)


def test_mutated_trainings_are_refused(tmp_path: Path, command: Any) -> None:
    from disorder.verbs.train import resume

    record = {"status": "done", "request": {"model": "bow"}, "hashes": {"data": "1"}, "spec": "x"}
    (tmp_path / "result.json").write_text(json.dumps(record | {"verb": "train"}))
    n = try_mutations(tmp_path, size(25, 300), lambda: resume(tmp_path), names=["result.json"])
    note("hostile trainings", n, survived=n)
