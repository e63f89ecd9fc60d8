"""The hub: one look decides whether it can be reached, and a folder never needs it."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import Any

import pytest

from disorder.errors import BadModel
from disorder.store.hub import hub_access

constants: Any = pytest.importorskip("huggingface_hub.constants", reason="needs huggingface_hub")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A machine without a network or a proxy; gives the addresses that were tried."""
    tried: list[object] = []

    def refuse(address: object, **_: object) -> None:
        tried.append(address)
        raise OSError("Name or service not known")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr("disorder.store.hub.getproxies", dict)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return tried


def test_without_a_network_local_copies_are_all_there_is(no_network: list[object]) -> None:
    with hub_access("owner/name"):
        assert constants.HF_HUB_OFFLINE is True
    assert constants.HF_HUB_OFFLINE is False
    assert len(no_network) == 1


def test_a_folder_needs_no_look_at_the_network(no_network: list[object], tmp_path: Path) -> None:
    with hub_access(str(tmp_path)):
        assert constants.HF_HUB_OFFLINE is False
    assert no_network == []


def test_with_a_network_nothing_changes(
    no_network: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: ours)
    with hub_access("owner/name"):
        assert constants.HF_HUB_OFFLINE is False
    theirs.close()


def test_retries_are_not_printed() -> None:
    logger = logging.getLogger("huggingface_hub")
    before = logger.level
    with hub_access("."):
        assert not logger.isEnabledFor(logging.WARNING)
    assert logger.level == before


def test_a_model_of_the_hub_fails_at_once(no_network: list[object]) -> None:
    pytest.importorskip("torch", reason="needs torch")
    from conftest import NLI
    from disorder.models import load

    with pytest.raises(BadModel, match="hf:owner/name cannot be loaded"):
        load("hf:owner/name", task=NLI)
