"""Phrase-based translators, one per label, for the transformation pbsmt."""
