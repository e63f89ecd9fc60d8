"""The prompt for multiple choice, answered with a letter."""

from __future__ import annotations

from disorder.registry import prompt

TEMPLATE = """
{% block instruction -%}
Answer the question with the letter of the right option.
{%- endblock %}

{% if context %}{{ context }}
{% endif -%}
{% for passage in passages %}{{ passage }}
{% endfor -%}
Question: {{ question }}
{% if ask %}{{ ask }}
{% endif -%}
{{ options | join("\\n") }}
Answer:
"""


@prompt(texts=1, on="options")
def choice() -> str:
    """List the options of a question with letters, and ask for the letter of the right one."""
    return TEMPLATE
