"""`disorder sanity`: does this benchmark need reading, or can it be gamed?"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from disorder.cli import options as o
from disorder.cli.train import Device, Set, settings_of

Train = Annotated[
    str | None,
    o._option("Its training data (default: found by name for known sets, else cross-fitting)"),
]
SanityModel = Annotated[
    str,
    o._option(
        "What is trained: linear (quick), or one that `disorder train` knows: bilstm, hf:NAME_OR_FOLDER",
        "--model",
    ),
]
CHECKS = "order, texts, swap, classes, baselines, overlap, words, duplicates"
CheckName = Annotated[
    list[str] | None, o._option(f"Do this check only: {CHECKS}; can be repeated", "--check")
]
Margin = Annotated[float, o._option("Largest cost that still counts as none (0.05 is five points)")]
Skill = Annotated[
    float,
    o._option(
        "Least share of the way from chance to perfect that a model must go for a 'not needed'"
    ),
]
Folds = Annotated[
    int | None,
    o._option(
        "Cross-fit in this many parts, training data included (default: 5 where it is needed)"
    ),
]
SanityLimit = Annotated[
    int | None,
    o._option("Train on this many rows at most, drawn by seed (default 5,000)", "--limit"),
]
SanityOut = Annotated[
    Path | None, o._option("Folder of the report (default: runs/DATE-sanity-DATA)", "--out")
]
SanityJson = Annotated[
    bool, o._option("Print sanity.json on standard output and nothing else", "--json")
]


def sanity(
    data: o.SomeData,
    train: Train = None,
    model: SanityModel = "linear",
    check: CheckName = None,
    margin: Margin = 0.05,
    skill: Skill = 0.25,
    folds: Folds = None,
    limit: SanityLimit = None,
    seed: o.Seed = 0,
    set_: Set = None,
    device: Device = None,
    columns: o.Columns = "",
    group_by: o.GroupBy = None,
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    out: SanityOut = None,
    as_json: SanityJson = False,
) -> None:
    """Does DATA need word order, both texts, all word classes, or can it be gamed?

    Trains a quick model on whole and on perturbed texts, sets baselines beside it, looks for words
    that give labels away, for duplicates and leaks, and ends in a verdict a question with its
    interval: report.html, sanity.json, card.md.
    """
    from disorder.cli.progress import Bar
    from disorder.verbs.sanity import as_json as plain
    from disorder.verbs.sanity import sanity as start
    from disorder.verbs.sanity import write_folder

    given: dict[str, Any] = {
        "train": train,
        "model": model,
        "margin": margin,
        "skill": skill,
        "folds": folds,
        "limit": limit,
        "seed": seed,
        "task": task,
        "data_dir": data_dir,
        "device": device,
    }
    command = _command(data, given, check or [], columns, group_by or [], set_ or [])
    folder = out or o.new_folder("sanity", data)
    with _made(folder), Bar() as bar:
        result = start(
            data,
            checks=check or (),
            columns=o.mapping("--columns", columns),
            group_by=group_by or (),
            settings=settings_of(set_),
            progress=bar,
            **given,
        )
    write_folder(folder, result, command)
    if as_json:
        sys.stdout.write(json.dumps(plain(result), ensure_ascii=False) + "\n")
        return
    from rich.console import Console

    from disorder.verbs.sanity.terminal import show

    show(result, Console(), folder=str(folder))


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder, before any work is done for it; it goes again where the work fails."""
    from disorder.runs.run import make_folder

    new = [each for each in (folder, *folder.parents) if not each.exists()]
    make_folder(folder)
    is_done = False
    try:
        yield
        is_done = True
    finally:
        for each in () if is_done else new:
            with suppress(OSError):  # something else is in it by now
                each.rmdir()


USUAL = {"model": "linear", "margin": 0.05, "skill": 0.25, "seed": 0}


def _command(
    data: str,
    given: dict[str, Any],
    checks: list[str],
    columns: str,
    group_by: list[str],
    settings: list[str],
) -> str:
    """The command that repeats this: every option that differs from its default."""
    words = ["disorder", "sanity", data]
    for name, value in given.items():
        if value is not None and value != USUAL.get(name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    for flag, values in (("--check", checks), ("--group-by", group_by), ("--set", settings)):
        words += [word for value in values for word in (flag, value)]
    return shlex.join([*words, *(["--columns", columns] if columns else [])])
