"""Specs: what is written is read back, whatever the names and values."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.errors import DisorderError
from disorder.specs import (
    format_part,
    listed,
    parse_list,
    parse_pairs,
    parse_part,
    spec_name,
    split_chain,
    split_spec,
)

NAMES = st.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True)
VALUES = st.one_of(
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.from_regex(r"[A-Z0-9./:@_é-]{1,9}(\+[A-Z0-9]{1,5}){0,2}", fullmatch=True),
)
SETTINGS = st.dictionaries(NAMES, VALUES, max_size=3)
PARTS = st.tuples(NAMES, SETTINGS)


@given(NAMES, SETTINGS)
def test_a_part_is_read_back(name: str, settings: dict[str, object]) -> None:
    spec = format_part(name, settings)
    found, typed = parse_part(spec, kind="transformation")
    assert found == spec_name(spec) == name
    assert typed == {key: str(value) for key, value in settings.items()}
    assert format_part(found, typed) == spec  # a canonical spec is its own canonical spec


@given(st.lists(PARTS, min_size=1, max_size=3))
def test_a_chain_is_read_back(parts: list[tuple[str, dict[str, object]]]) -> None:
    steps = [format_part(name, settings) for name, settings in parts]
    names = {name for name, _ in parts}
    assert split_chain("+".join(steps), names) == steps


@given(st.dictionaries(NAMES, VALUES.map(str), min_size=1, max_size=4))
def test_pairs_are_read_back_from_text_and_from_a_list(pairs: dict[str, str]) -> None:
    items = [f"{key}={value}" for key, value in pairs.items()]
    assert parse_pairs(",".join(items), form="") == pairs
    assert parse_pairs(" , ".join(items), form="") == pairs
    assert parse_pairs(items, form="") == pairs


@given(NAMES, st.text(max_size=20))
def test_an_address_keeps_its_colons(name: str, address: str) -> None:
    assert split_spec(f"{name}:{address}.") == (name, f"{address}.")


@given(st.lists(NAMES, max_size=4))
def test_lists_are_read_back(items: list[str]) -> None:
    assert parse_list(",".join(items)) == parse_list(items) == items
    assert listed(items) == listed(tuple(items)) == items


@given(st.text(max_size=15))
def test_any_text_is_a_list_of_pairs_or_one_clear_error(text: str) -> None:
    found = {"none": "found"}
    with suppress(DisorderError):
        found = parse_pairs(text, form="write a=b")
    assert all(key and value for key, value in found.items())


@pytest.mark.parametrize("spec", ["lime:samples", "lime:=2", "lime:samples=", "lime:a=1,b"])
def test_settings_of_another_shape_say_what_to_write(spec: str) -> None:
    with pytest.raises(DisorderError, match=r"explanation .*: write settings as lime:key=value"):
        parse_part(spec, kind="explanation")


@pytest.mark.parametrize("thing", [None, print, [{"text_a": "x"}]])
def test_what_is_no_spec_has_no_name(thing: object) -> None:
    assert spec_name(thing) == ""
