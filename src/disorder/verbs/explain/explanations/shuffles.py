"""Examples shuffled several times: which shuffles leave the prediction, and which change it?

Out of Order, Figures 1, 3, 4 and A2 to A4: every shuffle with its label and confidence, the words
that weigh (LIME), and the words that an attention head ties together. Successes and failures are
both shown, with how often each happens, so that a few examples are not taken for the rule.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import share
from disorder.randomness import digest
from disorder.registry import explanation
from disorder.results.result import Figure, Row, Table
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Texts
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import PerturbedExamples, Subject
from disorder.verbs.explain.weighed_versions import SAMPLES, text_versions, versions_figure

STAYS = "prediction stays"
CHANGES = "prediction changes"


@explanation(
    asks="Which shuffles of an example change its prediction, and which words weigh in each?",
    paper="OOO Fig. 1, 3, 4, A2–A4",
    usual=False,
)
def shuffles(subject: Subject, *, q: int = 5, n: int = 1, samples: int = SAMPLES) -> Explained:
    """Draw `n` examples whose prediction stays under `q` shuffles and `n` whose prediction changes:
    the label and confidence of each shuffle, and its words by weight.
    """
    if q < 1 or n < 1 or samples < 2:
        need = "1 shuffle or more, 1 example or more, 2 samples or more"
        raise BadSetting("shuffles", q=q, n=n, samples=samples, need=need)
    perturbed = subject.perturbed(q=q)
    right = perturbed.outcomes.is_right
    if not right.any():
        raise NothingToMeasure("no example is predicted right, so that no shuffle can change it")
    stays = perturbed.survivors(q)
    figures: list[Figure] = []
    rows: list[Row] = []
    for title, chosen in ((STAYS, stays), (CHANGES, right & ~_all_accepted(perturbed))):
        for number, place in enumerate(_drawn(subject, perturbed, chosen)[:n], start=1):
            name = f"shuffles_{title.split()[-1]}_{number}"
            versions = text_versions(subject, list(_texts(perturbed, place)), samples=samples)
            example = perturbed.examples[place].id
            figures.append(versions_figure(name, versions, f"{example}, whose {title}"))
            rows += [{"shown": title, "example": example, **each.row} for each in versions]
    table = Table("shuffles_texts", "Every version of the examples shown.", rows)
    scores = {"stays": share(stays[right])}
    finding = (
        f"of {int(right.sum()):,} examples predicted right {said(scores['stays'])} stay so under "
        f"all of {q} shuffles"
    )
    notes = [f"texts are shuffled by {perturbed.outcomes.transformation}"]
    return Explained(finding, figures, [table], scores, notes, perturbed.skips)


def _all_accepted(perturbed: PerturbedExamples) -> Bools:
    outcomes = perturbed.outcomes
    return np.asarray(outcomes.n_accepted == outcomes.n_variants)


def _drawn(subject: Subject, perturbed: PerturbedExamples, chosen: Bools) -> list[int]:
    """These examples in an order drawn by seed."""
    seed = subject.settings.seed
    places = np.flatnonzero(chosen).tolist()
    return sorted(places, key=lambda i: digest(seed, "shuffles", perturbed.examples[i].id))


def _texts(perturbed: PerturbedExamples, place: int) -> Iterator[tuple[str, Texts]]:
    example = perturbed.examples[place]
    yield "original", example.texts
    for number, texts in enumerate(variant_texts(perturbed.variants[place]), start=1):
        yield f"shuffle {number}", texts
