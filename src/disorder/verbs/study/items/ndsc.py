"""NLI Data Sanity Check (Talman et al., 2021): its tables and figures, as pipelines."""

from __future__ import annotations

from disorder.transformations.applying.suites import CLASSES, SINGLE
from disorder.verbs.study.item import Item
from disorder.verbs.study.pipelines.audits import Audits
from disorder.verbs.study.pipelines.counts import Counts, removed
from disorder.verbs.study.pipelines.not_computed import Drawing
from disorder.verbs.study.pipelines.removal import AgainstOverlap, AgainstRemoved
from disorder.verbs.study.pipelines.training import Arm, Designs, Trained

BERT = {"hf:google-bert/bert-base-uncased": "BERT-base"}
ROBERTA = {"hf:ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli": "RoBERTa-large"}
ANLI = ("anli:r1", "anli:r2", "anli:r3")
MNLI = ("mnli:matched",)
DROPPED = tuple(f"drop_pos:tags={tag}" for tag in SINGLE)
SHUFFLED = tuple(f"shuffle_ngrams:n={n}" for n in (1, 2, 3))
FINE_TUNING = {"epochs": "10", "batch_size": "100"}
LARGE = {"epochs": "2", "batch_size": "16"}
NEEDS = ("nlp", "train")
DEV = "the paper's are ANLI's test sets, ours its development sets"
WITHOUT_NOUNS = "disorder perturb mnli:matched --with drop_pos:tags=NOUN --out nouns.jsonl"
REMOVED = "count the words that each transformation removes"
ACCURACY = Audits({"accuracy": "original/accuracy"}, q=1)

ITEMS = [
    Item(
        "ndsc/table1",
        Drawing(),
        takes="",
        shows="Three MNLI pairs without their nouns",
        commands=(WITHOUT_NOUNS,),
    ),
    Item(
        "ndsc/table2",
        Designs(tuple(CLASSES), settings=FINE_TUNING),
        models=BERT,
        data=MNLI,
        train="mnli:train",
        extras=NEEDS,
        takes="days",
    ),
    Item(
        "ndsc/table3",
        Trained(
            {"original": Arm(), "alldrop": Arm(on=("original", *DROPPED))},
            "trained_on",
            ACCURACY,
            FINE_TUNING,
        ),
        models=BERT,
        data=("mnli:matched", "mnli:mismatched"),
        train="mnli:train",
        extras=NEEDS,
        takes="days",
    ),
    Item(
        "ndsc/table4",
        Audits(
            {"accuracy": "accuracy", "delta": "delta"},
            DROPPED,
            by_transformation=True,
            more={"design": "corrupt-test"},
            q=1,
        ),
        models=ROBERTA,
        data=ANLI,
        extras=("nlp",),
        unlike=DEV,
    ),
    Item(
        "ndsc/table5",
        Trained(
            {"original": Arm(), "drop_pos:tags=NOUN": Arm(on=("drop_pos:tags=NOUN",))},
            "trained_on",
            ACCURACY,
            LARGE,
        ),
        models={"hf:FacebookAI/roberta-large": "RoBERTa-large"},
        data=ANLI,
        extras=NEEDS,
        takes="days",
        unlike=DEV,
    ),
    Item(
        "ndsc/table6",
        Audits({"accuracy": "accuracy"}, ("original", *SHUFFLED), by_transformation=True, q=1),
        models=ROBERTA,
        data=ANLI,
        unlike=DEV,
    ),
    Item(
        "ndsc/fig1",
        AgainstRemoved(Designs(DROPPED, only=("corrupt-train",), settings=FINE_TUNING)),
        models=BERT,
        data=MNLI,
        train="mnli:train",
        extras=NEEDS,
        takes="days",
        subject="BERT-base",
    ),
    Item(
        "ndsc/fig2",
        AgainstOverlap(
            Audits({"accuracy": "accuracy"}, ("original", *CLASSES), by_transformation=True, q=1)
        ),
        models={"hf:textattack/bert-base-uncased-MNLI": "BERT-base"},
        data=MNLI,
        extras=("nlp",),
    ),
    Item(
        "ndsc/appendix1",
        Drawing(),
        takes="",
        shows="Pairs without nouns that BERT still answers right",
        commands=(
            WITHOUT_NOUNS,
            "disorder audit MODEL mnli:matched --with drop_pos:tags=NOUN    # see its telling examples",
        ),
    ),
    Item(
        "ndsc/appendix2",
        Counts(removed, tuple(CLASSES), REMOVED),
        data=(*MNLI, "mnli:train"),
        extras=("nlp",),
    ),
    Item(
        "ndsc/appendix3", Counts(removed, DROPPED, REMOVED), data=ANLI, extras=("nlp",), unlike=DEV
    ),
]
