"""The registry: every part, declared once by its decorator, with a typed record per kind.

Built-in parts and installed plugins come in by the same door. A plugin is a package with an entry
point in the group `disorder` that names a module; importing the module runs its decorators. Names
are never overwritten: two parts of one kind and name are an error.
"""
# ruff: noqa: I001 (a statement for each name otherwise)

from disorder.registry.kinds import (
    TAGGERS as TAGGERS,
    CheckPart as CheckPart,
    DataPart as DataPart,
    EnginePart as EnginePart,
    ExplanationPart as ExplanationPart,
    MetricPart as MetricPart,
    ModelPart as ModelPart,
    Need as Need,
    NetworkPart as NetworkPart,
    PromptPart as PromptPart,
    RecipePart as RecipePart,
    Split as Split,
    SplitterPart as SplitterPart,
    TaggerPart as TaggerPart,
    TaskPart as TaskPart,
    TransformationPart as TransformationPart,
    VerbPart as VerbPart,
    check as check,
    data as data,
    engine as engine,
    loaded as loaded,
    explanation as explanation,
    metric as metric,
    model as model,
    network as network,
    prompt as prompt,
    recipe as recipe,
    tagger as tagger,
    task as task,
    transformation as transformation,
    verb as verb,
    words as words,
)
from disorder.registry.lookup import (
    HOMES as HOMES,
    KINDS as KINDS,
    Card as Card,
    Part as Part,
    broken_plugins as broken_plugins,
    list_parts as list_parts,
    metric_named as metric_named,
    part as part,
    parts as parts,
    parts_of as parts_of,
    register as register,
    unregister as unregister,
)
