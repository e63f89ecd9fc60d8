r"""Tables for a paper: LaTeX with booktabs, of a run, a comparison or any rows.

Names come from users: whatever LaTeX reads as markup is escaped. Needs `\usepackage{booktabs}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from disorder.errors import UnknownName
from disorder.report.comparison import shown_p, signed, where
from disorder.report.metric_names import shown, title_of
from disorder.report.page import visible
from disorder.report.terminal import by_transformation
from disorder.runs.comparison import Comparison, Difference
from disorder.runs.run import Record, Run

ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "·": r"\textperiodcentered{}",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "⟨": r"$\langle$",
    "⟩": r"$\rangle$",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "Ω": r"$\Omega$",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
}
# a letter with an index, as titles of metrics have them: P_c, Ω_max, Ω_0.5
SYMBOL = re.compile(r"(?<!\w)(\w)_([A-Za-z]+|[0-9.]+)(?!\w)")
GREEK = {"Ω": r"\Omega", "Δ": r"\Delta"}


def escaped(text: str) -> str:
    r"""A text as LaTeX shows it.

    >>> print(escaped("100 % of a_b & <c> − 1"))
    100 \% of a\_b \& \textless{}c\textgreater{} $-$ 1
    """
    one_line = " ".join(visible(text).split())
    return "".join(ESCAPED.get(char, char) for char in one_line)


def titled(title: str) -> str:
    r"""A metric's title, with its symbols as formulas.

    >>> titled("Ω_max"), titled("entropy, D_c"), titled("skill kept")
    ('$\\Omega_{\\mathrm{max}}$', 'entropy, $D_{\\mathrm{c}}$', 'skill kept')
    """
    pieces: list[str] = []
    end = 0
    for found in SYMBOL.finditer(title):
        letter = GREEK.get(found[1], found[1])
        pieces += [
            escaped_part(title[end : found.start()]),
            f"${letter}_{{\\mathrm{{{found[2]}}}}}$",
        ]
        end = found.end()
    return "".join([*pieces, escaped_part(title[end:])])


def escaped_part(text: str) -> str:
    """A piece of a text, whose spaces at the ends are kept."""
    return "".join(ESCAPED.get(char, char) for char in text)


def code(spec: str) -> str:
    r"""A spec in the type of code.

    >>> print(code("shuffle_ngrams:n=2"))
    \texttt{shuffle\_ngrams:n=2}
    """
    return rf"\texttt{{{escaped(spec)}}}"


@dataclass(frozen=True)
class LatexTable:
    """A table whose cells are LaTeX already; the columns of names are left, the others right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    label: str
    n_names: int = 1

    def __str__(self) -> str:
        columns = "l" * self.n_names + "r" * (len(self.head) - self.n_names)
        lines = [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{self.caption}}}",
            rf"  \label{{{self.label}}}",
            rf"  \begin{{tabular}}{{{columns}}}",
            r"    \toprule",
            f"    {_row(self.head)}",
            r"    \midrule",
            *(f"    {_row(row)}" for row in self.rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def run_table(
    run: Run,
    *,
    metrics: Sequence[str] = (),
    transformations: Sequence[str] = (),
    group: str = "all",
    has_intervals: bool = True,
) -> LatexTable:
    """Scores of a run, one row per transformation; all that its tables show, or those named."""
    rows = dict(by_transformation(run, group))
    present = list(dict.fromkeys(name for records in rows.values() for name in records))
    _check("group of this run", [group], ["all", *run.groups])
    _check("transformation of this run", transformations, rows)
    _check("metric of this run", metrics, present)
    columns = list(metrics) or shown(present, "table")
    names = list(transformations) or list(rows)
    return LatexTable(
        head=["Texts", *(titled(title_of(metric)) for metric in columns)],
        rows=[
            [_text_name(name), *(_score(rows[name].get(m), has_intervals) for m in columns)]
            for name in names
        ],
        caption=_run_caption(run, group, has_intervals=has_intervals),
        label=label(run.model, run.data),
    )


def _check(kind: str, names: Sequence[str], known: Mapping[str, object] | Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)


def _text_name(transformation: str) -> str:
    return "original" if transformation == "original" else code(transformation)


def _score(record: Record | None, has_intervals: bool) -> str:
    if record is None:
        return "--"
    value = _number(record.value, 3)
    if not has_intervals:
        return value
    return f"{value} {{\\small [{_number(record.low, 2)}, {_number(record.high, 2)}]}}"


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "$-$")


def _run_caption(run: Run, group: str, *, has_intervals: bool) -> str:
    only = "" if group == "all" else f", only {code(group)}"
    intervals = "; 95\\,\\% intervals over examples in brackets" if has_intervals else ""
    return (
        f"{code(run.model)} on {code(run.data)} ({run.n_examples:,} examples{only}), "
        f"original and perturbed texts{intervals}."
    )


def label(*names: str) -> str:
    """A label made of names.

    >>> label("hf:bert-base", "mnli:matched")
    'tab:disorder-hf-bert-base-mnli-matched'
    """
    words = re.sub(r"[^a-z0-9]+", "-", "-".join(names).lower()).strip("-")
    return f"tab:disorder-{words}"


def comparison_tables(comparison: Comparison) -> list[LatexTable]:
    """One table per pair of runs and group."""
    return [
        LatexTable(
            head=["Score", "$n$", "base", "other", "difference", "$p$ (Holm)"],
            rows=[_difference(d) for d in differences],
            caption=_pair_caption(comparison, base, other, group),
            label=label(base, other, group),
        )
        for base, other, group, differences in comparison.pairs
    ]


def _difference(d: Difference) -> list[str]:
    place = "original texts" if d.transformation == "original" else code(where(d.transformation))
    change = f"{signed(d.difference)} [{signed(d.low, 2)}, {signed(d.high, 2)}]"
    told = escaped(change)
    return [
        f"{titled(title_of(d.metric))}, {place}",
        f"{d.n:,}",
        _number(d.base_value, 3),
        _number(d.other_value, 3),
        rf"\textbf{{{told}}}" if d.is_sure else told,
        escaped(shown_p(d.p_holm)),
    ]


def _pair_caption(comparison: Comparison, base: str, other: str, group: str) -> str:
    only = "" if group == "all" else f", only {code(group)}"
    return (
        f"{code(other)} minus {code(base)} on {code(comparison.data)}{only}: paired differences on "
        f"the same {comparison.n_examples:,} examples and permutations, with 95\\,\\% intervals; "
        "bold where significant at 0.05 after Holm's correction."
    )
