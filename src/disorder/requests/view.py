"""A typed view of what was asked: one attribute for each option, as verbs and result files hold it.

fields.py makes the views; type checkers read them in fields.pyi, which `make reference` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, make_dataclass
from functools import partial
from typing import Any, ClassVar, Self

from disorder.requests.option import declared_in


class View:
    """What was asked, with the defaults of what was not said."""

    request: ClassVar[type]

    @classmethod
    def of(cls, options: Mapping[str, object], **more: Any) -> Self:
        """The view of options as a verb was given them, with `more` that it has beside them."""
        chosen = cls(**held(cls.request, options), **more)
        chosen.check_together()
        return chosen

    def check_together(self) -> None:
        """Raise on values that cannot work together."""


def view_of(request: type, name: str) -> type[View]:
    """The view of a request: a frozen dataclass."""
    entries = [
        (
            each.recorded_name,
            each.recorded_type,
            field(default_factory=partial(each.held, each.default)),
        )
        for each in declared_in(request).values()
    ]
    return make_dataclass(name, entries, bases=(View,), namespace={"request": request}, frozen=True)


def held(request: type, options: Mapping[str, object]) -> dict[str, Any]:
    """The options that were given, as a view holds them."""
    declared = declared_in(request)
    return {
        declared[name].recorded_name: declared[name].held(value) for name, value in options.items()
    }
