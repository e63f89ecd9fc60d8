"""Commands: each has standard output to itself while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import CommandFunctionType

from disorder.standard_output import owned_standard_output


class Command(TyperCommand):
    """A command; nothing else can print between its results."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; its help is printed before that."""
        with owned_standard_output():
            return super().invoke(ctx)


class Commands(typer.Typer):
    """A group of such commands."""

    def command(
        self, name: str | None = None, **more: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Register a function as a command."""
        return super().command(name, **({"cls": Command} | more))
