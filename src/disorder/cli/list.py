"""`disorder list`: which transformations, metrics, models, data and word splitters are there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

KINDS = {
    "transformations": ("transformation", ("keeps", "destroys", "paper")),
    "metrics": ("metric", ("better", "paper")),
    "models": ("model", ("form", "needs")),
    "data": ("data", ("form", "needs")),
    "words": ("words", ("language", "needs")),
}


def list_parts(
    kind: Annotated[str | None, typer.Argument(help=f"One of: {', '.join(KINDS)}")] = None,
) -> None:
    """List transformations, metrics, models, data, plugins."""
    from rich.console import Console

    from disorder.errors import UnknownName

    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of part", kind, KINDS)
    console = Console(soft_wrap=True)
    for name in [kind] if kind else KINDS:
        console.print(f"[bold]{name}[/bold]")
        _print(console, name)
        console.print()


def _print(console: Console, name: str) -> None:
    from rich.markup import escape

    from disorder.registry import parts

    registered, shown = KINDS[name]
    for key, entry in parts(registered).items():
        facts = " · ".join(f"{fact} {entry.facts[fact]}" for fact in shown if entry.facts.get(fact) and fact != "form")
        settings = ", ".join(f"{k}={v}" for k, v in entry.settings.items() if k not in ("task",))
        head = entry.facts.get("form", key) if name in ("models", "data") else key
        console.print(f"  {escape(head):<26} {escape(entry.summary)}", highlight=False)
        for line in (f"settings: {settings}" if settings and registered == "transformation" else "", facts):
            if line:
                console.print(f"  {'':<26} [dim]{escape(line)}[/dim]", highlight=False)
    if name == "data":
        from disorder.data.tasks import SETS

        for key, named in SETS.items():
            labels = ", ".join(named.task.labels) or "a number"
            console.print(f"  {key + ':' + '|'.join(named.splits):<26} {labels}", highlight=False)
