"""`disorder perturb`: writes perturbed texts, to look at or to use elsewhere."""

from __future__ import annotations

from disorder.cli.options import SomeData
from disorder.cli.output import print_json, show
from disorder.errors import DisorderError
from disorder.requests.option import declared_in
from disorder.requests.perturb import ExportOptions, PerturbOptions, PerturbOutput

RUN = {
    "lm-eval": "lm_eval --model hf --model_args pretrained=MODEL --tasks {found} "
    "--include_path {folder}",
    "inspect": "inspect eval {folder}/{found} --model PROVIDER/MODEL",
}  # how an exported task is run
AS_CHAT = " --apply_chat_template"
LEARN = (
    "train your model on these rows, with one label more: invalid. An audit takes it as an "
    "abstention, and says whether the model still keeps its skill without word order"
)


def perturb(
    data: SomeData, *, options: PerturbOptions, task: ExportOptions, output: PerturbOutput
) -> None:
    """Write the perturbed texts of DATA to a file or to the terminal, to train on, or as a task for
    lm-eval or inspect.

    Each line holds id, transformation, variant, text_a, text_b, label, positions_a, positions_b and
    measures of disorder (global_disorder, local_disorder, …); with --as training id, text_a,
    text_b, label, gold and transformation.
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
        run = RUN[as_].format(found=found, folder=out)
        run += AS_CHAT if as_ == "lm-eval" and task.get("chat") == "on" else ""
        show(texts.tally.result, [f"Task: {out}", f"run it: {run}"], is_error=True)
        return
    if task:
        names = ", ".join(declared_in(ExportOptions)[name].flags[0] for name in task)
        raise DisorderError(f"{names}: texts alone have no prompt; add --as lm-eval")
    if out is None or str(out) == "-":
        for record in texts if as_ == "jsonl" else texts.training_rows():
            print_json(record)
    else:
        texts.save(out, as_=as_)
    where = "standard output" if out is None or str(out) == "-" else str(out)
    learn = [LEARN] if as_ == "training" else []
    show(texts.tally.result, [f"Written to {where}", *learn], is_error=True)
