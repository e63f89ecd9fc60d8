"""Can a model be taught to be undecided about permuted texts? UnNatural Language Inference (Sinha
et al., 2021), Table 5.

The paper minimises cross-entropy *plus* λ·H(permuted), in its equation and in its code, which makes
the model surer: its Ω_max of a third is the share of one label. It means minus λ·H. Both are here,
and the labels answered show which is which.
"""

from __future__ import annotations

from typing import Any

from disorder.registry import recipe
from disorder.types import Fidelity
from disorder.verbs.train.calibrating import MAY_REFUSE, both, calibrated, observed
from disorder.verbs.train.losses import chosen, entropy, gold_loss
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="UNLI", positive=("lam",), shares=("may_abstain",), perturbs=True)
def max_entropy(
    job: Job, *, lam: float = 1.0, fidelity: Fidelity = "paper", may_abstain: float = MAY_REFUSE
) -> list[Phase]:
    """Cross-entropy on original texts minus λ times the entropy on perturbed ones (released: plus, which
    collapses).
    """
    specs, sign = job.perturbed_by(["derange"]), 1 if fidelity == "released" else -1

    def loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
        return chosen(is_perturbed, sign * lam * entropy(logits), gold_loss(logits, targets))

    inputs, after = (
        job.copies("original") + job.mixed(specs),
        both(observed(job, specs), calibrated(job, specs, may_abstain)),
    )
    return [Phase("task", inputs, job.dev_inputs(), job.labels, loss, keeps_last=True, after=after)]
