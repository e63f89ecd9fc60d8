"""The registry: every part, declared once by its decorator, with a typed record per kind.

Built-in parts and installed plugins come in by the same door. A plugin is a package with an entry
point in the group `disorder` that names a module; importing the module runs its decorators. Names
are never overwritten: two parts of one kind and name are an error.
"""

from __future__ import annotations

from disorder.registry.decorators import (
    TAGGERS,
    check,
    data,
    explanation,
    metric,
    model,
    network,
    prompt,
    recipe,
    tagger,
    transformation,
    words,
)
from disorder.registry.kinds import (
    CheckPart,
    DataPart,
    ExplanationPart,
    MetricPart,
    ModelPart,
    Need,
    NetworkPart,
    Part,
    PromptPart,
    RecipePart,
    Split,
    SplitterPart,
    TaggerPart,
    TransformationPart,
)
from disorder.registry.lookup import (
    HOMES,
    KINDS,
    list_parts,
    metric_named,
    part,
    parts,
    parts_of,
    register,
    unregister,
)

__all__ = [
    "HOMES",
    "KINDS",
    "TAGGERS",
    "CheckPart",
    "DataPart",
    "ExplanationPart",
    "MetricPart",
    "ModelPart",
    "Need",
    "NetworkPart",
    "Part",
    "PromptPart",
    "RecipePart",
    "Split",
    "SplitterPart",
    "TaggerPart",
    "TransformationPart",
    "check",
    "data",
    "explanation",
    "list_parts",
    "metric",
    "metric_named",
    "model",
    "network",
    "part",
    "parts",
    "parts_of",
    "prompt",
    "recipe",
    "register",
    "tagger",
    "transformation",
    "unregister",
    "words",
]
