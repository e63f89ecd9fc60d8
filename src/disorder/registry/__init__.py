"""The registry: every part, declared once by its decorator, with a typed record per kind.

Built-in parts and installed plugins come in by the same door. A plugin is a package with an entry
point in the group `disorder` that names a module; importing the module runs its decorators. Names
are never overwritten: two parts of one kind and name are an error.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disorder.registry.declaration import Part
    from disorder.registry.decorators import (
        TAGGERS,
        check,
        data,
        engine,
        explanation,
        metric,
        model,
        network,
        prompt,
        recipe,
        tagger,
        task,
        transformation,
        words,
    )
    from disorder.registry.kinds import (
        CheckPart,
        DataPart,
        EnginePart,
        ExplanationPart,
        MetricPart,
        ModelPart,
        Need,
        NetworkPart,
        PromptPart,
        RecipePart,
        Split,
        SplitterPart,
        TaggerPart,
        TaskPart,
        TransformationPart,
    )
    from disorder.registry.lookup import (
        HOMES,
        KINDS,
        broken_plugins,
        list_parts,
        metric_named,
        part,
        parts,
        parts_of,
        register,
        unregister,
    )
    from disorder.registry.verbs import VerbPart, verb

__all__ = [
    "HOMES",
    "KINDS",
    "TAGGERS",
    "CheckPart",
    "DataPart",
    "EnginePart",
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
    "TaskPart",
    "TransformationPart",
    "VerbPart",
    "broken_plugins",
    "check",
    "data",
    "engine",
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
    "task",
    "transformation",
    "unregister",
    "verb",
    "words",
]


if not TYPE_CHECKING:  # else a name that is not there would be of any type

    def __getattr__(name: str) -> Any:
        """Load names when they are first used: `disorder --help` needs few of them."""
        if name not in __all__:
            raise AttributeError(f"module 'disorder.registry' has no attribute {name!r}")
        modules = ("lookup", "verbs", "declaration", "kinds", "decorators")
        homes = (importlib.import_module(f"disorder.registry.{module}") for module in modules)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
