"""The prompt for QNLI, whose pairs are a question and a sentence that may answer it."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Decide whether the sentence answers the question. Answer with one of: {{ options | join(", ") }}.
{%- endblock %}

Question: {{ text_a }}
Sentence: {{ text_b }}
Answer:
"""


@prompt(words={"entailment": "yes", "not_entailment": "no"}, texts=2, of="qnli")
def answering() -> str:
    """Ask whether a sentence answers a question."""
    return TEMPLATE
