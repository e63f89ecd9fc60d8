"""`disorder audit`: does this model read, or only count words?"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from disorder.cli._options import Columns, DataDir, Fidelity, Seed, Short, TaskName, mapping

QUICK = 1000  # examples of the built-in data when no data is named


def audit(
    model: Annotated[
        str, typer.Argument(help="Model spec: builtin, hf:FOLDER, onnx:FOLDER, bow, python:MODULE:FUNCTION")
    ] = "builtin",
    data: Annotated[
        str | None, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
    ] = None,
    suite: Annotated[str, typer.Option(help="Set of transformations: order, salad, full")] = "order",
    with_: Annotated[
        list[str] | None, typer.Option("--with", help="Transformation instead of a suite; can be repeated")
    ] = None,
    q: Annotated[int, typer.Option(help="Permutations of each example")] = 100,
    seed: Seed = 0,
    limit: Annotated[int | None, typer.Option(help="Audit this many examples, drawn at random by seed")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder (default: runs/DATE-MODEL-DATA)")] = None,
    fidelity: Fidelity = "paper",
    short: Short = "skip",
    omega: Annotated[str, typer.Option(help="More thresholds x for Ω_x, e.g. 0.25,0.95")] = "",
    columns: Columns = "",
    labels: Annotated[str, typer.Option(help="What the model's labels mean: LABEL_0=entailment,LABEL_1=neutral")] = "",
    group_by: Annotated[list[str] | None, typer.Option(help="Split scores by this column; can be repeated")] = None,
    task: TaskName = None,
    data_dir: DataDir = None,
    batch_size: Annotated[int | None, typer.Option(help="Texts in a batch (default: by length)", min=1)] = None,
    score: Annotated[list[str] | None, typer.Option(help="Measure this score only; can be repeated")] = None,
    curtail: Annotated[
        bool, typer.Option("--curtail", help="Stop asking about an example once its Ω scores are decided")
    ] = False,
    stop_when: Annotated[str | None, typer.Option(help='Stop when sure enough, e.g. "width(p_c) < 0.02"')] = None,
    precision: Annotated[str, typer.Option(help="fp32, bf16, int8, or auto: a faster one if its answers agree")] = "fp32",
    agree: Annotated[float, typer.Option(help="Share of sampled answers that must agree for --precision auto")] = 0.995,
    engine: Annotated[str, typer.Option(help="Where the model runs: local or ray")] = "local",
    address: Annotated[str | None, typer.Option(help="Ray cluster to join (default: start one on this machine)")] = None,
    workers: Annotated[int | None, typer.Option(help="Ray workers (default: one a GPU, else two)", min=1)] = None,
    cache: Annotated[str | None, typer.Option(help="Folder of the prediction cache, or off")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with a run that was stopped")] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Say where the time went")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print run.json on standard output and nothing else")] = False,
) -> None:
    """Break the words of DATA in controlled ways, ask MODEL again, and say how much of its skill survives.

    Without arguments: the built-in model on 1,000 of the built-in examples, offline, in seconds.
    """
    from rich.console import Console

    from disorder.audit import audit as run_audit
    from disorder.audit import resume as resume_audit
    from disorder.cli._progress import Bar
    from disorder.report.html import write_report
    from disorder.report.terminal import show

    folder = resume or out or _new_folder(model, data or "builtin")
    with Bar() as bar:
        run = resume_audit(folder, listen=bar) if resume else run_audit(
            model, data or "builtin", out=folder, listen=bar, suite=suite, transformations=with_ or (), q=q, seed=seed,
            limit=QUICK if data is None and limit is None else limit, fidelity=fidelity, short=short,
            omega=[x.strip() for x in omega.split(",") if x.strip()], columns=mapping("--columns", columns),
            labels=mapping("--labels", labels), group_by=group_by or (), task=task, data_dir=data_dir,
            batch_size=batch_size, score=score or (), curtail=curtail, stop_when=stop_when, precision=precision,
            agree=agree, engine=engine, address=address, workers=workers, cache=cache,
        )  # fmt: skip
    write_report(folder, run)
    if as_json:
        sys.stdout.write(json.dumps(run.model_dump(), ensure_ascii=False) + "\n")
    else:
        show(run, Console(), folder=str(folder), profile=profile)


def _new_folder(model: str, data: str) -> Path:
    """A folder name that says what was audited and when, and is not taken."""
    words = [Path(spec).name.split(".")[0] if "/" in spec else spec for spec in (model, data)]
    name = "-".join("".join(char if char.isalnum() else "-" for char in word).strip("-") for word in words)
    first = folder = Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    number = 2
    while folder.exists():
        folder, number = first.with_name(f"{first.name}-{number}"), number + 1
    return folder
