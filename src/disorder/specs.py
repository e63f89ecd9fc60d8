"""Specs: the one grammar for names with settings, in Python, on the command line and in run files.

NAME                        derange
NAME:ADDRESS                hf:folder, mnli:matched, python:module:function
NAME:KEY=VALUE,KEY=VALUE    shuffle_ngrams:n=2,side=both
SPEC+SPEC                   drop_pos:tags=NOUN+reverse
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from disorder.errors import DisorderError


def split_spec(spec: str) -> tuple[str, str]:
    """The name and what follows its colon; empty where there is none.

    >>> split_spec("python:module:function")
    ('python', 'module:function')
    """
    name, _, address = spec.strip().partition(":")
    return name, address


def spec_name(spec: object) -> str:
    """The name a spec begins with; empty for what is no spec (a function, a data frame)."""
    return split_spec(spec)[0] if isinstance(spec, str) else ""


def split_chain(spec: str, names: Iterable[str]) -> list[str]:
    """The steps of a chain; a `+` inside a setting (tags=NOUN+PRON) starts no step.

    >>> split_chain("drop_pos:tags=NOUN+PRON+reverse", ["drop_pos", "reverse"])
    ['drop_pos:tags=NOUN+PRON', 'reverse']
    """
    known = "|".join(map(re.escape, names))
    return re.split(rf"\+(?=(?:{known})(?:[:+]|$))", spec.strip())


def parse_part(spec: str, *, kind: str) -> tuple[str, dict[str, str]]:
    """The name of a part and its settings as they were typed.

    >>> parse_part("lime:samples=200", kind="explanation")
    ('lime', {'samples': '200'})
    >>> parse_part("mine.py:swap:n=2", kind="transformation")
    ('mine.py:swap', {'n': '2'})
    """
    name, text = split_spec(spec)
    if name.endswith(".py"):  # FILE.py:FUNCTION is one name
        function, _, text = text.partition(":")
        name = f"{name}:{function}"
    form = f"{kind} {spec!r}: write settings as {name}:key=value,key=value"
    return name, parse_pairs(text, form=form)


def parse_pairs(
    text: str | Iterable[str], *, form: str, is_at_last: bool = False
) -> dict[str, str]:
    """The pairs of `a=b,c=d`, or of a list of `a=b`; `form` is the error for anything else. A name
    that may hold a `=` itself ends at the last one.

    >>> parse_pairs("premise=text_a, gold=label", form="")
    {'premise': 'text_a', 'gold': 'label'}
    """
    items = parse_list(text) if isinstance(text, str) else text
    pairs = {}
    for item in items:
        left, equals, right = item.rpartition("=") if is_at_last else item.partition("=")
        if not equals or not left.strip() or not right.strip():
            raise DisorderError(form)
        pairs[left.strip()] = right.strip()
    return pairs


def parse_list(text: str | Sequence[str] | None) -> list[str]:
    """The items of `a,b,c`, or of a list.

    >>> parse_list("0.25, 0.95"), parse_list(["a"]), parse_list(None)
    (['0.25', '0.95'], ['a'], [])
    """
    if text is None:
        return []
    if not isinstance(text, str):
        return list(text)
    return [item.strip() for item in text.split(",") if item.strip()]


def listed(given: str | Sequence[str] | None) -> list[str]:
    """A list where a single string was meant as its only item.

    >>> listed("derange"), listed(("sort", "reverse")), listed(None)
    (['derange'], ['sort', 'reverse'], [])
    """
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


def format_part(name: str, settings: Mapping[str, Any]) -> str:
    """A spec as run files spell it: settings in alphabetical order.

    >>> format_part("shuffle_ngrams", {"side": "both", "n": 2})
    'shuffle_ngrams:n=2,side=both'
    """
    pairs = ",".join(f"{key}={value}" for key, value in sorted(settings.items()))
    return f"{name}:{pairs}" if pairs else name
