"""What came after the four papers: the same questions in other languages and of other units."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from disorder.verbs.study.item import study_item
from disorder.verbs.study.pipelines.audit_table import AuditTable
from disorder.verbs.study.pipelines.language_table import LanguageTable

item = partial(study_item, published=Path(__file__).with_suffix(".toml"))

item(
    "beyond/xnli",
    LanguageTable(
        {
            "accuracy": "original/accuracy",
            "perturbed_accuracy": "accuracy",
            "skill_kept": "skill_kept",
            "agreement": "agreement",
        },
        q=10,
    ),
    data=tuple(f"xnli:{code}" for code in ("en", "de", "zh", "th")),
    shows="How much skill is kept without word order, by language",
)
item(
    "beyond/letters",
    AuditTable(
        {"accuracy": "accuracy", "agreement": "agreement"},
        (
            "original",
            *(f"shuffle_letters:keep={keep}" for keep in ("none", "first", "ends")),
            *(f"replace_letters:keep={keep}" for keep in ("none", "first", "ends")),
        ),
        by_transformation=True,
        q=5,
    ),
    data=("mnli:matched",),
    shows="Letters shuffled inside words, beside letters replaced",
)
