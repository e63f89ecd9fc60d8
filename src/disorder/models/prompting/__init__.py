"""Prompting: how a language model is asked about texts, whatever backend it runs on.

A backend for language models does three things (see `models/causal.py`):

1. Its loader has a keyword-only parameter `prompt: Prompt | None`, and gets the prompt of the run:
   template, label words, examples, orders of the options; None is `prompt_for(task)`.
2. Its model derives from `PromptedModel` and has one method, `option_scores(questions)`: for each
   `Question` the log-probability of each option (`question.options`, in the order of the prompt's
   labels). −∞ is an option that cannot be; a row of −∞ only is an abstention. `question.text` is
   the prompt as plain text, which `" " + option` continues; `question.messages` are the same as
   messages for a chat model, whose answer is the option itself.
3. It calls `PromptedModel.__init__(prompt, fingerprint)` with a fingerprint of the model alone; the
   prompt's own is added, so that the prediction cache tells prompts apart.

`PromptedModel` does the rest: orders of the options, calibration, expected numbers for regression,
the counts that run.json reports, and one rendered prompt for the page.
"""

from __future__ import annotations

from disorder.models.prompting.choosing import prompt_for
from disorder.models.prompting.prompt import Prompt, Question, Shot
from disorder.models.prompting.prompted_model import PromptedModel, findings

__all__ = [
    "Prompt",
    "PromptedModel",
    "Question",
    "Shot",
    "findings",
    "prompt_for",
]
