"""Maximum entropy on perturbed texts: can a model be taught to be undecided about them? UnNatural
Language Inference (Sinha et al., 2021), Table 5.

The paper minimises cross-entropy *plus* λ·H(permuted), in its equation and in its code, which makes
the model more certain: its Ω_max of a third is the share of one label. It means minus λ·H. Both are
here, and the predicted labels show which is which.
"""

from __future__ import annotations

from typing import Any

from disorder.registry import recipe
from disorder.types import ORIGINAL, Fidelity
from disorder.verbs.train.evaluation import MAY_ABSTAIN, calibrate_after, in_turn, observe_after
from disorder.verbs.train.inputs import entropy, gold_loss, mean_by_kind
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="UNLI", positive=("lam",), shares=("may_abstain",), perturbs=True)
def max_entropy(
    job: Job, *, lam: float = 1.0, fidelity: Fidelity = "paper", may_abstain: float = MAY_ABSTAIN
) -> list[Phase]:
    """Cross-entropy on original texts minus λ times the entropy on perturbed ones (released: plus,
    which collapses).
    """
    specs = job.perturbed_by(["derange"])
    sign = 1 if fidelity == "released" else -1

    def loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
        regularised = sign * lam * entropy(logits)
        return mean_by_kind(is_perturbed, regularised, gold_loss(logits, targets))

    phase = Phase(
        "task",
        job.copies(ORIGINAL) + job.mixed(specs),
        job.dev_inputs(),
        job.labels,
        loss,
        keeps_last=True,
        after=in_turn(observe_after(job, specs), calibrate_after(job, specs, may_abstain)),
    )
    return [phase]
