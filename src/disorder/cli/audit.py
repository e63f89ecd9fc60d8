"""`disorder audit`: does this model read, or only count words?"""

from __future__ import annotations

import json
import sys
from typing import Any

from disorder.cli import options as o

QUICK = 1000  # examples of the built-in data when no data is named
OUTSIDE = (
    "model",
    "data",
    "out",
    "resume",
    "profile",
    "as_json",
)  # options that are no settings of an audit


def audit(
    model: o.Model = "builtin",
    data: o.Data = None,
    suite: o.Suite = "order",
    with_: o.With = None,
    q: o.Q = 100,
    seed: o.Seed = 0,
    limit: o.Limit = None,
    out: o.Out = None,
    resume: o.Resume = None,
    fidelity: o.Fidelity = "paper",
    short: o.Short = "skip",
    score: o.ScoreName = None,
    omega: o.Omega = "",
    curtail: o.Curtail = False,
    stop_when: o.StopWhen = None,
    columns: o.Columns = "",
    labels: o.Labels = "",
    group_by: o.GroupBy = None,
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    batch_size: o.BatchSize = None,
    precision: o.Precision = "fp32",
    agree: o.Agree = 0.995,
    engine: o.Engine = "local",
    address: o.Address = None,
    workers: o.Workers = None,
    cache: o.CacheFolder = None,
    profile: o.Profile = False,
    as_json: o.Json = False,
) -> None:
    """Does MODEL read DATA, or only count its words?

    Breaks the words in controlled ways, asks again, and says with intervals how much of the model's
    skill survives. Without arguments: the built-in model on 1,000 of the built-in examples,
    offline, in seconds.
    """
    settings = _settings({name: value for name, value in locals().items() if name not in OUTSIDE})
    if data is None and limit is None:
        settings["limit"] = QUICK
    folder = resume or out or str(o.new_folder(model, data or "builtin"))
    run = _audited(model, data or "builtin", folder, settings, is_resumed=resume is not None)
    if as_json:
        sys.stdout.write(json.dumps(run.model_dump(), ensure_ascii=False) + "\n")
    else:
        from rich.console import Console

        from disorder.report.terminal import show

        show(run, Console(), folder=folder, profile=profile)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """Options as the audit's settings: the same words, lists and mappings read from text."""
    given["transformations"] = given.pop("with_") or ()
    for name in ("score", "group_by"):
        given[name] = given[name] or ()
    for name in ("columns", "labels"):
        given[name] = o.mapping(f"--{name}", given[name])
    given["omega"] = [x.strip() for x in given["omega"].split(",") if x.strip()]
    return given


def _audited(
    model: str, data: str, folder: str, settings: dict[str, Any], *, is_resumed: bool
) -> Any:
    from disorder.cli.progress import Bar, News
    from disorder.verbs.audit.pipeline import audit as start
    from disorder.verbs.audit.pipeline import resume

    News.show()
    with Bar() as bar:
        return (
            resume(folder, progress=bar)
            if is_resumed
            else start(model, data, out=folder, progress=bar, **settings)
        )
