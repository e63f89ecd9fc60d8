"""`disorder list`: every registered part, built-in or from a plugin, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli.output import console as new_console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console


LISTS = {
    "suites": "transformation",
    "transformations": "transformation",
    "metrics": "metric",
    "models": "model",
    "prompts": "prompt",
    "data": "data",
    "tasks": "task",
    "words": "words",
    "taggers": "tagger",
    "languages": "words",
    "recipes": "recipe",
    "networks": "network",
    "explanations": "explanation",
    "checks": "check",
    "engines": "engine",
    "items": "item",
}  # what a user types → kind of part
PAPERS = (
    "UNLI: UnNatural Language Inference · OOO: Out of Order · "
    "WS: BERT & Family Eat Word Salad · NDSC: NLI Data Sanity Check"
)
COMMON = (
    "All understand on=SEGMENT (text_a, text_b, text_a+text_b, context), words=SPLITTER, q=N, "
    "those with word classes "
    "tagger=TAGGER, those that only change order unit=char|subword|token|sentence|line; "
    "chains: A+B."
)
UNSET = {
    "words": "by language",
    "lr": "by model",
    "epochs": "by model",
    "vectors": "learned",
    "r": "half of k",
}
INDENT = 4
EXAMPLE = (
    "The old man saw Anna and her dog near the lake.",
    "Anna and the old man met by a lake.",
)


def list_parts(
    kind: Annotated[
        str | None, typer.Argument(help=f"One of: {', '.join(LISTS)}; or the name of a part")
    ] = None,
    examples: Annotated[
        bool, typer.Option("--examples", help="Show what each transformation makes of one pair")
    ] = False,
) -> None:
    """List transformations, metrics, models, data and all other parts, plugins included.

    Without a kind: the names of all of them. With the name of a part: its card.
    """
    from disorder.registry import broken_plugins

    console = new_console(highlight=False)
    if kind is not None and kind not in LISTS:
        _print_cards(console, kind)
        return
    if kind is None and not examples:
        _print_names(console)
    else:
        for name in [kind] if kind else LISTS:
            console.print(name, style="bold")
            _print_list(console, name, examples=examples)
            console.print()
    for reason in broken_plugins():
        console.print(reason)


def _print_cards(console: Console, name: str) -> None:
    """All that is known of the parts with this name."""
    from disorder.errors import UnknownName
    from disorder.registry import KINDS, parts_of

    everything = {kind: parts_of(kind) for kind in KINDS}
    found = [known[name] for known in everything.values() if name in known]
    if not found:
        names = {each for known in everything.values() for each in known}
        raise UnknownName("kind of part", name, [*LISTS, *names])
    for entry in found:
        card = entry.card
        lines = [card.summary, *card.facts(), card.origin]
        _print_entry(console, f"{card.kind} {card.form}", lines)


def _print_names(console: Console) -> None:
    """Every part by name, and how to learn more."""
    for name in LISTS:
        heads = _names(name)
        if not heads:
            continue
        _print_entry(console, f"{name} ({len(heads)})", [", ".join(heads)])
    console.print("disorder list KIND says more about each, e.g. disorder list metrics")


def _names(name: str) -> list[str]:
    """What a user types for every part of a list."""
    from disorder.registry import parts_of

    if name == "suites":
        from disorder.transformations import suites

        return list(suites())
    if name == "languages":
        from disorder.languages import NAMES

        return list(NAMES)
    heads = [entry.card.form for entry in parts_of(LISTS[name]).values()]
    return [head.partition(":")[0] if "|" in head else head for head in heads]


def _print_list(console: Console, name: str, *, examples: bool) -> None:
    from disorder.registry import parts_of

    if name == "suites":
        _print_suites(console)
        return
    if name == "languages":
        _print_languages(console)
        return
    shows_example = _example_maker() if examples and name == "transformations" else None
    if shows_example:
        _print_entry(console, "", [f"examples are made from: {' | '.join(EXAMPLE)}"])
    for key, entry in parts_of(LISTS[name]).items():
        card = entry.card
        is_of_every = card.kind in ("transformation", "metric")
        facts = card.facts("cost", "settings", "languages" if is_of_every else "")
        settings = f"settings: {card.settings}" if card.settings else ""
        lines = [card.summary, " · ".join(facts), settings]
        if shows_example:
            lines.append(shows_example(key))
        _print_entry(console, card.form, lines)
    if name == "transformations":
        _print_entry(console, "", [COMMON, PAPERS])
    if name == "recipes":
        _print_entry(console, "", list(_shared_settings()))


def _default(name: str, value: object) -> object:
    if value is None:
        return UNSET.get(name, value)
    return "(none)" if value == "" else value


def _print_entry(console: Console, head: str, lines: list[str]) -> None:
    """A name, and below it what it is, wrapped to the width of the terminal."""
    from rich.padding import Padding
    from rich.text import Text

    if head:
        console.print(Padding(Text(head, style="cyan"), (0, 0, 0, 2)))
    for number, line in enumerate(filter(None, lines)):
        style = "" if head and number == 0 else "dim"
        console.print(Padding(Text(line, style=style), (0, 0, 0, INDENT)))


def _example_maker() -> Callable[[str], str]:
    """Shows a transformation at work on one pair, with the built-in bag of words as its model."""
    from disorder.data import read_data, vocabulary
    from disorder.errors import DoesNotApply, MissingData, MissingPackage
    from disorder.models import load
    from disorder.transformations import parse
    from disorder.transformations.rendering import variant_texts
    from disorder.types import Example
    from disorder.verbs.context import RunContext

    builtin = read_data("builtin")
    pair = Example.of("example", *EXAMPLE, "entailment")
    context = RunContext(load("builtin:bow", task=builtin.task), vocabulary(builtin))

    def show(name: str) -> str:
        transformation = parse(name)
        if "training data" in transformation.needs:
            return "example: it learns from data of yours first, see docs/pbsmt.md"
        try:
            variants = transformation.apply(pair, task=builtin.task, q=1, seed=0, context=context)
        except (DoesNotApply, MissingPackage, MissingData) as reason:
            return f"example: {reason}"
        first = variant_texts(variants)[0]
        changed = [
            text or "(empty)"
            for text, original in zip(first, pair.texts, strict=True)
            if text != original
        ]
        return f"example: {' | '.join(changed) or 'the text itself'}"

    return show


def _shared_settings() -> Iterator[str]:
    """The settings that every recipe understands."""
    from disorder.verbs.train import LoopSettings, WordSettings

    for title, settings in (("All understand", LoopSettings()), ("Networks also", WordSettings())):
        pairs = [f"{name}={_default(name, value)}" for name, value in vars(settings).items()]
        yield f"{title}: {', '.join(pairs)}"


def _print_languages(console: Console) -> None:
    """Every language with its scripts, its splitter and its tagger, or what would add one."""
    from disorder.languages import NAMES, scripts_of_language
    from disorder.registry import TransformationPart, parts
    from disorder.results.result import Grid
    from disorder.results.terminal import print_table
    from disorder.transformations.tags import package_for, tagger_for
    from disorder.transformations.words import default_splitter

    rows = [["code", "language", "script", "words by", "word classes by"]]
    for code, name in NAMES.items():
        package = package_for(code)
        tagger = tagger_for(code).tagger or (f"({package})" if package else "–")
        scripts = ", ".join(scripts_of_language(code))
        rows.append([code, name, scripts, default_splitter(code), tagger])
    print_table(console, Grid.of_texts(rows, n_names=5))
    needy = [name for name, entry in parts(TransformationPart).items() if "tags" in entry.needs]
    lines = [
        "In brackets: what would add a tagger. Word classes are needed by "
        f"{', '.join(needy)}; every other transformation works in every language.",
        "A spaCy pipeline that is installed is found by itself; any other that tags universal "
        "classes can be named: tagger=spacy:FOLDER. A plugin can add a tagger.",
    ]
    _print_entry(console, "", lines)


def _print_suites(console: Console) -> None:
    from disorder.transformations import suite, suites

    for name in suites():
        _print_entry(console, name, [", ".join(suite(name))])
