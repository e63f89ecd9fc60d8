"""The prompt for natural language inference: premise, then hypothesis."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Decide whether the hypothesis is true, given the premise. Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

Premise: {{ text_a }}
Hypothesis: {{ text_b }}
Answer:
"""  # noqa: E501


@prompt(
    words={
        "entailment": "yes",
        "neutral": "maybe",
        "contradiction": "no",
        "not_entailment": "no",
    },
    texts=2,
)
def nli() -> str:
    """Ask whether the hypothesis is true, given the premise."""
    return TEMPLATE
