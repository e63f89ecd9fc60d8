"""Tables of models that are trained first, each in several ways, and then audited; and the three
designs of NDSC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from disorder.errors import DisorderError
from disorder.metrics import ORIGINAL
from disorder.transformations import parse
from disorder.types import Score
from disorder.verbs.study.pipelines.audits import Audits, notes_of
from disorder.verbs.study.result import DIGITS, Cell, Portion
from disorder.verbs.study.workbench import Bench, short, title_of

EXAMPLES_ALONE = "intervals are over examples, given these trainings; they do not hold the chance of seeds (see by_seed)"
DESIGNS = ("corrupt-train", "corrupt-test", "corrupt-both")
LIMITS = {
    "delta": (-1.0, 1.0),
    "spearman": (-1.0, 1.0),
    "wos": (0.0, float("inf")),
}  # others lie between 0 and 1
STUDENT = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
)  # for 1, 2, … degrees of freedom


@dataclass(frozen=True)
class Arm:
    """One way to train: the recipe, the texts it is trained on, and settings of its own.

    Some recipes leave a threshold below which the model abstains to answer; with `always_answers` it
    is taken away.
    """

    recipe: str = "plain"
    on: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    always_answers: bool = False


@dataclass(frozen=True)
class Trained:
    """Train every model in every way, and audit each on every set of data.

    `arms` are the ways by the name they have in the rows, under `key`. `settings` are the paper's,
    for hf: models; networks from scratch have their own. With several seeds a cell is the mean, and
    its interval holds the chance of seeds too.
    """

    arms: Mapping[str, Arm]
    key: str
    audits: Audits
    settings: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    kind = "trainings"
    needs_model = True
    trains = True

    @property
    def q(self) -> int | None:
        """How many permutations the paper draws."""
        return self.audits.q

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"train each model in {len(self.arms)} ways ({', '.join(self.arms)}); then {self.audits.does}"

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """One portion a model, way and set of data."""
        if bench.train is None:
            raise DisorderError("the paper trains on several sets together: say --train DATA")
        for model in bench.models:
            bench.say(model, bench.train, ", ".join(short(data) for data in bench.data))
            for name, arm in self.arms.items():
                specs = [
                    bench.trained(model, name, arm, seed, self.settings) for seed in bench.seeds()
                ]
                yield from (self._audited(bench, model, name, specs, data) for data in bench.data)

    def _audited(
        self, bench: Bench, model: Any, name: str, specs: Sequence[str], data: Any
    ) -> Portion:
        portion, about = (
            Portion(),
            {"model": title_of(model), "data": bench.name_of(data), self.key: name},
        )
        for seed, spec in zip(bench.seeds(), specs, strict=True):
            q = bench.q(self.audits.q)
            run, folder = bench.audit(
                spec, data, self.audits.transformations, q=q, limit=bench.asked.test_limit
            )
            portion.cells += self.audits.cells(run, folder, about)
            title = f"{short(model)}, {name}, seed {seed}, on {short(data)}"
            portion.links.append(bench.link(title, folder / "report.html"))
            portion.notes += notes_of(run, about, self.audits.columns.values())
        portion.cells = over_seeds(portion.cells)
        return portion


@dataclass(frozen=True)
class Designs:
    """Break the training data, the test data, or both, and compare with neither: `disorder designs`
    as a table.
    """

    on: Sequence[str]
    only: Sequence[str] = DESIGNS
    settings: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(
        default_factory=lambda: {"accuracy": "percent", "delta": "points"}
    )

    kind = "designs"
    needs_model = True
    trains = True
    q = None

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"train each model on original texts and on {len(self.on)} kinds of perturbed ones; test on whole and on perturbed texts"

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """One portion a model and set of test data."""
        for model, data in bench.pairs():
            bench.say(model, bench.train, data)
            made_of = bench.made_of(data=data, train=bench.train)
            yield bench.once(partial(self._made, bench, model, data), model, data, made_of=made_of)

    def _made(self, bench: Bench, model: Any, data: Any) -> Portion:
        portion, declared = (
            Portion(),
            {parse(spec, fidelity=bench.fidelity).spec: spec for spec in self.on},
        )
        found, folder = bench.designs(model, data, self.on, self.settings)
        portion.notes.append(
            f"{short(model)}, trained and tested on original texts: {_said(found[0].accuracy)}"
        )
        for design in (design for design in found if design.name in self.only):
            perturbed = declared[
                design.tested_on if design.trained_on == ORIGINAL else design.trained_on
            ]
            row = {
                "model": title_of(model),
                "data": bench.name_of(data),
                "transformation": perturbed,
                "design": design.name,
            }
            portion.cells.append(_cell(row, "accuracy", design.accuracy, design.accuracy_by_seed))
            portion.cells += (
                [_cell(row, "delta", design.delta, design.delta_by_seed or ())]
                if design.delta
                else []
            )
        portion.notes += [EXAMPLES_ALONE] if len(bench.seeds()) > 1 else []
        for seed in bench.seeds():
            card = folder / f"seed-{seed}" / ORIGINAL / "README.md"
            portion.links.append(
                bench.link(f"{short(model)} trained on original texts, seed {seed}", card)
            )
        return portion


def _cell(row: Mapping[str, str], column: str, score: Score, by_seed: Sequence[float]) -> Cell:
    """A cell that is over all seeds already; where there is but one, it need not be said apart."""
    cell = Cell.of(row, column, score)
    return cell.model_copy(update={"by_seed": list(by_seed)}) if len(by_seed) > 1 else cell


def over_seeds(cells: Iterable[Cell]) -> list[Cell]:
    """One cell for all seeds: the mean, with an interval for the chance of examples and that of
    seeds together.
    """
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((*cell.row.items(), cell.column), []).append(cell)
    return [_together(group) if len(group) > 1 else group[0] for group in groups.values()]


def _together(group: Sequence[Cell]) -> Cell:
    values = [cell.value for cell in group]
    value = round(float(np.mean(values)), DIGITS)
    bounds: dict[str, float] = {}
    halves = [
        (cell.high - cell.low) / 2
        for cell in group
        if cell.low is not None and cell.high is not None
    ]
    if len(halves) == len(group):
        half, (lowest, highest) = (
            half_width(values, halves),
            LIMITS.get(group[0].column, (0.0, 1.0)),
        )
        low, high = max(value - half, lowest), min(value + half, highest)
        bounds = {"low": round(min(low, value), DIGITS), "high": round(max(high, value), DIGITS)}
    return group[0].model_copy(update={"value": value, "by_seed": values, **bounds})


def half_width(values: Sequence[float], halves: Sequence[float]) -> float:
    """Half of a 95 % interval of the mean over seeds.

    Two chances add up: that of the examples, which all seeds share (the mean of the `halves` within
    seeds), and that of the seeds (Student's t, for they are few).

    >>> round(half_width([0.80, 0.82, 0.84], [0.03, 0.03, 0.03]), 4)
    0.058
    """
    spread = float(np.std(values, ddof=1)) / np.sqrt(len(values))
    return float(np.hypot(np.mean(halves), student(len(values) - 1) * spread))


def student(freedom: int) -> float:
    """The 97.5 % point of Student's t: from the table, and by Fisher's expansion (1925) beyond it.

    >>> student(1), round(student(30), 3), round(student(1000), 3)
    (12.706, 2.042, 1.962)
    """
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    z = 1.959964
    steps = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return float(sum(step / freedom**power for power, step in enumerate(steps)))


def _said(score: Any) -> str:
    return f"accuracy {score.value:.3f} ({score.low:.3f} to {score.high:.3f}, {score.n:,} examples)"
