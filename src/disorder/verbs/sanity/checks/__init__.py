"""Checks of a dataset, one file per question.

A check is a function of a `CheckInput` that returns a `CheckResult`, declared by `@check`.
"""
