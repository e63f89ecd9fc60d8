"""The table of a study for a paper: LaTeX with booktabs, ours in bold, printed numbers below."""

from __future__ import annotations

from disorder.report.latex import LatexTable, code, escaped, label, titled
from disorder.verbs.study.result import Study
from disorder.verbs.study.table_lines import TableLine, columns_of, keys_of, lines, title


def latex_table(study: Study) -> LatexTable:
    """The lines of a study, as its page has them."""
    keys = keys_of(study)
    return LatexTable(
        head=[*map(escaped, keys), *(titled(title(column)) for column in columns_of(study))],
        rows=[_row(line) for line in lines(study)],
        caption=(
            f"{escaped(study.title)} ({code(study.item)}), computed again: ours in bold with "
            "95\\,\\% intervals over examples, beside the published numbers."
        ),
        label=label(study.item),
        n_names=len(keys),
    )


def _row(line: TableLine) -> list[str]:
    about = list(map(escaped, line.about))
    if line.whose != "ours":
        return [*about, *map(escaped, line.cells)]
    return [*about, *map(_bold, line.cells)]


def _bold(text: str) -> str:
    """The number in bold, its interval beside it."""
    value, _, rest = text.partition(" ")
    interval = f" {{\\small {escaped(rest)}}}" if rest else ""
    return rf"\textbf{{{escaped(value)}}}{interval}" if value else ""
