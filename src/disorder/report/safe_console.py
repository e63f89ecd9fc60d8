"""The console that everything is printed on: no text that it shows can disturb the terminal.

Colours and progress bars are the program's own; escape sequences, bidirectional overrides and
markup in names, labels and texts come out as symbols.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from disorder.visible_text import visible


class SafeConsole(Console):
    """A rich console whose texts are made visible at the last step, wherever they come from."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**({"markup": False, "emoji": False} | more))

    def on_broken_pipe(self) -> None:
        """Leave a closed pipe to the command line, which knows what it means; rich would exit."""
        raise BrokenPipeError

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of anything that is printed; control segments are rich's own."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)
