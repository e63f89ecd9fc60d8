"""How does a run or a dataset become a blind task? An even draw, shuffled and numbered, with the
key kept apart.

Each example is shown once: whoever has read a text whole can no longer be asked about it perturbed.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from disorder.errors import BadSetting, DisorderError
from disorder.randomness import generator
from disorder.transformations import parse, suite
from disorder.types import Example, Task
from disorder.verbs.human.draw import Pool, Shown, from_data, from_run
from disorder.verbs.human.instructions import NLI, instructions_for, question_for
from disorder.verbs.human.sample import in_turn, lengths, shares, shuffled
from disorder.verbs.human.store import Store
from disorder.verbs.human.task import (
    ANSWERS,
    INVALID,
    MAX_NAME,
    RESERVED,
    TASK,
    VALID,
    WHOLE,
    Annotator,
    HumanTask,
    Item,
    Key,
    Kind,
    can_be_named,
    write_folder,
)

Group = tuple[str, str | None]
Cell = tuple[Group, str, str]


@dataclass(frozen=True)
class Made:
    """A task that was made: what to print about it."""

    folder: Path
    task: HumanTask
    annotators: list[Annotator]
    counts: dict[str, dict[str, int]]


WELL_FORMED = {
    "original",
    "swap_texts",
    "drop_text",
    "swap_nouns",
    "trade_classes",
    "empty",
}  # may leave good sentences


def make(
    source: str,
    out: Path,
    *,
    kind: Kind = "label",
    n: int = 200,
    seed: int = 0,
    transformations: Sequence[str] = (),
    accepted: bool = True,
    whole: bool | None = None,
    annotators: Sequence[str] = ("a", "b", "c"),
    columns: Mapping[str, str] | None = None,
    data_dir: str | None = None,
) -> Made:
    """Draw a blind sample from a run folder or a data spec, and write a task folder.

    `accepted` takes from a run only perturbed texts that got the gold label. `whole` says whether
    original texts are mixed in: by default where people judge validity, and where there is no run.
    """
    _check(kind, n, annotators)
    _check_free(out)
    is_run = os.path.isdir(source)  # pathlib raises on a name that is too long
    if is_run:
        pool = from_run(Path(source), transformations, seed=seed, is_accepted_only=accepted)
    else:
        usual = (
            [spec for spec in suite("salad") if not parse(spec).asks_others]
            if kind == "valid"
            else []
        )
        pool = from_data(
            source, transformations or usual, seed=seed, columns=columns or {}, data_dir=data_dir
        )
        if not transformations:
            pool.drop_copies()
    if kind == "valid":
        _check_breaks(pool)
    if kind == "label" and pool.task.is_regression:
        raise DisorderError(
            f"{source} asks for numbers; people can be asked for labels, or with --task valid"
        )
    with_whole = (kind == "valid" or not is_run) if whole is None else whole
    quotas = _quotas(list(pool.groups), n, with_whole=with_whole)
    shown, notes = _drawn(pool, quotas, length_of=_length_of(pool))
    pool.check([text for text, _ in shown])
    return _written(out, pool, kind, shown, notes, names=annotators, accepted=accepted and is_run)


def _check(kind: str, n: int, annotators: Sequence[str]) -> None:
    if kind not in ("label", "valid"):
        raise BadSetting("human make", task=kind, need="label or valid")
    if n < 1:
        raise BadSetting("human make", n=n, need="1 or more")
    for name in annotators:
        if not can_be_named(name):
            need = f"names of 1 to {MAX_NAME} letters with commas between, none of them {', '.join(RESERVED)}"
            raise BadSetting("human make", annotators=name, need=need)
    if not annotators or len(set(annotators)) < len(annotators):
        raise BadSetting(
            "human make", annotators=",".join(annotators), need="one or more names, each once"
        )


def _check_free(out: Path) -> None:
    """Refuse to write over answers, or over a folder that holds something else."""
    if not out.exists():
        return
    if not out.is_dir():
        raise DisorderError(f"--out {out} is a file; name a folder")
    if (out / ANSWERS).exists() and Store(out).answers(with_undone=True):
        raise DisorderError(f"{out} holds answers; choose another --out (nothing was changed)")
    if any(out.iterdir()) and not (out / TASK).exists():
        raise DisorderError(f"{out} holds something else than a task; choose another --out")


def _quotas(groups: Sequence[Group], n: int, *, with_whole: bool) -> dict[Group, int]:
    """How many texts each group should give: half whole and half perturbed, the perturbed ones evenly
    over the rest.
    """
    whole, perturbed = [g for g in groups if g[0] == WHOLE], [g for g in groups if g[0] != WHOLE]
    if not perturbed and not with_whole:
        raise DisorderError(
            "nothing to draw: original texts are left out and no transformation is named; add --with"
        )
    halves = [part for part in (perturbed, whole if with_whole else []) if part]
    sizes = shares(n, len(halves))
    return {
        g: k
        for part, size in zip(halves, sizes, strict=True)
        for g, k in zip(part, shares(size, len(part)), strict=True)
    }


def _length_of(pool: Pool) -> dict[str, str]:
    """Short or long, by the words of the whole example; characters where a script has no spaces."""
    cut = list if pool.task.language == "zh" else str.split
    names = sorted({name for group in pool.groups.values() for name in group})
    n_words = [
        sum(len(cut(text)) for text in pool.examples[name].texts if text is not None)
        for name in names
    ]
    return dict(zip(names, lengths(n_words), strict=True))


def _drawn(
    pool: Pool, quotas: Mapping[Group, int], *, length_of: Mapping[str, str]
) -> tuple[list[tuple[Shown, str]], list[str]]:
    """The texts with their lengths, and a line if there were too few; groups with fewest examples
    draw first.
    """
    drawn: list[tuple[Shown, str]] = []
    used: set[str] = set()
    scarce: list[str] = []
    for group in sorted(quotas, key=lambda group: len(pool.groups[group]) / max(1, quotas[group])):
        cells = {
            cell: _texts(pool, cell, length_of, used) for cell in _cells(pool, group, length_of)
        }
        taken = in_turn(cells, quotas[group])
        drawn += [(text, cell[2]) for cell, texts in taken.items() for text in texts]
        n = sum(map(len, taken.values()))
        if n < quotas[group]:
            scarce.append(f"{_named(group)} has {n:,} of the {quotas[group]:,} wanted")
        else:
            share = quotas[group] // max(1, len(taken))
            few = [
                f"{_named(group)} {label} {length}"
                for (_, label, length), texts in taken.items()
                if len(texts) < share
            ]
            scarce += [f"{cell} is short of {share:,}, others stand in" for cell in few]
    if not drawn:
        raise DisorderError(
            f"nothing to draw from {pool.name}: no example fits; try --all, or another --with"
        )
    return drawn, [f"too few for an even draw: {'; '.join(scarce)}"] if scarce else []


def _cells(pool: Pool, group: Group, length_of: Mapping[str, str]) -> list[Cell]:
    labels = (
        [""]
        if pool.task.is_regression
        else sorted({pool.examples[name].label for name in pool.groups[group]})
    )
    cells = {
        f"{label}\0{length}": (group, label, length)
        for label in labels
        for length in ("short", "long")
    }
    return [cells[name] for name in shuffled(cells, pool.seed, *map(str, group))]


def _texts(pool: Pool, cell: Cell, length_of: Mapping[str, str], used: set[str]) -> Iterator[Shown]:
    """The texts of a cell in random order, each example once over all cells."""
    (transformation, group), label, length = cell
    fits = [
        n
        for n in pool.groups[cell[0]]
        if length_of[n] == length and (not label or pool.examples[n].label == label)
    ]
    for name in shuffled(fits, pool.seed, transformation):
        if name not in used and (shown := pool.show(name, transformation, group)) is not None:
            used.add(name)
            yield shown


def _named(group: Group) -> str:
    transformation, which = group
    name = "original texts" if transformation == WHOLE else transformation
    return f"{name} {which}" if which else name


def _written(
    out: Path,
    pool: Pool,
    kind: Kind,
    shown: Sequence[tuple[Shown, str]],
    notes: list[str],
    *,
    names: Sequence[str],
    accepted: bool,
) -> Made:
    order = generator(pool.seed, "human items").permutation(len(shown)).tolist()
    width = max(3, len(str(len(shown))))
    numbered = [(f"i{number:0{width}d}", *shown[i]) for number, i in enumerate(order, start=1)]
    side = _side(pool)
    labels = [VALID, INVALID] if kind == "valid" else list(pool.task.labels)
    is_pair = kind == "label" and next(iter(pool.examples.values())).text_b is not None
    text_names = _text_names(pool.task) if is_pair else ["Text"]
    perturbed, now = (
        {text.transformation for text, _ in shown} - {WHOLE},
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    task = HumanTask(
        kind=kind,
        question=question_for(kind, pool.task, is_pair=is_pair),
        labels=labels,
        text_names=text_names,
        source=pool.name,
        model=pool.model,
        is_accepted_only=accepted,
        seed=pool.seed,
        n_items=len(shown),
        notes=notes,
        transformations=sorted(perturbed),
        made=now,
    )
    items = [_item(name, text, kind, side) for name, text, _ in numbered]
    key = [_key(name, text, length, kind) for name, text, length in numbered]
    # not from the seed: a link that can be worked out is no personal link
    people = [Annotator(name=name, token=secrets.token_urlsafe(24)) for name in names]
    write_folder(out, task, items, key, instructions=instructions_for(task), annotators=people)
    return Made(out, task, people, _counts(key))


def _side(pool: Pool) -> Literal["a", "b"]:
    """Which text of a pair is judged alone: the one that the first transformation breaks."""
    perturbed = [spec for spec, _ in pool.groups if spec != WHOLE]
    if next(iter(pool.examples.values())).text_b is None:
        return "a"
    return "a" if perturbed and pool.sides(perturbed[0])[-1] == "a" else "b"


def _text_names(task: Task) -> list[str]:
    return (
        ["Premise", "Hypothesis"] if set(task.labels) == set(NLI) else ["First text", "Second text"]
    )


def _check_breaks(pool: Pool) -> None:
    """Refuse to call sentences perturbed that may be as good as before."""
    for spec, _ in pool.groups:
        names = [] if spec == WHOLE else [step.part.name for step in parse(spec).steps]
        if names and set(names) <= WELL_FORMED:
            raise DisorderError(
                f"{spec} leaves sentences that people may rightly call valid; break them another way"
            )


def _item(name: str, shown: Shown, kind: Kind, side: Literal["a", "b"]) -> Item:
    first, second = shown.texts
    if kind == "label":
        return Item(item=name, text_a=first, text_b=second)
    return Item(item=name, text_a=first if side == "a" or second is None else second)


def _key(name: str, shown: Shown, length: str, kind: Kind) -> Key:
    example: Example = shown.example
    gold = example.label if kind == "label" else VALID if shown.transformation == WHOLE else INVALID
    return Key(
        item=name,
        gold=gold,
        transformation=shown.transformation,
        set=shown.set,
        label=example.label,
        length="short" if length == "short" else "long",
        example=example.id,
        variant=shown.variant,
        original_a=example.text_a,
        original_b=example.text_b,
        model_answer=shown.model_answer,
        model_original=shown.model_original,
    )


def _counts(key: Sequence[Key]) -> dict[str, dict[str, int]]:
    """How many items of each kind there are, for the line that `make` prints."""
    columns: dict[str, list[str]] = {
        "texts": [
            "whole" if entry.transformation == WHOLE else entry.transformation for entry in key
        ],
        "set": [entry.set for entry in key if entry.set],
        "label": [entry.label for entry in key],
        "length": [entry.length for entry in key],
    }
    return {
        name: dict(Counter(sorted(values)).most_common())
        for name, values in columns.items()
        if values
    }
