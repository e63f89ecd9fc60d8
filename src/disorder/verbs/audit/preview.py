"""A preview of an audit: how many model calls it would make, and one prompt. It makes none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from disorder.data.reading import LIKELIHOOD
from disorder.models.loading import check_available
from disorder.models.prompting import Prompt
from disorder.requests.audit import AuditOptions
from disorder.requests.settings import Settings, takes_options
from disorder.results.conclusion import RANK
from disorder.transformations import Transformation
from disorder.types import OF_PROMPTS, Dataset
from disorder.verbs.audit.behaviour import n_besides
from disorder.verbs.audit.budget import Prices
from disorder.verbs.audit.deciding import n_timed
from disorder.verbs.audit.piloting import n_in_pilot
from disorder.verbs.audit.planning import planned_for, with_controls
from disorder.verbs.audit.prompts import perturbable_prompt
from disorder.verbs.prompting import bound_prompt
from disorder.verbs.selected_data import selected_data

CHARACTERS = 4  # in a token, about; a server counts its own
SHOWN = 200  # examples whose prompts are measured


@dataclass(frozen=True)
class Preview:
    """The model calls of an audit, its surface controls and texts that are predicted again among
    them: at most so many, since short texts have fewer variants.
    """

    model: str
    data: str
    n_examples: int
    variants: dict[str, int]
    n_questions: int
    tokens_in: int | None
    cost: float | None
    rendered: str
    notes: Sequence[str]

    def lines(self) -> list[str]:
        """The preview in words."""
        of_each = ", ".join(f"{spec}: {count}" for spec, count in self.variants.items())
        found = [
            f"{self.model} on {self.data}: {self.n_examples:,} examples",
            f"variants of each: {of_each}",
            f"at most {self.n_questions:,} model calls: original texts, their variants and surface "
            "controls, and some texts again to see what changes by itself",
        ]
        if self.tokens_in is not None:
            found.append(
                f"about {self.tokens_in:,} tokens sent ({CHARACTERS} characters to a token)"
                + ("" if self.cost is None else f", about {self.cost:.4g} for them")
            )
        found += self.notes
        if self.rendered:
            found += ["", "one of the prompts:", "", self.rendered]
        return [*found, "", "no model call was made (--dry-run)"]


@takes_options(AuditOptions)
def preview(
    model: Any = "builtin", data: Any = "builtin", **options: Unpack[AuditOptions]
) -> Preview:
    """The model calls that an audit with these settings would make, with one prompt; makes none."""
    chosen = Settings.of(options)
    if isinstance(model, str):
        check_available(model, chosen.base_url)
    is_of_labels = chosen.task != LIKELIHOOD and RANK not in chosen.score
    dataset = selected_data(data, chosen, needs_gold=is_of_labels)
    plan, left_out = planned_for(chosen, dataset.task.language)
    plan = with_controls(plan, chosen)
    prompt = bound_prompt(model, dataset, chosen)
    if chosen.break_ in OF_PROMPTS:
        prompt, dataset = perturbable_prompt(prompt, dataset, chosen)
    return previewed(model, dataset, plan, prompt, chosen, left_out)


def previewed(
    model: Any,
    dataset: Dataset,
    plan: Sequence[Transformation],
    prompt: Prompt | None,
    settings: Settings,
    notes: Sequence[str],
) -> Preview:
    """The preview of an audit whose data, transformations and prompt are settled."""
    counts = {each.spec: each.count(settings.n_variants) for each in plan}
    variants = {each.spec: counts[each.spec] for each in plan if not each.is_control}
    per_text = 1 if prompt is None else len(prompt.listings) * max(1, len(settings.prompt))
    n_texts = len(dataset.examples) * (1 + sum(counts.values()))
    n_texts += n_besides(dataset, settings) + n_in_pilot(dataset, plan, settings)
    n_texts += n_timed(dataset, plan, settings)
    n_questions = n_texts * per_text
    tokens = None
    rendered = ""
    if prompt is not None:
        questions = prompt.questions_about([each.segments for each in dataset.examples[:SHOWN]])
        rendered = questions[0].text
        mean = sum(len(question.text) for question in questions) / len(questions)
        tokens = round(n_questions * mean / CHARACTERS)
    prices = Prices(settings.price_in, settings.price_out)
    cost = prices.cost({"tokens_in": tokens}) if prices and tokens is not None else None
    return Preview(
        str(model),
        dataset.name,
        len(dataset.examples),
        variants,
        n_questions,
        tokens,
        cost,
        rendered,
        list(notes),
    )
