"""What to do after an audit: one to three commands that can run for this model, task and data.

They follow from the kind of the conclusion. A folder names model, data and columns of its run,
unless loading the model runs code or reaches a server: then the command names it. A model or data
that was given as a Python object has no command.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from disorder.registry import DataPart, ModelPart, NetworkPart, PromptPart, parts
from disorder.requests.audit import AuditOptions, SamplingOptions
from disorder.requests.explain import ExplainOptions
from disorder.requests.groups import ReadingOptions
from disorder.requests.option import (
    changed,
    command_line,
    declared_in,
    must_be_named,
    must_be_said,
)
from disorder.requests.plan import PlanOptions
from disorder.requests.settings import resume_line
from disorder.results.result import NextStep
from disorder.results.run import NEEDS, Run
from disorder.results.run_tables import command
from disorder.types import is_about_texts

MOST = 3
LOGGED = "log:"  # what the data of another tool's logs begin with: no verb reads them
IN_MEMORY = "data"  # how rows that were given as they are are called
FEWEST_ROWS = 50  # that `sanity` trains on
PILOT = 500  # examples that a plan tries at most
TRAINABLE = ("hf", "bow")  # models that `train` can start from, beside its networks
KEEPS = ("bag_of_words", "bag_or_misled", "order_not_used", "mixed_or_bag", "mixed")
THEIR_OWN = "TRAIN.jsonl"  # stands for data that only the user has
LOSES = ("reads_order", "reads_or_mixed")


def next_steps(run: Run) -> list[NextStep]:
    """What to type next."""
    if run.status != "done":
        return [] if run.folder is None else [NextStep(resume_line(run.folder), "resume it")]
    rest = list(_rest(run))
    return [*islice(_steps(run), MOST - len(rest)), *rest] or list(_report(run))


def _steps(run: Run) -> Iterator[NextStep]:
    kind = "" if run.conclusion is None else run.conclusion.kind
    is_part = not is_about_texts(run.settings.get("break_"))
    is_of_labels = run.kind == "labels" and not run.is_likelihood and not is_part
    if kind and run.kind == "choice" and not is_part:
        yield from _options(run)
    if kind and is_of_labels:
        if kind in KEEPS:
            yield from _explain(run, "which words it relies on")
            yield from _sanity(run, "whether this data needs word order")
            yield from _train(run)
        elif kind in LOSES:
            yield from _gate(run)
            yield from _explain(run, "which words and orders matter")
        elif kind == "misled_by_order":
            yield from _explain(run, "what it relies on")
            yield from _sanity(run, "what is wrong with this data")
        elif kind == "surface":
            yield from _perturb(run)
            yield from _explain(run, "what it relies on")
        elif kind == "undecided":
            yield from _more(run)
            yield from _explain(run, "what it relies on")
        elif kind == "no_skill":
            yield from _sanity(run, "whether these labels can be learnt")


def _source(run: Run, request: type) -> list[str]:
    """How a command names model and data of a run: by its folder where that may say it all, else by
    their specs and how they are read; empty where one of them has none.
    """
    is_spec = run.model.partition(":")[0] in parts(ModelPart)
    if not is_spec or run.data == IN_MEMORY:
        return []
    prompts = set(run.settings.get("prompt") or ()) - parts(PromptPart).keys()
    says_more = prompts or must_be_said(request, run.settings)
    if run.folder is not None and not must_be_named(run.model) and not says_more:
        return [str(run.folder)]
    return [run.model, run.data, *changed(request, _read(run))]


def _read(run: Run) -> dict[str, Any]:
    """The settings of a run but those that say what is drawn."""
    drawn = {each.recorded_name for each in declared_in(SamplingOptions).values()}
    return {name: value for name, value in run.settings.items() if name not in drawn}


def _explain(run: Run, why: str) -> Iterator[NextStep]:
    source = _source(run, ExplainOptions)
    if source:
        yield NextStep(command_line("explain", *source), why)


def _sanity(run: Run, why: str) -> Iterator[NextStep]:
    is_known = any(group.startswith(NEEDS) for group in run.groups)
    command = sanity_command(run)
    if command and run.data != IN_MEMORY and not is_known:
        yield NextStep(command, why)


def sanity_command(run: Run) -> str:
    """What to type to find out whether the data needs word order; empty where it is too small."""
    if run.n_available < FEWEST_ROWS or run.kind != "labels" or run.data.startswith(LOGGED):
        return ""
    if run.data == IN_MEMORY:
        return "disorder.sanity with the same data"
    return command_line("sanity", run.data, *changed(ReadingOptions, run.settings))


def _train(run: Run) -> Iterator[NextStep]:
    """Train the weakness away where `train` can start from this model, else what to give to one's
    own training.
    """
    data, more, whose = _training_data(run)
    if not data or run.conclusion is None or not run.labels:
        return
    words = [data, "--with", run.conclusion.transformation]
    kind, _, address = run.model.partition(":")
    if kind in (*TRAINABLE, *parts(NetworkPart)) and address:
        words = ["entropic", *words, "--model", run.model, *more]
        if run.folder is not None:
            words += ["--audit", str(run.folder)]
        yield NextStep(command_line("train", *words), f"train the weakness away{whose}")
    else:
        words += [*more, "--as", "training", "--out", "rows.jsonl"]
        why = f"rows to train it on{whose}"
        yield NextStep(command_line("perturb", *words), why)


def _training_data(run: Run) -> tuple[str, list[str], str]:
    """Data to learn from, how it is read, and what to say of it: the training split of a named set;
    for a file a name that stands for the user's own. Empty where there is neither.
    """
    name = run.data.partition(":")[0]
    part = parts(DataPart).get(name)
    if part is not None:
        return (f"{name}:train" if "train" in part.splits else "", [], "")
    if run.data == IN_MEMORY:
        return "", [], ""
    read = [*changed(ReadingOptions, run.settings)]
    return THEIR_OWN, read, f" ({THEIR_OWN}: yours)"


def _options(run: Run) -> Iterator[NextStep]:
    """Multiple choice: the same questions, with their options in another order."""
    if _source(run, AuditOptions):
        words = changed(AuditOptions, {**_read(run), "break_": "options"})
        why = "whether it goes by the place of an option"
        yield NextStep(command_line("audit", run.model, run.data, *words), why)


def _gate(run: Run) -> Iterator[NextStep]:
    if run.folder is not None and run.conclusion is not None:
        rule = f"{run.conclusion.transformation}:skill_kept > {run.settings.get('bag_above', 0.8)}"
        yield NextStep(command_line("gate", run.folder, "--fail-if", rule), "keep it so, in CI")


def _perturb(run: Run) -> Iterator[NextStep]:
    """Show what else changes in the texts."""
    if run.conclusion is not None and run.data != IN_MEMORY:
        with_ = ["--with", f"surface:of={run.conclusion.transformation}", "--limit", "5"]
        words = changed(ReadingOptions, run.settings)
        yield NextStep(
            command_line("perturb", run.data, *with_, *words), "what else changes in the texts"
        )


def _more(run: Run) -> Iterator[NextStep]:
    """More examples where there are some, else how many are needed; without skill that shows,
    whether there is any to be had.
    """
    found = run.conclusion
    source = _source(run, PlanOptions)
    if found is None or found.value is None:
        yield from _sanity(run, "whether these labels can be learnt")
        return
    if not source:
        return
    more = found.more_examples
    if more is not None and run.settings.get("limit") and run.n_available > run.n_examples:
        limit = min(run.n_available, run.n_examples + more)
        yield NextStep(command(run, limit=limit), "decide it")
    else:
        pilot = ["--pilot-examples", str(min(run.n_examples, PILOT))]  # a ratio shows in these
        yield NextStep(command_line("plan", *source, *pilot), "how many examples would decide it")


def _rest(run: Run) -> Iterator[NextStep]:
    """Predict what a run left out that ended as soon as it was decided."""
    is_spec = run.model.partition(":")[0] in parts(ModelPart)
    if run.cut_short is None or run.folder is None or not is_spec:
        return
    said = {name: run.settings[name] for name in must_be_said(AuditOptions, run.settings)}
    named = run.model if must_be_named(run.model) else ""
    command = resume_line(run.folder, named, **said, until="never")
    yield NextStep(command, "predict the other examples too")


def _report(run: Run) -> Iterator[NextStep]:
    if run.folder is None:
        return
    if run.kind in ("labels", "choice") and not run.is_likelihood:
        words = ("report", run.folder, "--examples", "examples.csv")
        yield NextStep(command_line(*words), "look at its predictions")
    else:
        yield NextStep(command_line("report", run.folder, "--all"), "everything that was measured")
