"""Text in LaTeX: names come from users, so whatever LaTeX reads as markup is escaped."""

from __future__ import annotations

import re

from disorder.visible_text import visible

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
    r"""The head of a column, with its symbols as formulas.

    >>> titled("Ω_max"), titled("entropy, D_c"), titled("skill kept"), titled("n")
    ('$\\Omega_{\\mathrm{max}}$', 'entropy, $D_{\\mathrm{c}}$', 'skill kept', '$n$')
    """
    if len(title) == 1 and title.isalpha():
        return f"${title}$"
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


def label(*names: str) -> str:
    """A label made of names.

    >>> label("hf:bert-base", "mnli:matched")
    'tab:disorder-hf-bert-base-mnli-matched'
    """
    words = re.sub(r"[^a-z0-9]+", "-", "-".join(names).lower()).strip("-")
    return f"tab:disorder-{words}"
