"""The board of docs/results/board: trains and audits the pairs of its list that are not there yet,
by the default audit, and writes the table.

python scripts/make_board.py FOLDER [--write] [NAME…]     (NAMEs limit what is run)

DISORDER_DATA names the folder of the papers' datasets; MINILM, ENCODER and SMOLLM2 are folders of
models (a fine-tuned MiniLM, all-MiniLM-L6-v2, SmolLM2). A run that was stopped is resumed.
"""

from __future__ import annotations

import argparse
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import disorder
from disorder.results.conclusion import NAMES
from disorder.results.run import Run

BOARD = Path(__file__).parents[1] / "docs" / "results" / "board"
PAGE = BOARD / "README.md"
BEGIN, END = "<!-- board -->\n", "<!-- /board -->"
NONE = "–"


@dataclass(frozen=True)
class Pair:
    """A model and data of the list, with settings of the audit."""

    model: str
    data: str
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of its run folder, without the folders of the machine."""
        parts = (Path(os.path.expandvars(each)).name.removesuffix(".jsonl.gz") for each in self)
        return "--".join(re.sub(r"[^A-Za-z0-9]+", "-", part) for part in parts)

    def __iter__(self) -> Iterator[str]:
        return iter((self.model, self.data))


def pairs() -> tuple[dict[str, Any], list[Pair]]:
    """What is trained, and the pairs; those of folders that are not named are left out."""
    listed = tomllib.loads((BOARD / "pairs.toml").read_text(encoding="utf-8"))
    limit = {"limit": listed["limit"]}
    every = [
        Pair(each["model"], data, limit | each.get("settings", {}))
        for each in listed["pair"]
        for data in each["data"]
    ]
    return listed["trained"], [pair for pair in every if "$" not in os.path.expandvars(str(pair))]


def run_all(folder: Path, only: list[str]) -> None:
    """Train and audit what is not done yet, in the folder, so that names stay short."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    trained, listed = pairs()
    for pair in listed:
        if only and not any(name in pair.name for name in only):
            continue
        model, data = map(os.path.expandvars, pair)
        made = model.partition(":")[2]
        if made in trained and not Path(made, "result.json").is_file():
            how = dict(trained[made])
            disorder.train("plain", how.pop("data"), out=made, seed=0, **how)
        out = Path("runs", pair.name)
        if not (out / "report.html").is_file():
            if (out / "run.json").is_file():
                disorder.resume(out)
            else:
                disorder.audit(model, data, out=out, seed=0, **pair.settings)
        print(pair.name, disorder.read_run(out).verdict.splitlines()[0], flush=True)


def table(folder: Path) -> Iterator[str]:
    """A line per run, by data."""
    yield "| model | data | examples | q | original | shuffled | skill kept | conclusion |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
    _, listed = pairs()
    for pair in sorted(listed, key=lambda pair: (Path(pair.data).name, pair.model)):
        out = folder / "runs" / pair.name
        if (out / "report.html").is_file():
            yield f"| {' | '.join(cells(pair, disorder.read_run(out)))} |"


def cells(pair: Pair, run: Run) -> Iterator[str]:
    """The cells of a run; the score is the main one of its task."""
    found = run.conclusion
    kind, _, model = pair.model.partition(":")
    short = Path(os.path.expandvars(model)).name
    yield f"`{kind}:{short}`" if model else f"`{kind}`"
    yield f"`{Path(pair.data).name.removesuffix('.jsonl.gz')}`"
    yield f"{run.n_examples:,}"
    yield str(run.settings["q"])
    transformation = found.transformation if found else ""
    metric = next(
        (name for name in ("accuracy", "spearman", "ndcg@10") if run.score("original", name)), ""
    )
    for where, what in (("original", metric), (transformation, metric)):
        yield shown(run, where, what)
    yield interval(found) if found and found.value is not None else NONE
    yield NAMES.get(found.kind, "not measured") if found else NONE


def shown(run: Run, transformation: str, metric: str) -> str:
    """A score with its interval."""
    score = run.score(transformation, metric)
    return NONE if score is None else interval(score)


def interval(found: Any) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    given = parser.parse_intermixed_args()
    folder = given.folder.resolve()
    run_all(folder, given.names)
    text = "\n".join(table(folder))
    if not given.write:
        print(text)
        return
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    PAGE.write_text(f"{head}{BEGIN}{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
