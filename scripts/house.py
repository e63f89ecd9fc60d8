"""Draws the house: its rooms, what imports what, and the files that one real audit enters.

python scripts/house.py [--check]

Writes docs/house.svg and the walk in CONTRIBUTING.md; --check says what is out of date instead.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "disorder"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PICTURE = ROOT / "docs" / "house.svg"
BEGIN = "<!-- walk: made by scripts/house.py -->\n"
END = "<!-- end of walk -->\n"
COMMAND = "audit builtin builtin --limit 20 --q 5 --with derange"
FLOORS = {
    "papers": ["papers"],
    "surfaces": ["cli", "web", "testing"],
    "verbs": ["verbs"],
    "parts": ["data", "tasks", "transformations", "models", "metrics"],
    "middle": ["requests", "store", "results", "engines"],
    "base": [],  # every room that is on no other floor
}
WALKER = """
import sys, threading
from pathlib import Path
import disorder
source = str(Path(disorder.__file__).parent) + "/"
entered, rooms = {}, []
def note(frame, event, _):
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(source) or code.co_name[0] == "<":
        return
    function = (code.co_filename[len(source):], code.co_qualname)
    if function in entered or is_import(frame):
        return
    entered[function] = None
    if not rooms or rooms[-1] != function[0]:
        rooms.append(function[0])
def is_import(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(source):
            return True
        frame = frame.f_back
    return False
from disorder.cli import main
sys.setprofile(note)
threading.setprofile(note)
try:
    main(sys.argv[2:])
except SystemExit:
    pass
finally:
    sys.setprofile(None)
with open(sys.argv[1], "w") as file:
    print(len(entered), *rooms, sep="\\n", file=file)
"""


class Walk(NamedTuple):
    """The files that a command enters, in order, and how often it comes back to one."""

    n_functions: int
    visits: Sequence[str]

    @property
    def files(self) -> list[str]:
        """Each file once, where it is entered first."""
        return list(dict.fromkeys(self.visits))

    @property
    def n_returns(self) -> int:
        """How often a file is entered that had been left."""
        return len(self.visits) - len(self.files)


def walked(command: str) -> Walk:
    """A command run in a process of its own, with every function noted when it is first entered."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "walk.txt"
        arguments = [*command.split(), "--out", f"{folder}/run"]
        subprocess.run(
            [sys.executable, "-c", WALKER, str(found), *arguments],
            check=True,
            capture_output=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(SOURCE.parent), "DISORDER_CACHE": folder},
        )
        n_functions, *visits = found.read_text().split("\n")[:-1]
        return Walk(int(n_functions), visits)


def room_of(file: str) -> str:
    """The folder or module at the top that a file lies in."""
    return file.split("/")[0].removesuffix(".py")


def imports() -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second."""
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        room = room_of(path.relative_to(SOURCE).as_posix())
        for module in _imported(path):
            other = module.split(".")[1]
            if other != room and not other.startswith("_"):
                found.add((room, other))
    return found


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("disorder."):
            yield str(node.module)


def floors() -> dict[str, list[str]]:
    """Rooms by floor, the highest first."""
    placed = {room for rooms in FLOORS.values() for room in rooms}
    base = sorted(
        path.stem
        for path in SOURCE.iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists())
        and not path.name.startswith("_")
        and path.stem not in placed
    )
    return FLOORS | {"base": base}


def walk_text(walk: Walk) -> str:
    """The walk in words: figures, then the files by room in the order of the first visit."""
    by_room: dict[str, list[str]] = {}
    for file in walk.files:
        by_room.setdefault(room_of(file), []).append(file)
    lines = [
        f"`disorder {COMMAND}` enters {len(walk.files)} files and {walk.n_functions} functions, "
        f"and comes back {walk.n_returns} times to a file that it had left:",
        "",
        "| room | its files, in the order in which they are entered |",
        "| --- | --- |",
    ]
    for room, files in by_room.items():
        names = [file.removeprefix(f"{room}/").removesuffix(".py") for file in files]
        lines.append(f"| {room} | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join([*lines, ""])


def picture(walk: Walk) -> str:
    """The rooms by floor, lines for imports, and what of each room an audit enters."""
    width, height, gap = 1000, 92, 26
    places: dict[str, tuple[float, float]] = {}
    boxes: list[str] = []
    n_files = Counter(room_of(p.relative_to(SOURCE).as_posix()) for p in SOURCE.rglob("*.py"))
    n_entered = Counter(room_of(file) for file in walk.files)
    entered = list(dict.fromkeys(room_of(file) for file in walk.files))
    for row, (floor, rooms) in enumerate(floors().items()):
        top = 20 + row * (height + gap)
        boxes.append(f'<text class="floor" x="14" y="{top + height / 2:.0f}">{floor}</text>')
        across = (width - 120) / len(rooms)
        for column, room in enumerate(rooms):
            left = 110 + column * across
            places[room] = (left + (across - 12) / 2, top)
            facts = f"{n_entered[room]} of {n_files[room]} files" if n_entered[room] else ""
            order = f"{entered.index(room) + 1}" if room in entered else ""
            boxes.append(_box(room, facts, order, (left, top, across - 12, height - 26)))
    total = 20 + len(FLOORS) * (height + gap)
    lines = [
        _line(places[a], places[b], height) for a, b in sorted(imports()) if {a, b} <= {*places}
    ]
    title = f"The rooms of disorder, what imports what, and the {len(walk.files)} files of an audit"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" role="img">',
            f"<title>{escape(title)}</title>",
            "<style>text{font:14px sans-serif;fill:#222}.floor{fill:#666}.facts{font-size:12px}"
            ".order{fill:#fff;font-weight:bold;font-size:12px}"
            "rect{fill:#f3f6fa;stroke:#345}line{stroke:#345;stroke-opacity:.16}"
            "circle{fill:#345}.page{fill:#fff;stroke:none}</style>",
            f'<rect class="page" width="{width}" height="{total}"/>',
            *lines,
            *boxes,
            "</svg>",
            "",
        ]
    )


def _box(room: str, facts: str, order: str, place: tuple[float, float, float, float]) -> str:
    left, top, width, height = place
    middle = left + width / 2
    parts = [
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" rx="6"/>',
        f'<text x="{middle:.0f}" y="{top + 28:.0f}" text-anchor="middle">{escape(room)}</text>',
    ]
    if facts:
        parts.append(
            f'<text class="facts" x="{middle:.0f}" y="{top + 50:.0f}" text-anchor="middle">'
            f"{facts}</text>"
        )
    if order:
        parts.append(f'<circle cx="{left + 14:.0f}" cy="{top + 14:.0f}" r="10"/>')
        parts.append(
            f'<text class="order" x="{left + 14:.0f}" y="{top + 18:.0f}" text-anchor="middle">'
            f"{order}</text>"
        )
    return "".join(parts)


def _line(above: tuple[float, float], below: tuple[float, float], height: float) -> str:
    return (
        f'<line x1="{above[0]:.0f}" y1="{above[1] + height - 26:.0f}" '
        f'x2="{below[0]:.0f}" y2="{below[1]:.0f}"/>'
    )


def made(walk: Walk) -> Mapping[Path, str]:
    """Every file with what is drawn in it."""
    before, _, rest = CONTRIBUTING.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    text = f"{before}{BEGIN}{walk_text(walk)}{END}{after}"
    return {CONTRIBUTING: text, PICTURE: picture(walk)}


def main(arguments: Sequence[str]) -> int:
    """Draw, or say what is out of date."""
    is_stale = False
    for path, text in made(walked(COMMAND)).items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        is_stale = True
        if "--check" in arguments:
            print(f"{path.relative_to(ROOT)} is out of date: make house")
        else:
            path.write_text(text, encoding="utf-8")
    return int(is_stale and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
