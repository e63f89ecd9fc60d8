"""`disorder list`: every registered part, built-in or from a plugin, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli.output import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from disorder.results.result import Section


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
    from disorder import __version__
    from disorder.registry import broken_plugins
    from disorder.results.result import PlainBody, Result

    about = "disorder list KIND says more about each, e.g. disorder list metrics"
    if kind is not None and kind not in LISTS:
        about = ""
        sections = [_cards(kind, examples=examples)]
    elif kind is None and not examples:
        sections = [_overview()]
    else:
        sections = [_listed(name, examples=examples) for name in ([kind] if kind else LISTS)]
    found = Result(
        verb="list",
        about=about,
        headline=f"Parts of disorder {__version__}" + (f": {kind}" if kind else ""),
        request={"kind": kind},
        body=PlainBody(),
        notes=broken_plugins(),
        sections=sections,
    )
    show(found, is_all=True)


def _cards(name: str, *, examples: bool) -> Section[None]:
    """All that is known of the parts with this name."""
    from disorder.errors import UnknownName
    from disorder.registry import KINDS, parts_of
    from disorder.results.result import Section

    everything = {kind: parts_of(kind) for kind in KINDS}
    cards = [known[name].card for known in everything.values() if name in known]
    if not cards:
        names = {each for known in everything.values() for each in known}
        raise UnknownName("kind of part", name, [*LISTS, *names])
    is_example = examples and name in everything["transformation"]
    shown = [f"example of: {' | '.join(EXAMPLE)}", _example_maker()(name)] if is_example else []
    return Section(
        name,
        "What is known of it",
        terms={
            f"{card.kind} {card.form}": _lines(
                card.summary,
                *card.facts(),
                card.origin,
                *(shown if card.kind == "transformation" else ()),
            )
            for card in cards
        },
    )


def _lines(*lines: str) -> str:
    """What there is to say of a part, of which its first line is the summary."""
    return "\n".join(filter(None, lines))


def _overview() -> Section[None]:
    """Every part by name."""
    from disorder.results.result import Section

    heads = {name: _names(name) for name in LISTS}
    terms = {f"{name} ({len(found)})": ", ".join(found) for name, found in heads.items() if found}
    return Section("overview", "Every part by its kind", terms=terms)


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


def _listed(name: str, *, examples: bool) -> Section[None]:
    """Every part of a kind, with what there is to know of it."""
    from disorder.registry import parts_of
    from disorder.results.result import Section

    if name == "suites":
        from disorder.transformations import suite, suites

        return Section(name, name, terms={each: ", ".join(suite(each)) for each in suites()})
    if name == "languages":
        return _languages()
    notes = []
    is_of_texts = name == "transformations"
    shows_example = _example_maker() if examples and is_of_texts else None
    if shows_example:
        notes.append(f"examples are made from: {' | '.join(EXAMPLE)}")
    terms = {}
    for key, entry in parts_of(LISTS[name]).items():
        card = entry.card
        is_of_every = card.kind in ("transformation", "metric")
        facts = card.facts("cost", "settings", "languages" if is_of_every else "")
        settings = f"settings: {card.settings}" if card.settings else ""
        example = shows_example(key) if shows_example else ""
        terms[card.form] = _lines(card.summary, " · ".join(facts), settings, example)
    if is_of_texts:
        notes += [COMMON, PAPERS]
    if name == "recipes":
        notes += _shared_settings()
    return Section(name, name, terms=terms, notes=notes)


def _default(name: str, value: object) -> object:
    if value is None:
        return UNSET.get(name, value)
    return "(none)" if value == "" else value


def _example_maker() -> Callable[[str], str]:
    """Shows a transformation at work on one pair, with the built-in bag of words as its model."""
    from disorder.data import read_data, vocabulary
    from disorder.errors import DoesNotApply, MissingData, MissingPackage
    from disorder.models import load
    from disorder.transformations import parse
    from disorder.transformations.rendering import variant_texts
    from disorder.types import Example
    from disorder.verbs.model_loading import RunContext

    builtin = read_data("builtin")
    pair = Example.of("example", *EXAMPLE, "entailment")
    context = RunContext(load("builtin:bow", task=builtin.task), vocabulary(builtin))

    def show(name: str) -> str:
        transformation = parse(name)
        if "training data" in transformation.needs:
            return "example: it learns from data of yours first, see docs/results/pbsmt.md"
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


def _languages() -> Section[None]:
    """Every language with its scripts, its splitter and its tagger, or what would add one."""
    from disorder.languages import NAMES, scripts_of_language
    from disorder.registry import TransformationPart, parts
    from disorder.results.result import Grid, Section
    from disorder.transformations.tags import package_for, tagger_for
    from disorder.transformations.words import default_splitter

    rows = [["code", "language", "script", "words by", "word classes by"]]
    for code, name in NAMES.items():
        package = package_for(code)
        tagger = tagger_for(code).tagger or (f"({package})" if package else "–")
        scripts = ", ".join(scripts_of_language(code))
        rows.append([code, name, scripts, default_splitter(code), tagger])
    needy = [name for name, entry in parts(TransformationPart).items() if "tags" in entry.needs]
    notes = [
        "In brackets: what would add a tagger. Word classes are needed by "
        f"{', '.join(needy)}; every other transformation works in every language.",
        "A spaCy pipeline that is installed is found by itself; any other that tags universal "
        "classes can be named: tagger=spacy:FOLDER. A plugin can add a tagger.",
    ]
    return Section("languages", "languages", grids=[Grid.of_texts(rows, n_names=5)], notes=notes)
