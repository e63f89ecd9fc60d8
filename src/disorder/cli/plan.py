"""`disorder plan`: how much does an audit need for the interval I want, and what does it cost?"""

from __future__ import annotations

from typing import Annotated

import typer

from disorder.cli import options as o
from disorder.cli.output import print_json, print_text

OUTSIDE = ("model", "data", "as_json")


def plan(
    model: o.Model = "builtin",
    data: o.SomeData = "builtin",
    width: Annotated[float, typer.Option(help="Width of the 95 % interval, low to high")] = 0.05,
    score: Annotated[
        str | None, typer.Option(help="The score that it is for (default: skill_kept)")
    ] = None,
    with_: Annotated[str, typer.Option("--with", help="Transformation")] = "derange",
    q: Annotated[
        int | None, typer.Option(help="Permutations of each example (default: the cheapest)", min=1)
    ] = None,
    pilot_examples: Annotated[int, typer.Option(help="Examples of the pilot", min=8)] = 40,
    pilot_permutations: Annotated[
        int, typer.Option(help="Permutations of each of them", min=2)
    ] = 4,
    seed: o.Seed = 0,
    columns: o.Columns = "",
    labels: o.Labels = "",
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    batch_size: o.BatchSize = None,
    cache: o.CacheFolder = None,
    prompt: Annotated[str | None, o.option("Prompt of a language model: a name or a file")] = None,
    shots: o.Shots = 0,
    shots_from: o.ShotsFrom = None,
    label_words: o.LabelWords = "",
    option_orders: o.OptionOrders = 1,
    calibrate: o.Calibrate = None,
    chat: o.Chat = "auto",
    base_url: o.BaseUrl = None,
    answers: o.Answers = None,
    no_answer: o.NoAnswer = "skip",
    max_connections: o.MaxConnections = None,
    timeout: o.Timeout = None,
    max_retries: o.MaxRetries = None,
    price_in: o.PriceIn = None,
    price_out: o.PriceOut = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the plan as JSON and nothing else")
    ] = False,
) -> None:
    """How many examples, permutations, questions, tokens, minutes and how much money does an audit
    of MODEL on DATA need for an interval of this width?

    A small pilot is predicted first (40 original texts and 160 perturbed ones, unless you say
    otherwise); its predictions are kept in the prediction cache.
    """
    everything = dict(locals())  # before any comprehension, which may add names of its own
    given = {name: value for name, value in everything.items() if name not in OUTSIDE}
    settings = {name: value for name, value in given.items() if value is not None}
    from disorder.verbs.plan import plan as start

    found = start(model, data, **settings)
    if as_json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            print_text(line)
