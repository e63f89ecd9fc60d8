"""BERT & Family Eat Word Salad (Gupta et al., 2021): its tables and figures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from disorder.verbs.study.item import study_item
from disorder.verbs.study.pipelines.audit_table import AuditTable
from disorder.verbs.study.pipelines.human_table import HumanTable
from disorder.verbs.study.pipelines.illustration import Illustration
from disorder.verbs.study.pipelines.mitigation_table import MitigationTable
from disorder.verbs.study.pipelines.per_task_training import PerTaskTraining
from disorder.verbs.study.pipelines.printed_texts import PrintedTexts
from disorder.verbs.study.pipelines.salad_scores import LEXICAL, PBSMT, SALAD, SaladScores
from disorder.verbs.study.training_models import TrainingArm

TOML = Path(__file__).with_suffix(".toml")
item = partial(study_item, paper="WS", published=TOML)

SETS = ("mnli:matched", "snli:dev", "qqp:dev", "mrpc:dev", "sst2:dev")
MNLI = ("mnli:matched",)
EXAMPLE_SETS = ("mnli:matched", "qqp:dev", "sst2:dev")
TRAINING = {"epochs": "3", "lr": "2e-5"}
CALIBRATED = {
    name: TrainingArm(name) for name in ("plain", "label_smoothing", "focal", "temperature")
}
ORIGINALS = AuditTable(
    {"accuracy": "original/accuracy", "confidence": "original/confidence"}, ("sort",), q=1
)
CALIBRATION = AuditTable({"accuracy": "original/accuracy", "ece": "original/ece"}, ("sort",), q=1)
ACCURACY = AuditTable({"accuracy": "original/accuracy"}, ("sort",), q=1)
ON_SALAD = {"shuffle": TrainingArm(on=("shuffle",)), "original": TrainingArm()}

BY_CODE = dict.fromkeys(
    (
        "transformation=shuffle",
        "transformation=mean of lexical",
        "transformation=mean of all",
        "trained_on=shuffle",
    ),
    "the paper's code shuffles without the rule that no two words stay together; "
    "judge with --fidelity released",
)

BASE = {"hf:FacebookAI/roberta-base": "RoBERTa-base"}
FAMILY = {
    "hf:google-bert/bert-base-uncased": "BERT-base",
    "hf:google-bert/bert-large-uncased": "BERT-large",
    **BASE,
    "hf:FacebookAI/roberta-large": "RoBERTa-large",
    "hf:albert/albert-base-v2": "ALBERT-base",
    "hf:facebook/bart-base": "BART-base",
    "hf:google/electra-base-discriminator": "ELECTRA-base",
    "hf:xlnet/xlnet-base-cased": "XLNet-base",
}
MEANS = SaladScores(single=PBSMT, means=("mean of lexical", "mean of gradient"))
OVERALL = SaladScores(single=(), means=("mean of all",), is_named=False)
SORTED = SaladScores("confidence", means=(), transformations=("sort",), original=True)
NOT_TO_BE_HAD = {
    "model=SpanBERT-base": "SpanBERT's weights are pickled, which is never loaded; convert them "
    "and name the folder --as SpanBERT-base",
    "model=ESIM-ELMo": "ELMo's weights are in a format that no kept-up library reads",
}
ABSTAINING = MitigationTable(
    {
        "threshold": "threshold:rule=grid",
        "entropic": "entropic:lam=0.1/1/10,rule=grid",
        "invalid_class": "invalid_class",
        "threshold that abstains on 5 % of valid texts": "threshold",
        "entropic, λ = 1, that abstains on 5 % of valid texts": "entropic",
    },
    settings=TRAINING,
)
ONE_BY_ONE = MitigationTable({"plain": "plain"}, transfer="invalid_class", settings=TRAINING)
PEOPLE = ("disorder human serve task", "disorder human score task")
NINE = " ".join(f"--with {name}" for name in SALAD[:-1])
VALID = (
    f"disorder audit MODEL mnli:matched --q 1 {NINE} --with pbsmt:train=mnli:train --out runs/mine",
    "disorder human make runs/mine --out task --task valid --n 800",
    *PEOPLE,
    "disorder study ws/table4 task",
)
LABELS = (
    "disorder human make mnli:matched --out task --with shuffle --with sort",
    *PEOPLE,
    "disorder study ws/human task",
)
NAMES = ("disorder list transformations",)
OTHER_PEOPLE = "other people answered, about other texts"

item(
    "ws/table1",
    PerTaskTraining(
        PrintedTexts(
            TOML,
            "table1",
            SaladScores("confidence", means=(), transformations=LEXICAL, original=True),
        ),
        settings=TRAINING,
    ),
    models=BASE,
    data=EXAMPLE_SETS,
)
item(
    "ws/table2",
    Illustration(),
    takes="",
    shows="Transformations that keep the words and lose their order",
    commands=NAMES,
)
item(
    "ws/table3",
    Illustration(),
    takes="",
    shows="Transformations chosen by the words that matter to the model",
    commands=NAMES,
)
item(
    "ws/table4",
    HumanTable("invalid"),
    commands=VALID,
    takes="hours of people",
    not_comparable=OTHER_PEOPLE,
)
item("ws/table5", PerTaskTraining(ORIGINALS, settings=TRAINING), models=BASE, data=SETS)
item(
    "ws/table6",
    PerTaskTraining(SaladScores(chance=True), settings=TRAINING),
    models=BASE,
    data=SETS,
    takes="hours",
    by_code=BY_CODE,
)
item(
    "ws/table7",
    PerTaskTraining(SaladScores("confidence", chance=True), settings=TRAINING),
    models=BASE,
    data=SETS,
    takes="hours",
    by_code=BY_CODE,
)
item(
    "ws/table8",
    PerTaskTraining(CALIBRATION, CALIBRATED, settings=TRAINING),
    models=BASE,
    data=MNLI,
    takes="hours",
)
item(
    "ws/table9",
    PerTaskTraining(MEANS, CALIBRATED, settings=TRAINING),
    models=BASE,
    data=MNLI,
    takes="hours",
    by_code=BY_CODE,
)
item(
    "ws/table10",
    PerTaskTraining(OVERALL, settings=TRAINING),
    models=FAMILY,
    data=MNLI,
    takes="hours",
    by_code={"agreement": BY_CODE["transformation=shuffle"]},
    out_of_reach=NOT_TO_BE_HAD,
)
item(
    "ws/table11",
    PerTaskTraining(ACCURACY, ON_SALAD, key="trained_on", settings=TRAINING),
    models=BASE,
    data=SETS,
    takes="hours",
    by_code=BY_CODE,
)
item("ws/table12", ABSTAINING, models=BASE, data=SETS, takes="hours")
item("ws/transfer", ONE_BY_ONE, data=MNLI, takes="hours", by_code=BY_CODE)
item(
    "ws/human",
    HumanTable("accuracy"),
    commands=LABELS,
    takes="hours of people",
    not_comparable=OTHER_PEOPLE,
)
item(
    "ws/fig1",
    PerTaskTraining(PrintedTexts(TOML, "fig1", SORTED), settings=TRAINING),
    models=BASE,
    data=MNLI,
)
