"""UnNatural Language Inference (Sinha et al., 2021): its tables and figures, as pipelines."""

from __future__ import annotations

from disorder.study._audits import Audits
from disorder.study._item import Item

SETS = ("mnli:matched", "mnli:mismatched", "snli:dev", "snli:test", "anli:r1", "anli:r2", "anli:r3")
MODELS = {
    "hf:FacebookAI/roberta-large-mnli": "RoBERTa-Large",
    "hf:facebook/bart-large-mnli": "BART-Large",
    "hf:typeform/distilbert-base-uncased-mnli": "DistilBERT",
}
ACCEPTANCE = {
    "accuracy": "original/accuracy", "omega_max": "omega_max", "p_c": "p_c", "p_f": "p_f", "omega_rand": "omega_rand",
}  # fmt: skip

ITEMS = [
    Item("unli/table2", Audits(ACCEPTANCE), models=MODELS, data=SETS, takes="hours"),
]
