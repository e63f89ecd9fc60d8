"""The datasets of the four papers, and XNLI, by name: their tasks, hub addresses and splits.

Labels stand in the order of the hub's class numbers. `breaks` is the text that Out of Order
shuffles. A set is read from the data folder if it is there, else from the hub.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from disorder.data.examples import SourceRow
from disorder.data.hf import hf
from disorder.registry import Split, data
from disorder.types import Task

XNLI_LANGUAGES = (
    *("en", "ar", "bg", "de", "el", "es", "fr", "hi"),
    *("ru", "sw", "th", "tr", "ur", "vi", "zh"),
)
NLI_LABELS = ("entailment", "neutral", "contradiction")
TWO_WAY = ("entailment", "not_entailment")
DEV = Split("validation", ("dev",))
TRAIN = Split("train", ("train", "train_part"))
ROUNDS = (1, 2, 3)
ANLI_SPLITS = {
    **{f"r{i}": Split(f"dev_r{i}", (f"r{i}_dev", f"r{i}")) for i in ROUNDS},
    **{f"r{i}_test": Split(f"test_r{i}", (f"r{i}_test",)) for i in ROUNDS},
    **{f"r{i}_train": Split(f"train_r{i}", (f"r{i}_train",)) for i in ROUNDS},
    "dev": Split("", (), joins=("r1", "r2", "r3")),
    "test": Split("", (), joins=("r1_test", "r2_test", "r3_test")),
    "train": Split("", (), joins=("r1_train", "r2_train", "r3_train")),
}


def nli_task(name: str, *, language: str = "en") -> Task:
    """Three-way natural language inference: the hypothesis is perturbed."""
    return Task(name, NLI_LABELS, "b", "neutral", "entailment", language)


def named_set(
    about: str, task: Task, *, hub: str, splits: Mapping[str, Split], default: str = "dev"
) -> None:
    """Register a dataset that is known by name."""

    def rows(split: str = default) -> Iterator[SourceRow]:
        chosen = splits.get(split, Split(split, ()))
        return hf(f"{hub}:{chosen.hub}")

    rows.__doc__ = about
    form = f"{task.name}:{'|'.join(splits)}"
    enter = data(
        form=form, needs="datasets", task=task, hub=hub, splits=splits, default_split=default
    )
    enter(rows)


named_set(
    "MultiNLI (Williams et al., 2018): inference over ten genres.",
    nli_task("mnli"),
    hub="nyu-mll/glue/mnli",
    splits={
        "matched": Split("validation_matched", ("dev_matched",)),
        "mismatched": Split("validation_mismatched", ("dev_mismatched",)),
        "train": TRAIN,
    },
    default="matched",
)
named_set(
    "SNLI (Bowman et al., 2015): inference over image captions.",
    nli_task("snli"),
    hub="stanfordnlp/snli",
    splits={
        "dev": DEV,
        "train": Split("train", ("train", "train_first100k")),
        "test": Split("test", ("test",)),
    },
)
named_set(
    "Adversarial NLI (Nie et al., 2020): three rounds of inference written against models.",
    nli_task("anli"),
    hub="facebook/anli",
    splits=ANLI_SPLITS,
    default="r1",
)
named_set(
    "FEVER as inference (Nie et al., 2019): claims against evidence.",
    nli_task("fever_nli"),
    hub="pietrolesci/nli_fever",
    splits={"dev": Split("dev", ("dev", "semaug_validation")), "train": TRAIN},
)
named_set(
    "OCNLI (Hu et al., 2020): inference in Chinese.",
    nli_task("ocnli", language="zh"),
    hub="clue/clue/ocnli",
    splits={"dev": DEV, "train": Split("train", ("train", "train_10k"))},
)
named_set(
    "CoLA (Warstadt et al., 2019): whether a sentence is acceptable English.",
    Task("cola", ("unacceptable", "acceptable"), "a", "unacceptable"),
    hub="nyu-mll/glue/cola",
    splits={"dev": DEV, "train": TRAIN},
)
named_set(
    "RTE (GLUE): two-way entailment from four challenges.",
    Task("rte", TWO_WAY, "b", "not_entailment", "entailment"),
    hub="nyu-mll/glue/rte",
    splits={"dev": DEV, "train": TRAIN},
)
named_set(
    "Quora question pairs (GLUE): whether two questions ask the same.",
    Task("qqp", ("not_duplicate", "duplicate"), "a", "not_duplicate", "duplicate"),
    hub="nyu-mll/glue/qqp",
    splits={"dev": Split("validation", ("dev", "dev_wang2017")), "train": TRAIN},
)
named_set(
    "MRPC (Dolan and Brockett, 2005): whether two sentences say the same.",
    Task("mrpc", ("not_equivalent", "equivalent"), "a", "not_equivalent", "equivalent"),
    hub="nyu-mll/glue/mrpc",
    splits={"dev": DEV, "train": TRAIN},
)
named_set(
    "SST-2 (Socher et al., 2013): sentiment of film reviews.",
    Task("sst2", ("negative", "positive"), "a"),
    hub="nyu-mll/glue/sst2",
    splits={"dev": DEV, "train": TRAIN},
)
named_set(
    "QNLI (GLUE): whether a sentence answers the question.",
    Task("qnli", TWO_WAY, "a", "not_entailment", "entailment"),
    hub="nyu-mll/glue/qnli",
    splits={"dev": DEV, "train": TRAIN},
)
named_set(
    "STS-B (Cer et al., 2017): how alike two sentences are, from 0 to 5.",
    Task("stsb", (), "a"),
    hub="nyu-mll/glue/stsb",
    splits={"dev": DEV, "train": TRAIN},
)
named_set(
    "SQuAD 2.0 (Rajpurkar et al., 2018): whether a question can be answered from its passage.",
    Task("squad2", ("answerable", "unanswerable"), "a", "unanswerable"),
    hub="rajpurkar/squad_v2",
    splits={"dev": DEV, "train": TRAIN},
)


@data(
    form=f"xnli:{'|'.join(XNLI_LANGUAGES)}",
    needs="datasets",
    task=lambda split: nli_task("xnli", language=split or "en"),
    hub="facebook/xnli",
    splits={code: Split("validation", (f"dev_{code}",)) for code in XNLI_LANGUAGES},
    default_split="en",
)
def xnli(split: str = "en") -> Iterator[SourceRow]:
    """XNLI (Conneau et al., 2018): the same inference in fifteen languages, by language."""
    return hf(f"facebook/xnli/{split}:validation")
