"""Nothing that a folder names is run, loaded or reached, unless the user names it too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import NLI
from disorder.errors import BadModel, DisorderError
from disorder.models import load
from disorder.models.loading import loading
from disorder.registry import ModelPart, parts
from disorder.store.store import Store
from disorder.verbs.audit import audit, resume
from disorder.verbs.board import board
from disorder.verbs.train import resume as resume_training
from faults.laboratory import changed, copied, disorder_command, environment, run

MARK = "was-here"
EVIL = f"python:evil:{'predict'}"


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the working folder that leaves a mark when it is imported."""
    (tmp_path / "evil.py").write_text(
        f"import pathlib\npathlib.Path({MARK!r}).touch()\n"
        "labels = ('entailment', 'neutral', 'contradiction')\n"
        "def predict(texts):\n    return ['neutral'] * len(texts)\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("model", [EVIL, "python:subprocess:getoutput", "unheard_of:x"])
def test_resume_runs_nothing_that_the_folder_names(finished: Path, trap: Path, model: str) -> None:
    folder = changed(finished, trap / "run", lambda raw: raw.update(status="failed", model=model))
    done = run("audit", "--resume", folder, cwd=trap)
    assert done.is_one_line("nothing is run because a folder says so", f"--resume {folder} {model}")
    assert not (trap / MARK).exists()


def test_named_again_it_is_resumed(trap: Path) -> None:
    done = run("audit", EVIL, "builtin", "--limit", 9, "--q", 2, "--out", "run", cwd=trap)
    assert done.code == 0, done.told
    raw = json.loads((trap / "run" / "result.json").read_text())
    (trap / "run" / "result.json").write_text(json.dumps(raw | {"status": "started"}))
    (trap / MARK).unlink()
    assert run("audit", "--resume", "run", EVIL, cwd=trap).code == 0
    assert (trap / MARK).exists()


@pytest.mark.parametrize(
    ("name", "value"), [("address", "evil.example:6379"), ("base_url", "http://evil.example/v1")]
)
def test_resume_reaches_nothing_that_the_folder_names(
    finished: Path, tmp_path: Path, name: str, value: str
) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["status"] = "started"
        raw["settings"] |= {"engine": "ray", name: value}

    folder = changed(finished, tmp_path / "run", change)
    with pytest.raises(DisorderError, match="nothing is run or reached because a folder says so"):
        resume(folder)


def test_resume_writes_no_cache_where_the_folder_says(finished: Path, tmp_path: Path) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["status"] = "started"
        raw["settings"]["cache"] = str(tmp_path / "elsewhere")

    resume(changed(finished, tmp_path / "run", change))
    assert not (tmp_path / "elsewhere").exists()


def test_resume_loads_no_tagger_that_the_folder_names(finished: Path, tmp_path: Path) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["status"] = "started"
        raw["transformations"] = ["drop_pos:tagger=spacy:evil,tags=NOUN"]

    folder = changed(finished, tmp_path / "run", change)
    with pytest.raises(DisorderError, match="nothing is loaded because a folder says so"):
        resume(folder)


def test_resume_reads_no_prompt_that_the_folder_names(
    finished: Path, tmp_path: Path, command: Any
) -> None:
    (tmp_path / "secret.txt").write_text("my-key {{ text_a }}")
    prompt = str(tmp_path / "secret.txt")

    def change(raw: dict[str, Any]) -> None:
        raw["status"] = "started"
        raw["settings"]["prompt"] = [prompt]

    folder = changed(finished, tmp_path / "run", change)
    code, _, err = command("audit", "--resume", folder)
    assert code == 2
    assert "no file is read because a folder says so" in err
    assert f"--resume {folder} --prompt {prompt}" in err
    _, _, err = command("audit", "--resume", folder, "--prompt", prompt)
    assert "this model takes no prompt" in err  # it was let through, to a model that has no use


OTHER_FILES = {
    "match": (f"{MARK}.py:match", "nothing is run or reached because a folder says so"),
    "base_url": ("http://evil.example/v1", "nothing is run or reached because a folder says so"),
    "allow_pickle": (True, "nothing is run or reached because a folder says so"),
    "prompt": (["secret.jinja"], "no file is read because a folder says so"),
}


@pytest.mark.parametrize("verb", ["explain", "plan"])
@pytest.mark.parametrize("name", OTHER_FILES)
def test_a_run_in_place_of_a_model_names_no_file_or_server(
    verb: str, name: str, finished: Path, trap: Path, command: Any
) -> None:
    """`disorder explain RUN` of a stranger's folder ran the function that graded its answers."""
    value, told = OTHER_FILES[name]
    (trap / f"{MARK}.py").write_text(f"import pathlib\npathlib.Path({MARK!r}).touch()\n")
    folder = changed(finished, trap / "run", lambda raw: raw["settings"].update({name: value}))
    code, _, err = command(verb, folder)
    assert code == 2
    assert told in err
    again = f"disorder {verb} {folder} --{name.replace('_', '-')}"
    said = "" if value is True else f" {value[0] if isinstance(value, list) else value}"
    assert err.endswith(f"repeat it: {again}{said}\n")
    assert not (trap / MARK).exists()


def test_a_run_in_place_of_a_model_does_not_say_where_predictions_are_kept(
    finished: Path, tmp_path: Path, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISORDER_CACHE", str(tmp_path / "cache"))
    place = str(tmp_path / "elsewhere")
    folder = changed(finished, tmp_path / "run", lambda raw: raw["settings"].update(cache=place))
    code, _, err = command("plan", folder, "--score", "agreement")
    assert code == 0, err
    assert not Path(place).exists()


def test_resume_unpickles_nothing_because_the_folder_says_so(
    finished: Path, tmp_path: Path, command: Any
) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw.update(status="started", model="sklearn:theirs.joblib")
        raw["settings"]["allow_pickle"] = True

    folder = changed(finished, tmp_path / "run", change)
    code, _, err = command("audit", "--resume", folder, "sklearn:theirs.joblib")
    assert code == 2
    assert f"disorder audit --resume {folder} --allow-pickle" in err


def test_a_training_runs_no_model_that_its_folder_names(trap: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    record = {
        "status": "started",
        "request": {
            "recipe": "max_entropy",
            "data": "builtin:nli:train",
            "model": "bow",
            "asks": EVIL,
            "limit": 20,
        },
        "hashes": {},
    }
    folder = tmp_path / "training"
    folder.mkdir()
    (folder / "training.json").write_text(json.dumps(record))
    with pytest.raises(BadModel, match="nothing is run because a folder says so"):
        resume_training(folder)
    assert not (trap / MARK).exists()


LINKS = [("audit", name) for name in (".lock", "samples/journal.jsonl", "report.html")]
LINKS += [("train", name) for name in ("checkpoints", "weights.npz", "config.json")]


@pytest.mark.parametrize(("verb", "name"), LINKS)
def test_nothing_is_written_where_the_links_of_a_folder_lead(
    verb: str, name: str, finished: Path, tmp_path: Path, command: Any
) -> None:
    """A hostile folder could else have our files truncated, added to or removed."""
    target = tmp_path / "mine"
    target.mkdir()
    (target / "kept").mkdir()
    (target / "file").write_text("precious")
    folder = tmp_path / "run"
    if verb == "audit":
        changed(finished, folder, lambda raw: raw.update(status="started"))
    else:
        folder.mkdir()
        record = {"status": "started", "request": {"model": "bow", "limit": 20}, "hashes": {}}
        (folder / "result.json").write_text(json.dumps(record | {"verb": "train"}))
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target if name == "checkpoints" else target / "file")
    code, _, err = command(verb, "--resume", folder)
    assert code == 2
    assert "is a symbolic link; nothing is written where a folder's links lead" in err
    assert (target / "file").read_text() == "precious"
    assert (target / "kept").exists()


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / ".lock").symlink_to(tmp_path / "file")
    with pytest.raises(DisorderError, match="cannot be written"):
        Store.open(tmp_path / "site", may_have_links=True)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_board_shows_no_page_that_a_run_folder_holds(finished: Path, tmp_path: Path) -> None:
    """Not its scripts, and no file of ours that it links to."""
    (tmp_path / "secret").write_text("my-key")
    for name in ("linked", "scripted"):
        folder = copied(finished, tmp_path / "runs" / name)
        (folder / "report.html").unlink()
    (tmp_path / "runs" / "linked" / "report.html").symlink_to(tmp_path / "secret")
    (tmp_path / "runs" / "scripted" / "report.html").write_text("<script>alert(1)</script>")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("disorder.results.drawing.svg", lambda spec: "<svg/>")
        board(tmp_path / "runs", out=tmp_path / "site")
    pages = [path.read_text() for path in (tmp_path / "site" / "reports").glob("*.html")]
    assert len(pages) == 2
    assert not any("my-key" in page or "<script" in page for page in pages)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("spec", ["bow", "onnx", "hf", "bilstm"])
def test_a_pipe_in_a_model_folder_does_not_block(spec: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(DisorderError, match=r"config\.json is not a regular file"):
        audit(f"{spec}:{tmp_path}", "builtin", limit=3)


def test_a_finished_training_is_loaded_by_what_it_is(tmp_path: Path) -> None:
    """`designs` and `study` reuse trainings: the spec in a record decides nothing."""
    pytest.importorskip("torch", reason="needs torch")
    from disorder.verbs.train import TrainingRequest, TrainingSource, train_once

    request = TrainingRequest(model="bow", limit=30, settings={"epochs": "1"})
    source = TrainingSource.of(request)
    spec = train_once(request, source, out=tmp_path / "bow")
    path = tmp_path / "bow" / "result.json"
    record = json.loads(path.read_text()) | {"spec": EVIL}
    path.write_text(json.dumps(record))
    assert train_once(request, source, out=tmp_path / "bow") == spec
    old = path.rename(path.with_name("training.json"))  # what older versions wrote
    assert train_once(request, source, out=tmp_path / "bow") == spec
    assert old.exists()
    assert not path.exists()


def test_remote_code_is_never_run(tmp_path: Path) -> None:
    """A model folder with code of its own asks on a terminal whether to run it: nobody is asked."""
    pytest.importorskip("transformers", reason="needs transformers")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "evil.py").write_text(f"import pathlib\npathlib.Path({MARK!r}).touch()\n")
    config = {
        "model_type": "evil",
        "auto_map": {
            "AutoConfig": "evil.Config",
            "AutoTokenizer": ["evil.Slow", "evil.Fast"],
            "AutoModelForSequenceClassification": "evil.Model",
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").touch()
    done = run("audit", f"hf:{folder}", "builtin", "--limit", 3, cwd=tmp_path, typed=b"y\ny\ny\n")
    assert done.is_one_line("cannot be loaded")
    assert not (tmp_path / MARK).exists()


def test_every_loader_that_is_loaded_for_a_folder_says_that_it_only_reads() -> None:
    """A new kind of model runs code or reaches a server until it says otherwise."""
    unsafe = {name for name, entry in parts(ModelPart).items() if not entry.only_reads}
    assert {"python", "sklearn", "openai", "onnx", "embed"} <= unsafe
    assert not unsafe & {"hf", "bow", "bilstm", "builtin", "uniform", "always"}


def test_the_graph_of_a_file_is_not_run_because_a_folder_names_it(
    finished: Path, tmp_path: Path, command: Any
) -> None:
    """An ONNX file is a program: a resumed folder would have it run by native code."""
    folder = changed(
        finished, tmp_path / "run", lambda raw: raw.update(status="started", model="onnx:/theirs")
    )
    code, _, err = command("audit", "--resume", folder)
    assert code == 2
    assert "nothing is run because a folder says so" in err
    assert f"disorder audit --resume {folder} onnx:/theirs" in err


@pytest.mark.parametrize("verb", ["explain", "plan"])
def test_the_command_that_names_it_says_how_data_and_model_are_read(
    finished: Path, tmp_path: Path, command: Any, verb: str
) -> None:
    """What the run was given and what the user typed: the command can be typed as it is."""

    def change(raw: dict[str, Any]) -> None:
        raw["model"] = "sklearn:/theirs.joblib"
        raw["settings"] |= {"allow_pickle": True, "columns": {"Team": "label"}}

    folder = changed(finished, tmp_path / "run", change)
    code, _, err = command(verb, folder, "--q", "3")
    assert code == 2
    named = err.rpartition(f"disorder {verb} sklearn:/theirs.joblib builtin ")[2].split()
    assert {"--allow-pickle", "--q 3", "--columns Team=label"} <= {
        *named,
        *map(" ".join, pairwise(named)),
    }


def test_datasets_never_run_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    from disorder.data import hf

    def old(name: str, *, trust_remote_code: bool | None = None) -> bool | None:
        return trust_remote_code

    monkeypatch.setattr(datasets, "load_dataset", old)
    assert hf._no_remote_code(datasets) == {"trust_remote_code": False}


def test_a_plugin_may_raise_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    from disorder.registry.lookup import load_plugin

    for error in (ValueError("bad"), SystemExit(3), ImportError("none"), KeyError("x")):

        def load(error: BaseException = error) -> None:
            raise error

        with pytest.raises(DisorderError, match="plugin 'p' cannot be loaded"):
            load_plugin("p", load)


@pytest.mark.parametrize("spec", ["python:../x:f", "python:/x/y:f", "python:a b:f", "python:x:"])
def test_a_path_is_no_module(spec: str) -> None:
    with pytest.raises(BadModel, match="write python:MODULE:FUNCTION"):
        audit(spec, "builtin", limit=3)


@pytest.mark.parametrize("body", ["raise ValueError('x')", "import sys; sys.exit(5)", "def ("])
def test_a_module_that_fails_on_import_is_one_line(tmp_path: Path, body: str) -> None:
    (tmp_path / "broken.py").write_text(body)
    done = run("audit", "python:broken:f", "builtin", "--limit", 3, cwd=tmp_path)
    assert done.is_one_line("python:broken:f cannot be loaded")


def test_a_model_that_raises_is_told_as_its_own_fault(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def f(texts):\n    return texts[10**9]\n")
    done = run("audit", "python:mine:f", "builtin", "--limit", 3, cwd=tmp_path)
    assert done.is_one_line("python:mine:f raised IndexError", "mine.py, line 2")


class Panic(BaseException):
    """As Rust code raises it: tokenizers and safetensors are written in it."""


STOPS = {
    "SystemExit": "import sys\ndef f(texts):\n    sys.exit(1)\n",
    "Panic": "class Panic(BaseException): pass\ndef f(texts):\n    raise Panic('x')\n",
}


@pytest.mark.parametrize("name", STOPS)
def test_a_model_that_stops_the_program_decides_on_no_exit_code(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    """Exit code 1 would say that a gate failed."""
    (tmp_path / f"stops{name}.py").write_text(STOPS[name])
    monkeypatch.chdir(tmp_path)
    code, _, err = command("audit", f"python:stops{name}:f", "builtin", "--limit", 3)
    assert code == 2
    assert f"raised {name}" in err.strip().splitlines()[-1]


@pytest.mark.parametrize("where", ["call", "import"])
def test_a_model_that_ends_the_process_passes_no_gate(where: str, tmp_path: Path) -> None:
    (tmp_path / "ending.py").write_text(
        "import os\nos._exit(0)\n"
        if where == "import"
        else "import os\ndef f(texts):\n    os._exit(0)\n"
    )
    words = ("--limit", 3, "--q", 2, "--with", "reverse", "--fail-if", "original:accuracy < 0.9")
    done = subprocess.run(
        disorder_command("audit", "python:ending:f", "builtin", *words, "--out", "out"),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "os._exit(0)" in done.stderr.strip().splitlines()[-1]


def test_a_library_that_panics_on_a_folder_is_one_line() -> None:
    with pytest.raises(BadModel, match="x cannot be loaded"), loading("x"):
        raise Panic


def test_whatever_else_ends_a_command_is_our_bug(
    monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    for error in (SystemExit(1), Panic()):

        def called(_: object, error: BaseException = error) -> int:
            raise error

        monkeypatch.setattr("disorder.cli._called", called)
        code, _, err = command("list")
        assert code == 3
        assert "looks like a bug" in err


def test_what_a_model_prints_is_not_on_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    """`--json` prints run.json and nothing else."""
    (tmp_path / "loud.py").write_text(
        "print('on import')\ndef f(texts):\n    print('on a call')\n"
        "    return ['neutral'] * len(texts)\n"
    )
    monkeypatch.chdir(tmp_path)
    words = ("--limit", 3, "--q", 2, "--with", "reverse", "--cache", "off", "--json")
    code, out, err = command("audit", "python:loud:f", "builtin", *words)
    assert code == 0, err
    assert json.loads(out)["status"] == "done"
    assert "on import" in err
    assert "on a call" in err


def test_what_a_model_writes_to_the_descriptor_is_not_on_standard_output(tmp_path: Path) -> None:
    """As native libraries and child processes do."""
    (tmp_path / "raw.py").write_text(
        "import os\ndef f(texts):\n    os.write(1, b'RAW\\n')\n    os.system('echo CHILD')\n"
        "    return ['neutral'] * len(texts)\n"
    )
    words = ("--limit", 3, "--q", 2, "--with", "reverse", "--cache", "off", "--json")
    command = disorder_command("audit", "python:raw:f", "builtin", *words)
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "done"
    assert "RAW" in done.stderr
    assert "CHILD" in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_model_that_forks_goes_on_once(tmp_path: Path) -> None:
    (tmp_path / "forking.py").write_text(
        "import os\ndef f(texts):\n    os.fork()\n    return ['neutral'] * len(texts)\n"
    )
    words = ("--limit", 3, "--q", 2, "--with", "reverse", "--cache", "off", "--json")
    command = disorder_command("audit", "python:forking:f", "builtin", *words)
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "done"
    assert done.stderr.count("Report:") <= 1


def test_a_model_that_changes_the_folder_does_not_move_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "moving.py").write_text(
        "import os\nos.chdir('elsewhere')\ndef f(texts):\n    os.chdir('/')\n"
        "    return ['neutral'] * len(texts)\n"
    )
    monkeypatch.chdir(tmp_path)
    words = ("--limit", 3, "--q", 2, "--with", "reverse", "--cache", "off", "--out", "run")
    code, _, err = command("audit", "python:moving:f", "builtin", *words)
    assert code == 0, err
    assert (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize(
    "given",
    [
        np.array([[0.5 + 3j, 0.5, 0], [1, 0, 0]]),
        np.array([[0.5 + 3j, 0.5, 0], [1, 0, 0]], np.complex64),
        [[0.5 + 3j, 0.5, 0], [1, 0, 0]],
        [{"neutral": np.complex128(1 + 3j)}, {"neutral": 1.0}],
        [{"neutral": np.complex64(1 + 3j)}, {"neutral": 1.0}],
    ],
)
def test_complex_numbers_do_not_lose_their_imaginary_part(given: Any) -> None:
    model = load(lambda texts: given, task=NLI)
    with pytest.raises(BadModel, match=r"complex numbers; need real|cannot read the prediction"):
        model([("a", "b"), ("c", "d")])


def test_what_a_model_prints_from_python_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "talkative.py").write_text("def f(texts):\n    print('hello')\n    return texts\n")
    monkeypatch.chdir(tmp_path)
    model = load("python:talkative:f", task=NLI)
    model([("neutral", None)])
    assert capsys.readouterr() == ("hello\n", "")


def test_calls_that_overlap_leave_standard_output_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call ends before the second, which began before that."""
    (tmp_path / "overlapping.py").write_text(
        "import threading\n"
        "begun, both, end = threading.Event(), threading.Event(), threading.Event()\n"
        "def f(texts):\n"
        "    (both if begun.is_set() else begun).set()\n"
        "    (end if both.is_set() else both).wait(10)\n"
        "    return ['neutral'] * len(texts)\n"
    )
    monkeypatch.chdir(tmp_path)
    model = load("python:overlapping:f", task=NLI)
    calls = sys.modules["overlapping"]
    before = sys.stdout
    first, second = (threading.Thread(target=model, args=(["a dog"],)) for _ in range(2))
    first.start()
    assert calls.begun.wait(10)
    second.start()
    first.join()
    calls.end.set()
    second.join()
    try:
        assert sys.stdout is before
    finally:
        sys.stdout = before
