"""Does what somebody does who has just cloned this: the README's commands, every tutorial, the
documentation. Says how long each step takes.

python scripts/newcomer.py [--venv FOLDER] [STEP…]     steps: demo, install (all extras), readme,
                                                       tutorials, docs
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACEHOLDER = re.compile(r"[A-Z]{2,}|…|\|")
FENCE = re.compile(r"^```\w*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(disorder [a-z][^`]+)`", flags=re.MULTILINE)
N_ROWS = 60
STEPS = ("demo", "install", "readme", "tutorials", "docs")


def run(words: list[str] | str, folder: Path, *, codes: tuple[int, ...] = (0,)) -> str:
    """What a command prints; raises unless it ends with one of the codes."""
    done = subprocess.run(
        words, cwd=folder, shell=isinstance(words, str), capture_output=True, text=True, check=False
    )
    if done.returncode not in codes:
        raise SystemExit(f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def blocks(page: str) -> list[str]:
    return [found[1] for found in FENCE.finditer(page)]


def readme_commands(page: str) -> Iterator[str]:
    """The commands that need neither a model of one's own nor a download: those of blocks that name
    files, and those of the table of commands about runs.
    """
    for block in blocks(page):
        for line in block.splitlines():
            command = line.partition("#")[0].strip()
            if command.startswith("disorder ") and not PLACEHOLDER.search(command):
                yield command
    given = {"[KIND]": "metrics", "RUNS…": ".", "RUN…": "other", "RUN": "run"}
    for command in ROW.findall(page):
        for name, value in given.items():
            command = command.replace(name, value)
        if not PLACEHOLDER.search(command.partition('"')[0]):
            yield command


def write_files(page: str, folder: Path, python: str) -> None:
    """The files that the README's commands name, and two runs."""
    (module,) = [block for block in blocks(page) if block.startswith("# my_module.py")]
    (folder / "my_module.py").write_text(module, encoding="utf-8")
    words = [python, "-m", "disorder", "perturb", "builtin", "--with", "original", "--q", "1"]
    rows = [json.loads(line) for line in run(words, folder).splitlines()[:: 4200 // N_ROWS]]
    with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["premise", "hypothesis", "gold"])
        writer.writerows([row["text_a"], row["text_b"], row["label"]] for row in rows)
    names = ("text_a", "text_b", "label")
    lines = [json.dumps({name: row[name] for name in names}) for row in rows]
    (folder / "my_data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for name, model in (("run", "builtin"), ("other", "builtin:bow")):
        options = ["--limit", "60", "--q", "5", "--with", "derange", "--out", name]
        run([python, "-m", "disorder", "audit", model, "builtin", *options], folder)


def readme(clone: Path, python: str) -> None:
    """Every command of the README that can be run as it stands."""
    page = (clone / "README.md").read_text(encoding="utf-8")
    commands = list(dict.fromkeys(readme_commands(page)))
    assert len(commands) >= 6, commands
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(page, folder, python)
        for command in commands:
            started = time.monotonic()
            words = [python, "-m", *shlex.split(command)]
            run(words, folder, codes=(0, 1) if "gate" in command else (0,))
            print(f"  {command}: {time.monotonic() - started:.1f} s", flush=True)


def tutorials(clone: Path, python: str) -> None:
    """Every tutorial, whose output must be the one that it shows."""
    for path in sorted((clone / "docs" / "tutorials").glob("*.md")):
        started = time.monotonic()
        run([python, "scripts/tutorials.py", "--check", path.stem], clone)
        print(f"  {path.stem}: {time.monotonic() - started:.1f} s", flush=True)


def docs(clone: Path, venv: Path) -> None:
    run(["make", f"VENV={venv}", "docs"], clone)
    for name in ("index.html", "llms.txt", "search.json"):
        assert (clone / "site" / name).is_file(), name


def demo(clone: Path, venv: Path) -> None:
    printed = run(["make", f"VENV={venv}", "demo"], clone)
    page = (clone / "README.md").read_text(encoding="utf-8")
    (shown,) = [block for block in blocks(page) if "what the audit says" in block]
    promised = " ".join(shown.split())
    assert promised in " ".join(printed.split()), f"README shows another conclusion:\n{printed}"


def main(arguments: list[str]) -> None:
    os.environ |= {"COLUMNS": "80"}
    os.environ.pop("PYTHONPATH", None)
    venv = None
    if "--venv" in arguments:
        place = arguments.index("--venv")
        venv = Path(arguments[place + 1]).resolve()
        del arguments[place : place + 2]
    wanted = arguments or list(STEPS)
    with tempfile.TemporaryDirectory() as name:
        clone = Path(name) / "disorder"
        run(["git", "clone", "--quiet", str(ROOT), str(clone)], ROOT)
        environment = venv or clone / ".venv"
        python = str(environment / "bin" / "python")

        install = partial(
            run, ["make", f"VENV={environment}", f"{environment}/installed-all"], clone
        )
        steps: dict[str, Callable[[], object]] = {
            "demo": partial(demo, clone, environment),
            "install": install,
            "readme": partial(readme, clone, python),
            "tutorials": partial(tutorials, clone, python),
            "docs": partial(docs, clone, environment),
        }
        for step in wanted:
            started = time.monotonic()
            print(f"{step} …", flush=True)
            steps[step]()
            print(f"{step}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
