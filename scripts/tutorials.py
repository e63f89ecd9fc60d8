"""Runs the tutorials: every block of code in docs/tutorials/*.md, and writes down what it prints.

python scripts/tutorials.py [--check] [NAME…]

A block `python` is run in one namespace per page, its output goes into the block `text` after it.
A block with a title is a file. In a block `console` lines that begin with "$ " are commands, and
what they print follows them. `lines=N` after the language keeps the first N lines of an output.
Pictures that the code saves are copied to docs/tutorials/pictures.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs" / "tutorials"
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$\n?", flags=re.MULTILINE | re.DOTALL)
WIDTH = 80
# what differs from run to run: dates, seconds, folders
CHANGING = [
    (re.compile(r"\d{8}-\d{6}"), "DATE-TIME"),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
]


def ran(text: str, folder: Path) -> str:
    """A page with its code run in a folder, and the outputs of today."""
    page = types.ModuleType("tutorial")
    pieces: list[str] = []
    end = 0
    pending: tuple[str, int | None] | None = None  # the output of the last python block
    for block in FENCE.finditer(text):
        between = text[end : block.start()]
        info = block["info"]
        language = info.split()[0] if info.split() else ""
        title = re.search(r'title="([^"]+)"', info)
        limit = re.search(r"lines=(\d+)", info)
        keep = int(limit[1]) if limit else None
        if pending is not None:
            output, kept = pending
            if language == "text" and not between.strip():
                pieces += [between, _fenced(info, _first(output, kept or keep))]
                end = block.end()
                pending = None
                continue
            pieces.append(_output(output, kept))
            pending = None
        pieces.append(between)
        end = block.end()
        if title:
            (folder / title[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / title[1]).write_text(block["body"], encoding="utf-8")
        elif language == "console":
            pieces.append(_fenced(info, _console(block["body"], folder, keep)))
            continue
        elif language == "python":
            pending = (_python(block["body"], page, folder), keep)
        pieces.append(block[0])
    if pending is not None:
        pieces.append(_output(*pending))
    return "".join([*pieces, text[end:]])


def _output(output: str, keep: int | None) -> str:
    return f"\n{_fenced('text', _first(output, keep))}" if output.strip() else ""


def _fenced(info: str, body: str) -> str:
    return f"```{info}\n{body.rstrip()}\n```\n"


def _first(output: str, keep: int | None) -> str:
    lines = output.strip("\n").split("\n")
    if keep is None or len(lines) <= keep:
        return "\n".join(lines)
    return "\n".join([*lines[:keep], "…"])


def _python(code: str, page: types.ModuleType, folder: Path) -> str:
    """What code prints, and the value of its last line as a notebook shows it."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    sink = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(sink):
        sys.path.insert(0, str(folder))
        try:
            exec(compile(tree, "tutorial", "exec"), page.__dict__)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "tutorial", "eval"), page.__dict__)
                if value is not None:
                    print(value)
        finally:
            sys.path.remove(str(folder))
    return sink.getvalue()


def _console(body: str, folder: Path, keep: int | None) -> str:
    """The commands of a block, each with what it prints today."""
    lines: list[str] = []
    for command in _commands(body):
        lines += [f"$ {command}"]
        output = _first(_called(command, folder), keep)
        lines += [output] if output.strip() else []
    return "\n".join(lines)


def _commands(body: str) -> Iterator[str]:
    """Lines after "$ ", joined where they end in a backslash."""
    wanted = ""
    for line in body.split("\n"):
        if line.startswith("$ ") or wanted.endswith("\\"):
            wanted = f"{wanted}\n{line}" if wanted.endswith("\\") else line.removeprefix("$ ")
            if not wanted.endswith("\\"):
                yield wanted
                wanted = ""


def _called(command: str, folder: Path) -> str:
    """What a command prints; `disorder` is the one of this Python. `; echo $?` shows its code."""
    asks_code = command.endswith("; echo $?")
    words = shlex.split(command.removesuffix("; echo $?").replace("\\\n", " "))
    words = [word for word in words if word]
    if words[0] == "disorder":
        words = [sys.executable, "-m", *words]
    elif words[0] == "python":
        words = [sys.executable, *words[1:]]
    else:
        raise SystemExit(f"only disorder and python can be run here, not {words[0]}")
    environment = os.environ | {"COLUMNS": str(WIDTH), "PYTHONPATH": _paths(folder)}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode not in ((0, 1) if asks_code else (0,)):
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout + (f"{done.returncode}\n" if asks_code else "")


def _paths(folder: Path) -> str:
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))


def steady(text: str) -> str:
    """A page without what differs from run to run."""
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return text


def run_page(path: Path, *, pictures: Path | None = None) -> str:
    """A page with its outputs of today; its pictures are copied where a folder is given."""
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as cache:
        os.environ["DISORDER_CACHE"] = cache  # as on a machine that never ran it
        folder = Path(name)
        text = ran(path.read_text(encoding="utf-8"), folder)
        if pictures is not None:
            pictures.mkdir(exist_ok=True)
            for picture in sorted([*folder.glob("*.svg"), *folder.glob("*.png")]):
                shutil.copy(picture, pictures / f"{path.stem}-{picture.name}")
    return text


def main(arguments: list[str]) -> None:
    check = "--check" in arguments
    names = [word for word in arguments if word != "--check"]
    stale = []
    for path in sorted(PAGES.glob("*.md")):
        if names and path.stem not in names:
            continue
        before = path.read_text(encoding="utf-8")
        after = run_page(path, pictures=None if check else PAGES / "pictures")
        if steady(after) != steady(before):
            stale.append(path.stem)
            if not check:
                path.write_text(after, encoding="utf-8")
        print(f"{path.stem}: {'changed' if path.stem in stale else 'the same'}")
    if check and stale:
        raise SystemExit(f"not current: {', '.join(stale)}; run python scripts/tutorials.py")


if __name__ == "__main__":
    main(sys.argv[1:])
