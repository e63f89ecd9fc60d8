"""The prompt for similarity: the options are whole numbers, the prediction is their mean."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Rate how similar the two texts are in meaning, from {{ options[0] }} (unrelated) to {{ options[-1] }} (the same). Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

Text 1: {{ text_a }}
Text 2: {{ text_b }}
Answer:
"""  # noqa: E501


@prompt(words={str(i): str(i) for i in range(6)}, texts=2, on="numbers")
def similarity() -> str:
    """Ask how similar the two texts are in meaning, from 0 to 5."""
    return TEMPLATE
