"""Checks of a dataset, one file per question."""
