"""Untrusted text in Markdown, LaTeX and YAML: escaped, so that it stays in its cell and line and is
no markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from disorder.safe_io import visible

MARKUP = "|`*"
# brackets make a link, a footnote or a box to tick only before these, or at the ends of a text
BRACKET = re.compile(r"^\[|\](?=[(\[:]|$)")
LINE_BREAKS = re.compile(r"[\n\t]+")
PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")  # all of ASCII's, which is all that can be markup


def markdown_text(text: str) -> str:
    r"""A text that cannot leave its cell, nor be markup.

    >>> print(markdown_text("a | <b> in [0.1, 0.2], [c](d)"))
    a \| &lt;b> in [0.1, 0.2], [c\](d)
    """
    safe = (
        visible(text)
        .replace("\\", "\\\\")
        .replace("\n", " ")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
    )
    for char in MARKUP:
        safe = safe.replace(char, f"\\{char}")
    return BRACKET.sub(r"\\\g<0>", safe)


def markdown_code(text: str, *, in_table: bool = False) -> str:
    """A text that Markdown shows as it is, in one line: no markup, no table cell, no one mentioned.

    >>> print(markdown_code("disorder list"), markdown_code("a`b"))
    `disorder list` ``a`b``
    >>> print(markdown_code("a|b", in_table=True))
    <code>a&#124;b</code>
    """
    shown = LINE_BREAKS.sub(" ", visible(text)) or " "
    if in_table and "|" in shown:  # renderers differ in how it is escaped between backticks
        return f"<code>{PUNCTUATION.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>"
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if _loses_its_ends(shown) else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def _loses_its_ends(shown: str) -> bool:
    """Whether a text needs a space at both ends between backticks: one would be lost otherwise."""
    has_backticks = shown.startswith("`") or shown.endswith("`")
    has_spaces = shown.startswith(" ") and shown.endswith(" ") and bool(shown.strip(" "))
    return has_backticks or has_spaces


LATEX = {
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


def latex_text(text: str) -> str:
    r"""A text as LaTeX shows it.

    >>> print(latex_text("100 % of a_b & <c> − 1"))
    100 \% of a\_b \& \textless{}c\textgreater{} $-$ 1
    """
    one_line = " ".join(visible(text).split())
    return "".join(LATEX.get(char, char) for char in one_line)


def latex_title(title: str) -> str:
    r"""The head of a column, with its symbols as formulas.

    >>> latex_title("Ω_max"), latex_title("entropy, D_c")
    ('$\\Omega_{\\mathrm{max}}$', 'entropy, $D_{\\mathrm{c}}$')
    >>> latex_title("skill kept"), latex_title("n")
    ('skill kept', '$n$')
    """
    if len(title) == 1 and title.isalpha():
        return f"${title}$"
    pieces: list[str] = []
    end = 0
    for found in SYMBOL.finditer(title):
        letter = GREEK.get(found[1], found[1])
        pieces += [
            _latex_part(title[end : found.start()]),
            f"${letter}_{{\\mathrm{{{found[2]}}}}}$",
        ]
        end = found.end()
    return "".join([*pieces, _latex_part(title[end:])])


def _latex_part(text: str) -> str:
    """A piece of a text, whose spaces at the ends are kept."""
    return "".join(LATEX.get(char, char) for char in text)


def latex_code(spec: str) -> str:
    r"""A spec in the type of code.

    >>> print(latex_code("shuffle_ngrams:n=2"))
    \texttt{shuffle\_ngrams:n=2}
    """
    return rf"\texttt{{{latex_text(spec)}}}"


def latex_caption(text: str) -> str:
    r"""A text below a table, in which names between backticks are code.

    >>> print(latex_caption("`a_b` in 95 % of c_d"))
    \texttt{a\_b} in 95\,\% of c\_d
    """
    pieces = [
        latex_code(piece) if number % 2 else _latex_part(visible(piece).replace("\n", " "))
        for number, piece in enumerate(text.split("`"))
    ]
    return "".join(pieces).replace(r" \%", r"\,\%")


def name_of(*names: str) -> str:
    """Names in one word of plain letters, as labels and files have it.

    >>> name_of("hf:bert-base", "mnli:matched")
    'hf-bert-base-mnli-matched'
    """
    return re.sub(r"[^a-z0-9]+", "-", "-".join(names).lower()).strip("-")


def yaml_lines(values: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """A mapping as YAML, one line per value; lists and mappings that hold lists are spread."""
    for key, value in values.items():
        if _is_spread(value):
            yield f"{indent}{key}:"
            entries = [value] if isinstance(value, Mapping) else value
            for each in entries:
                first = "" if each is value else "- "
                if not _is_spread(each):
                    yield f"{indent}  {first}{yaml_value(each)}"
                    continue
                inner = list(yaml_lines(each))
                yield f"{indent}  {first}{inner[0]}"
                yield from (f"{indent}  {' ' * len(first)}{line}" for line in inner[1:])
        else:
            yield f"{indent}{key}: {yaml_value(value)}"


def _is_spread(value: object) -> bool:
    """Whether a value has too much in it for one line."""
    if isinstance(value, Mapping):
        return any(isinstance(each, list) for each in value.values())
    return isinstance(value, list) and bool(value)


def yaml_value(value: object) -> str:
    r"""JSON in which characters that YAML does not allow, or that are invisible, are escaped.

    >>> print(yaml_value({"name": "a: #b\u202e"}))
    {"name": "a: #b\u202e"}
    """
    text = json.dumps(value, ensure_ascii=False)
    return "".join(
        char if char.isprintable() and char != "\ufffe" else _escaped_char(char) for char in text
    )


def _escaped_char(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
