"""Check dependencies, offline: are they the pinned ones, and are their files as they were packed?

Exit code 1 where the lock file and the constraints disagree, an installed version is another one,
a file of a locked package was changed after it was installed, or a version is a squatted one. Where
pip-audit is installed, known vulnerabilities are looked up too (that needs the network).
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SQUATTED = "999."


def pins(path: Path) -> dict[str, str]:
    """The versions that a requirements file names."""
    found = re.findall(r"(?m)^([A-Za-z0-9_.-]+)==([^\s;]+)", path.read_text(encoding="utf-8"))
    return {name.lower().replace("_", "-"): version for name, version in found}


def changed_files(name: str) -> list[str]:
    """Installed files of a package whose hash is not the recorded one."""
    wrong = []
    for file in distribution(name).files or ():
        if file.hash is None or file.suffix == ".pyc":
            continue
        path = Path(str(file.locate()))
        digest = hashlib.new(file.hash.mode, path.read_bytes()).digest() if path.exists() else b""
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            wrong.append(str(file))
    return wrong


def problems() -> list[str]:
    """All that is wrong, one line each."""
    constraints = pins(HERE / "constraints.txt")
    locked = pins(HERE / "requirements.lock")
    found = [
        f"{name}: {version} in requirements.lock, {constraints[name]} in constraints.txt"
        for name, version in locked.items()
        if constraints.get(name, version) != version
    ]
    lines = (HERE / "requirements.lock").read_text(encoding="utf-8").splitlines()
    found += [f"no hash: {line}" for line in lines if "==" in line and "--hash=sha256:" not in line]
    for name, version in {**constraints, **locked}.items():
        if version.startswith(SQUATTED):
            found.append(f"{name}=={version}: a squatted name")
        try:
            installed = distribution(name).version
        except PackageNotFoundError:
            continue
        if installed.partition("+")[0] != version.partition("+")[0]:
            found.append(f"{name}: {installed} is installed, {version} is pinned")
        elif name in locked:
            found += [f"{name}: {file} was changed" for file in changed_files(name)]
    return found


def main() -> None:
    """Print what is wrong."""
    found = problems()
    for line in found:
        print(line)
    print(f"{len(found)} problems" if found else "the installed packages are the pinned ones")
    code = 1 if found else 0
    audit = shutil.which("pip-audit")
    if audit is None:
        print("pip-audit is not installed: known vulnerabilities were not looked up")
    else:
        command = [audit, "--requirement", str(HERE / "requirements.lock"), "--disable-pip"]
        code = subprocess.run(command, check=False).returncode or code
    sys.exit(code)


if __name__ == "__main__":
    main()
