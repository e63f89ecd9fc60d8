"""Which transformations belong together? Named sets of specs, as `--suite` takes them."""

from __future__ import annotations

from disorder.errors import UnknownName
from disorder.registry import parts

# NLI Data Sanity Check (Talman et al., 2021): the classes that are dropped one by one, and what
# else is dropped or kept
SINGLE = ("NOUN", "VERB", "PRON", "ADJ", "ADV", "CONJ", "NUM", "DET")
KEPT = ("NOUN+PRON+VERB", "NOUN+ADV+VERB", "NOUN+VERB", "NOUN+VERB+ADJ", "NOUN+VERB+ADV+ADJ")
CLASSES = [
    *(f"drop_pos:tags={tag}" for tag in (*SINGLE, "NOUN+PRON")),
    *(f"keep_pos:tags={tags}" for tags in KEPT),
]
DECLARED = {"classes": CLASSES, "full": CLASSES, "alldrop": ["original", *CLASSES[: len(SINGLE)]]}
SETTINGS = {
    "shuffle_ngrams": [f"n={n}" for n in (1, 2, 3)],
    "keep_bigrams": [f"share={share}" for share in (0, 0.25, 0.5, 0.75)],
    "shuffle_window": [f"window={window}" for window in (2, 3, 5)],
}


def suites() -> list[str]:
    """The names of all sets."""
    return sorted(
        {name for entry in parts("transformation").values() for name in entry.facts["suites"]}
        | set(DECLARED)
    )


def suite(name: str) -> list[str]:
    """The specs of a named set."""
    if name not in suites():
        raise UnknownName("suite", name, suites())
    found = [
        spec
        for key, entry in parts("transformation").items()
        if name in entry.facts["suites"]
        for spec in (
            [f"{key}:{setting}" for setting in SETTINGS[key]] if key in SETTINGS else [key]
        )
    ]
    return found + DECLARED.get(name, [])
