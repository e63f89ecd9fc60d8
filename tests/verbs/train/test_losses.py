"""Losses of the mitigations: values worked out by hand, and those of torch where it has them."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from disorder.verbs.train.inputs import entropy, gold_loss, kl_from_uniform, mean_by_kind

torch = pytest.importorskip("torch", reason="needs torch")

P = [[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]]


def test_entropy_by_hand() -> None:
    values = entropy(torch.tensor(P).log()).tolist()
    assert values == pytest.approx([0.5 * log(2) + 0.5 * log(4), log(3)], abs=1e-6)
    assert entropy(torch.tensor([[1000.0, 0.0]])).item() == pytest.approx(0.0, abs=1e-6)


def test_distance_from_uniform_by_hand() -> None:
    """KL(u‖p) = Σ 1/3 · log((1/3)/p)."""
    by_hand = (log(2 / 3) + 2 * log(4 / 3)) / 3
    assert kl_from_uniform(torch.tensor(P).log()).tolist() == pytest.approx(
        [by_hand, 0.0], abs=1e-6
    )
    logits = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    uniform = torch.full((5, 4), 0.25, dtype=torch.float64)
    theirs = torch.nn.functional.kl_div(logits.log_softmax(1), uniform, reduction="none").sum(1)
    assert torch.allclose(kl_from_uniform(logits), theirs)


def test_focal_by_hand() -> None:
    """(1 − 0.5)² · −log 0.5."""
    logits, targets = torch.tensor(P).log(), torch.tensor([0, 1])
    assert gold_loss(logits, targets, gamma=2.0).tolist() == pytest.approx(
        [0.25 * log(2), 4 / 9 * log(3)], abs=1e-6
    )
    assert torch.equal(
        gold_loss(logits, targets),
        torch.nn.functional.cross_entropy(logits, targets, reduction="none"),
    )


def test_smoothing_by_hand() -> None:
    """The gold label keeps 1 − ε + ε/3, the others have ε/3."""
    value = gold_loss(torch.tensor(P[:1]).log(), torch.tensor([0]), smoothing=0.3).item()
    assert value == pytest.approx(0.8 * log(2) + 0.2 * log(4), abs=1e-6)


@pytest.mark.parametrize("is_perturbed", [[True, True], [False, False], [True, False]])
def test_a_batch_may_lack_original_or_perturbed_rows(is_perturbed: list[bool]) -> None:
    original = torch.tensor([1.0, 2.0], requires_grad=True)
    perturbed = torch.tensor([10.0, 20.0], requires_grad=True)
    value = mean_by_kind(torch.tensor(is_perturbed), perturbed, original)
    value.backward()
    assert np.isfinite(value.item())
    assert value.item() == np.mean(
        [(10, 20)[i] if b else (1, 2)[i] for i, b in enumerate(is_perturbed)]
    )
