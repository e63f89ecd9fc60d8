"""The prompt for open answers."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Answer the question in a few words.
{%- endblock %}

{% if context %}{{ context }}
{% endif -%}
{% for passage in passages %}{{ passage }}
{% endfor -%}
Question: {{ question }}
Answer:
"""


@prompt(texts=1, on="text")
def open() -> str:
    """Ask the question, after the passage that it is about."""
    return TEMPLATE
