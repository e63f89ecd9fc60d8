"""Write the locks: closures of packages with the hashes of all files of each release.

    make lock        needs the package index; takes half a minute

requirements.lock is the core, requirements-extras.lock the core with every extra that needs no
torch (torch's own files are on an index of its own, by kind of graphics card). uv resolves them
under constraints.txt for every system and Python version at once. It reads no configuration and no
folder of this machine, so that the hashes are those of the public index. Then each lock alone is
resolved for every system and Python version below, from wheels only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-extras.lock")
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = ("x86_64-manylinux_2_28", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")
LINUX_ON_ARM = "aarch64-manylinux_2_28"  # sil-thot (of [smt]) has no wheels for it
OLDEST_MACOS = "14.0"  # onnxruntime has no wheels for an older one
BRING_TORCH = {"torch", "accelerate", "sentence-transformers"}
HEADER = """\
# {what} with the hashes of all packages' files, for Linux, macOS and
# Windows and Python 3.11 to 3.13, written by scripts/lock_dependencies.py (make lock). Use:
# pip install --require-hashes -r {name}, then pip install --no-deps disorder
"""


def extras_without_torch(folder: Path) -> list[str]:
    """The extras that do not bring torch, themselves or by another extra."""
    declared = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {
        extra: [re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in requirements]
        for extra, requirements in declared["optional-dependencies"].items()
    }
    without = {extra for extra, names in packages.items() if BRING_TORCH.isdisjoint(names)}
    return sorted(extra for extra in without if "disorder" not in packages[extra])


def uv(*words: str) -> None:
    """Run `uv pip` without settings of this machine."""
    program = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if program is None:
        sys.exit("uv is not installed: `make lock` installs it in an environment of its own")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    done = subprocess.run(
        [program, "--no-config", "--quiet", "pip", *words],
        env={**kept, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)


def lock(path: Path, what: str, extras: list[str]) -> None:
    """Resolve and write one lock; hashes of a file that is there would be kept as they are."""
    path.unlink(missing_ok=True)
    uv(
        "compile",
        "--universal",
        "--generate-hashes",
        "--no-annotate",
        "--no-header",
        *("--python-version", PYTHONS[0], "--constraints", "constraints.txt"),
        *(f"--extra={extra}" for extra in extras),
        *("--output-file", path.name, "pyproject.toml"),
    )
    found = path.read_text(encoding="utf-8")
    if re.search(r"(?m)^torch==", found):
        sys.exit(f"{path.name}: an extra brings torch; name the package in BRING_TORCH")
    path.write_text(HEADER.format(what=what, name=path.name) + found, encoding="utf-8")


def check_systems(path: Path, systems: tuple[str, ...]) -> None:
    """Resolve a lock alone for each system and Python version; nothing is installed."""
    with tempfile.TemporaryDirectory() as folder:
        for system, python in product(systems, PYTHONS):
            platform = ("--python-platform", system, "--python-version", python)
            only = ("--require-hashes", "--only-binary", ":all:", "-r", path.name)
            uv("install", "--dry-run", "--target", folder, *platform, *only)


def main() -> None:
    """Write both locks and say how much is in them."""
    core, extras = (HERE / name for name in LOCKS)
    lock(core, "The core of disorder", [])
    check_systems(core, (*SYSTEMS, LINUX_ON_ARM))
    lock(extras, "The core and every extra without torch", extras_without_torch(HERE))
    check_systems(extras, SYSTEMS)
    for path in (core, extras):
        packages = re.findall(r"(?m)^\S+==", path.read_text(encoding="utf-8"))
        print(f"{path.name}: {len(packages)} packages")


if __name__ == "__main__":
    main()
