"""The Hugging Face hub: used quietly, and only where it can be reached.

Without a network its clients retry for half a minute per file and print every try. Here one look at
the host decides: where it cannot be reached, only local copies are used, and the error comes at
once.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from disorder.errors import BadModel
from disorder.safe_io import reason

PATIENCE = 5.0  # seconds to wait for the host
CLIENT = "huggingface_hub"


@contextmanager
def hub_access(name: str) -> Iterator[None]:
    """Load a name or a folder inside this: no line per retry, none without a network, and no look
    at the network for a folder.
    """
    import huggingface_hub.constants as constants

    logger = logging.getLogger(CLIENT)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        is_here = Path(name).expanduser().is_dir()
        with _offline(not is_here and not _is_reachable(constants.ENDPOINT)):
            yield
    finally:
        logger.setLevel(before)


def check_on_hub(spec: str, name: str) -> None:
    """Raise where a name is neither on the hub nor among the local copies; weights are not got."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
    except ImportError:
        return  # to load it is what the user will be told to install
    try:
        with hub_access(name):
            hf_hub_download(name, "config.json")
    except LocalEntryNotFoundError:
        raise BadModel(f"{spec}: no such folder, no local copy, and the hub is not there") from None
    except EntryNotFoundError:
        return  # a model of another form
    except (OSError, ValueError) as error:
        raise BadModel(f"{spec}: no such folder, and not on the hub ({reason(error)})") from None


def why_not_loaded(address: str, error: Exception) -> str:
    """Why a model cannot be loaded, in one line; of pickled weights, how to convert them."""
    reason = (str(error).splitlines() or [""])[0]
    folder = Path(address).expanduser()
    is_pickled = "safetensors" in reason
    if folder.is_dir():
        is_pickled = any(folder.glob("*.bin")) and not any(folder.glob("*.safetensors"))
    if not is_pickled:
        return f"hf:{address} cannot be loaded: {reason}"
    return (
        f"hf:{address}: its weights are pickled, which can run code, and are never loaded. Where "
        'you trust them, convert them once: python -c "from transformers import AutoTokenizer, '
        "AutoModelForSequenceClassification as Model; "
        f"[kind.from_pretrained('{address}').save_pretrained('FOLDER') for kind in "
        '(AutoTokenizer, Model)]", then name hf:FOLDER'
    )


def _is_reachable(endpoint: str) -> bool:
    """Whether the host answers at all; behind a proxy only the client itself can find out."""
    if os.environ.get("HF_HUB_OFFLINE") or getproxies():
        return True  # the client decides
    address = urlsplit(endpoint)
    port = address.port or (80 if address.scheme == "http" else 443)
    try:
        socket.create_connection((address.hostname or "", port), timeout=PATIENCE).close()
    except OSError:
        return False
    return True


@contextmanager
def _offline(is_offline: bool) -> Iterator[None]:
    """As if HF_HUB_OFFLINE were set, which clients read once: it is set where they keep it."""
    keepers: list[Any] = [
        sys.modules[name]
        for name in ("huggingface_hub.constants", "datasets.config")
        if name in sys.modules
    ]
    before = [keeper.HF_HUB_OFFLINE for keeper in keepers]
    for keeper in keepers:
        keeper.HF_HUB_OFFLINE = keeper.HF_HUB_OFFLINE or is_offline
    try:
        yield
    finally:
        for keeper, value in zip(keepers, before, strict=True):
            keeper.HF_HUB_OFFLINE = value
