"""A command: `disorder say TEXT` stutters."""

from __future__ import annotations

from typing import Annotated

import typer

from disorder.cli.output import print_text
from disorder.registry import verb


@verb(group="Change", python="disorder_stutter.say:stuttered")
def say(text: Annotated[str, typer.Argument(help="What to say")]) -> None:
    """Say TEXT with some words twice."""
    print_text(stuttered(text))


def stuttered(text: str, *, seed: int = 0) -> str:
    """The text as the transformation `stutter` makes it."""
    import disorder
    import disorder_stutter  # noqa: F401 (its transformation)

    rows = [{"text_a": text, "label": "any"}]
    made = disorder.perturb(rows, with_="stutter", q=1, seed=seed)
    return next((str(record["text_a"]) for record in made), text)
