"""Explanations, one file per question: each takes a Subject and returns an Explained."""
