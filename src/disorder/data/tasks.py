"""What does each dataset of the four papers ask, and where does its text live?

Labels stand in the order of the hub's class numbers. `breaks` is the text that Out of Order
shuffles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from disorder.types import Task

NLI = ("entailment", "neutral", "contradiction")
TWO_WAY = ("entailment", "not_entailment")


@dataclass(frozen=True)
class NamedSet:
    """A dataset known by name: its task, its hub address, and its splits (ours → hub's split, local
    file stems).
    """

    task: Task
    hub: str
    splits: Mapping[str, tuple[str, tuple[str, ...]]]
    usual: str


def _task(
    name: str,
    labels: tuple[str, ...],
    breaks: Literal["a", "b"],
    reject: str | None,
    default: str | None,
) -> Task:
    return Task(name, labels, breaks, reject, default, "zh" if name == "ocnli" else "en")


def _nli(name: str) -> Task:
    return _task(name, NLI, "b", "neutral", "entailment")


DEV = {"dev": ("validation", ("dev",)), "train": ("train", ("train", "train_part"))}

SETS: dict[str, NamedSet] = {
    "mnli": NamedSet(
        _nli("mnli"),
        "nyu-mll/glue/mnli",
        {
            "matched": ("validation_matched", ("dev_matched",)),
            "mismatched": ("validation_mismatched", ("dev_mismatched",)),
            "train": ("train", ("train", "train_part")),
        },
        "matched",
    ),
    "snli": NamedSet(
        _nli("snli"),
        "stanfordnlp/snli",
        {**DEV, "test": ("test", ("test",)), "train": ("train", ("train", "train_first100k"))},
        "dev",
    ),
    "anli": NamedSet(
        _nli("anli"),
        "facebook/anli",
        {f"r{i}": (f"dev_r{i}", (f"r{i}_dev", f"r{i}")) for i in (1, 2, 3)},
        "r1",
    ),
    "fever_nli": NamedSet(
        _nli("fever_nli"),
        "pietrolesci/nli_fever",
        {"dev": ("dev", ("dev", "semaug_validation"))},
        "dev",
    ),
    "ocnli": NamedSet(
        _nli("ocnli"), "clue/clue/ocnli", {**DEV, "train": ("train", ("train", "train_10k"))}, "dev"
    ),
    "cola": NamedSet(
        _task("cola", ("unacceptable", "acceptable"), "a", "unacceptable", None),
        "nyu-mll/glue/cola",
        DEV,
        "dev",
    ),
    "rte": NamedSet(
        _task("rte", TWO_WAY, "b", "not_entailment", "entailment"), "nyu-mll/glue/rte", DEV, "dev"
    ),
    "qqp": NamedSet(
        _task("qqp", ("not_duplicate", "duplicate"), "a", "not_duplicate", "duplicate"),
        "nyu-mll/glue/qqp",
        {**DEV, "dev": ("validation", ("dev", "dev_wang2017"))},
        "dev",
    ),
    "mrpc": NamedSet(
        _task("mrpc", ("not_equivalent", "equivalent"), "a", "not_equivalent", "equivalent"),
        "nyu-mll/glue/mrpc",
        DEV,
        "dev",
    ),
    "sst2": NamedSet(
        _task("sst2", ("negative", "positive"), "a", None, None), "nyu-mll/glue/sst2", DEV, "dev"
    ),
    "qnli": NamedSet(
        _task("qnli", TWO_WAY, "a", "not_entailment", "entailment"), "nyu-mll/glue/qnli", DEV, "dev"
    ),
    "stsb": NamedSet(_task("stsb", (), "a", None, None), "nyu-mll/glue/stsb", DEV, "dev"),
    "squad2": NamedSet(
        _task("squad2", ("answerable", "unanswerable"), "a", "unanswerable", None),
        "rajpurkar/squad_v2",
        DEV,
        "dev",
    ),
}

BUILTIN: dict[str, Task] = {
    "nli": _nli("nli"),
    "sentiment": _task("sentiment", ("negative", "positive"), "a", None, None),
    "acceptability": _task(
        "acceptability", ("unacceptable", "acceptable"), "a", "unacceptable", None
    ),
    "rare_nli": _nli("rare_nli"),
    "rare_sentiment": _task("rare_sentiment", ("negative", "positive"), "a", None, None),
}


def language_of(data: object, task: str | None) -> str:
    """The language that a data spec or a task is known to be in; English unless said."""
    name = str(data).partition(":")[0] if isinstance(data, str) else ""
    known = SETS[name].task if name in SETS else KNOWN.get(task or "")
    return "en" if known is None else known.language


KNOWN = {task.name: task for task in [*BUILTIN.values(), *(named.task for named in SETS.values())]}


def guess_task(
    name: str, labels: Iterable[str], *, is_pair: bool, is_question: bool = False
) -> Task:
    """A task for a file: that of a known set with the same labels, else one that only knows its
    labels.
    """
    found = sorted(set(labels))
    if is_question and set(found) <= set(KNOWN["squad2"].labels):
        return replace(
            KNOWN["squad2"], name=name
        )  # the question is what is perturbed; one label alone may be there
    breaks: Literal["a", "b"] = "b" if is_pair else "a"
    if (
        found
        and all(_is_number(label) for label in found)
        and any(float(label) % 1 for label in found)
    ):
        return Task(name, (), breaks)
    for known in KNOWN.values():
        if known.labels and set(found) <= set(known.labels) and len(found) > 1:
            return replace(known, name=name, breaks=breaks)
    return Task(name, tuple(found), breaks)


def _is_number(label: str) -> bool:
    try:
        return float(label) == float(label)
    except ValueError:
        return False
