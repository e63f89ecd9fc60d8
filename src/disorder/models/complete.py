"""Complete models: every weight is in the checkpoint, and the tokenizer has words.

Where one is missing, transformers goes on: it draws the weights at random, and makes up a tokenizer
to which every word is unknown. An audit of such a model would say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disorder.errors import BadModel

ADAPTER = "adapter_model.safetensors"


def check_complete(spec: str, tokenizer: Any, loading: Mapping[str, Any]) -> None:
    """Raise on a model without some of its weights or without a vocabulary; `loading` is what
    transformers says of the weights that it loaded.
    """
    missing = sorted(_not_in_adapter(loading["missing_keys"], Path(spec.partition(":")[2])))
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise BadModel(
            f"{spec} has no weights for {missing[0]}{more}; they would be random: train the model "
            "for the task, or name the folder that it was saved to"
        )
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise BadModel(
            f"{spec} has no vocabulary: put the files of its tokenizer into the folder "
            "(tokenizer.json, or those of tokenizer.save_pretrained)"
        )


def _not_in_adapter(names: Any, folder: Path) -> set[str]:
    """The weights that an adapter does not bring: one for a classifier has the head."""
    path = folder.expanduser() / ADAPTER
    if not names or not path.is_file():
        return set(names)
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        brought = tuple(file.keys())
    return {name for name in names if not any(key.endswith(f".{name}") for key in brought)}
