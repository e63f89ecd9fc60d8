"""NLI Data Sanity Check (Talman et al., 2021): its tables and figures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from disorder.transformations.applying.suites import CLASSES, SINGLE
from disorder.verbs.study.item import study_item
from disorder.verbs.study.pipelines.accuracy_scatter import (
    AccuracyAgainstOverlap,
    LossAgainstRemovedWords,
)
from disorder.verbs.study.pipelines.audit_table import AuditTable
from disorder.verbs.study.pipelines.count_table import CountTable, removed_words
from disorder.verbs.study.pipelines.designs_table import DesignsTable
from disorder.verbs.study.pipelines.not_computed import Illustration
from disorder.verbs.study.pipelines.training_table import TrainingTable
from disorder.verbs.study.training_models import TrainingArm

item = partial(study_item, paper="NDSC", published=Path(__file__).with_suffix(".toml"))

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
REMOVED = "the words that each transformation removes"
ACCURACY = AuditTable({"accuracy": "original/accuracy"}, q=1)

item(
    "ndsc/table1",
    Illustration(),
    takes="",
    shows="Three MNLI pairs without their nouns",
    commands=(WITHOUT_NOUNS,),
)
item(
    "ndsc/table2",
    DesignsTable(tuple(CLASSES), settings=FINE_TUNING),
    models=BERT,
    data=MNLI,
    train="mnli:train",
    extras=NEEDS,
    takes="days",
)
item(
    "ndsc/table3",
    TrainingTable(
        {"original": TrainingArm(), "alldrop": TrainingArm(on=("original", *DROPPED))},
        "trained_on",
        ACCURACY,
        FINE_TUNING,
    ),
    models=BERT,
    data=("mnli:matched", "mnli:mismatched"),
    train="mnli:train",
    extras=NEEDS,
    takes="days",
)
item(
    "ndsc/table4",
    AuditTable(
        {"accuracy": "accuracy", "delta": "delta"},
        DROPPED,
        by_transformation=True,
        more={"design": "corrupt-test"},
        q=1,
    ),
    models=ROBERTA,
    data=ANLI,
    extras=("nlp",),
    not_comparable=DEV,
)
item(
    "ndsc/table5",
    TrainingTable(
        {"original": TrainingArm(), "drop_pos:tags=NOUN": TrainingArm(on=("drop_pos:tags=NOUN",))},
        "trained_on",
        ACCURACY,
        LARGE,
    ),
    models={"hf:FacebookAI/roberta-large": "RoBERTa-large"},
    data=ANLI,
    extras=NEEDS,
    takes="days",
    not_comparable=DEV,
)
item(
    "ndsc/table6",
    AuditTable({"accuracy": "accuracy"}, ("original", *SHUFFLED), by_transformation=True, q=1),
    models=ROBERTA,
    data=ANLI,
    not_comparable=DEV,
)
item(
    "ndsc/fig1",
    LossAgainstRemovedWords(DesignsTable(DROPPED, only=("corrupt-train",), settings=FINE_TUNING)),
    models=BERT,
    data=MNLI,
    train="mnli:train",
    extras=NEEDS,
    takes="days",
    subject="BERT-base",
)
item(
    "ndsc/fig2",
    AccuracyAgainstOverlap(
        AuditTable({"accuracy": "accuracy"}, ("original", *CLASSES), by_transformation=True, q=1)
    ),
    models={"hf:textattack/bert-base-uncased-MNLI": "BERT-base"},
    data=MNLI,
    extras=("nlp",),
)
item(
    "ndsc/appendix1",
    Illustration(),
    takes="",
    shows="Pairs without nouns that BERT still predicts correctly",
    commands=(
        WITHOUT_NOUNS,
        "disorder audit MODEL mnli:matched --with drop_pos:tags=NOUN    # see its telling examples",
    ),
)
item(
    "ndsc/appendix2",
    CountTable(removed_words, tuple(CLASSES), REMOVED),
    data=(*MNLI, "mnli:train"),
    extras=("nlp",),
)
item(
    "ndsc/appendix3",
    CountTable(removed_words, DROPPED, REMOVED),
    data=ANLI,
    extras=("nlp",),
    not_comparable=DEV,
)
