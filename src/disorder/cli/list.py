"""`disorder list`: which transformations, metrics, models, data, taggers, splitters, recipes and
networks are there?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from disorder.registry import Part

PAPERS = "UNLI: UnNatural Language Inference · OOO: Out of Order · WS: BERT & Family Eat Word Salad · NDSC: NLI Data Sanity Check"
COMMON = "All understand side=a|b|both|task|last, words=SPLITTER, q=N, those with word classes tagger=TAGGER; chains: A+B."
UNSET = {"lr": "by model", "epochs": "by model", "vectors": "learned", "r": "half of k"}
SIDES = {
    "both": "both texts",
    "task": "the text that the task names",
    "last": "the second text of a pair",
    "a": "text_a",
}
KINDS = {
    "suites": ("transformation", ()),
    "transformations": ("transformation", ()),
    "metrics": ("metric", ("better", "paper")),
    "models": ("model", ("form", "needs")),
    "data": ("data", ("form", "needs")),
    "words": ("words", ("language", "needs")),
    "taggers": ("tagger", ("language", "needs")),
    "recipes": ("recipe", ("paper",)),
    "networks": ("network", ("paper", "lr", "epochs")),
    "explanations": ("explanation", ("asks", "paper", "needs")),
}
INDENT = 29
SHOWN = ("The old man saw Anna and her dog near the lake.", "Anna and the old man met by a lake.")


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
    from disorder.registry import parts

    registered, shown = KINDS[name]
    if name == "suites":
        _print_suites(console)
        return
    show_example = _live() if name == "transformations" else None
    if show_example:
        _line(console, "", f"examples are made now, from: {' | '.join(SHOWN)}")
    for key, entry in parts(registered).items():
        head = entry.facts.get("form", key) if name in ("models", "data") else key
        _line(console, head, entry.summary)
        facts = [
            f"{fact} {entry.facts[fact]}"
            for fact in shown
            if entry.facts.get(fact) and fact != "form"
        ]
        facts += ["shown only when named with --by"] if entry.facts.get("usual") is False else []
        settings = _settings(entry) if registered in ("recipe", "network", "explanation") else ""
        for line in _about(entry, show_example) if show_example else [settings, " · ".join(facts)]:
            if line:
                _line(console, "", line)
    if name == "transformations":
        _line(console, "", f"{COMMON} {PAPERS}", indent=2)
    if name == "recipes":
        _print_shared(console)
    if name == "data":
        _print_sets(console)


def _line(console: Console, head: str, text: str, *, indent: int = INDENT) -> None:
    from rich.markup import escape

    style = ("", "") if head else ("[dim]", "[/dim]")
    console.print(
        f"  {escape(head):<{max(0, indent - 3)}} {style[0]}{escape(text)}{style[1]}",
        highlight=False,
    )


def _about(entry: Part, show_example: Callable[[str], str]) -> list[str]:
    """What a transformation keeps, destroys, applies to and needs, its settings, and an example
    made now.
    """
    facts = entry.facts
    needs = " and ".join(facts["needs"])
    about = [
        f"keeps {facts['keeps']} · destroys {facts['destroys']}",
        f"applies to {'single texts and pairs' if facts['single'] else 'pairs'}",
        f"breaks {SIDES.get(facts['side'], facts['side'])}",
        f"needs {needs}" if needs else "",
        f"paper {facts['paper']}" if facts["paper"] else "",
    ]
    return [" · ".join(filter(None, about)), _settings(entry), show_example(entry.name)]


def _settings(entry: Part) -> str:
    settings = ", ".join(
        f"{name}={_shown(name, value)}" for name, value in entry.settings.items() if name != "task"
    )
    return f"settings: {settings}" if settings else ""


def _shown(name: str, value: object) -> object:
    return UNSET.get(name, value) if value is None else "(none)" if value == "" else value


def _live() -> Callable[[str], str]:
    """What shows a transformation at work on one pair, with the built-in bag of words where a model
    is asked.
    """
    from disorder.data import read, vocabulary
    from disorder.errors import DoesNotApply, MissingData, MissingPackage
    from disorder.models import load
    from disorder.transformations import parse
    from disorder.types import Example
    from disorder.verbs.context import RunContext

    builtin = read("builtin")
    pair = Example("example", *SHOWN, "entailment")
    context = RunContext(load("builtin:bow", task=builtin.task), vocabulary(builtin))

    def show(name: str) -> str:
        transformation = parse(name)
        if "training data" in transformation.needs:
            return "example: it learns from data of yours first, see docs/pbsmt.md"
        try:
            variants = transformation.apply(pair, task=builtin.task, q=1, seed=0, context=context)
        except (DoesNotApply, MissingPackage, MissingData) as reason:
            return f"example: {reason}"
        [(a, b)] = variants.texts()[:1]
        changed = [
            text or "(empty)" for text, was in zip((a, b), pair.texts, strict=True) if text != was
        ]
        return f"example: {' | '.join(changed) or 'the text itself'}"

    return show


def _print_shared(console: Console) -> None:
    """The settings that every recipe understands."""
    from disorder.verbs.train import LoopSettings, WordSettings

    for title, settings in (("All understand", LoopSettings()), ("Networks also", WordSettings())):
        told = ", ".join(
            f"{name}={UNSET.get(name) if value is None else value}"
            for name, value in vars(settings).items()
        )
        _line(console, "", f"{title}: {told}", indent=2)


def _print_sets(console: Console) -> None:
    from disorder.data.tasks import SETS

    for key, named in SETS.items():
        labels = ", ".join(named.task.labels) or "a number"
        _line(console, f"{key}:{'|'.join(named.splits)}", labels)


def _print_suites(console: Console) -> None:
    from disorder.transformations import suite, suites

    for name in suites():
        _line(console, name, ", ".join(suite(name)))
