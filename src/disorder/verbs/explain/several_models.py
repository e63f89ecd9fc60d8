"""Several models in one picture: what an explanation found of each, side by side on one scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from disorder.errors import DisorderError
from disorder.results.result import Figure, Section, Table
from disorder.verbs.explain.result import Explained, with_found

ACROSS = 2  # models beside each other; more go on below
WIDTH = 320
LONGEST_TITLE = 48  # letters of an axis; with a longer one models stand below each other


def short_names(models: Sequence[str]) -> list[str]:
    """What models are called in a picture: the end of their names, where that tells them apart."""
    twice = next((name for name in models if models.count(name) > 1), None)
    if twice:
        raise DisorderError(f"the model {twice} is named twice; name each once")
    ends = [name.rstrip("/").rpartition("/")[2] for name in models]
    return ends if len(set(ends)) == len(ends) else list(models)


def together(sections: Mapping[str, Section[Explained]]) -> Section[Explained]:
    """One section of what an explanation found of several models, which are its keys.

    A model of which it found nothing is a note; where it found nothing of any, so is the reason.
    """
    first = next(iter(sections.values()))
    found = {name: each.found for name, each in sections.items() if each.found is not None}
    failed = [f"{name}: {each.line}" for name, each in sections.items() if each.found is None]
    if not found:
        return replace(first, reason="; ".join(failed))
    return with_found(first, _merged(found, failed))


def _merged(found: Mapping[str, Explained], failed: Sequence[str]) -> Explained:
    notes = dict.fromkeys(note for each in found.values() for note in each.notes)
    return Explained(
        finding="; ".join(f"{name}: {each.finding}" for name, each in found.items()),
        figures=_figures(found),
        tables=_tables(found),
        scores={
            f"{name}: {title}": score
            for name, each in found.items()
            for title, score in each.scores.items()
        },
        notes=[*failed, *notes],
        skips={
            f"{name}, {reason}": count
            for name, each in found.items()
            for reason, count in each.skips.items()
        },
    )


def _figures(found: Mapping[str, Explained]) -> list[Figure]:
    """The figures of one name in one picture; those that are drawn by hand one by one."""
    figures: dict[str, dict[str, Figure]] = {}
    for model, each in found.items():
        for figure in each.figures:
            figures.setdefault(figure.name, {})[model] = figure
    return [figure for of_models in figures.values() for figure in _side_by_side(of_models)]


def _side_by_side(figures: Mapping[str, Figure]) -> list[Figure]:
    if any(figure.drawn for figure in figures.values()):
        return [
            replace(figure, name=f"{figure.name}_{i}", caption=f"{model}: {figure.caption}")
            for i, (model, figure) in enumerate(figures.items(), start=1)
        ]
    first = next(iter(figures.values()))
    rows = [{"model": model, **row} for model, figure in figures.items() for row in figure.rows]
    header = {"labelFontSize": 12, "labelLimit": WIDTH}
    facet = {"field": "model", "type": "nominal", "sort": list(figures), "title": None}
    longest = max(map(len, _titles(first.spec)), default=0)
    spec = {
        "facet": facet | {"header": header},
        "columns": ACROSS if longest <= LONGEST_TITLE else 1,
        "spec": {"width": WIDTH} | dict(first.spec),
    }
    return [replace(first, rows=rows, spec=spec)]


def _titles(spec: Any) -> Iterator[str]:
    """The titles in a picture."""
    if isinstance(spec, Mapping):
        if isinstance(spec.get("title"), str):
            yield spec["title"]
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        for part in spec:
            yield from _titles(part)


def _tables(found: Mapping[str, Explained]) -> list[Table]:
    tables: dict[str, Table] = {}
    for model, each in found.items():
        for table in each.tables:
            before = tables.get(table.name, replace(table, rows=()))
            rows = [{"model": model, **row} for row in table.rows]
            tables[table.name] = replace(before, rows=[*before.rows, *rows])
    return list(tables.values())
