"""UnNatural Language Inference (Sinha et al., 2021): its tables and figures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from disorder.verbs.study.item import study_item
from disorder.verbs.study.means import MeanRow
from disorder.verbs.study.pipeline import Reach
from disorder.verbs.study.pipelines.audit_table import AuditTable
from disorder.verbs.study.pipelines.count_table import CountTable, usable_examples
from disorder.verbs.study.pipelines.example_texts import ExampleTexts
from disorder.verbs.study.pipelines.explanation_figure import CellPlace, ExplanationFigure
from disorder.verbs.study.pipelines.human_table import HumanTable
from disorder.verbs.study.pipelines.illustration import Illustration
from disorder.verbs.study.pipelines.training_table import TrainingTable
from disorder.verbs.study.training_models import TrainingArm

item = partial(study_item, paper="UNLI", published=Path(__file__).with_suffix(".toml"))

SETS = ("mnli:matched", "mnli:mismatched", "snli:dev", "snli:test", "anli:r1", "anli:r2", "anli:r3")
MODELS = {
    "hf:FacebookAI/roberta-large-mnli": "RoBERTa-Large",
    "hf:facebook/bart-large-mnli": "BART-Large",
    "hf:typeform/distilbert-base-uncased-mnli": "DistilBERT",
}
ENCODERS = {
    "hf:FacebookAI/roberta-large": "RoBERTa-Large",
    "hf:facebook/bart-large": "BART-Large",
    "hf:distilbert/distilbert-base-uncased": "DistilBERT",
}
ACCEPTANCE = {
    "accuracy": "original/accuracy",
    "omega_max": "omega_max",
    "p_c": "p_c",
    "p_f": "p_f",
    "omega_rand": "omega_rand",
}
FINE_TUNING = {"lr": "1e-5", "epochs": "2", "warmup": "0.1", "max_length": "156", "clip": "1.0"}
ENTROPY = {
    "plain": TrainingArm(),
    "max_entropy:fidelity=released": TrainingArm(
        "max_entropy", settings={"fidelity": "released"}, never_abstains=True
    ),
    "max_entropy": TrainingArm("max_entropy", never_abstains=True),
}  # the paper's models do not abstain
BY_CODE = dict.fromkeys(
    ("omega_max", "p_c", "p_f", "omega_rand", "used"),
    "the paper counts as its code does: pairs with 100 distinct permutations of both texts only, "
    "P_c over those with at least one right; judge with --fidelity released",
)
PEOPLE = (
    "disorder audit MODEL mnli:matched --with derange --out runs/mine",
    "disorder human make runs/mine --out task --n 200 --annotators x,y",
    "disorder human serve task",
    "disorder human score task",
    "disorder study unli/table4 task",
)


OVER_ALL = MeanRow("data", "mean", SETS)
TRANSFORMERS = MeanRow("model", "Transformers", tuple(MODELS.values()))
IN_DOMAIN = MeanRow("data", "MNLI and SNLI", SETS[:4])
ANY_MODEL = "a statement about every model; the row of each shows whether it holds"
TREE = {"minitree": {"n_train": "0"}}  # all training data, as in the paper


def by_overlap(name: str) -> CellPlace | None:
    """A range of BLEU-2 as what the row is about.

    >>> by_overlap("bleu2_0.00-0.15")
    ({'bleu2': '0-0.15'}, 'acceptance')
    """
    if not name.startswith("bleu2_"):
        return None
    low, high = name.removeprefix("bleu2_").split("-")
    return {"bleu2": f"{float(low):g}-{float(high):g}"}, "acceptance"


def at_thresholds(name: str) -> CellPlace:
    """Ω_0 is Ω_max."""
    return {}, {"omega@0": "omega_max"}.get(name, name)


def highest_overlap(name: str) -> CellPlace:
    """The highest BLEU of plain permutations, as what the text states about them."""
    if name.startswith("most_"):
        return {"transformation": "derange"}, name.removeprefix("most_")
    return {}, name


def by_word(name: str) -> CellPlace:
    """The score of one word, with the settings of Figure 7."""
    word = name.removeprefix("score of the word ")
    return ({"word": word, "k": "4", "r": "2"}, "minitree") if word != name else ({}, name)


def without_word(name: str) -> CellPlace | None:
    """All scores but that of the one word that is drawn."""
    return None if name.startswith("score of the word ") else ({}, name)


def by_length(name: str) -> CellPlace:
    """The first prediction and the length of examples, as what the row is about.

    >>> by_length("first predicted right, 10–17 words")
    ({'first predicted': 'right', 'words': '10–17'}, 'acceptance')
    """
    first, comma, words = name.removeprefix("first predicted ").partition(", ")
    if not comma:
        return {}, name
    return {"first predicted": first, "words": words.removesuffix(" words")}, "acceptance"


def by_side(name: str) -> CellPlace:
    """Which texts were perturbed, as what the row is about."""
    score, _, perturbed = name.partition(", ")
    return {"perturbed": perturbed}, {"Ω_max": "omega_max"}.get(score, "acceptance")


figure = partial(item, models=MODELS, data=SETS, by_code=BY_CODE)

item(
    "unli/table1",
    ExampleTexts("derange", q=10),
    models=dict(list(MODELS.items())[:1]),
    data=SETS[:1],
    shows="MNLI pairs whose permutations get the prediction of the pair",
)
item(
    "unli/table2",
    AuditTable(ACCEPTANCE),
    models=MODELS,
    data=SETS,
    takes="hours",
    by_code=BY_CODE,
    means=(OVER_ALL,),
)
item(
    "unli/table3",
    # by character, joined without spaces: what the paper took for a word is not printed
    AuditTable(ACCEPTANCE, ("derange:words=simple",)),
    data=("ocnli:dev",),
    takes="an hour",
    by_code=BY_CODE,
)
item(
    "unli/table4",
    HumanTable("annotators"),
    data=SETS[:1],
    takes="hours of people",
    commands=PEOPLE,
    not_comparable="other people answered",
)
item(
    "unli/table5",
    TrainingTable(
        ENTROPY,
        "recipe",
        AuditTable({"accuracy": "original/accuracy", "omega_max": "omega_max"}),
        FINE_TUNING,
    ),
    models={"hf:FacebookAI/roberta-large": "RoBERTa-Large"},
    data=SETS,
    train="mnli:train",
    extras=("train",),
    takes="days",
    by_code=BY_CODE,
)
item(
    "unli/table6",
    TrainingTable(
        {"original": TrainingArm(), "derange": TrainingArm(on=("derange",))},
        "trained_on",
        AuditTable({"accuracy": "original/accuracy"}, q=1),
        FINE_TUNING,
    ),
    models=ENCODERS,
    data=SETS,
    train="mnli:train",
    extras=("train",),
    takes="days",
)
item(
    "unli/table7",
    CountTable(
        usable_examples,
        ("examples", "used"),
        ("derange",),
        "the examples with 100 distinct permutations of both texts",
        by_transformation=False,
        q=100,
    ),
    data=SETS,
    extras=("nlp",),
    fidelity="released",
    by_code=BY_CODE,
)
item(
    "unli/fig1",
    Illustration(),
    takes="",
    commands=(
        "disorder list metrics",
        "disorder audit    # draws Ω_x and acceptance for a real model",
    ),
)
figure("unli/fig2", ExplanationFigure("entropy"))
figure(
    "unli/fig3",
    ExplanationFigure(
        "overlap:clumped=false",
        place=by_overlap,
        reaches=[Reach(("acceptance",), {"bleu2": None})],
    ),
    means=(TRANSFORMERS,),
)
figure(
    "unli/fig4",
    ExplanationFigure("minitree", place=without_word, learns=True),
    train="mnli:train",
    extras=("nlp",),
    part_settings=TREE,
)
item(
    "unli/fig5",
    AuditTable(ACCEPTANCE),
    models=MODELS,
    data=SETS,
    takes="hours",
    beside="table2",
    by_code=BY_CODE,
    means=(OVER_ALL,),
)
figure("unli/fig6", ExplanationFigure("length", place=by_length))
figure(
    "unli/fig7",
    ExplanationFigure(
        "minitree:k=4,r=2",
        place=by_word,
        learns=True,
        reaches=[Reach(("minitree",), {"word": None, "k": ("4",), "r": ("2",)})],
    ),
    train="mnli:train",
    extras=("nlp",),
    part_settings=TREE,
    not_comparable="the paper does not say in which example its word stands",
)
figure(
    "unli/fig8",
    ExplanationFigure(
        "omega_curve",
        place=at_thresholds,
        reaches=[Reach(("omega_max", "omega_all", "omega@0.5", "omega@0.9", "accuracy"))],
    ),
    beside="table2",
    means=(OVER_ALL, IN_DOMAIN),
    out_of_reach={"model=any": ANY_MODEL},
)
figure("unli/fig9", ExplanationFigure("sides", place=by_side))
figure(
    "unli/fig10",
    ExplanationFigure(
        "overlap",
        place=highest_overlap,
        reaches=[Reach(("bleu3", "bleu4"), {"transformation": ("derange",)})],
    ),
)
