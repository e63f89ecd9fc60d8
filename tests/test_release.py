"""What others build on: one version, workflows that a linter accepts, an action whose steps run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import disorder
from disorder.cli.data_hook import main as data_hook
from disorder.results.citations import PAPERS

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHOOSER = ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"
FORMS = sorted(set(CHOOSER.parent.glob("*.yml")) - {CHOOSER})


def loaded(path: Path) -> Any:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/disorder/__init__.py"
    assert loaded(ROOT / "CITATION.cff")["version"] == disorder.__version__ == version("disorder")


def test_everything_that_the_sdist_names_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        is_wheel_tested = name == "src" and (ROOT / "PKG-INFO").exists()  # scripts/test_dist.sh
        assert (ROOT / name).exists() or is_wheel_tested, name


def test_the_citation_names_the_four_papers() -> None:
    citation = loaded(ROOT / "CITATION.cff")
    dois = {reference["doi"] for reference in citation["references"] if "doi" in reference}
    printed = set(re.findall(r"doi\s+= \{(.+)\}", "\n".join(entry for _, entry in PAPERS.values())))
    assert dois == printed
    assert len(citation["references"]) == len(PAPERS) == 4


@pytest.mark.parametrize("path", [*WORKFLOWS, *FORMS, CHOOSER], ids=lambda path: path.stem)
def test_workflows_and_forms_are_yaml(path: Path) -> None:
    assert loaded(path)


@pytest.mark.parametrize(
    "words",
    [
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS],
        ["check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-issue-forms", *FORMS],
        ["check-jsonschema", "--builtin-schema", "vendor.github-issue-config", CHOOSER],
        ["check-jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff"],
        [
            "zizmor",
            "--offline",
            "--no-progress",
            "-c",
            ".github/zizmor.yml",
            *WORKFLOWS,
            "action.yml",
        ],
    ],
    ids=["workflows", "action", "forms", "form chooser", "citation", "security"],
)
def test_linters_accept_what_others_build_on(words: list[str]) -> None:
    program = Path(sys.executable).with_name(words[0])
    if not program.exists():
        pytest.skip(f"needs {words[0]}")
    command = [str(program), *map(str, words[1:])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def _filled(text: str, values: dict[str, str]) -> str:
    """A text with its ${{ … }} replaced."""
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: values[found[1]], text)


@pytest.fixture
def action(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the steps of action.yml that are scripts, as a runner does, until one fails."""
    declared = loaded(ROOT / "action.yml")
    output = tmp_path / "output"
    summary = tmp_path / "summary.md"

    def run(**inputs: str) -> subprocess.CompletedProcess[str]:
        given = {name: entry["default"] for name, entry in declared["inputs"].items()} | inputs
        steps = [step for step in declared["runs"]["steps"] if "run" in step]
        assert [step["name"] for step in steps] == ["Install", "Audit", "Gate"]
        done = None
        for step in steps[1:]:  # disorder is installed already
            output.touch()
            outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
            values = {f"inputs.{name}": value for name, value in given.items()}
            values |= {f"steps.audit.outputs.{name}": value for name, value in outputs.items()}
            environment = os.environ | {
                name: _filled(text, values) for name, text in step["env"].items()
            }
            environment |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
            environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            if done.returncode:
                return done
        assert done is not None
        return done

    return run


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("extras", ["", "hf"])
def test_the_action_installs_the_core_from_the_lock(tmp_path: Path, extras: str) -> None:
    called = tmp_path / "called"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {called}\n', encoding="utf-8")
    python.chmod(0o755)
    install = loaded(ROOT / "action.yml")["runs"]["steps"][0]["run"]
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "EXTRAS": extras}
    command = ["bash", "-eo", "pipefail", "-c", install]
    subprocess.run(command, env=environment | {"HOME_OF_ACTION": "/action"}, check=True)
    locked, itself, *more = called.read_text(encoding="utf-8").splitlines()
    assert locked.endswith("--require-hashes -r /action/requirements.lock")
    assert itself.endswith("--no-deps /action")
    wanted = ["-c /action/constraints.txt /action[hf]"] if extras else []
    assert [line.removeprefix("-m pip install --quiet ") for line in more] == wanted


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_steps_of_the_action_run(action: Any, tmp_path: Path) -> None:
    options = "--with derange --q 3 --limit 30"
    rules = "omega_max > 0.1\noriginal:accuracy < 0.2\n"
    done = action(model="builtin:bow", data="builtin", options=options, **{"fail-if": rules})
    assert done.returncode == 1, done.stderr
    folder = tmp_path / "disorder-out"
    assert (folder / "run" / "report.html").exists()
    assert (folder / "gate.xml").read_text().count("<testcase") == 2
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("### disorder\n\n")
    assert "1 of 2 rules failed" in summary
    output = (tmp_path / "output").read_text(encoding="utf-8")
    assert f"report={Path('disorder-out/run/report.html')}" in output
    again = action(run="disorder-out/run", **{"fail-if": "original:accuracy < 0.2"})
    assert again.returncode == 0, again.stderr
    assert action().returncode == 2, "neither a model nor a run"


def test_the_hook_accepts_good_data_and_names_repeats(
    jsonl: Callable[..., Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    words = ["red green blue pink", "tea milk juice rum", "oak elm ash fir", "cod eel ray bass"]
    rows = [
        {
            "id": str(i),
            "text_a": f"{words[i % 4]} {chr(97 + i) * 5} {i * 7919}",
            "label": "ab"[i % 2],
        }
        for i in range(24)
    ]
    assert data_hook([str(jsonl(rows, "good.jsonl"))]) == 0
    repeated = [*rows, *({**row, "id": f"again{row['id']}"} for row in rows)]
    path = jsonl(repeated, "repeated.jsonl")
    assert data_hook([str(path)]) == 1
    assert f"{path}: duplicates:" in capsys.readouterr().out
    (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
    assert data_hook([str(tmp_path / "bad.jsonl")]) == 2
    assert "broken JSON" in capsys.readouterr().err


def test_the_hook_is_declared() -> None:
    (hook,) = loaded(ROOT / ".pre-commit-hooks.yaml")
    assert hook["entry"] == "python -m disorder.cli.data_hook"
    assert re.search(hook["files"], "data/train.jsonl")
