"""`disorder list`: which transformations, metrics, models, data, word splitters, recipes and networks are there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

PAPERS = (
    "UNLI: UnNatural Language Inference · OOO: Out of Order · WS: BERT & Family Eat Word Salad · NDSC: NLI Data Sanity Check"
)
SIDES = {"both": "both texts", "task": "the text that the task names", "last": "the second text of a pair", "a": "text_a"}
UNSET = {"lr": "by model", "epochs": "by model", "vectors": "learned"}
KINDS = {
    "suites": ("transformation", ()),
    "transformations": ("transformation", ("keeps", "destroys", "paper")),
    "metrics": ("metric", ("better", "paper")),
    "models": ("model", ("form", "needs")),
    "data": ("data", ("form", "needs")),
    "words": ("words", ("language", "needs")),
    "recipes": ("recipe", ("paper",)),
    "networks": ("network", ("paper", "lr", "epochs")),
}


def list_parts(
    kind: Annotated[str | None, typer.Argument(help=f"One of: {', '.join(KINDS)}")] = None,
) -> None:
    """List transformations, metrics, models, data, recipes, plugins."""
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
    if name == "suites":
        _print_suites(console)
        return
    for key, entry in parts(registered).items():
        facts = " · ".join(f"{fact} {entry.facts[fact]}" for fact in shown if entry.facts.get(fact) and fact != "form")
        settings = ", ".join(f"{k}={v}" for k, v in entry.settings.items() if k not in ("task",))
        head = entry.facts.get("form", key) if name in ("models", "data") else key
        console.print(f"  {escape(head):<26} {escape(entry.summary)}", highlight=False)
        if registered == "transformation":
            facts = f"breaks {SIDES.get(entry.facts['side'], entry.facts['side'])} · {facts}"
        is_set = settings and registered in ("transformation", "recipe", "network")
        for line in (f"settings: {settings}" if is_set else "", facts):
            if line:
                console.print(f"  {'':<26} [dim]{escape(line)}[/dim]", highlight=False)
    if name == "transformations":
        console.print(f"  [dim]All understand side=a|b|both|task|last, words=SPLITTER, q=N; chains: A+B. {PAPERS}[/dim]")
    if name == "recipes":
        _print_shared(console)
    if name == "data":
        from disorder.data.tasks import SETS

        for key, named in SETS.items():
            labels = ", ".join(named.task.labels) or "a number"
            console.print(f"  {key + ':' + '|'.join(named.splits):<26} {labels}", highlight=False)


def _print_shared(console: Console) -> None:
    """The settings that every recipe understands."""
    from disorder.train._settings import LoopSettings, WordSettings

    for title, settings in (("All understand", LoopSettings()), ("Networks also", WordSettings())):
        told = ", ".join(f"{name}={UNSET.get(name) if value is None else value}" for name, value in vars(settings).items())
        console.print(f"  [dim]{title}: {told}[/dim]", highlight=False)


def _print_suites(console: Console) -> None:
    from disorder.perturb import suite
    from disorder.registry import parts

    names = sorted({name for entry in parts("transformation").values() for name in entry.facts["suites"]})
    for name in names:
        console.print(f"  {name:<26} {', '.join(suite(name))}", highlight=False)
