"""`disorder plan`: how much does an audit need for the interval I want, and what does it cost?"""

from __future__ import annotations

from disorder.cli import options as o
from disorder.cli.output import print_json, show
from disorder.requests.plan import PlanOptions, PlanOutput


def plan(
    model: o.Model = "builtin",
    data: o.SomeData = "builtin",
    *,
    options: PlanOptions,
    output: PlanOutput,
) -> None:
    """What does an audit of MODEL on DATA take, for an interval of this width?

    How many examples, permutations, questions, tokens, minutes and how much money. A small pilot
    is predicted first (40 original texts and 160 perturbed ones, unless you say otherwise); its
    predictions are kept in the prediction cache.
    """
    from disorder.verbs.plan import plan as start

    found = start(model, data, **options)
    if output["as_json"]:
        print_json(found.result.as_data())
    else:
        show(found.result)
