"""Short of memory, time or room: the result is there, a chart may be missing, and it is said."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from disorder.cli.folders import new_folder
from disorder.errors import CannotWrite, DisorderError
from disorder.results import drawing
from disorder.results.drawing import ChartFailed, ChartProcess, drawn_by_child
from disorder.results.render import render
from disorder.results.run_folder import read_run
from disorder.store.storage import write_atomically
from disorder.verbs import transformation_samples
from disorder.verbs.audit import audit, pipeline
from disorder.verbs.transformation_samples import LARGE, empty_array
from faults.laboratory import disorder_command, environment, run, small_run
from faults.verbs import VERBS

SPEC = {"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a"}}}


@pytest.fixture
def child() -> Iterator[ChartProcess]:
    found = ChartProcess()
    yield found
    found.end()


class TestCharts:
    def test_a_child_draws_them(self, child: ChartProcess) -> None:
        task = {"what": "svg", "spec": json.dumps(drawing.styled(SPEC))}
        assert child(task)["svg"].startswith("<svg")
        first = child._child
        assert child(task)["svg"].startswith("<svg")
        assert child._child is first  # one process for all charts
        assert "vl_convert" not in sys.modules

    def test_a_spec_that_cannot_be_drawn_costs_that_chart_alone(self, child: ChartProcess) -> None:
        with pytest.raises(ChartFailed, match="could not be drawn"):
            child({"what": "svg", "spec": "{"})
        assert child({"what": "svg", "spec": json.dumps(SPEC)})["svg"]

    def test_a_child_that_dies_ends_nothing(self, child: ChartProcess) -> None:
        child({"what": "svg", "spec": json.dumps(SPEC)})
        assert child._child is not None
        child._child.send_signal(signal.SIGABRT)
        child._child.wait()
        assert child({"what": "svg", "spec": json.dumps(SPEC)})["svg"]  # started again

    def test_a_child_that_hangs_is_ended(
        self, child: ChartProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(drawing, "SECONDS", 0.3)
        monkeypatch.setattr(drawing, "CHILD", "import time; time.sleep(60)")
        with pytest.raises(ChartFailed, match="more than 0 s"):
            child({"what": "svg", "spec": "{}"})
        assert child._child is None
        with pytest.raises(ChartFailed):  # and not tried again for a while
            child({"what": "svg", "spec": "{}"})

    def test_a_page_is_drawn_without_charts(
        self, finished: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(drawing, "CHILD", "import os; os.abort()")
        monkeypatch.setattr(drawing, "drawn_by_child", ChartProcess())
        text = render(read_run(finished).result, "page")
        assert "The chart could not be drawn (the process that draws charts died with" in text
        assert "</html>" in text
        with pytest.raises(ChartFailed):
            drawing.png("<svg/>")

    @pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v")
    def test_an_audit_with_little_memory_ends_with_its_verdict(self, tmp_path: Path) -> None:
        words = ("audit", "builtin:bow", "builtin", "--limit", "60", "--q", "5", "--out", "run")
        command = " ".join(["ulimit -v 3000000;", *disorder_command(*words)])
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "done"
        assert "Report: run/report.html" in done.stdout
        assert (tmp_path / "run" / "report.html").exists()


def test_the_child_has_a_limit_of_memory() -> None:
    assert drawn_by_child({"what": "svg", "spec": json.dumps(SPEC)})["svg"]
    child = drawn_by_child._child
    assert child is not None
    if sys.platform == "linux":
        limits = Path(f"/proc/{child.pid}/limits").read_text()
        line = next(line for line in limits.splitlines() if line.startswith("Max data size"))
        assert line.split()[3] == str(drawing.MEMORY)


class TestRoom:
    def test_predictions_without_room_are_one_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(
            DisorderError, match=r"need 3725\.3 GB in .* free\); use fewer examples"
        ):
            empty_array((10**9, 1000, 1))

    @pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="needs posix_fallocate")
    def test_a_disk_that_fills_up_is_one_line_and_no_signal(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(transformation_samples.os, "posix_fallocate", full)
        with pytest.raises(DisorderError, match="No space left on device"):
            empty_array((LARGE, 1, 1))

    def test_large_arrays_have_their_room_before_they_are_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(transformation_samples, "LARGE", 100)
        array = empty_array((50, 2, 2))
        assert isinstance(array, np.memmap)
        assert np.isnan(array).all()

    @pytest.mark.parametrize("q", [10**9, 10**18])
    def test_too_many_permutations_are_a_mistake(self, q: int, tmp_path: Path) -> None:
        done = run("audit", "builtin:bow", "builtin", "--q", q, cwd=tmp_path)
        assert done.is_one_line("at most 1,000,000")

    def test_a_page_without_room_loses_no_result(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def full(folder: Path, run: object) -> None:
            raise CannotWrite(f"{folder}/report.html cannot be written (No space left)")

        monkeypatch.setattr(pipeline, "write_report", full)
        found = audit("builtin:bow", "builtin", limit=20, q=2, out=tmp_path / "run", cache="off")
        assert found.status == "done"
        assert "disorder report" in caplog.text

    @pytest.mark.skipif(sys.platform != "linux", reason="ulimit -f")
    @pytest.mark.parametrize("name", ["audit", "explain", "human make", "perturb", "sanity"])
    def test_a_limit_of_file_size_is_one_line_that_names_the_file(
        self, name: str, finished: Path, tmp_path: Path
    ) -> None:
        command = shlex.join(disorder_command(*VERBS[name].typed(tmp_path / "out", finished)))
        (tmp_path / "temporary").mkdir()
        done = subprocess.run(
            ["bash", "-c", f"ulimit -f 1; {command}"],  # 1,024 bytes
            cwd=tmp_path,
            env=environment(
                DISORDER_CACHE=str(tmp_path / "cache"), TMPDIR=str(tmp_path / "temporary")
            ),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 2, done.stderr
        [*_, line] = done.stderr.strip().splitlines()
        assert line.startswith("disorder: ")
        assert re.search(rf"{re.escape(str(tmp_path))}\S* .*\(File too large\)", line), line
        assert "Traceback" not in done.stderr

    def test_a_read_only_folder_is_one_line(self, tmp_path: Path) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may write anywhere")
        small_run(tmp_path / "run")
        (tmp_path / "run").chmod(0o555)
        done = run("audit", "--resume", "run", cwd=tmp_path)
        (tmp_path / "run").chmod(0o755)
        assert done.is_one_line("cannot be written")


@pytest.mark.parametrize(
    "name",
    ["漢" * 83, "é" * 126, "a" * 252, "\udcff" * 252],
    ids=["Chinese", "French", "English", "no letters"],
)
def test_a_file_name_as_long_as_a_file_system_takes_is_written(tmp_path: Path, name: str) -> None:
    """It counts bytes; the temporary name beside it must be no longer."""
    path = tmp_path / name
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_new_folder_for_long_names_can_be_made(tmp_path: Path) -> None:
    folder = new_folder("漢" * 200, "語" * 200, home=str(tmp_path))
    assert folder.is_dir()
    assert len(os.fsencode(folder.name)) <= 255
    assert "漢漢" in folder.name
