"""Phrase-based translation for pbsmt: what it learns from, the translator, where it is kept."""
