"""Out of Order (Pham et al., 2021): its tables and figures, as pipelines."""

from __future__ import annotations

from disorder.verbs.study.item import Item
from disorder.verbs.study.pipelines.audits import Audits
from disorder.verbs.study.pipelines.explanations import Explained
from disorder.verbs.study.pipelines.inside import (
    Lexicons,
    Looked,
    ablated,
    distances,
    layers,
    weights,
)
from disorder.verbs.study.pipelines.not_computed import Drawing
from disorder.verbs.study.pipelines.order import MOVES, SHUFFLES, Filters, Order
from disorder.verbs.study.pipelines.tasks import Tasks
from disorder.verbs.study.pipelines.training import Arm

GLUE = ("cola:dev", "rte:dev", "qqp:dev", "mrpc:dev", "sst2:dev", "qnli:dev", "stsb:dev")
ROUNDS = ("anli:r1", "anli:r2", "anli:r3")
TRAINING = {"epochs": "3", "lr": "2e-5", "batch_size": "32", "max_length": "128"}
WHOLE = Audits(
    {"accuracy": "original/accuracy", "spearman": "original/spearman"}, SHUFFLES[:1], q=1
)
SHUFFLE = Order(SHUFFLES[:1], by_transformation=False)
PRETASK = {"plain": Arm(), "order_pretask": Arm("order_pretask")}
COUNTS = dict.fromkeys(("dev", "step1", "step2", "step3", "total"), "count")

BY_CODE = dict.fromkeys(
    ("accuracy", "confidence", "wos", "spearman", *tuple(COUNTS)[1:]),
    "the paper's dev-r is that of its code, which takes texts of several sentences too, but for CoLA; judge with "
    "--fidelity released",
)

BASE = {"hf:FacebookAI/roberta-base": "RoBERTa-base"}
LARGE = {"hf:FacebookAI/roberta-large": "RoBERTa-large"}
FOUR = {
    **BASE,
    "hf:albert/albert-base-v2": "ALBERT-base",
    "hf:google-bert/bert-base-uncased": "BERT-base",
    **LARGE,
}
QNLI, SST, STS = ("qnli:dev",), ("sst2:dev",), ("stsb:dev",)
INSIDE = ("hf", "explain")

ONE_QUESTION = (
    "One question with runs of three, two and one words shuffled, and with two nouns swapped"
)
SHUFFLED = tuple(
    f"disorder perturb qqp:dev --with {spec} --q 1 --limit 5 --out texts.jsonl" for spec in MOVES
)

ITEMS = [
    Item("ooo/table1", Drawing(), takes="", shows=ONE_QUESTION, commands=SHUFFLED),
    Item(
        "ooo/table2",
        Tasks(Order(), settings=TRAINING),
        data=GLUE,
        extras=("nlp",),
        takes="hours",
        by_code=BY_CODE,
    ),
    Item("ooo/table3", Looked("heads", read=ablated), data=QNLI, extras=INSIDE),
    Item(
        "ooo/table4",
        Tasks(SHUFFLE, PRETASK, settings=TRAINING),
        models=BASE,
        data=GLUE[1:6],
        takes="hours",
        by_code=BY_CODE,
    ),
    Item(
        "ooo/table5",
        Tasks(WHOLE, PRETASK, settings=TRAINING),
        models=BASE,
        data=(*GLUE[1:6], "squad2:dev"),
        takes="hours",
    ),
    Item("ooo/tableA1", Looked("heads", read=distances), data=QNLI, extras=INSIDE),
    Item(
        "ooo/tableA2",
        Tasks(Order(), settings=TRAINING),
        data=ROUNDS,
        extras=("nlp",),
        takes="hours",
        by_code=BY_CODE,
    ),
    Item("ooo/tableA3", Lexicons("lime"), data=SST),
    Item(
        "ooo/tableA4",
        Tasks(Filters(), settings=TRAINING, units=COUNTS, kind="counts"),
        models=BASE,
        data=GLUE,
        fidelity="released",
        by_code=BY_CODE,
    ),
    Item(
        "ooo/tableA5",
        Tasks(Order(), settings=TRAINING),
        models=LARGE,
        data=GLUE,
        extras=("nlp",),
        takes="hours",
        by_code=BY_CODE,
    ),
    Item("ooo/tableA6", Tasks(WHOLE, settings=TRAINING), models=FOUR, data=GLUE, takes="hours"),
    Item("ooo/fig1", Looked("lime"), data=("qqp:dev",)),
    Item("ooo/fig2", Explained("similarity", "shuffle_ngrams:n=1", q=10), data=STS),
    Item("ooo/fig3", Looked("lime"), data=SST),
    Item("ooo/fig4", Looked("heads"), data=QNLI, extras=INSIDE),
    Item("ooo/figA1", Looked("heads", read=layers), data=QNLI, extras=INSIDE),
    Item("ooo/figA2", Looked("lime"), data=("cola:dev",)),
    Item("ooo/figA3", Looked("lime"), data=("mrpc:dev",)),
    Item("ooo/figA4", Looked("lime"), data=("rte:dev",)),
    Item("ooo/section33", Looked("lime", read=weights), data=GLUE[:6]),
]
