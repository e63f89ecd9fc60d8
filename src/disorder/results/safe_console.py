"""The console that everything is printed on: no text that it shows can disturb the terminal.

Colours and progress bars are the program's own; escape sequences, bidirectional overrides and
markup in names, labels and texts come out as symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

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
        segments = super().render(renderable, options)
        if isinstance(renderable, str | Text | Table):
            segments = _without_end_spaces(segments)
        for segment in segments:
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)


def _without_end_spaces(segments: Iterable[Segment]) -> Iterator[Segment]:
    """The same without spaces at the ends of lines, which wrapping and tables leave there."""
    given = list(segments)
    lines = list(Segment.split_lines(given))
    is_ended = bool(given) and given[-1].text.endswith("\n")
    for number, line in enumerate(lines, 1):
        if is_ended or number < len(lines):
            yield from _stripped(line)
            yield Segment.line()
        else:
            yield from line


def _stripped(line: list[Segment]) -> list[Segment]:
    """A line without spaces at its end."""
    while line and not line[-1].control:
        last = line.pop()
        kept = last.text.rstrip(" ")
        if kept:
            return [*line, Segment(kept, last.style)]
    return line
