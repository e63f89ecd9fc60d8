"""Our solver and metric inside inspect_ai, in its own environment, against a known model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import disorder
from fake_server import FakeServer
from oracles import BagOfWords, Reader

TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import accuracy, match
from inspect_ai.solver import generate
from disorder.inspect_extension import paired, skill_kept

@task
def plain():
    return Task(
        dataset=json_dataset("rows.jsonl"),
        solver=generate(),
        scorer=paired(match()),
        metrics=[accuracy(), skill_kept(chance=1 / 3)],
    )
"""
MARKS = ("-S", 'after="Hypothesis: "', "-S", 'before="\\nAnswer"', "-S", "originals=true")


@pytest.mark.parametrize(("brain", "kept"), [(BagOfWords, 1.0), (Reader, 0.0)])
def test_skill_kept_is_that_of_the_model_behind_it(
    brain: type, kept: float, tmp_path: Path
) -> None:
    inspect = os.environ.get("INSPECT") or shutil.which("inspect")
    if inspect is None:
        pytest.skip("needs inspect_ai in an environment of its own (make test-inspect)")
    examples = list(disorder.read_data("builtin").examples)[:60]
    words = {"entailment": "yes", "neutral": "maybe", "contradiction": "no"}
    rows = [
        {
            "id": each.id,
            "input": f"Premise: {each.text_a}\nHypothesis: {each.text_b}\nAnswer:",
            "target": words[each.label],
        }
        for each in examples
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "task.py").write_text(TASK)

    def usage(n: int) -> dict[str, int]:
        return {"prompt_tokens": n, "completion_tokens": 1, "total_tokens": n + 1}

    with FakeServer(brain=brain(examples), usage=usage) as server:
        command = [
            str(Path(inspect).absolute()),
            *("eval", "task.py", "--model", "openai-api/fake/known", "--epochs", "3"),
            *("--solver", "disorder/shuffled", *MARKS),
            *("--log-dir", "logs", "--log-format", "json", "--display", "none"),
        ]
        given = os.environ | {"FAKE_BASE_URL": server.url, "FAKE_API_KEY": "none"}
        done = subprocess.run(
            command, cwd=tmp_path, env=given, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    [path] = (tmp_path / "logs").glob("*.json")
    log = json.loads(path.read_text(encoding="utf-8"))
    assert log["status"] == "success", log.get("error")
    metrics = {}
    for score in log["results"]["scores"]:
        metrics |= {name: each["value"] for name, each in score["metrics"].items()}
    run = disorder.import_logs(path)
    found = metrics["skill_kept"]
    if kept == 1:
        assert found == pytest.approx(1)
        assert run["derange", "skill_kept"].value == pytest.approx(1)
    else:
        assert metrics["skill_kept_low"] < 0.2 < 0.6
        assert found < 0.4
        assert run["original", "accuracy"].value == 1
