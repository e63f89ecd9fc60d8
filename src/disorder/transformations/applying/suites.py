"""Suites: named sets of transformations, as `--suite` takes them."""

from __future__ import annotations

from disorder.errors import UnknownName
from disorder.registry import TransformationPart, parts

# NLI Data Sanity Check (Talman et al., 2021): the classes that are dropped one by one, and what
# else is dropped or kept
SINGLE = ("NOUN", "VERB", "PRON", "ADJ", "ADV", "CONJ", "NUM", "DET")
KEPT = ("NOUN+PRON+VERB", "NOUN+ADV+VERB", "NOUN+VERB", "NOUN+VERB+ADJ", "NOUN+VERB+ADV+ADJ")
CLASSES = [
    *(f"drop_pos:tags={tag}" for tag in (*SINGLE, "NOUN+PRON")),
    *(f"keep_pos:tags={tags}" for tags in KEPT),
]
DECLARED = {"classes": CLASSES, "full": CLASSES, "alldrop": ["original", *CLASSES[: len(SINGLE)]]}


def suites() -> list[str]:
    """The names of all suites."""
    return sorted(
        {name for entry in parts(TransformationPart).values() for name in entry.suites}
        | set(DECLARED)
    )


def suite(name: str) -> list[str]:
    """The transformations of a suite, as specs."""
    if name not in suites():
        raise UnknownName("suite", name, suites())
    specs = []
    for key, entry in parts(TransformationPart).items():
        if name in entry.suites:
            specs += [f"{key}:{setting}" for setting in entry.sweep] or [key]
    return specs + DECLARED.get(name, [])
