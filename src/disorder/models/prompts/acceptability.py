"""The prompt for linguistic acceptability."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Decide whether the sentence is grammatical. Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

Sentence: {{ text_a }}
Answer:
"""


@prompt(words={"acceptable": "yes", "unacceptable": "no"}, texts=1)
def acceptability() -> str:
    """Ask whether the sentence is grammatical."""
    return TEMPLATE
