"""What are annotators told? A question and a page of Markdown for each task; the folder's own copy
is meant to be edited.
"""

from __future__ import annotations

from disorder.types import Task
from disorder.verbs.human.task import HumanTask, Kind

NLI = ("entailment", "neutral", "contradiction")
MEANINGS = {
    "entailment": "if the premise is true, the hypothesis must be true too",
    "neutral": "the hypothesis may be true or false; the premise does not settle it",
    "contradiction": "if the premise is true, the hypothesis cannot be",
    "not_entailment": "the first text does not settle that the second is true",
    "positive": "the writer likes what is spoken of",
    "negative": "the writer does not like what is spoken of",
    "acceptable": "a sentence that a native speaker could say",
    "unacceptable": "no native speaker would say it so",
    "equivalent": "both texts mean the same",
    "not_equivalent": "the texts do not mean the same",
    "duplicate": "both ask the same",
    "not_duplicate": "they ask different things",
    "answerable": "the passage answers the question",
    "unanswerable": "the passage does not answer it",
}
VALIDITY = """\
# Is this a sentence?

You will see {n} texts, one at a time. Say of each whether it is

- **valid**: it can be understood, even if it is clumsy, short, or not quite grammatical;
- **invalid**: it cannot be understood, and so it means nothing.

Judge the text alone. Do not look anything up, and do not talk about the texts with others.
"""
LABELLING = """\
# {question}

You will see {n} {things}, one at a time. Some may be hard or impossible to understand: read them as well as you can, put the
words together to the best of your abilities, and always choose the answer that fits best.

{labels}

Go by the text alone. Do not look anything up, and do not talk about the texts with others.
"""


def question_for(kind: Kind, task: Task, *, is_pair: bool) -> str:
    """The question above every item."""
    if kind == "valid":
        return "Is this a sentence?"
    if set(task.labels) == set(NLI):
        return "What does the premise say about the hypothesis?"
    return "Which label fits the two texts?" if is_pair else "Which label fits this text?"


def instructions_for(task: HumanTask) -> str:
    """The first page that annotators see."""
    if task.kind == "valid":
        return VALIDITY.format(n=task.n_items)
    labels = "\n".join(
        f"- **{label}**" + (f": {MEANINGS[label]}" if label in MEANINGS else "")
        for label in task.labels
    )
    things = "pairs of texts" if len(task.text_names) > 1 else "texts"
    return LABELLING.format(question=task.question, n=task.n_items, things=things, labels=labels)
