"""A zoo of models whose answer is known: how often is the conclusion of an audit wrong?

Every simulation makes texts, audits a model of known mechanism on them with the program itself
(`fidelity=natural`), and sets the conclusion beside the truth of its cell: so cutting, writing,
controls, families, refusals and truncation all take part. One factor moves at a time around a base
cell of 300 independent examples with balanced labels; families, refusals and label mixes are also
crossed with the number of examples.

python scripts/conclusion_zoo.py --store zoo.jsonl --minutes 30 --write docs/conclusions.md

It is resumed cell by cell: what the store has is not simulated again. 400 simulations per cell, 100
at 3,000 examples, take six to eight hours of CPU.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import disorder  # noqa: E402
import zoo  # noqa: E402  the models of known mechanism that tests use
from disorder.metrics.statistics.intervals import wilson  # noqa: E402

Row = dict[str, str]
Model = Callable[[Sequence[str]], list[str]]
Q = 5
BASE_N = 300
SIZES = (30, 300, 3_000)
SIMULATIONS = {30: 400, 300: 400, 3_000: 100}
MIXES: Mapping[str, tuple[float, ...]] = {
    "balanced": (1 / 3,) * 3,
    "88/10/2": (0.88, 0.10, 0.02),
    "50 labels": (1 / 50,) * 50,
}
MISLEADING = 0.1  # share of families whose word says another label than the gold one
KEPT = {"reader": 0.0, "half reader, half bag": 0.5, "bag of words": 1.0}
BESIDE = (0.19, 0.21, 0.79, 0.81)  # truths beside the limits
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o") for c in ("na", "ro")]
DECLINED = "invalid"
WORST = 0.05  # share of wrong kinds that a cell may have


@dataclass(frozen=True)
class Cell:
    """What is simulated: a model, and the data that it is audited on.

    `kept` is the share of families on which the model reads a word, wherever it stands; of the
    others it knows the order of the words by heart (in lower case, marks stripped) and draws a
    label by lot for any other. `surface` is a kind of evidence, or what a bag wants of a text.
    """

    model: str
    kept: float
    n: int = BASE_N
    copies: int = 1
    refused: float = 0.0
    noise: float = 0.0
    mix: str = "balanced"
    surface: str = ""

    @property
    def factor(self) -> str:
        """What differs from the base cell."""
        changed = [
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in asdict(self).items()
            if name not in ("model", "kept", "n") and value != getattr(BASE, name)
        ]
        return ", ".join(changed) or "base"

    @property
    def truth(self) -> float | None:
        """The skill that is kept: what is read by a word, and not declined. Reading by heart keeps
        nothing, since a label by lot is right as often as by chance; noise takes the same share of
        skill before and after. None where the model has no skill, or no kind may be drawn.
        """
        if self.model in ("one answer", "by lot") or self.surface in ("truncated", "capital"):
            return None
        return self.kept * (1 - self.refused)

    @property
    def kinds(self) -> set[str]:
        """The conclusions that are right; `undecided` claims nothing and always is."""
        named = {"one answer": "one_label", "by lot": "no_skill"}.get(self.model)
        # what the model lost it lost before a word moved; what it cannot see says nothing of order
        named = {"capital": "surface", "truncated": "undecided"}.get(self.surface, named)
        if self.truth is None:
            return {"undecided", str(named)}
        found = {"undecided"}
        if self.truth <= 0.2:
            found |= {"reads_order"}
        if 0.2 <= self.truth <= 0.8:
            found |= {"mixed"}
        if self.truth >= 0.8:
            found |= {"bag_of_words", "bag_or_misled"}
        if self.truth >= 0.2:
            found |= {"mixed_or_bag"}
        if self.truth <= 0.8:
            found |= {"reads_or_mixed"}
        return found


BASE = Cell("", 0.0)


def cells() -> list[Cell]:
    """Every cell, the base first."""
    base = [Cell(name, kept) for name, kept in KEPT.items()]
    found = list(base)
    found += [Cell(f"keeps {kept}", kept, n) for kept in BESIDE for n in (BASE_N, 3_000)]
    found += [replace(each, n=n) for each in base for n in SIZES]
    for name, values in (("copies", (3, 10)), ("refused", (0.3, 0.7)), ("mix", list(MIXES)[1:])):
        changed = [replace(each, **{name: value}) for each in base for value in values]
        found += [replace(each, n=n) for each in changed for n in SIZES]
    found += [replace(each, noise=0.2) for each in base]
    surfaces = [*zoo.EVIDENCE, "capital", "lines", "double space", "truncated"]
    found += [Cell("bag of words", 1.0, surface=name) for name in surfaces]
    found += [Cell(name, 0.0) for name in ("one answer", "by lot")]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Simulated:
    """Texts, and the model that is audited on them."""

    rows: list[Row]
    model: Model
    labels: str = ""


def simulate(cell: Cell, rng: Generator) -> Simulated:
    """One draw of a cell."""
    seed = int(rng.integers(2**31))
    if cell.surface:
        return _of_surface(cell, seed)
    rows = _rows(cell, rng)
    names = [f"l{i}" for i in range(len(MIXES[cell.mix]))]
    if cell.model == "one answer":
        return Simulated(rows, lambda texts: [names[0]] * len(texts))
    if cell.model == "by lot":
        return Simulated(rows, lambda texts: [names[_lot(text, len(names))] for text in texts])
    model = Answers(cell, rows, names, np.random.default_rng(seed))
    # a label that no row has counts as no answer
    present = {row["label"] for row in rows}
    meant = {name: name if name in present else DECLINED for name in names} | {DECLINED: DECLINED}
    return Simulated(rows, model, ",".join(f"{name}={label}" for name, label in meant.items()))


def _of_surface(cell: Cell, seed: int) -> Simulated:
    kind = cell.surface if cell.surface in zoo.EVIDENCE else "plain"
    rows = zoo.evidence_rows(kind, cell.n, seed=seed)
    bag = zoo.bag_of_tokens(kind)
    match cell.surface:
        case "capital":
            return Simulated(rows, zoo.wants_capital(bag))
        case "lines":
            return Simulated(zoo.in_lines(rows), zoo.wants_lines(bag))
        case "double space":
            return Simulated(zoo.with_double_space(rows), zoo.wants_double_space(bag))
        case "truncated":
            return Simulated(zoo.long_rows(100, seed=seed), zoo.truncated(bag, 64))
    return Simulated(rows, bag)


def _rows(cell: Cell, rng: Generator) -> list[Row]:
    """Families of near copies, which differ in one word."""
    shares = MIXES[cell.mix]
    rows = []
    for family in range(cell.n // cell.copies):
        is_even = len(set(shares)) == 1
        gold = family % len(shares) if is_even else int(rng.choice(len(shares), p=shares))
        said = gold
        if rng.random() < MISLEADING:
            said = (gold + int(rng.integers(1, len(shares)))) % len(shares)
        words = rng.choice(WORDS, int(rng.integers(8, 12)), replace=False).tolist()
        words += [f"family{family}n{int(rng.integers(10**6))}", f"isl{said}"]
        rng.shuffle(words)
        for copy in range(cell.copies):
            text = " ".join([*words, f"copy{copy}"] if cell.copies > 1 else words)
            name = f"{family}.{copy}"
            rows.append({"id": name, "text": f"{text.capitalize()}.", "label": f"l{gold}"})
    return rows


@dataclass
class Answers:
    """The model of a cell: it reads a word or knows an order by heart, family by family."""

    cell: Cell
    rows: Sequence[Row]
    names: Sequence[str]
    rng: Generator
    known: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows:
            self.known[tuple(zoo.plain_words(row["text"]))] = _said(row["text"])

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """A label for each text, or none."""
        return [self._noisy(self._of(text)) for text in texts]

    def _of(self, text: str) -> str:
        by_heart = self.known.get(tuple(zoo.plain_words(text)))
        if by_heart is None and _number(f"refused {text}") < self.cell.refused:
            return DECLINED
        family = re.search(r"family\d+n\d+", text.lower())
        if family and _number(family[0]) < self.cell.kept:
            return _said(text)
        return by_heart or self.names[_lot(text, len(self.names))]

    def _noisy(self, label: str) -> str:
        if self.cell.noise and label != DECLINED and self.rng.random() < self.cell.noise:
            return str(self.rng.choice(np.array(self.names)))
        return label


def _said(text: str) -> str:
    """The label that a word of the text names."""
    found = re.search(r"is(l\d+)", text.lower())
    return found[1] if found else ""


def _number(text: str) -> float:
    return float(zoo._number(text))


def _lot(text: str, m: int) -> int:
    return int(_number(f"lot {text}") * m)


@dataclass
class Tally:
    """What was found in a cell: kinds, how many are wrong, and how the interval covers."""

    kinds: Counter[str] = field(default_factory=Counter)
    n: int = 0
    n_wrong: int = 0
    n_intervals: int = 0
    n_covered: int = 0
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Take in more simulations."""
        self.kinds += other.kinds
        for name in ("n", "n_wrong", "n_intervals", "n_covered", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def simulated(cell: Cell, number: int) -> Tally:
    """One simulation of a cell; its number is its seed."""
    began = time.process_time()
    rng = np.random.default_rng([number, *repr(cell).encode()])
    drawn = simulate(cell, rng)
    options: dict[str, Any] = {"labels": drawn.labels} if drawn.labels else {}
    run = disorder.audit(
        drawn.model,
        drawn.rows,
        with_="derange",
        q=Q,
        fidelity="natural",
        score=("skill_kept", "accuracy"),
        cache="off",
        seed=number,
        **options,
    )
    found = run.conclusion
    assert found is not None
    # few rows of a skewed mix may all have one label, and then nothing else is right
    has_labels = len({row["label"] for row in drawn.rows}) > 1
    right = cell.kinds if has_labels else {"one_gold_label"}
    tally = Tally(Counter([found.kind]), 1, int(found.kind not in right))
    if cell.truth is not None and found.low is not None and found.high is not None:
        tally.n_intervals = 1
        tally.n_covered = int(found.low - 1e-9 <= cell.truth <= found.high + 1e-9)
    tally.seconds = time.process_time() - began
    return tally


def stored(path: Path) -> dict[Cell, Tally]:
    """What a store has, by cell."""
    found: dict[Cell, Tally] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        record = json.loads(line)
        tally = Tally(Counter(record["tally"].pop("kinds")), **record["tally"])
        found.setdefault(Cell(**record["cell"]), Tally()).add(tally)
    return found


def run(path: Path, minutes: float, share: float, sizes: Sequence[int] = SIZES) -> None:
    """Simulate until every cell of these sizes has its number or the CPU time is spent, the
    emptiest first.
    """
    done = stored(path)
    wanted = {cell: round(share * SIMULATIONS[cell.n]) for cell in cells() if cell.n in sizes}
    began = time.process_time()
    with path.open("a", encoding="utf-8") as file:
        while time.process_time() - began < 60 * minutes:
            lacking = [
                (done[cell].n / n if cell in done else 0.0, cell.n, place, cell)
                for place, (cell, n) in enumerate(wanted.items())
                if cell not in done or done[cell].n < n
            ]
            if not lacking:
                return
            cell = min(lacking)[3]
            so_far = done.setdefault(cell, Tally())
            found = Tally()
            for number in range(so_far.n, min(wanted[cell], so_far.n + SIMULATIONS[cell.n] // 100)):
                found.add(simulated(cell, number))
            so_far.add(found)
            record = {"cell": asdict(cell), "tally": vars(found)}
            file.write(json.dumps(record) + "\n")
            file.flush()


def table(done: Mapping[Cell, Tally]) -> Iterator[str]:
    """One line per model and factor, one column per size; kinds of evidence that are all right are
    one line together.
    """
    sizes = " | ".join(f"n = {n:,}" for n in SIZES)
    yield f"| model | what differs | true skill kept | {sizes} |"
    yield "| --- | --- | ---: | --- | --- | --- |"
    plain = [c for c in done if c.surface in zoo.EVIDENCE and not done[c].n_wrong]
    lines: dict[tuple[str, str, str], dict[int, Tally]] = {}
    for cell, tally in done.items():
        truth = "–" if cell.truth is None else f"{cell.truth:.2f}"
        factor = f"{len(plain)} kinds of evidence word" if cell in plain else cell.factor
        found = lines.setdefault((cell.model, factor, truth), {})
        found.setdefault(cell.n, Tally()).add(tally)
    for (model, factor, truth), found in lines.items():
        shown = [_shown(found[n]) if n in found else "" for n in SIZES]
        yield f"| {model} | {factor} | {truth} | {' | '.join(shown)} |"
    yield ""
    yield _summary(done)


def _shown(tally: Tally) -> str:
    """The kinds; then the shares that are wrong and covered, each as the 95 % interval of the
    simulation.
    """
    kinds = " ".join(
        f"{kind} {_share(count / tally.n)}" for kind, count in tally.kinds.most_common(2)
    ).replace(" 1", "")
    shown = f"{kinds}; {_interval(tally.n_wrong, tally.n)}"
    if tally.n_intervals < tally.n / 2:
        return shown
    return f"{shown}; {_interval(tally.n_covered, tally.n_intervals)}"


def _interval(k: int, n: int) -> str:
    low, high = wilson(k / n, n)
    return f"{_share(low)}–{_share(high)}"


def _share(value: float) -> str:
    """A share without its zero."""
    text = f"{value:.2f}"
    return {"0.00": "0", "1.00": "1"}.get(text, text[1:])


def _summary(done: Mapping[Cell, Tally]) -> str:
    total = sum(tally.n for tally in done.values())
    wrong = sum(tally.n_wrong for tally in done.values())
    counted = [t for c, t in done.items() if c.truth is not None and t.n_intervals >= t.n / 2]
    intervals = sum(t.n_intervals for t in counted)
    covered = sum(t.n_covered for t in counted)
    seconds = sum(tally.seconds for tally in done.values())
    over = sum(tally.n_wrong > WORST * tally.n for tally in done.values())
    return (
        f"In a cell: kinds and how often, the share that is wrong, the share of intervals that "
        f"cover the truth. {total:,} simulated audits in {len(done)} of {len(cells())} cells "
        f"({_range(done)} each; {seconds / 60:.0f} "
        f"minutes of CPU), q = {Q}; wrong conclusions: {wrong}; cells with more than "
        f"{100 * WORST:g} % of them: {over}. Of {intervals:,} intervals, in cells where at least "
        f"half of the audits give one, {covered / max(1, intervals):.3f} cover the truth. "
        "Shares are given as 95 % intervals of the simulation itself."
    )


def _range(done: Mapping[Cell, Tally]) -> str:
    numbers = [tally.n for tally in done.values()]
    return f"{min(numbers)} to {max(numbers)}"


def write(page: Path, text: str, name: str = "zoo") -> None:
    """Put a table between its marks."""
    head, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, mark, tail = rest.partition(f"<!-- /{name} -->")
    if not mark:
        raise SystemExit(f"{page} has no <!-- {name} --> … <!-- /{name} -->")
    page.write_text(f"{head}<!-- {name} -->\n\n{text}\n\n{mark}{tail}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=Path, default=Path("zoo.jsonl"))
    parser.add_argument("--minutes", type=float, default=240.0, help="of CPU, at most")
    parser.add_argument("--share", type=float, default=1.0, help="of the simulations of each cell")
    parser.add_argument("--sizes", type=int, nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--write", type=Path, help="a page with <!-- zoo --> … <!-- /zoo -->")
    given = parser.parse_args()
    run(given.store, given.minutes, given.share, given.sizes)
    text = "\n".join(table(stored(given.store)))
    if given.write is None:
        print(text)
    else:
        write(given.write, text)


if __name__ == "__main__":
    main()
