"""`disorder perturb`: writes perturbed texts, to look at or to use elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from disorder.cli.options import (
    Columns,
    DataDir,
    Fidelity,
    Labels,
    LabelWords,
    Language,
    Seed,
    Short,
    Shots,
    ShotsFrom,
    SomeData,
    TaskName,
)
from disorder.cli.output import print_json, print_text
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from disorder import types
    from disorder.verbs.perturb import Tally

RUN = {
    "lm-eval": "lm_eval --model hf --model_args pretrained=MODEL --tasks {found} "
    "--include_path {folder}",
    "inspect": "inspect eval {folder}/{found} --model PROVIDER/MODEL",
}  # how an exported task is run


def perturb(
    data: SomeData,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write, one JSON object per line (default: standard output); with --as a "
            "folder"
        ),
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            help="Transformation, e.g. derange or shuffle_ngrams:n=2+reverse; can be repeated",
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(help="Set of transformations instead: alldrop, order, … (as for audit)"),
    ] = None,
    q: Annotated[int, typer.Option(help="Variants of each example", min=1)] = 1,
    seed: Seed = 0,
    limit: Annotated[
        int | None, typer.Option(help="Take this many examples, drawn at random by seed", min=1)
    ] = None,
    fidelity: Fidelity = "paper",
    short: Short = "skip",
    columns: Columns = "",
    task: TaskName = None,
    language: Language = "auto",
    data_dir: DataDir = None,
    model: Annotated[
        str | None,
        typer.Option(help="Model whose important words are looked for (drop_least and the like)"),
    ] = None,
    labels: Labels = "",
    as_: Annotated[
        str,
        typer.Option(
            "--as",
            help="jsonl, or a folder with a task for another tool: lm-eval, inspect",
        ),
    ] = "jsonl",
    prompt: Annotated[
        str | None,
        typer.Option(help="Prompt of the task: a name (disorder list prompts) or a file"),
    ] = None,
    shots: Shots = 0,
    shots_from: ShotsFrom = None,
    label_words: LabelWords = "",
) -> None:
    """Write the perturbed texts of DATA to a file or to the terminal, or as a task for lm-eval or
    inspect.

    Each line holds id, transformation, variant, text_a, text_b, label, positions_a, positions_b.
    """
    from disorder.cli.progress import News
    from disorder.errors import DisorderError
    from disorder.verbs.perturb import perturb as perturb_texts

    News.show()
    texts = perturb_texts(
        data,
        with_=with_,
        suite=suite,
        q=q,
        seed=seed,
        limit=limit,
        fidelity=cast("types.Fidelity", fidelity),
        short=cast("Literal['skip', 'use']", short),
        columns=columns,
        task=task,
        language=language,
        data_dir=data_dir,
        model=model,
        labels=labels,
    )
    if as_ != "jsonl":
        if out is None:
            raise DisorderError(f"--as {as_} writes a folder: name it with --out")
        found = texts.export(
            out,
            as_=cast("Literal['lm-eval', 'inspect']", as_),
            prompt=prompt,
            shots=shots,
            shots_from=shots_from,
            label_words=label_words,
        )
        _say(texts.tally, str(out))
        print_text(f"run it: {RUN[as_].format(found=found, folder=out)}", is_error=True)
        return
    _check_jsonl(prompt=prompt, shots=shots, shots_from=shots_from, label_words=label_words)
    if out is None or str(out) == "-":
        for record in texts:
            print_json(record)
        _say(texts.tally, "standard output")
    else:
        texts.save(out)
        _say(texts.tally, str(out))


def _check_jsonl(**given: object) -> None:
    """Raise on options of prompts where there is none."""
    names = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if names:
        raise DisorderError(f"{', '.join(names)}: texts alone have no prompt; add --as lm-eval")


def _counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def _say(tally: Tally, out: str) -> None:
    """What was written, removed and left out, on standard error."""
    for note in tally.notes:
        print_text(note, is_error=True)
    if not tally.used:
        print_text(f"0 examples used, 0 variants written to {out}", is_error=True)
    for spec, n_used in tally.used.items():
        name = f"{spec}: " if len(tally.used) > 1 else ""
        n_written = tally.written[spec]
        used = _counted(n_used, "example")
        written = _counted(n_written, "variant")
        print_text(f"{name}{used} used, {written} written to {out}", is_error=True)
        removed = {side: n for side, n in tally.removed[spec].items() if n > 0}
        if removed:
            counts = " and ".join(f"{n:,} from text_{side}" for side, n in sorted(removed.items()))
            print_text(f"{name}words removed: {counts}", is_error=True)
    for spec, reasons in tally.skips.items():
        for reason, count in reasons.most_common():
            name = f"{spec}: " if len(tally.used) > 1 or spec == "data" else ""
            print_text(f"{name}left out: {count:,} ({reason})", is_error=True)
