"""`disorder perturb`: writes perturbed texts, to look at or to use elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disorder.cli.options import SomeData
from disorder.cli.output import print_json, print_text
from disorder.errors import DisorderError
from disorder.requests.option import declared_in
from disorder.requests.perturb import ExportOptions, PerturbOptions, PerturbOutput

if TYPE_CHECKING:
    from disorder.verbs.perturb import Tally

RUN = {
    "lm-eval": "lm_eval --model hf --model_args pretrained=MODEL --tasks {found} "
    "--include_path {folder}",
    "inspect": "inspect eval {folder}/{found} --model PROVIDER/MODEL",
}  # how an exported task is run
LEARN = (
    "train your model on these rows, with one label more: invalid. An audit takes it as an "
    "abstention, and says whether the model still keeps its skill without word order"
)


def perturb(
    data: SomeData, *, options: PerturbOptions, task: ExportOptions, output: PerturbOutput
) -> None:
    """Write the perturbed texts of DATA to a file or to the terminal, to train on, or as a task for
    lm-eval or inspect.

    Each line holds id, transformation, variant, text_a, text_b, label, positions_a, positions_b.
    """
    from disorder.cli.progress import News
    from disorder.verbs.perturb import perturb as perturb_texts

    News.show()
    texts = perturb_texts(data, **options)
    out, as_ = output["out"], output["as_"]
    if as_ == "lm-eval" or as_ == "inspect":
        if out is None:
            raise DisorderError(f"--as {as_} writes a folder: name it with --out")
        found = texts.export(out, as_=as_, **task)
        _say(texts.tally, str(out))
        print_text(f"run it: {RUN[as_].format(found=found, folder=out)}", is_error=True)
        return
    if task:
        names = ", ".join(declared_in(ExportOptions)[name].flags[0] for name in task)
        raise DisorderError(f"{names}: texts alone have no prompt; add --as lm-eval")
    if out is None or str(out) == "-":
        for record in texts if as_ == "jsonl" else texts.training_rows():
            print_json(record)
        _say(texts.tally, "standard output")
    else:
        texts.save(out, as_=as_)
        _say(texts.tally, str(out))
    if as_ == "training":
        print_text(LEARN, is_error=True)


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
