"""The prompt for sentiment."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Decide whether the review is favourable. Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

Review: {{ text_a }}
Answer:
"""


@prompt(words={"positive": "positive", "negative": "negative", "neutral": "neutral"}, texts=1)
def sentiment() -> str:
    """Ask whether the review is favourable."""
    return TEMPLATE
