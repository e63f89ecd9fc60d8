"""The pytest plugin gives a fixture, and costs nothing where nobody uses it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

TEST = """
ROWS = [
    {"text": f"item{i} {'fine' if i % 2 else 'poor'} case{i} end{i}", "label": str(i % 2)}
    for i in range(60)
]


def bag(texts):
    return ["1" if "fine" in text.split() else "0" for text in texts]


def test_reads(disorder_audit):
    assert disorder_audit(bag, ROWS, with_="derange", q=2).skill_kept.high < 0.8
"""


def test_a_bag_of_words_fails_and_the_audit_is_shown(tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(TEST)
    words = ["-q", "-p", "disorder.pytest_plugin", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # it may be installed too
    )
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "hardly uses word order" in done.stdout


def test_it_is_declared_and_imports_nothing_heavy() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import disorder.pytest_plugin; "
        "print(sorted(name for name in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['disorder', 'disorder.pytest_plugin']"
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    plugins = project["project"]["entry-points"]["pytest11"]
    assert plugins == {"disorder": "disorder.pytest_plugin"}
