"""Installs the core and every extra alone, each in a new virtual environment, and runs its tests.

python scripts/test_extras.py [EXTRA…]     without names: the core and all extras
"""

from __future__ import annotations

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
        "tests/runs",
        "tests/metrics",
        "tests/data",
        "tests/report",
        "tests/cli/test_terminal.py",
    ],
    "hf": ["tests/models/test_hf.py", "tests/models/test_tokens.py"],
    "nlp": ["tests/transformations/test_tags.py", "tests/transformations/test_nouns.py"],
    "ray": ["tests/engines/test_ray_engine.py"],
    "smt": ["tests/transformations/test_pbsmt.py"],
    "train": ["tests/verbs/train"],
    "vectors": ["tests/verbs/train"],
    "explain": ["tests/verbs/explain"],
    "sanity": ["tests/verbs/sanity"],
    "web": ["tests/web"],
}  # tests of other parts would be skipped, since they say what they need
TOOLS = ["pytest", "hypothesis", "pytest-xdist"]


def extras() -> list[str]:
    """The extras that pyproject.toml declares, but for `all`, which the usual tests have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name != "all"]


def try_extra(name: str) -> bool:
    """Install one extra and run its tests; says how it went."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        wanted = str(ROOT) if name == CORE else f"{ROOT}[{name}]"
        constraints = str(ROOT / "constraints.txt")
        install = [python, "-m", "pip", "install", "--quiet", "-c", constraints, wanted, *TOOLS]
        if subprocess.run(install, check=False).returncode:
            print(f"{name}: does not install")
            return False
        command = [python, "-m", "pytest", "-q", *TESTS.get(name, ["tests/test_contract.py"])]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        print(
            f"{name}: {'passed' if code == 0 else 'failed'} in {time.monotonic() - started:.0f} s"
        )
        return code == 0


def main(names: list[str]) -> None:
    wanted = names or [CORE, *extras()]
    failed = [name for name in wanted if not try_extra(name)]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
