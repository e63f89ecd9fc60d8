"""Runs every check of the project, each in a clean clone with a new environment, and writes one
table: docs/results/everything.md (check, command, commit, result, minutes).

python scripts/everything.py                 every check that has not passed at this commit
python scripts/everything.py test lock       these, whether they passed or not
python scripts/everything.py --list          the checks and their commands
python scripts/everything.py --table         the table again, from what was run

It may take hours and be stopped: what passed at this commit is not run again. Results are kept in
everything/results.jsonl, what each check printed in everything/logs. ../shared is linked beside a
clone where it lies beside this checkout. --venv FOLDER takes one environment for all checks, which
is quicker and less than a new one each; the table says so. `make` installs this project INTO it: it
must be new, or one that an earlier call made.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = Path("docs") / "results" / "everything.md"
MARK = "made-by-everything"  # in an environment that may be installed into
STATE = "everything"  # the folder of results and logs, which git does not keep
SHARED = "shared"
INSTALLED = "make --silent $VENV/installed-all && "
PYTHON = INSTALLED + "$VENV/bin/python "
MINILM = "MODEL=../shared/models/minilm-mnli "
PAIRS = "DATA=../shared/data/mnli/dev_matched.jsonl.gz "
SIZES = {
    "audit_speed": MINILM + PAIRS,
    "again": MINILM + PAIRS,
    "pipeline_speed": MINILM,
    "runtimes": MINILM,
    "throughput": "MODEL=hf:../shared/models/minilm-mnli DISORDER_DATA=../shared/data ",
    "words_per_text": "DATA_DIR=../shared/data ",
    "llm_speed": "MODEL=$SMOLLM ",
}  # what a benchmark at its stated size is given


@dataclass(frozen=True)
class Check:
    """A command that must end with 0, and what it needs beside a clone."""

    name: str
    command: str
    needs: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a check gave at a commit."""

    name: str
    command: str
    commit: str
    result: str
    minutes: float

    @property
    def has_passed(self) -> bool:
        return self.result.startswith("passed")


def all_checks(root: Path = ROOT) -> list[Check]:
    """Every check, cheap ones first where that is possible."""
    checks = [
        Check("docs", "make docs"),
        Check("test", "make test"),
        Check("lock", "make test-lock"),
        Check("dist", "make dist && make test-dist"),
        Check("inspect", "make test-inspect"),
        Check("extras", "make test-extras"),
        Check("newcomer", "make test-newcomer"),
        Check("browser", "make test-browser"),
        Check("screenshots", "make screenshots"),
        Check("shared", "make test-shared", SHARED),
        Check("laboratory", "make test-laboratory"),
        Check("faults", "make test-faults"),
        Check("study", INSTALLED + "$VENV/bin/disorder study --check --studies docs/results/study"),
        Check("explanations", PYTHON + "scripts/explain_zoo.py && git diff --exit-code docs"),
        Check("zoo", PYTHON + "scripts/conclusion_zoo.py --store zoo.jsonl --minutes 240"),
    ]
    for path in sorted((root / "benchmarks").glob("[a-z]*.py")):
        given = SIZES.get(path.stem, "")
        command = f"{INSTALLED}{given}$VENV/bin/python benchmarks/{path.name}"
        needs = "SMOLLM" if "$SMOLLM" in given else SHARED if SHARED in given else ""
        checks.append(Check(f"benchmark {path.stem}", command, needs))
    return checks


def missing(check: Check, root: Path = ROOT) -> str:
    """What a check needs and this machine lacks."""
    if check.needs == SHARED and not (root.parent / SHARED / "data").is_dir():
        return "needs ../shared"
    if check.needs == "SMOLLM" and not os.environ.get("SMOLLM"):
        return "needs SMOLLM, a folder that scripts/convert_smollm2.py made"
    return ""


def commit_of(root: Path) -> str:
    """The commit that is checked: what is not committed is not checked."""
    words = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def run(check: Check, root: Path = ROOT, *, venv: Path | None = None) -> Outcome:
    """Run a check in a new clone of the last commit; what it prints goes to a log."""
    commit = commit_of(root)
    lacking = missing(check, root)
    if lacking:
        return Outcome(check.name, check.command, commit, f"not run: {lacking}", 0.0)
    logs = root / STATE / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        clone = Path(name) / "disorder"
        words = ["git", "clone", "--quiet", str(root), str(clone)]
        subprocess.run(words, check=True)
        if (root.parent / SHARED).is_dir():
            (Path(name) / SHARED).symlink_to((root.parent / SHARED).resolve())
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment |= {"VENV": str(venv or ".venv"), "MAKEFLAGS": ""}
        command = check.command.replace("make ", 'make VENV="$VENV" ')
        with (logs / f"{check.name.replace(' ', '-')}.txt").open("w", encoding="utf-8") as log:
            done = subprocess.run(
                ["bash", "-c", command], cwd=clone, env=environment, stdout=log, stderr=log
            )
    result = "passed" if done.returncode == 0 else f"failed, exit code {done.returncode}"
    if venv is not None and done.returncode == 0:
        result = "passed, in one environment for all"
    minutes = (time.monotonic() - started) / 60
    return Outcome(check.name, check.command, commit, result, round(minutes, 2))


def own_environment(folder: Path) -> Path:
    """A folder for an environment that is new or ours: no other is installed into."""
    if folder.exists() and not (folder / MARK).exists():
        raise SystemExit(f"{folder} is an environment of somebody else's; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    return folder


def outcomes(root: Path = ROOT) -> dict[str, Outcome]:
    """The last outcome of each check that was run."""
    path = root / STATE / "results.jsonl"
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [Outcome(**json.loads(line)) for line in lines]
    return {each.name: each for each in found}


def keep(outcome: Outcome, root: Path = ROOT) -> None:
    """Add an outcome to those that were kept."""
    (root / STATE).mkdir(exist_ok=True)
    with (root / STATE / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(outcome)) + "\n")


def due(checks: Iterable[Check], root: Path = ROOT) -> list[Check]:
    """The checks that have not passed at this commit."""
    known, commit = outcomes(root), commit_of(root)
    return [
        check
        for check in checks
        if check.name not in known
        or known[check.name].commit != commit
        or not known[check.name].has_passed
    ]


def stored(checks: Iterable[Check], root: Path = ROOT) -> dict[str, str]:
    """The rows that the page has, of checks whose command is still the same."""
    page = root / PAGE
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    heads = {check.name: _head(check) for check in checks}
    return {
        name: line.removeprefix(head).removesuffix(" |")
        for name, head in heads.items()
        for line in lines
        if line.startswith(head)
    }


def _head(check: Check) -> str:
    command = check.command.replace("|", "\\|")
    return f"| {check.name} | `{command}` | "


def table(checks: Iterable[Check], root: Path = ROOT) -> str:
    """The page: one row per check; what was not run here keeps the row that the page has."""
    checks = list(checks)
    known, before = outcomes(root), stored(checks, root)
    lines = [
        "# Every check, run once",
        "",
        "`make everything` runs each in a clean clone with a new environment, and writes this.",
        "",
        "| check | command | commit | result | minutes |",
        "| --- | --- | --- | --- | ---: |",
    ]
    for check in checks:
        found = known.get(check.name)
        row = before.get(check.name, "– | not run | –") if found is None else _row(found)
        lines.append(f"{_head(check)}{row} |")
    return "\n".join(lines) + "\n"


def _row(found: Outcome) -> str:
    return f"{found.commit} | {found.result} | {found.minutes:.1f}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checks", nargs="*", help="names; without any, all that are due")
    parser.add_argument("--list", action="store_true", help="the checks and their commands")
    parser.add_argument("--table", action="store_true", help="write the table, run nothing")
    parser.add_argument("--venv", type=Path, help="a new folder: one environment for all")
    given = parser.parse_args(arguments)
    checks = all_checks()
    unknown = sorted(set(given.checks) - {check.name for check in checks})
    if unknown:
        raise SystemExit(f"no check is called {', '.join(unknown)}; --list has their names")
    if given.list:
        print("\n".join(f"{check.name}: {check.command}" for check in checks))
        return
    named = [check for check in checks if check.name in given.checks]
    venv = None if given.venv is None else own_environment(given.venv.resolve())
    for check in [] if given.table else named or due(checks):
        print(f"{check.name} …", flush=True)
        outcome = run(check, venv=venv)
        keep(outcome)
        print(f"{check.name}: {outcome.result}, {outcome.minutes:.1f} minutes", flush=True)
    (ROOT / PAGE).write_text(table(checks), encoding="utf-8")
    failed = [name for name, each in outcomes().items() if each.result.startswith("failed")]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; see {STATE}/logs")


if __name__ == "__main__":
    main(sys.argv[1:])
