"""A prompt: is this sentence a tongue twister?"""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Is the sentence a tongue twister? Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

Sentence: {{ text_a }}
Answer:
"""


@prompt(words={"plain": "no", "twister": "yes"}, texts=1)
def twister() -> str:
    """Ask whether the sentence is a tongue twister."""
    return TEMPLATE
