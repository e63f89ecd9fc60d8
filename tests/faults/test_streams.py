"""Output: nothing untrusted reaches a terminal raw, odd encodings degrade, pipes may close, and an
interrupt says how to resume.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from disorder.cli import main
from disorder.cli.output import open_missing_streams
from disorder.safe_io import visible, visible_json
from faults.laboratory import (
    PATIENCE,
    changed,
    disorder_command,
    environment,
    rows,
    run,
    scores_of,
)

# clipboard (OSC 52), title, colour, C1 control, bidirectional override, bell, markup of rich
HOSTILE = "x\x1b]52;c;aGk=\x07\x1b[31m\x9b2J\u202ey[bold]"
RAW = ("\x1b", "\x07", "\x9b", "\u202e", "\x00")


def is_safe(text: str) -> bool:
    return not any(char in text for char in RAW)


def test_visible_text_holds_nothing_that_a_terminal_obeys() -> None:
    assert is_safe(visible(HOSTILE))
    assert visible("a\nb\tc é 漢 🙂") == "a\nb\tc é 漢 🙂"
    text = json.dumps(HOSTILE, ensure_ascii=False)
    assert is_safe(visible_json(text))
    assert json.loads(visible_json(text)) == HOSTILE


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose every name is hostile."""
    place = tmp_path_factory.mktemp("hostile")
    data = [
        row | {"id": f"{i}{HOSTILE}", "label": HOSTILE * (i % 2) or "no", "group": HOSTILE}
        for i, row in enumerate(rows(24))
    ]
    path = place / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, data)))
    folder = small_run_of(path, place / "run")

    def change(raw: dict[str, Any]) -> None:
        raw |= {"model": HOSTILE, "data": HOSTILE, "verdict": HOSTILE, "notes": [HOSTILE]}
        raw["skips"] = {HOSTILE: {HOSTILE: 3}}
        raw["omitted"] = [
            {"transformation": HOSTILE, "metric": "p_c", "group": "all", "reason": HOSTILE}
        ]

    return changed(folder, place / "named", change)


def small_run_of(data: Path, out: Path) -> Path:
    from disorder.verbs.audit import audit

    audit("uniform", str(data), q=3, group_by="group", with_="derange", out=out, cache="off")
    return out


COMMANDS: dict[str, list[str]] = {
    "report": ["report", "RUN"],
    "gate": ["gate", "RUN", "--fail-if", "original:accuracy < 0"],
    "gate of a group": ["gate", "RUN", "--fail-if", "original:accuracy[nope] < 0"],
    "gate as JSON": ["gate", "RUN", "--fail-if", "original:accuracy < 0", "--json"],
    "compare": ["compare", "RUN", "RUN"],
    "compare as JSON": ["compare", "RUN", "RUN", "--json"],
    "resume": ["audit", "--resume", "RUN"],
    "resume as JSON": ["audit", "--resume", "RUN", "--json"],
    "audit": ["audit", "uniform", "DATA", "--q", "2", "--group-by", "group", "--out", "OUT"],
    "audit of another model": ["audit", "builtin", "DATA", "--out", "OUT"],
    "a hostile model": ["audit", HOSTILE, "DATA", "--out", "OUT"],
    "a hostile transformation": ["audit", "uniform", "DATA", "--with", HOSTILE, "--out", "OUT"],
    "perturb": ["perturb", "DATA", "--with", "reverse", "--out", "-"],
    "explain": [
        "explain",
        "uniform",
        "DATA",
        "--q",
        "2",
        "--by",
        "accepted_by_length",
        "--out",
        "OUT",
    ],
    "sanity": ["sanity", "DATA", "--check", "duplicates", "--out", "OUT"],
    "human make": ["human", "make", "RUN", "--out", "OUT", "--n", "4", "--all"],
    "a hostile folder": ["report", HOSTILE.replace("\x00", "")],
    "list": ["list", HOSTILE],
    "study": ["study", HOSTILE],
    "train": ["train", "plain", "DATA", "--model", HOSTILE],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_untrusted_text_raw(
    name: str, hostile_run: Path, tmp_path: Path, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {
        "RUN": str(hostile_run),
        "DATA": str(hostile_run.parent / "data.jsonl"),
        "OUT": str(tmp_path / "out"),
    }
    code, out, err = command(*[places.get(word, word) for word in COMMANDS[name]])
    assert is_safe(out + err)
    assert code in (0, 1, 2)
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_other_encodings_degrade(finished: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    screen = run("report", finished, cwd=tmp_path, env=settings, encoding="latin-1")
    assert screen.code == 0, screen.told
    done = run("report", finished, "--all", cwd=tmp_path, env=settings, encoding="latin-1")
    assert done.code == 0, done.told
    assert "Omega_max" in done.out
    listed = run("list", "metrics", cwd=tmp_path, env=settings, encoding="latin-1")
    assert listed.code == 0, listed.told
    found = run("audit", "--resume", finished, "--json", cwd=tmp_path, env=settings)
    assert found.code == 0
    assert json.loads(found.out)["status"] == "done"


def test_data_on_standard_output_is_never_degraded(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps({"text_a": "α β γ δ", "label": "no"}))
    words = ("perturb", "d.jsonl", "--with", "reverse", "--out", "-")
    done = run(*words, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert json.loads(done.out)["text_a"] == "δ γ β α"


@pytest.mark.parametrize("words", [["list"], ["report", "RUN"], ["audit", "--resume", "RUN"]])
def test_a_closed_pipe_is_quiet(words: list[str], finished: Path) -> None:
    command = disorder_command(*[str(finished) if word == "RUN" else word for word in words])
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output_is_one_line(finished: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            disorder_command("report", finished),
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr


def test_progress_that_nobody_reads_stops_no_audit(tmp_path: Path) -> None:
    words = ("audit", "builtin:bow", "builtin", "--limit", 30, "--q", 4, "--out", "run")
    process = subprocess.Popen(
        disorder_command(*words),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait() == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "done"


SLOW = """
import pathlib, time
labels = ("entailment", "neutral", "contradiction")
n = 0
def predict(pairs):
    global n
    n += 1
    if n > 1:
        pathlib.Path("began").touch()
        time.sleep(60 if not pathlib.Path("go").exists() else 0)
    return ["neutral"] * len(pairs)
"""


def _hears_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_says_how_to_resume_and_that_works(tmp_path: Path, name: str) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    words = ("audit", "python:slow:predict", "builtin", "--limit", 9, "--q", 2, "--out", "a b")
    process = subprocess.Popen(
        disorder_command(*words),
        preexec_fn=_hears_interrupts,  # a shell's background jobs are started deaf
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + PATIENCE
    while not (tmp_path / "began").exists():
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    told = err.decode().strip().splitlines()[-1]
    typed = "disorder audit --resume 'a b' python:slow:predict"
    assert told == f"stopped; what is done is in a b; resume it: {typed}"
    (tmp_path / "go").touch()
    done = run("audit", "--resume", "a b", "python:slow:predict", cwd=tmp_path)
    assert done.code == 0, done.told
    run(*words[:-1], "whole", cwd=tmp_path)
    assert scores_of(tmp_path / "a b") == scores_of(tmp_path / "whole")


def test_an_interrupt_of_executed_code_has_its_exit_code_too(tmp_path: Path) -> None:
    (tmp_path / "stops.py").write_text("def predict(texts):\n    exec('raise KeyboardInterrupt')\n")
    words = "-m disorder audit python:stops:predict builtin --limit 3 --q 2"
    done = subprocess.run(
        [sys.executable, *words.split()], cwd=tmp_path, env=environment(), capture_output=True
    )
    assert done.returncode == 130, done.stderr


def test_an_interrupt_before_anything_is_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from disorder.verbs.audit import pipeline

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pipeline, "prepared", stop)
    with pytest.raises(SystemExit) as stopped:
        main(["audit", "builtin:bow", "builtin", "--out", "run"])
    assert stopped.value.code == 130
    assert "nothing was written to run yet" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_every_command_prints_in_one_place() -> None:
    """Consoles and lines of commands are made by cli/output.py alone."""
    import disorder.cli

    folder = Path(disorder.cli.__file__).parent
    for path in folder.glob("*.py"):
        if path.name == "output.py":
            continue
        text = path.read_text(encoding="utf-8")
        for word in (
            "typer.echo(",
            "sys.stdout.write",
            "sys.stderr.write",
            " print(",
            "= Console(",
        ):
            assert word not in text, f"{path.name}: {word}"


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_missing_stream_takes_no_file_of_others(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number was free at the start, and is that of another file by now."""
    monkeypatch.setattr(sys, name, None)
    open_missing_streams()
    number = getattr(sys, name).fileno()
    try:
        assert number > 2
        assert os.path.samestat(os.fstat(number), os.stat(os.devnull))
    finally:
        os.close(number)


def test_an_exit_code_3_is_ours_alone() -> None:
    code = "import sys; from disorder import cli; cli._called = lambda _: [][1]; cli.main([])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "IndexError" in done.stderr


def test_memory_and_system_errors_are_one_line(
    command: Any, monkeypatch: pytest.MonkeyPatch, finished: Path
) -> None:
    from disorder import cli

    for error, words in (
        (MemoryError(), "not enough memory"),
        (OSError(30, "Read-only", "x"), "x"),
    ):

        def fail(_: object, error: BaseException = error) -> int:
            raise error

        monkeypatch.setattr(cli, "_called", fail)
        code, _, err = command("report", finished)
        assert code == 2
        assert words in err
        assert len(err.strip().splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_streams_change_no_exit_code(closed: tuple[int, ...], finished: Path) -> None:
    """As under cron, or after `>&-`: Python then has no such stream at all."""
    words = ["gate", str(finished), "--fail-if", "original:accuracy < 0"]
    assert _ended_without(closed, words) == 0
    assert _ended_without(closed, ["gate", str(finished), "--fail-if", "a < b"]) == 2


def _ended_without(closed: tuple[int, ...], words: list[str]) -> int:
    """The exit code of a command whose streams are closed; 70 if a file that it opens takes the
    place of one, where what is printed would go.
    """
    pid = os.fork()
    if not pid:
        code = 71
        try:
            for number in closed:
                os.close(number)
                setattr(sys, ("stdin", "stdout", "stderr")[number], None)
            main(words)
        except SystemExit as stopped:
            code = int(stopped.code or 0)
            opened = os.open(__file__, os.O_RDONLY)
            code = 70 if opened < 3 else code
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
