"""UnNatural Language Inference (Sinha et al., 2021): its tables and figures, as pipelines."""

from __future__ import annotations

from disorder.verbs.study.item import Item
from disorder.verbs.study.pipelines.audits import Audits
from disorder.verbs.study.pipelines.counts import Counts, usable
from disorder.verbs.study.pipelines.explanations import Explained, Placed
from disorder.verbs.study.pipelines.not_computed import Drawing, People
from disorder.verbs.study.pipelines.training import Arm, Trained

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
    "plain": Arm(),
    "max_entropy:fidelity=released": Arm(
        "max_entropy", settings={"fidelity": "released"}, always_answers=True
    ),
    "max_entropy": Arm("max_entropy", always_answers=True),
}  # the paper's models do not abstain
BY_CODE = dict.fromkeys(
    ("omega_max", "p_c", "p_f", "omega_rand", "used"),
    "the paper counts as its code does: pairs with 100 distinct permutations of both texts only, P_c over those with at least "
    "one right; judge with --fidelity released",
)
PEOPLE = (
    "disorder audit MODEL mnli:matched --with derange --out runs/mine",
    "disorder human make runs/mine --out task --n 200 --annotators x,y",
    "disorder human serve task",
    "disorder human score task",
)


def by_overlap(name: str) -> Placed | None:
    """A range of BLEU-2 as what the row is about.

    >>> by_overlap("bleu2_0.00-0.15")
    ({'bleu2': '0-0.15'}, 'acceptance')
    """
    if not name.startswith("bleu2_"):
        return None
    low, high = name.removeprefix("bleu2_").split("-")
    return {"bleu2": f"{float(low):g}-{float(high):g}"}, "acceptance"


def at_thresholds(name: str) -> Placed:
    """Ω_0 is Ω_max."""
    return {}, {"omega@0": "omega_max"}.get(name, name)


def by_side(name: str) -> Placed:
    """Which texts were perturbed, as what the row is about."""
    score, _, perturbed = name.partition(", ")
    return {"perturbed": perturbed}, {"Ω_max": "omega_max"}.get(score, "acceptance")


def _figure(
    name: str, pipeline: Explained, *, extras: tuple[str, ...] = (), section: str = ""
) -> Item:
    return Item(
        f"unli/{name}",
        pipeline,
        models=MODELS,
        data=SETS,
        extras=extras,
        section=section,
        by_code=BY_CODE,
    )


ITEMS = [
    Item(
        "unli/table1",
        Drawing(),
        takes="",
        shows="Two MNLI pairs whose permutations RoBERTa answers as it answers the pairs",
        commands=(
            "disorder audit MODEL mnli:matched --with derange    # see the telling examples of its report",
        ),
    ),
    Item(
        "unli/table2", Audits(ACCEPTANCE), models=MODELS, data=SETS, takes="hours", by_code=BY_CODE
    ),
    Item(
        "unli/table3",
        Audits(ACCEPTANCE),
        data=("ocnli:dev",),
        extras=("nlp",),
        takes="an hour",
        by_code=BY_CODE,
    ),
    Item("unli/table4", People(), takes="hours of people", commands=PEOPLE),
    Item(
        "unli/table5",
        Trained(
            ENTROPY,
            "recipe",
            Audits({"accuracy": "original/accuracy", "omega_max": "omega_max"}),
            FINE_TUNING,
        ),
        models={"hf:FacebookAI/roberta-large": "RoBERTa-Large"},
        data=SETS,
        train="mnli:train",
        extras=("train",),
        takes="days",
        by_code=BY_CODE,
    ),
    Item(
        "unli/table6",
        Trained(
            {"original": Arm(), "derange": Arm(on=("derange",))},
            "trained_on",
            Audits({"accuracy": "original/accuracy"}, q=1),
            FINE_TUNING,
        ),
        models=ENCODERS,
        data=SETS,
        train="mnli:train",
        extras=("train",),
        takes="days",
    ),
    Item(
        "unli/table7",
        Counts(
            usable,
            ("derange",),
            "count the examples with 100 distinct permutations of both texts",
            by_transformation=False,
            q=100,
        ),
        data=SETS,
        extras=("nlp",),
        fidelity="released",
        by_code=BY_CODE,
    ),
    Item(
        "unli/fig1",
        Drawing(),
        takes="",
        commands=(
            "disorder list metrics",
            "disorder audit    # draws Ω_x and acceptance for a real model",
        ),
    ),
    _figure("fig2", Explained("entropy")),
    _figure("fig3", Explained("overlap:clumped=false", placed=by_overlap)),
    _figure("fig4", Explained("minitree"), extras=("nlp",)),
    Item(
        "unli/fig5",
        Audits(ACCEPTANCE),
        models=MODELS,
        data=SETS,
        takes="hours",
        section="table2",
        by_code=BY_CODE,
    ),
    _figure("fig6", Explained("length")),
    _figure("fig7", Explained("minitree:k=4,r=2"), extras=("nlp",)),
    _figure("fig8", Explained("omega_curve", placed=at_thresholds), section="table2"),
    _figure("fig9", Explained("sides", placed=by_side)),
    _figure("fig10", Explained("overlap")),
]
