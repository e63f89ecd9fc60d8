"""Results in a terminal: the console that everything is printed on, tables that fit, and a result
on one screen or whole.

No text can disturb the terminal: escape sequences, bidirectional overrides and markup in names,
labels and texts come out as symbols. In tables names are never cut, and numbers never wrapped:
where rows are too wide, each interval is shortened, then goes below its number; then names get
lines of their own; at last the columns are spread over several tables. Only texts are wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from disorder.results.result import Cell, Grid, NextStep, Result, Row, Section
from disorder.results.writing import capitalised, sentence
from disorder.safe_io import one_line, visible
from disorder.types import is_about_texts

SCREEN = 24  # lines that a summary has at most
SURE = 2  # lines of the lead, and
ROWS = 3  # rows of the first table, that a summary always has
GROUPS = 2  # of examples, whose results stand before what else should be known
GAPS = ("  ", " ")  # between columns
INDENT = 2  # of numbers below their name
SHELL_WORDS = re.compile(r"""(?:'[^']*'|"[^"]*"|\\.|\S)+""")
SEPARATORS = re.compile(r"(?<=[:,+/])")  # where a name may continue on the next line
LAYOUTS = ((False, False), (True, False), (False, True), (True, True))  # is_stacked, is_above
STYLES = {
    "strong": "bold",
    "ours": "bold",
    "ours-row": "bold",
    "soft": "dim",
    "other": "dim",
    "other-row": "dim",
    "needed": "bold green",
    "open": "bold yellow",
    "unsure": "dim",
    "passed": "bold green",
    "failed": "bold red",
    "undecided": "bold yellow",
}  # by mark


def print_table(console: Console, grid: Grid) -> None:
    """Print a table after a blank line, in the width that there is."""
    console.print()
    if grid.caption:
        console.print(Text(one_line(grid.caption), style="bold"), soft_wrap=True)
    if _has_texts(grid) and _least(grid) <= console.width:
        console.print(_wrapped(grid, console.width))
        return
    for line in fitted(grid, console.width):
        console.print(line, soft_wrap=True)


def _has_texts(grid: Grid) -> bool:
    """Whether there is more than one column that may be as long as it likes."""
    return sum(column.kind != "number" for column in grid.columns) > 1


def _least(grid: Grid) -> int:
    """How narrow the table can be when names and texts are wrapped, and nothing else is."""
    widths = []
    for i, column in enumerate(grid.columns):
        cells = () if column.kind in ("name", "text") else [row[i] for row in grid.rows]
        lines = [line for cell in cells for line in _lines_of(cell, is_stacked=True)]
        widths.append(max(map(cell_len, [column.title, *lines])))
    return sum(widths) + len(widths)


def _wrapped(grid: Grid, width: int) -> RichTable:
    """A table whose names and texts are wrapped where they must be."""
    natural = [
        max(cell_len(text) for text in [column.title, *(row[i].line for row in grid.rows)])
        for i, column in enumerate(grid.columns)
    ]
    is_stacked = sum(natural) + len(natural) > width
    table = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in grid.columns:
        if column.kind == "number":
            table.add_column(column.title, justify="right", no_wrap=True)
        elif column.kind == "word":
            table.add_column(column.title, no_wrap=True)
        else:
            table.add_column(column.title, overflow="fold", min_width=len(column.title))
    for first, *others in grid.rows:
        texts = ["\n".join(_lines_of(cell, is_stacked=is_stacked)) for cell in others]
        cells = [Text(text, _style(cell)) for text, cell in zip(texts, others, strict=True)]
        table.add_row(Text(_name(first), _style(first)), *cells)
    return table


def _lines_of(cell: Cell, *, is_stacked: bool) -> list[str]:
    """The cell on one line, or on two."""
    return [cell.text, cell.below] if is_stacked and cell.below else [cell.line]


def _name(cell: Cell) -> str:
    """The name of a row; that of a part is indented."""
    return f"{' ' * INDENT}{cell.text}" if cell.mark == "part" else cell.text


def _style(cell: Cell) -> str:
    return STYLES.get(cell.mark, "")


@dataclass(frozen=True)
class Layout:
    """How wide names and columns are, what stands between them, and what stands below what."""

    first: int
    widths: Sequence[int]
    gap: str
    is_stacked: bool
    is_above: bool

    @classmethod
    def of(cls, grid: Grid, gap: str, *, is_stacked: bool, is_above: bool) -> Layout:
        """As wide as a table needs it."""
        names = [grid.columns[0].title, *(_name(row[0]) for row in grid.rows)]
        first = INDENT if is_above else max(map(cell_len, names))
        widths = []
        for i, column in enumerate(grid.columns[1:], 1):
            cells = [_lines_of(row[i], is_stacked=is_stacked) for row in grid.rows]
            texts = [column.title, *(line for lines in cells for line in lines)]
            widths.append(max(map(cell_len, texts)))
        return cls(first, widths, gap, is_stacked, is_above)

    @property
    def width(self) -> int:
        """How wide a line is."""
        return self.first + sum(len(self.gap) + each for each in self.widths)

    def line(self, name: Text, cells: Sequence[Text]) -> Text:
        """A name at the left, cells at the right of their columns."""
        line = Text.assemble(name, " " * (self.first - name.cell_len))
        for cell, width in zip(cells, self.widths, strict=True):
            line.append(self.gap + " " * (width - cell.cell_len)).append_text(cell)
        line.rstrip()
        return line


def fitted(grid: Grid, width: int) -> list[Text]:
    """The lines of a table in the first layout that fits the width, or of several tables."""
    whole = Layout.of(grid, GAPS[0], is_stacked=False, is_above=False)
    if whole.width <= width:
        return list(_lines(grid, whole, width))
    grid = grid.brief
    for is_stacked, is_above in LAYOUTS:
        for gap in GAPS:
            layout = Layout.of(grid, gap, is_stacked=is_stacked, is_above=is_above)
            if layout.width <= width:
                return list(_lines(grid, layout, width))
    n = len(grid.columns)
    if n < 3:
        return list(_lines(grid, Layout.of(grid, GAPS[-1], is_stacked=True, is_above=True), width))
    half = n // 2 + 1
    left = fitted(grid.part(1, half), width)
    return [*left, Text(), *fitted(grid.part(half, n), width)]


def _lines(grid: Grid, layout: Layout, width: int) -> Iterator[Text]:
    head, *columns = grid.columns
    if layout.is_above:
        yield from (Text(line, style="bold") for line in broken(head.title, width))
    name = Text("" if layout.is_above else head.title, style="bold")
    yield layout.line(name, [Text(column.title, style="bold") for column in columns])
    yield Text("─" * layout.width)
    for row in grid.rows:
        yield from _row_lines(row, layout, width)


def _row_lines(row: Sequence[Cell], layout: Layout, width: int) -> Iterator[Text]:
    name, *cells = row
    start = Text(_name(name), style=_style(name))
    if layout.is_above:
        yield from (Text(line, style=_style(name)) for line in broken(_name(name), width))
        start = Text()
    shown = [cell.text if layout.is_stacked else cell.line for cell in cells]
    if any(shown) or not layout.is_above:
        styled = [Text(text, style=_style(cell)) for text, cell in zip(shown, cells, strict=True)]
        yield layout.line(start, styled)
    if layout.is_stacked and any(cell.below for cell in cells):
        yield layout.line(Text(), [Text(cell.below, style="dim") for cell in cells])


def broken(name: str, width: int) -> Iterator[str]:
    """A name in lines, which end after a separator; only a piece wider than a line is cut.

    >>> list(broken("drop_pos:tags=NOUN+reverse", 20))
    ['drop_pos:tags=NOUN+', 'reverse']
    """
    line = ""
    for piece in SEPARATORS.split(name):
        if line and cell_len(line + piece) > width:
            yield line
            line = ""
        line += piece
        while cell_len(line) > width:
            yield line[:width]
            line = line[width:]
    yield line


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
        if isinstance(renderable, str | Text | RichTable | Padding):
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


def show_result(
    result: Result, console: Console, written: Sequence[str] = (), *, is_all: bool = False
) -> None:
    """Print a result, and lines that say where its files are: on one screen where it has a summary,
    unless all is wanted.
    """
    if result.is_summarised and not is_all:
        for line in summary(result, console, written):
            console.print(line, soft_wrap=True)
    else:
        _show_whole(result, console, written, is_all=is_all)


def summary(result: Result, console: Console, written: Sequence[str] = ()) -> list[Text]:
    """A result in at most `SCREEN` lines: the answer, its first table and what to do first; then,
    as far as there is room, what is known of the data, an example, the other commands, what else
    is known and the rest of the table.
    """
    width = console.width
    top = [
        *_wrapped_lines(console, result.headline, style="bold"),
        *(line for each in result.lead[:SURE] for line in _wrapped_lines(console, each)),
    ]
    steps = _step_lines(result.next_steps[:1], width)
    end = _written_lines(written, width)
    table = [_table_lines(replace(grid, rows=grid.rows[:ROWS]), console) for grid in result.grids]
    room = SCREEN - len(top) - len(steps) - len(end) - sum(map(len, table))

    def add(texts: Iterable[str]) -> None:
        nonlocal room
        for each in texts:
            lines = _wrapped_lines(console, each)
            if len(lines) <= room:
                top.extend(lines)
                room -= len(lines)

    first, groups, rest = (
        result.lead[SURE : SURE + 1],
        result.lead[SURE + 1 : SURE + 1 + GROUPS],
        result.lead[SURE + 1 + GROUPS :],
    )
    add(first)
    example = _example_lines(result, width) if result.examples else []
    example = example if len(example) <= room else []
    room -= len(example)
    for n in range(2, len(result.next_steps) + 1):
        more = _step_lines(result.next_steps[:n], width)
        if len(more) - len(steps) <= room:
            room -= len(more) - len(steps)
            steps = more
    add([*groups, *map(sentence, result.caveats)])
    for number, grid in enumerate(result.grids):
        n_more = min(room, len(grid.rows) - ROWS)
        if n_more > 0:
            table[number] = _table_lines(replace(grid, rows=grid.rows[: ROWS + n_more]), console)
            room -= n_more
    add(rest)
    return [*top, *(line for lines in table for line in lines), *example, *steps, *end]


def _wrapped_lines(console: Console, text: str, style: str = "") -> list[Text]:
    """A text in lines that fit, without spaces at their ends."""
    lines = Text(visible(text)).wrap(console, console.width)
    return [Text(line.plain.rstrip(), style=style) for line in lines]


def _table_lines(grid: Grid, console: Console) -> list[Text]:
    return [Text(), *fitted(grid, console.width)]


def _step_lines(steps: Sequence[NextStep], width: int) -> list[Text]:
    """What to do, one command per line; what it is for beside it, or below where that is too
    long.
    """
    if not steps:
        return [Text()]
    lines = [Text(), Text("What to do", style="bold")]
    longest = max(cell_len(step.command) for step in steps)
    for step in steps:
        told = f"  {step.command:<{longest}}   {step.why}".rstrip()
        if cell_len(told) > width:
            told = f"  {step.command}   {step.why}".rstrip()
        if cell_len(told) <= width:
            lines.append(Text(told))
            continue
        *parts, last = continued(step.command, width)
        lines += [Text(part) for part in parts]
        told = f"{last}   {step.why}".rstrip()
        if cell_len(told) <= width:
            lines.append(Text(told))
        else:
            lines += [Text(last), Text(f"      {step.why}"[:width], style="dim")]
    return lines


def continued(command: str, width: int) -> Iterator[str]:
    """A command in lines that a shell takes for one: they end between two of its words.

    >>> list(continued("disorder gate RUN --fail-if 'a > 1'", 28))
    ['  disorder gate RUN \\\\', "      --fail-if 'a > 1'"]
    """
    line = " "
    for word in SHELL_WORDS.findall(command):
        if line.strip() and cell_len(f"{line} {word}") > width - len(" \\"):
            yield f"{line} \\"
            line = "     "
        line += f" {word}"
    yield line


def _written_lines(written: Sequence[str], width: int) -> list[Text]:
    """Where files are, on as few lines as they fit."""
    line = "   ".join(written)
    lines = [line] if cell_len(line) <= width else list(written)
    return [Text(each, style="bold") for each in lines if each]


def _example_lines(result: Result, width: int) -> list[Text]:
    """A text and its first perturbed version, each with the prediction."""
    example = result.examples[0]
    version = example["variants"][0]
    part = result.request.get("break_")
    if part == "options":
        pairs = _option_pair(example, version)
    elif is_about_texts(part):
        pairs = _text_pair(example, version)
    else:
        return []  # of other parts of a prompt the original is not at hand
    room = width - 8 - max(cell_len(one_line(answer)) for _, answer in pairs)
    if room < 20:
        return []
    lines = [Text()]
    for text, answer in pairs:
        shown = one_line(text)
        shown = shown if cell_len(shown) <= room else f"{shown[: room - 1].rstrip()}…"
        lines.append(Text(f'  "{shown}" → {one_line(answer)}'))
    return lines


def _text_pair(example: Row, version: Row) -> list[tuple[str, str]]:
    """The text that changed before and after, with the answers."""
    originals = (example["text_a"], example["text_b"] or "")
    gap = " " if any(" " in text for text in originals) else ""  # some scripts have none
    changed = [gap.join(word for word, _ in text) for text in version["texts"]]
    moved = [i for i, text in enumerate(changed) if text.split() != originals[i].split()]
    number = (moved or [len(changed) - 1])[-1]
    return [(originals[number], example["answer"]), (changed[number], version["answer"])]


def _option_pair(example: Row, version: Row) -> list[tuple[str, str]]:
    """The options before and after, each behind the letter of its place, with the letter that was
    answered; answers of a run name options by their letters before.
    """
    after = [(option, (place or i) - 1) for i, (option, place) in enumerate(version["texts"][0], 1)]
    before = sorted(after, key=lambda each: each[1])
    now = {ascii_uppercase[place]: ascii_uppercase[i] for i, (_, place) in enumerate(after)}
    answer = version["answer"]
    return [
        (_lettered(before), example["answer"]),
        (_lettered(after), now.get(answer, answer)),
    ]


def _lettered(options: Sequence[tuple[str, int]]) -> str:
    return "  ".join(
        f"{letter} {option}" for letter, (option, _) in zip(ascii_uppercase, options, strict=False)
    )


def _show_whole(result: Result, console: Console, written: Sequence[str], *, is_all: bool) -> None:
    console.print(Text(result.headline, style="bold"))
    for line in filter(None, (result.about, *map(capitalised, result.lead))):
        console.print(Text(line, style="dim"))
    for line in result.caveats:
        console.print(Text(f"caveat: {line}"))
    for grid in result.grids:
        print_table(console, grid)
    if result.notes:
        console.print()
    for line in result.notes:
        console.print(Text(line))
    for section in result.sections:
        if section.found is not None or section.reason:
            _show_finding(section, console, is_told=bool(result.grids))
        elif is_all:
            _show_section(section, console)
    for step in _step_lines(result.next_steps, console.width) if result.next_steps else ():
        console.print(step, soft_wrap=True)
    if written:
        console.print()
    for line in written:
        console.print(Text(line, style="bold"), soft_wrap=True)


def _show_finding(section: Section[Any], console: Console, *, is_told: bool) -> None:
    """What a part found; where a table tells it already, only its notes."""
    if not is_told:
        head = Text.assemble((f"\n{section.spec or section.name}", "bold"), " ", section.asks)
        console.print(head, soft_wrap=True)
        console.print(Text(f"  {section.line}"), soft_wrap=True)
    for note in section.notes:
        console.print(Text(note if is_told else f"  {note}", style="dim"), soft_wrap=True)


def _show_section(section: Section[Any], console: Console) -> None:
    """A question with its tables, notes and terms."""
    lines: list[RenderableType] = [Text(line) for line in (*section.findings, *section.notes)]
    lines += [_term(name, meaning) for name, meaning in section.terms.items()]
    if not lines and not section.grids:
        return
    console.print(Text(f"\n{section.asks}", style="bold"))
    for grid in section.grids:
        print_table(console, grid)
    for line in lines:
        console.print(line)


def _term(name: str, meaning: str) -> RenderableType:
    """What a name means: on its line, or below it where that has lines of its own."""
    first, *others = meaning.split("\n")
    if not others:
        return Text(f"{name}: {meaning}")
    below: list[RenderableType] = [
        Text(name, style="bold"),
        Padding(Text(first), (0, 0, 0, INDENT)),
    ]
    below += [Padding(Text(line, style="dim"), (0, 0, 0, INDENT)) for line in others]
    return Group(*below)
