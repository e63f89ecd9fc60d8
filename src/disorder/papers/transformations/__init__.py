"""Transformations that only the papers need."""
