"""The prompt for multiple choice by likelihood: the options are not shown."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% if context %}{{ context }}
{% endif -%}
{% for passage in passages %}{{ passage }}
{% endfor -%}
Question: {{ question }}
{% if ask %}{{ ask }}
{% endif -%}
Answer:
"""


@prompt(texts=1, on="options")
def continuation() -> str:
    """Ask the question alone; the likeliest of its options is the answer."""
    return TEMPLATE
