"""The prompt for paraphrases and questions asked twice."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Decide whether the two texts have the same meaning. Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

Text 1: {{ text_a }}
Text 2: {{ text_b }}
Answer:
"""


@prompt(
    words={
        "paraphrase": "yes",
        "not_paraphrase": "no",
        "duplicate": "yes",
        "not_duplicate": "no",
        "equivalent": "yes",
        "not_equivalent": "no",
    },
    texts=2,
)
def paraphrase() -> str:
    """Ask whether the two texts have the same meaning."""
    return TEMPLATE
