"""The verb `perturb`: perturbed texts of some data, as data, or as tasks of other tools."""

from __future__ import annotations

from disorder.verbs.perturb.perturbing import CHUNK, PerturbedTexts, Tally, perturb

__all__ = ["CHUNK", "PerturbedTexts", "Tally", "perturb"]
