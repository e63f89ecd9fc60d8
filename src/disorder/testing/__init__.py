"""Our contract tests for the tests of a plugin: every part of a package, held to what built-in
parts keep.

from disorder.testing import parametrize_with_checks

@parametrize_with_checks("my_plugin", models=["my_model:8"])
def test_contract(check):
    check()
"""

from disorder.testing.contract import Check, checks, model_checks, parametrize_with_checks

__all__ = ["Check", "checks", "model_checks", "parametrize_with_checks"]
