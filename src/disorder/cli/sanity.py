"""`disorder sanity`: checks of a dataset, as a report and a dataset card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from disorder.cli import options as o
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json
from disorder.cli.resuming import resumable
from disorder.cli.train import Device, Set, settings_of

if TYPE_CHECKING:
    from disorder.verbs.sanity import Role

Train = Annotated[
    str | None,
    o.option("Its training data (default: found by name for known sets, else cross-fitting)"),
]
SanityModel = Annotated[
    str,
    o.option(
        "What is trained: linear (quick), or any that `disorder train` takes: bilstm, "
        "hf:NAME_OR_FOLDER",
        "--model",
    ),
]
CheckName = Annotated[
    list[str] | None,
    o.option("Run this check only (disorder list checks); can be repeated", "--check"),
]
Margin = Annotated[float, o.option("Largest cost that still counts as none (0.05 is five points)")]
Skill = Annotated[
    float,
    o.option(
        "Share of the way from chance to perfect that a model must have gone for a 'not needed'"
    ),
]
Folds = Annotated[
    int | None,
    o.option(
        "Cross-fit in this many parts, training data included (default: 5 where it is needed)"
    ),
]
SanityLimit = Annotated[
    int | None, o.option("Use this many rows of DATA, drawn at random by seed", "--limit")
]
TrainLimit = Annotated[
    int | None, o.option("Train on this many rows at most, drawn by seed (default 5,000)")
]
RoleName = Annotated[
    str,
    o.option(
        "benchmark: models are trained on such rows; challenge: they are trained elsewhere, and "
        "verdicts are read accordingly",
        "--role",
    ),
]
SanityOut = Annotated[
    Path | None, o.option("Folder of the report (default: runs/DATE-sanity-DATA)", "--out")
]
SanityJson = Annotated[
    bool, o.option("Print sanity.json on standard output and nothing else", "--json")
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
    train_limit: TrainLimit = None,
    role: RoleName = "benchmark",
    seed: o.Seed = 0,
    set_: Set = None,
    device: Device = None,
    columns: o.Columns = "",
    group_by: o.GroupBy = None,
    task: o.TaskName = None,
    language: o.Language = "auto",
    data_dir: o.DataDir = None,
    out: SanityOut = None,
    as_json: SanityJson = False,
) -> None:
    """Does DATA need word order, both texts, all word classes, or can it be gamed?

    Trains a quick model on original and on perturbed texts, sets baselines beside it, looks for
    words that give labels away, for duplicates and for leaks. Ends in one verdict per question,
    with its interval: report.html, sanity.json, card.md.
    """
    from disorder.cli.progress import Bar
    from disorder.runs.unfinished import UNFINISHED
    from disorder.verbs.sanity import as_json as plain_data
    from disorder.verbs.sanity import sanity as run_checks

    folder = out or o.new_folder("sanity", data)
    with resumable(folder, UNFINISHED), Bar() as bar:
        result = run_checks(
            data,
            train=train,
            model=model,
            check=check or (),
            margin=margin,
            skill=skill,
            folds=folds,
            limit=limit,
            train_limit=train_limit,
            role=cast("Role", role),
            seed=seed,
            columns=o.mapping("--columns", columns),
            task=task,
            language=language,
            data_dir=data_dir,
            group_by=group_by or (),
            settings=settings_of(set_),
            device=device,
            out=folder,
            progress=bar,
        )
    if as_json:
        print_json(plain_data(result))
        return
    from disorder.verbs.sanity.terminal import show

    show(result, new_console(), folder=str(folder))
