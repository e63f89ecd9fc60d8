"""Which perturbed and original texts could be shown, and what did the model say to them? From a run
folder, or from data alone.

Texts of a run are rebuilt from its seed and checked against the positions that it stored: people
must see exactly what the model was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disorder.data import guess_task, known_tasks, read_data
from disorder.errors import BadData, DisorderError, DoesNotApply, UnknownName
from disorder.randomness import generator
from disorder.report.wording import main_transformation
from disorder.runs import read_run
from disorder.runs.run import Run
from disorder.transformations import Transformation, parse, stored_texts
from disorder.transformations.rendering import variant_texts
from disorder.types import Example, Task, Texts
from disorder.verbs.human.task import WHOLE

D_C, D_F = "D_c", "D_f"


@dataclass(frozen=True)
class Shown:
    """One text that may be shown; `variant` is None for a original one."""

    example: Example
    transformation: str
    texts: Texts
    set: str | None = None
    variant: int | None = None
    model_answer: str | None = None
    model_original: str | None = None


@dataclass
class Pool:
    """Examples with the groups that texts are drawn from: (transformation, set) → ids, and how one
    of them is shown.
    """

    name: str
    task: Task
    seed: int
    examples: Mapping[str, Example]
    groups: dict[tuple[str, str | None], list[str]] = field(default_factory=dict)
    model: str | None = None
    q: int = 1
    short: str = "use"
    perturb_seed: int = 0
    originals: Mapping[str, str] = field(default_factory=dict)
    variants: dict[str, dict[str, list[tuple[int, str]]]] = field(default_factory=dict)
    folder: Path | None = None
    _parsed: dict[str, Transformation] = field(default_factory=dict)
    _stored: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)

    def show(self, name: str, transformation: str, group: str | None) -> Shown | None:
        """The text of one example under one transformation, or None where it cannot be perturbed."""
        example = self.examples[name]
        if transformation == WHOLE:
            answer = self.originals.get(name)
            return Shown(example, WHOLE, example.texts, group, None, answer, answer)
        try:
            texts = self.texts(example, transformation)
        except DoesNotApply:
            return None
        known = self.variants.get(transformation, {}).get(name)
        rng = generator(self.seed, "human variant", transformation, name)
        variant, answer = (
            known[int(rng.integers(len(known)))] if known else (int(rng.choice(list(texts))), None)
        )
        if variant not in texts or texts[variant] == example.texts:
            return None
        return Shown(
            example,
            transformation,
            texts[variant],
            group,
            variant,
            answer,
            self.originals.get(name),
        )

    def texts(self, example: Example, transformation: str) -> Mapping[int, Texts]:
        """The perturbed texts of one example by variant: drawn again, or as stored where another model
        or data was asked.
        """
        chosen = self._parsed.setdefault(transformation, parse(transformation))
        if self.folder is None or not chosen.asks_others:
            return dict(enumerate(variant_texts(self.perturbed(example, transformation))))
        if transformation not in self._stored:
            self._stored[transformation] = _stored(self.folder, transformation)
        return {
            row["variant"]: stored_texts(example, row)
            for row in self._stored[transformation][example.id]
        }

    def perturbed(self, example: Example, transformation: str) -> Any:
        """All variants of one example."""
        if transformation not in self._parsed:
            self._parsed[transformation] = parse(transformation)
        chosen = self._parsed[transformation]
        return chosen.apply(
            example, task=self.task, q=self.q, seed=self.perturb_seed, short=self.short
        )

    def drop_copies(self) -> None:
        """Leave out what copies one text into the other where there is one text only."""
        if next(iter(self.examples.values())).text_b is None:
            self.groups = {
                g: names
                for g, names in self.groups.items()
                if g[0] == WHOLE or not parse(g[0]).is_copy
            }

    def sides(self, transformation: str) -> tuple[str, ...]:
        """Which texts a transformation breaks."""
        is_pair = next(iter(self.examples.values())).text_b is not None
        return parse(transformation).perturbed_sides(self.task, is_pair=is_pair)

    def check(self, shown: Sequence[Shown]) -> None:
        """Raise unless every perturbed text is the one that the model was asked."""
        drawn = {
            (s.example.id, s.transformation, s.variant): s
            for s in shown
            if s.variant is not None and not parse(s.transformation).asks_others
        }
        for name, transformation, variant, *stored in (
            _positions(self.folder, drawn) if self.folder else ()
        ):
            if (name, transformation, variant) not in drawn:
                continue
            rebuilt = list(self.perturbed(self.examples[name], transformation).positions())[variant]
            if any(
                old is not None and old != new for old, new in zip(stored, rebuilt, strict=True)
            ):
                raise DisorderError(
                    f"{self.folder}: example {name} comes out in another order than the run recorded; "
                    "it was made by another version of disorder, so audit again"
                )


def from_data(
    data: str,
    transformations: Sequence[str],
    *,
    seed: int,
    columns: Mapping[str, str],
    data_dir: str | None,
) -> Pool:
    """Original texts and perturbed ones of a dataset; nobody knows what a model says to them."""
    dataset = read_data(data, columns=columns, data_dir=data_dir)
    examples = {example.id: example for example in dataset.examples}
    pool = Pool(dataset.name, dataset.task, seed, examples, perturb_seed=seed)
    pool.groups[WHOLE, None] = list(examples)
    for spec in transformations:
        pool.groups[parse(spec).tried().spec, None] = list(examples)
    return pool


def from_run(
    folder: Path, transformations: Sequence[str], *, seed: int, is_accepted_only: bool
) -> Pool:
    """Original texts and variants of a run by whether the model got the original one right (D_c) or not
    (D_f).
    """
    run = read_run(folder)
    if run.status != "done":
        raise DisorderError(f"{folder} is not finished; resume: disorder audit --resume {folder}")
    examples = _examples(folder)
    task = _task(run, is_pair=next(iter(examples.values())).text_b is not None)
    q, short = int(run.settings["q"]), str(run.settings["short"])
    pool = Pool(run.data, task, seed, examples, {}, run.model, q, short, run.seed, folder=folder)
    pool.originals = {name: answers[0][1] for name, answers in _answers(folder, WHOLE).items()}
    right = {name for name, answer in pool.originals.items() if answer == examples[name].label}
    pool.groups[WHOLE, None] = list(pool.originals)
    for spec in _wanted(run, transformations):
        answers = _answers(folder, spec)
        if is_accepted_only:
            answers = {
                name: [a for a in given if a[1] == examples[name].label]
                for name, given in answers.items()
            }
        pool.variants[spec] = {name: given for name, given in answers.items() if given}
        for group, is_right in ((D_C, True), (D_F, False)):
            pool.groups[spec, group] = [
                name for name in pool.variants[spec] if (name in right) is is_right
            ]
    return pool


def _wanted(run: Run, transformations: Sequence[str]) -> list[str]:
    """The transformations of a run that were asked for: its main one, unless told."""
    specs = [parse(spec, fidelity=run.settings["fidelity"]).spec for spec in transformations]
    for spec in specs:
        if spec not in run.transformations:
            raise UnknownName("transformation of this run", spec, run.transformations)
    main = main_transformation(run) or next(iter(run.transformations), "")
    return specs or [main]


def _task(run: Run, *, is_pair: bool) -> Task:
    """The task as the audit knew it."""
    if run.settings.get("task"):
        return known_tasks()[run.settings["task"]]
    is_named = run.data.split(":")[0] in ("builtin", *known_tasks()) and run.task in known_tasks()
    return (
        known_tasks()[run.task] if is_named else guess_task(run.task, run.labels, is_pair=is_pair)
    )


def _examples(folder: Path) -> dict[str, Example]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(
            folder / "examples.parquet", columns=["id", "text_a", "text_b", "label"]
        ).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise BadData(
            f"{folder / 'examples.parquet'} cannot be read ({str(error).splitlines()[0]})"
        ) from None
    return {
        row["id"]: Example(row["id"], row["text_a"], row["text_b"], row["label"]) for row in rows
    }


def _answers(folder: Path, transformation: str) -> dict[str, list[tuple[int, str]]]:
    """The variants of every example with the model's answers."""
    found: dict[str, list[tuple[int, str]]] = {}
    for example, variant, label in _samples(
        folder, {transformation}, ["example", "variant", "label"]
    ):
        found.setdefault(example, []).append((variant, label))
    return found


def _positions(folder: Path, drawn: Iterable[tuple[str, str, int]]) -> Iterator[tuple[Any, ...]]:
    """The stored word positions of the examples drawn."""
    names, specs, _ = zip(*drawn, strict=True) if drawn else ((), (), ())
    columns = ["example", "transformation", "variant", "positions_a", "positions_b"]
    return _samples(folder, set(specs), columns, examples=set(names))


def _stored(folder: Path, transformation: str) -> dict[str, list[dict[str, Any]]]:
    """The stored variants of every example under one transformation."""
    columns = ["example", "variant", "positions_a", "positions_b", "written_a", "written_b"]
    found: dict[str, list[dict[str, Any]]] = {}
    for row in _samples(folder, {transformation}, columns):
        found.setdefault(row[0], []).append(dict(zip(columns, row, strict=True)))
    return found


def _samples(
    folder: Path, transformations: set[str], columns: list[str], examples: set[str] | None = None
) -> Iterator[tuple[Any, ...]]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    wanted = (
        pc.field("transformation")
        .cast(pa.string())
        .isin(pa.array(sorted(transformations), pa.string()))
    )
    if examples is not None:
        wanted &= (
            pc.field("example").cast(pa.string()).isin(pa.array(sorted(examples), pa.string()))
        )
    try:
        for batch in ds.dataset(sorted((folder / "samples").glob("*.parquet"))).to_batches(
            columns=columns, filter=wanted
        ):
            yield from zip(*(batch[name].to_pylist() for name in columns), strict=True)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadData(
            f"{folder / 'samples'} cannot be read ({str(error).splitlines()[0]})"
        ) from None
