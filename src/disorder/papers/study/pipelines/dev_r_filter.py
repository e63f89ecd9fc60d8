"""The first filter of dev-r in a study: what counts as one sentence.

Out of Order used NLTK's splitter (Punkt). Its data is not installed everywhere, and scores must not
depend on what is installed: the rules of `disorder` are used unless the user says
`--set dev_r.sentences=punkt`, which is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

from disorder.errors import BadSetting
from disorder.metrics import is_one_sentence
from disorder.papers.study.part_settings import PartSettings, spec_in_run
from disorder.papers.study.pipeline import Measurement
from disorder.transformations import parse
from disorder.transformations.words.nltk_sentences import is_one_punkt_sentence
from disorder.types import Outcomes
from disorder.verbs.compare import FinishedRun
from disorder.verbs.outcomes import simple_examples

NAME = "dev_r"
RULES = "rules"
SPLITTERS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {RULES: is_one_sentence, "punkt": is_one_punkt_sentence}
)


@dataclass(frozen=True)
class DevRFilter(Measurement):
    """What measurements on dev-r share: `sentences` names who says what one sentence is."""

    sentences: str = field(default=RULES, kw_only=True)

    own_settings = MappingProxyType({NAME: ("sentences",)})

    def tuned(self, given: PartSettings) -> Self:
        """The same with the user's `dev_r.sentences`; raises where the splitter is not here."""
        chosen = given.get(NAME, {}).get("sentences", self.sentences)
        if chosen not in SPLITTERS:
            raise BadSetting(NAME, sentences=chosen, need=" or ".join(SPLITTERS))
        SPLITTERS[chosen]("One.")
        return replace(self, sentences=chosen)

    def outcomes(self, folder: Path, specs: Sequence[str]) -> Iterator[tuple[str, Outcomes]]:
        """The predictions of a run, per transformation, with the examples that are simple."""
        for spec, found in outcomes_of(folder, specs):
            yield spec, found if self.sentences == RULES else self._filtered(folder, found)

    def _filtered(self, folder: Path, found: Outcomes) -> Outcomes:
        finished = FinishedRun.open(folder)
        by_id = {example.id: example for example in finished.examples}
        is_simple = simple_examples(
            found.task,
            [by_id[name] for name in found.example.tolist()],
            parse(found.transformation),
            found.fidelity,
            SPLITTERS[self.sentences],
        )
        return replace(found, is_simple=is_simple)


def outcomes_of(folder: Path, specs: Sequence[str]) -> Iterator[tuple[str, Outcomes]]:
    """The predictions of a run, per transformation; those that apply to no text are left out."""
    finished = FinishedRun.open(folder)
    scored = {record.transformation for record in finished.run.scores}
    for spec in specs:
        canonical = spec_in_run(finished.run, spec)
        if canonical is None or canonical not in scored:
            continue
        outcomes = finished.outcomes(canonical)
        if outcomes is not None:
            yield spec, outcomes
