"""Writes docs/reference/, docs/llms.txt and requests/fields.pyi from the program itself: commands,
functions, parts, the types of options.

python scripts/reference.py [--check] [--plugins]

Commands come from --help-all, functions from their docstrings, parts from the registry. Parts of
installed plugins are left out, unless you build a site of your own with --plugins.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
MADE = "<!-- made by scripts/reference.py: do not edit -->"
VIEWS = ("disorder.requests.fields", "disorder.papers.fields")
KINDS = {
    "transformation": "Transformations",
    "metric": "Metrics",
    "model": "Models",
    "prompt": "Prompts for language models",
    "data": "Data",
    "words": "Word splitters",
    "tagger": "Taggers",
    "explanation": "Explanations",
    "check": "Checks of a dataset",
    "recipe": "Training recipes",
    "network": "Networks",
    "engine": "Engines",
    "item": "Study items",
}


def pages(*, plugins: bool = False) -> dict[Path, str]:
    """Every file that is made, with its content."""
    return {
        FOLDER / "commands.md": _page("Commands", _commands(plugins=plugins)),
        FOLDER / "python.md": _page("Python", _functions()),
        FOLDER / "parts.md": _page("Parts", _parts(plugins=plugins)),
        ROOT / "docs" / "llms.txt": _llms(),
        **{_stub(module): _fields(module) for module in VIEWS},
    }


def _page(title: str, lines: Iterator[str]) -> str:
    return "\n".join([MADE, "", f"# {title}", "", *lines]).rstrip() + "\n"


def _commands(*, plugins: bool) -> Iterator[str]:
    """What --help-all prints, at eighty columns."""
    import typer

    from disorder.cli import app
    from disorder.cli.commands import EVERYTHING
    from disorder.registry import VerbPart, parts

    others = {name for name, entry in parts(VerbPart).items() if not entry.is_built_in}

    yield "Every command with its options, as `disorder COMMAND --help-all` prints them."
    yield ""
    for name, command in _leaves(typer.main.get_command(app), ""):
        if name in others and not plugins:
            continue
        context = typer.Context(command, info_name=f"disorder {name}", terminal_width=80)
        context.meta[EVERYTHING] = True
        text = command.get_help(context).strip()
        yield f"## {name}"
        yield ""
        yield "```text"
        yield "\n".join(line.rstrip() for line in text.splitlines())
        yield "```"
        yield ""


def _leaves(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    for name in sorted(group.list_commands(None)):
        command = group.commands[name]
        full = f"{before}{name}"
        if hasattr(command, "commands"):
            yield from _leaves(command, f"{full} ")
        else:
            yield full, command


def _stub(module: str) -> Path:
    return ROOT / "src" / Path(*module.split(".")).with_suffix(".pyi")


def _fields(module: str) -> str:
    """The views of requests as type checkers read them."""
    from disorder.requests.option import View, declared_in

    lines: list[str] = []
    for name, view in vars(importlib.import_module(module)).items():
        if inspect.isclass(view) and issubclass(view, View) and view is not View:
            lines += ["", "@dataclass(frozen=True)", f"class {name}(View):"]
            lines += [
                f"    {each.recorded_name}: {_type(each.held_type)} = ..."
                for each in declared_in(view.request).values()
            ]
    used = [name for name in ("Any", "Literal") if any(name in line for line in lines)]
    head = [
        "# made by scripts/reference.py: do not edit",
        "from collections.abc import Mapping, Sequence",
        "from dataclasses import dataclass",
        f"from typing import {', '.join(used)}",
        "",
        "from disorder.requests.option import View",
    ]
    return "\n".join(head + lines) + "\n"


def _type(hint: Any) -> str:
    """A type as it is written in Python."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " | ".join(map(_type, typing.get_args(hint)))
    if typing.get_origin(hint) is typing.Literal:
        values = ", ".join(f'"{value}"' for value in typing.get_args(hint))
        return f"Literal[{values}]"
    if typing.get_args(hint):
        inside = ", ".join(map(_type, typing.get_args(hint)))
        return f"{typing.get_origin(hint).__name__}[{inside}]"
    return "None" if hint is type(None) else str(hint.__name__)


def _functions() -> Iterator[str]:
    """The public names: signature and docstring."""
    import disorder

    yield "Commands are functions with the same words as their options (`with_=` for --with)."
    yield ""
    for name in sorted(_public_names(), key=str.lower):
        thing = getattr(disorder, name)
        yield f"## {name}"
        yield ""
        yield "```python"
        yield _signature(name, thing)
        yield "```"
        yield ""
        yield from _docstring(inspect.getdoc(thing) or "")
        yield ""


def _public_names() -> Iterator[str]:
    """What `disorder` has, with the functions of verbs that come in by the registry."""
    import disorder
    from disorder.registry import VerbPart, parts

    yield from disorder.__all__
    yield from (name for name, entry in parts(VerbPart).items() if entry.is_built_in)


def _signature(name: str, thing: Any) -> str:
    if inspect.isclass(thing):
        return f"class disorder.{name}"
    signature = inspect.signature(thing)
    pieces: list[str] = []
    has_star = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            has_star = True
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            pieces.append("*")
            has_star = True
        pieces.append(str(parameter))
    inside = "".join(f"\n    {piece}," for piece in pieces)
    returns = (
        ""
        if signature.return_annotation is signature.empty
        else f" -> {signature.return_annotation}"
    )
    return f"disorder.{name}({inside}\n){returns}".replace("'", "")


def _docstring(text: str) -> Iterator[str]:
    """A docstring as Markdown: `name: meaning` lines become a list."""
    for line in text.split("\n"):
        entry = re.match(r"^(?:    )?(\*?\w+): (.*)$", line)
        if line.strip() == "Args:":
            continue
        if entry and not line.startswith("http"):
            yield f"- `{entry[1]}`: {entry[2]}"
        elif line.startswith("    "):
            yield f"  {line.strip()}"
        else:
            yield line


def _parts(*, plugins: bool) -> Iterator[str]:
    """All built-in parts by kind."""
    from disorder.registry import HOMES, parts_of

    yield "Everything that `disorder list` shows, from the declarations. A plugin's parts appear in"
    yield "`disorder list` beside these."
    yield ""
    for kind in [*KINDS, *(kind for kind in HOMES if kind not in (*KINDS, "verb"))]:
        yield f"## {KINDS.get(kind, kind)}"
        yield ""
        for entry in parts_of(kind).values():
            if plugins or entry.is_built_in:
                yield f"**`{entry.card.form}`**: {entry.summary}"
                facts = entry.card.facts()
                told = fill(_escaped("; ".join(facts)), 500, break_long_words=False)
                yield f"<br><small>{told}</small>" if facts else ""
                yield ""


def _escaped(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace("*", "&#42;").replace("_", "&#95;")
    )


def _llms() -> str:
    """An index of the documentation for language models (llmstxt.org)."""
    lines = [
        "# disorder",
        "",
        "> Does your model read, or does it only count words? disorder perturbs the word order of",
        "> real inputs in controlled ways, lets a model predict again, and says with confidence",
        "> intervals how much of its skill survives.",
        "",
    ]
    for title, entries in sections().items():
        lines += [f"## {title}", ""]
        lines += [f"- [{_title(path)}]({path})" for path in entries]
        lines.append("")
    return "\n".join(lines)


def sections() -> dict[str, list[str]]:
    """The pages of the site by section, as mkdocs.yml has them."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Leaves what only the site builder understands alone."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    config = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
    found: dict[str, list[str]] = {}
    for entry in config["nav"]:
        (title, inside), *_ = entry.items() if isinstance(entry, dict) else [("Start", entry)]
        found[title] = list(_paths(inside))
    return found


def _paths(inside: Any) -> Iterator[str]:
    if isinstance(inside, str):
        yield inside
    elif isinstance(inside, dict):
        for value in inside.values():
            yield from _paths(value)
    else:
        for each in inside:
            yield from _paths(each)


def _title(path: str) -> str:
    made = FOLDER.name + "/"
    if path.startswith(made):
        return Path(path).stem.replace("-", " ").capitalize()
    text = (ROOT / "docs" / path).read_text(encoding="utf-8")
    found = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    return found[1] if found else path


def main(arguments: list[str]) -> None:
    os.environ["COLUMNS"] = "80"
    stale = []
    for path, text in pages(plugins="--plugins" in arguments).items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.relative_to(ROOT).as_posix())
            if "--check" not in arguments:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if "--check" in arguments and stale:
        raise SystemExit(f"not current: {', '.join(stale)}; run make reference")
    print(f"written: {', '.join(stale) or 'nothing, all is current'}")


if __name__ == "__main__":
    main(sys.argv[1:])
