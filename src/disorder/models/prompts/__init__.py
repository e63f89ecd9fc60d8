"""Built-in prompts: one file per task, each a Jinja template and the words that stand for labels.

How prompts are filled in and scored stands in `disorder.models.prompting`.
"""
