"""What `disorder` alone prints: what it is for, three commands to begin with, all the others."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping

EXAMPLES = {
    "disorder audit": "try it, offline",
    "disorder audit hf:FOLDER_OR_NAME data.csv": "does my model read?",
    "disorder sanity data.csv": "does my data need reading?",
}
GROUPS = {
    "Measure": ("audit", "plan", "sanity", "explain", "human"),
    "Look and decide": ("report", "view", "board", "compare", "gate", "check", "import"),
    "Change": ("train", "perturb"),
}  # commands of the registry name their own group; the rest stand under "Other"
WIDEST = 80


def welcome(version: str, commands: Mapping[str, str]) -> str:
    """The short help; `commands` maps each command to its summary."""
    width = max(40, min(WIDEST, shutil.get_terminal_size().columns))
    title = f"disorder {version}: does your model read, or does it only count words?"
    lines = [*textwrap.wrap(title, width), ""]
    longest = max(map(len, EXAMPLES))
    for command, purpose in EXAMPLES.items():
        lines += _entry(command, purpose, longest, width)
    longest = max(map(len, commands))
    for title, names in _grouped(commands).items():
        present = [name for name in names if name in commands]
        if present:
            lines += ["", title]
        for name in present:
            lines += _entry(name, commands[name], longest, width)
    lines += ["", "disorder COMMAND --help says more about each."]
    return "\n".join(lines) + "\n"


def _grouped(commands: Iterable[str]) -> dict[str, list[str]]:
    """Names of commands by group, those that come in by the registry last."""
    from disorder.registry import VerbPart, parts

    groups = {title: [*names] for title, names in GROUPS.items()}
    for name, verb in parts(VerbPart).items():
        groups.setdefault(verb.group, []).append(name)
    grouped = {name for names in groups.values() for name in names}
    groups.setdefault("Other", []).extend(name for name in commands if name not in grouped)
    return groups


def _entry(name: str, text: str, longest: int, width: int) -> list[str]:
    """A name and what it is for beside it; below it where that would be squeezed."""
    column = 2 + longest + 3
    if width - column >= 30:
        return textwrap.wrap(
            text,
            width,
            initial_indent=f"  {name:<{longest}}   ",
            subsequent_indent=" " * column,
            break_on_hyphens=False,
        )
    return [
        f"  {name}",
        *textwrap.wrap(text, width, initial_indent=" " * 6, subsequent_indent=" " * 6),
    ]
