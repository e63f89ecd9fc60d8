"""`disorder mitigations`: which recipe makes a model abstain on perturbed texts, and does it still
predict the original ones?
"""

from __future__ import annotations

from disorder.cli.folders import resumable
from disorder.papers.commands.designs import (
    ComparisonData,
    ComparisonTest,
    comparison_folder,
    show_models,
)
from disorder.papers.requests import ComparisonOutput, MitigationsOptions
from disorder.registry import verb


@verb(group="Change", python="disorder.papers.training:mitigations")
def mitigations(
    data: ComparisonData,
    test: ComparisonTest,
    *,
    options: MitigationsOptions,
    output: ComparisonOutput,
) -> None:
    """Train mitigations against perturbed texts and compare them (Word Salad, Table 12).

    A good one abstains on perturbed texts and still predicts original ones, rare word orders among
    them. The same command with the same --out resumes what was stopped.
    """
    from disorder.cli.progress import EpochBar
    from disorder.papers.training import compared_mitigations

    folder = comparison_folder(MitigationsOptions, options, data, output["out"])
    with resumable(folder, "seed-0"), EpochBar() as bar:
        _, result = compared_mitigations(data, test, out=folder, progress=bar, **options)
    show_models(result, folder, as_json=output["as_json"])
