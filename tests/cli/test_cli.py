"""The command line does as it says: exit codes, one-line errors, pure JSON, quick help."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import pairs
from disorder import __version__
from disorder.data import select
from disorder.types import DISORDER
from disorder.verbs.audit.pipeline import audit

Write = Callable[..., Path]
KEYS = [
    "id",
    "transformation",
    "variant",
    "text_a",
    "text_b",
    "label",
    "positions_a",
    "positions_b",
    *DISORDER,
]


Run = Callable[..., tuple[int, str, str]]


def test_version_and_help(run: Run) -> None:
    assert run("--version") == (0, f"disorder {__version__}\n", "")
    code, out, _ = run("--help")
    assert code == 0
    for verb in ("audit", "perturb", "list", "report"):
        assert verb in out
        assert run(verb, "--help")[0] == 0


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("transformations", "derange"),
        ("metrics", "omega_max"),
        ("models", "uniform"),
        ("data", "mnli"),
        ("words", "simple"),
    ],
)
def test_list(run: Run, kind: str, name: str) -> None:
    code, out, err = run("list", kind)
    assert (code, err) == (0, "")
    assert name in out


def test_the_name_of_a_part_shows_its_card(run: Run) -> None:
    code, out, err = run("list", "derange")
    assert (code, err) == (0, "")
    for fact in ("keeps words", "destroys order", "languages: all", "cost: q model", "paper UNLI"):
        assert fact in out
    assert "example of" not in out
    assert "says more about each" not in out, "it is the card"
    code, out, err = run("list", "derange", "--examples")
    assert (code, err) == (0, "")
    assert "example of: The old man" in out
    assert "words spacy" in run("list", "spacy")[1]
    assert "tagger spacy" in run("list", "spacy")[1], "one name in two kinds"


def test_list_without_a_kind_names_every_part_in_few_lines(run: Run) -> None:
    code, out, err = run("list")
    assert (code, err) == (0, "")
    for name in ("derange", "omega_max", "hf:NAME_OR_FOLDER", "mnli", "ladder"):
        assert re.search(rf"(^|[ ,]){re.escape(name)}(,|$| )", out, flags=re.MULTILINE), name
    assert out.count("\n") < 100


def test_an_interrupt_of_a_verb_that_keeps_nothing_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from disorder.cli import list as list_verb
    from disorder.cli import main

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(list_verb, "_overview", stop)
    with pytest.raises(SystemExit) as stopped:
        main(["list"])
    assert stopped.value.code == 130
    told = capsys.readouterr().err.strip()
    assert told == "stopped; nothing of it is kept: type the command again"


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ["perturb", "DATA", "--with", "derang", "--out", "o"],
                "unknown transformation 'derang'; did you mean 'derange'?",
            ),
            (
                ["perturb", "DATA", "--with", "shuffle_ngrams:n=0", "--out", "o"],
                "n=0 does not work; need 1 or more",
            ),
            (["perturb", "DATA", "--with", "derange", "--out", "o", "--q", "0"], "--q"),
            (
                ["perturb", "missing.jsonl", "--with", "derange", "--out", "o"],
                "missing.jsonl: no such file",
            ),
            (
                ["perturb", "DATA", "--with", "derange", "--out", "/proc/no/file"],
                "/proc/no/file cannot be written",
            ),
            (
                ["perturb", "DATA", "--with", "derange", "--out", "o", "--columns", "x"],
                "--columns x: write it as",
            ),
            (
                ["perturb", "DATA", "--with", "derange", "--out", "o", "--fidelity", "x"],
                "--fidelity x does not work",
            ),
            (["audit", "unifrom", "DATA"], "unknown model 'unifrom'; did you mean 'uniform'?"),
            (["audit", "uniform", "bultin"], "did you mean 'builtin'?"),
            (
                ["audit", "uniform", "DATA", "--suite", "ordr"],
                "unknown suite 'ordr'; did you mean 'order'?",
            ),
            (["audit", "uniform", "DATA", "--q", "0"], "--q 0 does not work; need 1 or more"),
            (["audit", "uniform", "DATA", "--q", "many"], "--q many does not work; need a whole"),
            (["audit", "uniform", "DATA", "--omega", "half"], "omega: x='half' does not work"),
            (["audit", "uniform", "DATA", "--batch-size", "0"], "--batch-size"),
            (["audit", "uniform", "DATA", "--labels", "x=y"], "--labels names 'x'"),
            (["audit", "uniform", "DATA", "--out", "/proc/no/run"], "/proc/no/run"),
            (["list", "metric"], "unknown kind of part 'metric'; did you mean 'metrics'?"),
            (["report", "nowhere"], "nowhere is no run folder"),
            (["report"], "Missing argument 'run'. Usage: disorder report"),
            (["gate"], "Usage: disorder gate"),
            (["audti"], "audti"),
            (["audit", "--nonsense"], "--nonsense"),
        ],
    )
    def test_each_is_one_line_and_exit_code_2(
        self, run: Run, jsonl: Write, arguments: list[str], message: str
    ) -> None:
        path = str(jsonl(pairs(6)))
        code, out, err = run(*[path if argument == "DATA" else argument for argument in arguments])
        assert code == 2
        assert out == ""
        assert message in err
        assert err.startswith("disorder: ")
        assert err.count("\n") == 1

    def test_a_mistake_leaves_no_traceback_in_a_real_shell(self, tmp_path: Path) -> None:
        command = [sys.executable, "-m", "disorder", "audit", "uniform", "nothing.csv"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == "disorder: nothing.csv: no such file\n"

    def test_our_own_bug_does_show_its_traceback(
        self, jsonl: Write, monkeypatch: pytest.MonkeyPatch, run: Run
    ) -> None:
        def crash(*_: object, **__: object) -> None:
            raise ZeroDivisionError("ours")

        monkeypatch.setattr("disorder.verbs.perturb.perturb", crash)
        code, _, err = run("perturb", jsonl(pairs(3)), "--with", "derange", "--out", "-")
        assert code == 3
        assert "ZeroDivisionError: ours" in err
        assert "bug in disorder" in err.splitlines()[-1]


class TestPerturb:
    def test_it_writes_the_documented_keys_a_line_a_variant(
        self, run: Run, jsonl: Write, tmp_path: Path
    ) -> None:
        code, out, err = run(
            "perturb",
            jsonl(pairs(4)),
            "--with",
            "derange",
            "--q",
            3,
            "--out",
            tmp_path / "new" / "o.jsonl",
        )
        assert (code, out) == (0, "")
        assert "4 examples used, 12 variants written\n" in err
        records = [
            json.loads(line)
            for line in (tmp_path / "new" / "o.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        assert all(list(record) == KEYS for record in records)
        assert [(r["id"], r["variant"]) for r in records] == [
            (f"e{i:04d}", k) for i in range(4) for k in range(3)
        ]
        assert {r["transformation"] for r in records} == {"derange"}

    def test_limit_takes_the_examples_that_an_audit_would(self, run: Run, jsonl: Write) -> None:
        path = jsonl(pairs(30))
        _, out, err = run(
            "perturb", path, "--with", "reverse", "--limit", 5, "--seed", 3, "--out", "-"
        )
        drawn = {e.id for e in select(str(path), limit=5, seed=3).examples}
        assert "\n5 examples used" in f"\n{err}"
        assert {json.loads(line)["id"] for line in out.splitlines()} == drawn

    def test_standard_output_holds_nothing_else(self, run: Run, jsonl: Write) -> None:
        code, out, err = run("perturb", jsonl(pairs(2)), "--with", "reverse", "--out", "-")
        assert code == 0
        assert [json.loads(line)["variant"] for line in out.splitlines()] == [0, 0]
        assert "2 examples used" in err

    def test_its_output_is_data_again(self, run: Run, jsonl: Write, tmp_path: Path) -> None:
        run(
            "perturb", jsonl(pairs(4)), "--with", "derange", "--q", 3, "--out", tmp_path / "o.jsonl"
        )
        code, _, err = run(
            "perturb", tmp_path / "o.jsonl", "--with", "reverse", "--out", tmp_path / "again.jsonl"
        )
        assert code == 0
        assert err.startswith("12 examples used, 12 variants written")

    def test_what_is_left_out_is_said(self, run: Run, jsonl: Write) -> None:
        rows = [
            {"id": "s", "text_a": "Yes.", "text_b": "No.", "label": "x"},
            {"text_a": "x", "text_b": "y", "label": None},
        ]
        err = run("perturb", jsonl([*pairs(2), *rows]), "--with", "derange", "--out", "-")[2]
        assert "left out: 1 (no other order of its words exists)" in err
        assert "left out: 1 (no gold label)" in err

    def test_the_same_command_writes_the_same_bytes(self, run: Run, jsonl: Write) -> None:
        arguments = (
            "perturb",
            jsonl(pairs(5)),
            "--with",
            "derange",
            "--q",
            4,
            "--out",
            "-",
            "--seed",
        )
        outs = {run(*arguments, seed)[1] for seed in (1, 1, 2)}
        assert len(outs) == 2

    def test_columns(self, run: Run, jsonl: Write) -> None:
        path = jsonl([{"s": "one two three", "gold": "x"}])
        out = run(
            "perturb", path, "--with", "reverse", "--columns", "s=text_a, gold=label", "--out", "-"
        )[1]
        assert json.loads(out)["text_a"] == "three two one"


class TestAudit:
    def test_json_is_run_json_and_nothing_else(
        self, run: Run, jsonl: Write, tmp_path: Path
    ) -> None:
        arguments = (
            "audit",
            "uniform",
            jsonl(pairs(12)),
            "--q",
            3,
            "--with",
            "derange",
            "--out",
            tmp_path / "run",
        )
        code, out, _ = run(*arguments, "--json")
        assert code == 0
        assert json.loads(out) == json.loads(
            (tmp_path / "run" / "result.json").read_text(encoding="utf-8")
        )
        assert json.loads(out)["status"] == "done"

    def test_without_out_it_makes_a_folder_of_its_own_each_time(
        self, run: Run, jsonl: Write, tmp_path: Path
    ) -> None:
        for _ in range(2):
            assert (
                run("audit", "uniform", jsonl(pairs(6)), "--q", 2, "--with", "sort", "--json")[0]
                == 0
            )
        folders = sorted((tmp_path / "runs").iterdir())
        assert len(folders) == 2
        assert all((folder / "run.json").exists() for folder in folders)

    def test_settings_reach_the_run(self, run: Run, jsonl: Write) -> None:
        transformations = ("--with", "sort", "--with", "reverse")
        others = ("--q", 2, "--seed", 4, "--limit", 5, "--omega", "0.25, 0.95", "--short", "use")
        raw = json.loads(
            run("audit", "uniform", jsonl(pairs(9)), *transformations, *others, "--json")[1]
        )
        moved = [spec for spec in raw["transformations"] if not spec.startswith("surface:")]
        assert moved == ["sort", "reverse"]
        assert (raw["seed"], raw["n_examples"]) == (4, 5)
        assert raw["settings"]["omega"] == ["0.25", "0.95"]
        assert raw["settings"]["short"] == "use"

    def test_a_used_folder_is_an_error(self, run: Run, jsonl: Write, tmp_path: Path) -> None:
        arguments = (
            "audit",
            "uniform",
            jsonl(pairs(6)),
            "--q",
            2,
            "--with",
            "sort",
            "--json",
            "--out",
            tmp_path / "run",
        )
        assert run(*arguments)[0] == 0
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert "holds a run already" in err
        assert f"or resume it: disorder audit --resume {tmp_path / 'run'}\n" in err


def test_help_is_quick() -> None:
    """Counted in imports, not in seconds: of the libraries, help loads none but typer."""
    command = [sys.executable, "-X", "importtime", "-m", "disorder", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in told.splitlines()}
    slow = {"numpy", "pyarrow", "pydantic", "onnxruntime", "tokenizers", "jinja2", "vl_convert"}
    assert "typer" in loaded
    assert not loaded & {*slow, "cachetools", "platformdirs", "torch", "transformers"}


class TestNewcomers:
    """What somebody typed on the first day, and the line that helps."""

    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (["audit", "uniform", "DATA", "--columns", "text_b=textb"], "not 'textb'"),
            (
                ["audit", "uniform", "DATA", "--columns", "text_a=premise"],
                "not 'premise'; the columns are",
            ),
            (["audit", "FOLDER"], "is a folder: write hf:"),
            (["audit", "DATA"], "the model comes first"),
            (["audit", "my_module:predict", "DATA"], "write python:my_module:predict"),
            (["audit", "uniform", "rte", "--data-dir", "FOLDER/nothing"], "no such folder"),
            (
                ["audit", "uniform", "DATA", "--with", "clump:share=7"],
                "clump: share=7.0 does not work",
            ),
            (["report", "DATA"], "is no run folder"),
        ],
    )
    def test_a_line_that_says_what_to_do(
        self,
        run: Run,
        jsonl: Write,
        tmp_path: Path,
        arguments: list[str],
        line: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        data = str(jsonl(pairs(6)))
        code, _, err = run(
            *[word.replace("DATA", data).replace("FOLDER", str(tmp_path)) for word in arguments]
        )
        assert code == 2
        assert line in err
        assert len(err.strip().splitlines()) == 1
        assert not (tmp_path / "runs").exists()  # nothing is left behind by a mistake

    def test_a_list_of_dictionaries_is_data(self) -> None:
        made = audit("always:neutral", pairs(6), q=2, with_=["derange"])
        assert made.n_examples == 6

    def test_a_label_that_may_be_a_typo_is_named(self, jsonl: Write) -> None:
        rows = [dict(row) for row in pairs(40)]
        rows[0]["label"] = "nuetral"
        made = audit("uniform", str(jsonl(rows)), q=2, with_=["derange"])
        assert any("'nuetral' stands in 1 of 40" in note for note in made.notes)
