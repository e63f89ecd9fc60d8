"""Pipelines: one file per kind of table or figure."""
