"""The prompt for any labelled data: its labels are the options."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Decide which label fits. Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

{% if text_b is none -%}
Text: {{ text_a }}
{%- else -%}
Text 1: {{ text_a }}
Text 2: {{ text_b }}
{%- endif %}
Answer:
"""


@prompt()
def labelled() -> str:
    """Ask which of the labels fits the text, or the two texts."""
    return TEMPLATE
