"""Values of YAML front matter: written as JSON, which is YAML too, so that no name can break it."""

from __future__ import annotations

import json


def yaml_value(value: object) -> str:
    r"""JSON in which characters that YAML does not allow, or that are invisible, are escaped.

    >>> print(yaml_value({"name": "a: #b\u202e"}))
    {"name": "a: #b\u202e"}
    """
    text = json.dumps(value, ensure_ascii=False)
    return "".join(
        char if char.isprintable() and char != "\ufffe" else _escaped(char) for char in text
    )


def _escaped(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
