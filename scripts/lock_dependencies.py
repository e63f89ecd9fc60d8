"""Write requirements.lock: the core's packages with the hashes of their files, for releases.

    python scripts/lock_dependencies.py        needs the package index; takes a minute

pip resolves the core under constraints.txt as it would install it and reports the hash of every
file it would take (of this platform: run it on the one that the release is built for).
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
LOCK = HERE / "requirements.lock"


def resolved() -> list[tuple[str, str, str]]:
    """Name, version and hash of every package that the core needs."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += ["--report", "-", "-c", str(HERE / "constraints.txt"), str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = []
    for entry in json.loads(done.stdout)["install"]:
        name = entry["metadata"]["name"]
        if name != "disorder":
            hashes = entry["download_info"]["archive_info"]["hashes"]
            found.append((name.lower(), entry["metadata"]["version"], hashes["sha256"]))
    return sorted(found)


def main() -> None:
    """Write the file."""
    python = ".".join(platform.python_version_tuple()[:2])
    lines = [
        f"# The core of disorder for Python {python} on {platform.system()} {platform.machine()},",
        "# written by scripts/lock_dependencies.py: pip install --require-hashes -r this file,",
        "# then pip install --no-deps disorder",
    ]
    for name, version, digest in resolved():
        lines.append(f"{name}=={version} --hash=sha256:{digest}")
    LOCK.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{LOCK.name}: {len(lines) - 3} packages")


if __name__ == "__main__":
    main()
