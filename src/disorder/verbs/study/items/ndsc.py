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
from disorder.verbs.study.pipelines.example_texts import ExampleTexts
from disorder.verbs.study.pipelines.illustration import Illustration
from disorder.verbs.study.pipelines.training_table import TrainingTable
from disorder.verbs.study.training_models import TrainingArm

item = partial(study_item, paper="NDSC", published=Path(__file__).with_suffix(".toml"))

BERT = {"hf:google-bert/bert-base-uncased": "BERT-base"}
ROBERTA = {"hf:ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli": "RoBERTa-large"}
ANLI = ("anli:r1_test", "anli:r2_test", "anli:r3_test")
ALL_NLI = "mnli:train+snli:train+fever_nli:train+anli:train"
MNLI = ("mnli:matched",)
DROPPED = tuple(f"drop_pos:tags={tag}" for tag in SINGLE)
SHUFFLED = tuple(f"shuffle_ngrams:n={n}{side}" for side in (",side=both", "") for n in (1, 2, 3))
FINE_TUNING = {"epochs": "10", "batch_size": "100"}
LARGE = {"epochs": "2", "batch_size": "16"}
NEEDS = ("nlp", "train")
AS_NLTK = {"words": "nltk_sentences", "tagger": "nltk:sentences"}  # word_tokenize, then pos_tag
AS_THEIRS = {"drop_pos": AS_NLTK, "keep_pos": AS_NLTK}
COUNTS = ("premises", "hypotheses", "total")
TEXTATTACK = "hf:textattack/bert-base-uncased-MNLI"
# its configuration says LABEL_0 to LABEL_2; github.com/QData/TextAttack/issues/684 has the order
TEXTATTACK_LABELS = {"LABEL_0": "contradiction", "LABEL_1": "entailment", "LABEL_2": "neutral"}
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
    part_settings=AS_THEIRS,
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
    part_settings=AS_THEIRS,
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
    part_settings=AS_THEIRS,
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
    train=ALL_NLI,
    extras=NEEDS,
    takes="days",
    part_settings=AS_THEIRS,
)
item(
    "ndsc/table6",
    AuditTable({"accuracy": "accuracy"}, ("original", *SHUFFLED), by_transformation=True, q=1),
    models=ROBERTA,
    data=ANLI,
)
item(
    "ndsc/fig1",
    LossAgainstRemovedWords(DesignsTable(DROPPED, only=("corrupt-train",), settings=FINE_TUNING)),
    models=BERT,
    data=MNLI,
    train="mnli:train",
    extras=NEEDS,
    takes="days",
    part_settings=AS_THEIRS,
    subject="BERT-base",
)
item(
    "ndsc/fig2",
    AccuracyAgainstOverlap(
        AuditTable({"accuracy": "accuracy"}, ("original", *CLASSES), by_transformation=True, q=1)
    ),
    models={TEXTATTACK: "BERT-base"},
    data=MNLI,
    extras=("nlp",),
    labels={TEXTATTACK: TEXTATTACK_LABELS},
    part_settings=AS_THEIRS,
)
item(
    "ndsc/appendix1",
    ExampleTexts("drop_pos:tags=NOUN", q=1),
    models={TEXTATTACK: "BERT-base"},
    data=MNLI,
    extras=("nlp",),
    labels={TEXTATTACK: TEXTATTACK_LABELS},
    part_settings=AS_THEIRS,
    shows="Pairs without nouns that the model still predicts correctly",
)
item(
    "ndsc/appendix2",
    CountTable(removed_words, COUNTS, tuple(CLASSES), REMOVED),
    data=(*MNLI, "mnli:train"),
    extras=("nlp",),
    part_settings=AS_THEIRS,
)
item(
    "ndsc/appendix3",
    CountTable(removed_words, COUNTS, DROPPED, REMOVED),
    data=ANLI,
    extras=("nlp",),
    part_settings=AS_THEIRS,
)
