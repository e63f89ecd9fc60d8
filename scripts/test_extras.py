"""Installs the core and every extra alone, each in a new virtual environment, and runs its tests.

python scripts/test_extras.py [EXTRA…]     without names: the core and all extras

The core has the tests of parts that need nothing else; `make test-dist` runs the whole suite on it.
An extra has those that need its packages, and none of them may be skipped for want of one.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = "core"
TESTS = {
    CORE: [
        "tests/store/test_run.py",
        "tests/metrics/test_unli.py",
        "tests/data/test_reading.py",
        "tests/results/test_report.py",
        "tests/cli/test_terminal.py",
    ],
    "hf": ["tests/models/test_hf.py", "tests/models/test_pipeline.py"],
    "nlp": ["tests/transformations/test_tags.py", "tests/transformations/test_chinese.py"],
    "ray": ["tests/engines/test_ray_engine.py", "tests/store/test_place.py"],
    "smt": ["tests/papers/test_pbsmt.py"],
    "train": ["tests/verbs/train/test_encoder_training.py"],
    "explain": ["tests/verbs/explain/test_word_distances.py"],
    "sanity": ["tests/verbs/sanity/test_sanity_api.py", "tests/verbs/sanity/test_families.py"],
    "web": ["tests/web/test_viewer_app.py", "tests/web/test_sample_queries.py"],
    "llm": ["tests/models/servers/test_client.py", "tests/models/servers/test_ways.py"],
    "embed": ["tests/models/test_embed.py"],
}
# what each extra is for, as tests name it where they are skipped without it
BRINGS = {
    "hf": ("torch", "transformers", "safetensors"),
    "nlp": ("spacy", "rjieba"),
    "ray": ("ray", "universal_pathlib"),
    "smt": ("thot",),
    "train": ("torch", "transformers", "accelerate"),
    "explain": ("rapidfuzz",),
    "sanity": ("scikit",),
    "web": ("fastapi", "duckdb"),
    "llm": ("httpx2",),
    "embed": ("sentence-transformers", "transformers"),
    "rank": ("bm25s",),
}
TOOLS = ["pytest", "hypothesis"]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# what the tests of an extra need and no extra brings
DATA = {"nlp": DECLARED["dependency-groups"]["test-data"]}


def extras() -> list[str]:
    """The extras that pyproject.toml declares, but for `all`, which the usual tests have."""
    return [name for name in DECLARED["project"]["optional-dependencies"] if name != "all"]


def install(name: str, folder: Path) -> str | None:
    """The Python of a new environment that has one extra, or nothing if it does not install."""
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    wanted = str(ROOT) if name == CORE else f"{ROOT}[{name}]"
    words = [python, "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt")]
    words += [wanted, *TOOLS, *DATA.get(name, [])]
    return None if subprocess.run(words, check=False).returncode else python


def problem(name: str, python: str) -> str | None:
    """What is wrong with an extra's tests: one fails, or is skipped for want of the extra."""
    command = [python, "-m", "pytest", "-q", "-rs", *TESTS[name]]
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    if done.returncode:
        print(done.stdout)
        return "a test fails"
    passed = re.search(r"(\d+) passed", done.stdout)
    if not passed:
        return "no test ran"
    for line in done.stdout.splitlines():
        skipped = line.startswith("SKIPPED") and re.search(r"needs (\w+)", line)
        if skipped and skipped[1] in BRINGS.get(name, ()):
            return f"skipped although it is installed: {line}"
    print(f"{name}: {passed[0]}", end="")
    return None


def try_extra(name: str) -> bool:
    """Install one extra and run its tests; says how it went."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        python = install(name, Path(folder))
        wrong = "does not install" if python is None else problem(name, python)
    seconds = f" in {time.monotonic() - started:.0f} s"
    print(f"{name}: {wrong}{seconds}" if wrong else seconds, flush=True)
    return wrong is None


def main(names: list[str]) -> None:
    wanted = names or [CORE, *extras()]
    failed = [name for name in wanted if not try_extra(name)]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
