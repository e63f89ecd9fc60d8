"""Check dependencies, offline: are they the pinned ones, and are their files as they were packed?

Exit code 1 where a lock lacks a package that it is for, needed by the core or an extra itself or
through another package, has one that nothing needs, lacks a hash, or names anything but a release
of the package index; where locks and constraints disagree, an installed version is another one, a
file of a locked package was changed after it was installed, or a version is a squatted one. Where
pip-audit is installed, known vulnerabilities are looked up too (that needs the network).
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lock_dependencies import LOCKS, extras_without_torch

HERE = Path(__file__).resolve().parent.parent
SQUATTED = "999."


def pins(path: Path) -> dict[str, str]:
    """The versions that a requirements file names."""
    found = re.findall(r"(?m)^([A-Za-z0-9_.-]+)==([^\s;]+)", path.read_text(encoding="utf-8"))
    return {canonicalize_name(name): version for name, version in found}


def entries(path: Path) -> list[str]:
    """What a requirements file asks for, each entry on one line, without comments."""
    lines = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def not_of_the_index(path: Path) -> list[str]:
    """Entries that are not one release of the package index: addresses, options, local versions."""
    release = re.compile(
        r"[A-Za-z0-9_.-]+==[0-9A-Za-z.!]+(\s*;[^/]*)?(\s+--hash=sha256:[0-9a-f]{64})*\s*"
    )
    return [
        f"{path.name}: not a release of the package index: {entry[:80]}"
        for entry in entries(path)
        if not release.fullmatch(entry)
    ]


def needed_by(name: str, extras: set[str], *, anywhere: bool = False) -> list[Requirement]:
    """What an installed package asks for on this system, or on any; nothing where it is not
    installed.
    """
    try:
        required = distribution(name).requires or []
    except PackageNotFoundError:
        return []
    found = [Requirement(text) for text in required]
    chosen = [{"extra": extra} for extra in extras or {""}]
    return [
        one
        for one in found
        if one.marker is None
        or (anywhere and "extra" not in str(one.marker))
        or any(map(one.marker.evaluate, chosen))
    ]


def not_locked(needed: list[str], lock: Path) -> list[str]:
    """Packages that are needed, by these requirements or through another, and the lock lacks."""
    locked = pins(lock)
    found = set()
    seen = set()
    waiting = [Requirement(text) for text in needed]
    while waiting:
        required = waiting.pop()
        name = canonicalize_name(required.name)
        version = locked.get(name)
        if version is None:
            found.add(f"{name} is needed, {lock.name} does not have it")
        elif version not in required.specifier:
            found.add(f"{name}: {version} in {lock.name}, needed is {required.specifier}")
        if (name, frozenset(required.extras)) not in seen:
            seen.add((name, frozenset(required.extras)))
            waiting += needed_by(name, required.extras)
    return sorted(found)


def not_needed(needed: list[str], lock: Path) -> list[str]:
    """Locked packages that no requirement leads to, on whatever system; nothing where a required
    package is not installed, so that what it needs is not known.
    """
    waiting = [Requirement(text) for text in needed]
    if not all(is_installed(required.name) for required in waiting):
        return []
    seen = set()
    while waiting:
        required = waiting.pop()
        name, extras = canonicalize_name(required.name), frozenset(required.extras)
        if (name, extras) not in seen:
            seen.add((name, extras))
            waiting += needed_by(name, required.extras, anywhere=True)
    surplus = set(pins(lock)) - {name for name, _ in seen}
    return [f"{name} is in {lock.name}, nothing needs it" for name in sorted(surplus)]


def is_installed(name: str) -> bool:
    """Whether a package is there, in whatever version."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def wrong_pins(folder: Path) -> list[str]:
    """What is wrong with the files themselves, one line each."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [project["optional-dependencies"][extra] for extra in extras_without_torch(folder)]
    constraints = folder / "constraints.txt"
    core, more = (folder / name for name in LOCKS)
    found = []
    for needed, lock in (
        (project["dependencies"], core),
        ([*project["dependencies"], *chain.from_iterable(extras)], more),
    ):
        found += not_locked(needed, lock) + not_needed(needed, lock)
    for path in (core, more, constraints):
        found += not_of_the_index(path)
    for path in (core, more):
        found += [f"no hash: {entry}" for entry in entries(path) if "--hash=" not in entry]
        found += [
            f"{name}: {version} in {path.name}, {pins(constraints)[name]} in constraints.txt"
            for name, version in pins(path).items()
            if pins(constraints).get(name, version) != version
        ]
    return found


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


def wrong_packages() -> list[str]:
    """Installed packages that are not the pinned ones, one line each."""
    constraints = pins(HERE / "constraints.txt")
    locked = {name: version for lock in LOCKS for name, version in pins(HERE / lock).items()}
    found = []
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
    found = wrong_pins(HERE) + wrong_packages()
    for line in found:
        print(line)
    print(f"{len(found)} problems" if found else "the installed packages are the pinned ones")
    code = 1 if found else 0
    audit = shutil.which("pip-audit")
    if audit is None:
        print("pip-audit is not installed: known vulnerabilities were not looked up")
    else:
        command = [audit, "--requirement", str(HERE / LOCKS[-1]), "--disable-pip"]
        code = subprocess.run(command, check=False).returncode or code
    sys.exit(code)


if __name__ == "__main__":
    main()
