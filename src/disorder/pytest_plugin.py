"""The pytest plugin: a fixture that audits a model in a test. It imports nothing of an audit before
a test uses it.

def test_reads(disorder_audit):
    assert disorder_audit(model, data).skill_kept.high < 0.8
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from disorder.results.run import Run


@pytest.fixture
def disorder_audit(request: pytest.FixtureRequest) -> Callable[..., Run]:
    """As `disorder.audit`; a test that fails shows what its audits found."""

    def audited(model: Any, data: Any, **options: Any) -> Run:
        from disorder.verbs.audit import audit

        run = audit(model, data, **options)
        request.node.add_report_section("call", "disorder", str(run))
        return run

    return audited
