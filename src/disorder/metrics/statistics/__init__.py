"""Intervals, paired differences, anytime-valid sequences and early decisions, shared by all
metrics.
"""
