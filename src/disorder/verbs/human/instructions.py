"""What annotators are told: a question and a page of Markdown per task.

The task folder has its own copy of the page, which is meant to be edited.
"""

from __future__ import annotations

from disorder.types import Task
from disorder.verbs.human.task_folder import HumanTask, TaskKind

NLI = ("entailment", "neutral", "contradiction")
MEANINGS = {
    "entailment": "if the premise is true, the hypothesis must be true too",
    "neutral": "the hypothesis may be true or false; the premise does not decide it",
    "contradiction": "if the premise is true, the hypothesis cannot be",
    "not_entailment": "the first text does not show that the second is true",
    "positive": "the writer likes what the text is about",
    "negative": "the writer does not like what the text is about",
    "acceptable": "a native speaker could say this sentence",
    "unacceptable": "no native speaker would say it this way",
    "equivalent": "both texts have the same meaning",
    "not_equivalent": "the texts differ in meaning",
    "duplicate": "both questions ask for the same thing",
    "not_duplicate": "the questions ask for different things",
    "answerable": "the passage answers the question",
    "unanswerable": "the passage does not answer the question",
}
VALIDITY = """\
# Is this a sentence?

You will see {n} texts, one at a time. For each text choose one answer:

- **valid**: it can be understood, even if it is clumsy, short, or not quite grammatical;
- **invalid**: it cannot be understood.

Judge only the text. Do not look anything up, and do not discuss the texts with others.
"""
LABELLING = """\
# {question}

You will see {n} {things}, one at a time. Some may be hard or impossible to understand: read
them as well as you can, try to make sense of the words, and always choose the answer that fits
best.

{labels}

Judge only the text. Do not look anything up, and do not discuss the texts with others.
"""


def question_for(kind: TaskKind, task: Task, *, is_pair: bool) -> str:
    """The question shown above every item."""
    if kind == "valid":
        return "Is this a sentence?"
    if set(task.labels) == set(NLI):
        return "What does the premise say about the hypothesis?"
    return "Which label fits the two texts?" if is_pair else "Which label fits this text?"


def instructions_for(task: HumanTask) -> str:
    """The page that annotators see first, as Markdown."""
    if task.kind == "valid":
        return VALIDITY.format(n=task.n_items)
    lines = []
    for label in task.labels:
        meaning = f": {MEANINGS[label]}" if label in MEANINGS else ""
        lines.append(f"- **{label}**{meaning}")
    things = "pairs of texts" if len(task.text_names) > 1 else "texts"
    return LABELLING.format(
        question=task.question, n=task.n_items, things=things, labels="\n".join(lines)
    )
