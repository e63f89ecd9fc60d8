"""The registry: one name per part, safe for threads, settings checked with clear errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from disorder.errors import BadSetting, DisorderError, UnknownName
from disorder.registry import (
    KINDS,
    Card,
    MetricPart,
    TransformationPart,
    list_parts,
    lookup,
    metric,
    part,
    parts,
    parts_of,
    transformation,
    unregister,
)

THREADS = """
import threading
from disorder.registry import KINDS, parts_of
start = threading.Barrier(8)
seen = []

def look(first):
    start.wait()
    kinds = KINDS[first:] + KINDS[:first]
    seen.append({kind: tuple(parts_of(kind)) for kind in kinds})

threads = [threading.Thread(target=look, args=(i,)) for i in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
everything = {kind: tuple(parts_of(kind)) for kind in KINDS}
assert len(seen) == 8 and all(everything.values())
assert all(found == everything for found in seen)
"""


@pytest.fixture
def settings() -> Iterator[TransformationPart]:
    """A part with settings of several types."""

    @transformation(keeps="nothing", destroys="everything")
    def with_settings(
        *, n: int = 1, share: float | None = None, tidy: bool = False, tags: str = ""
    ) -> None:
        """Does nothing."""

    yield part(TransformationPart, "with_settings")
    unregister(TransformationPart, "with_settings")


def test_two_parts_with_one_name_are_an_error() -> None:
    before = part(MetricPart, "p_c")

    def p_c(outcomes: object) -> None:
        """Another one."""

    with pytest.raises(DisorderError, match=r"two parts are called 'p_c' \(metric\): disorder.met"):
        metric(better="low")(p_c)
    assert part(MetricPart, "p_c") is before


def test_one_name_in_two_kinds_is_fine() -> None:
    assert {"spacy", "nltk"} <= set(parts_of("words")) & set(parts_of("tagger"))


def test_threads_that_load_at_once_see_every_part() -> None:
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_unknown_kinds_and_parts_get_a_hint() -> None:
    with pytest.raises(UnknownName, match=r"unknown kind of part 'metrik'.*did you mean 'metric'"):
        parts_of("metrik")
    with pytest.raises(UnknownName, match=r"unknown metric 'acuracy'.*did you mean 'accuracy'"):
        part(MetricPart, "acuracy")


def test_a_card_shows_settings_that_can_be_set() -> None:
    cards = [entry.card for kind in KINDS for entry in parts_of(kind).values()]
    assert [card.name for card in cards if "_empty" in card.settings] == []


def test_a_card_says_which_predictions_an_explanation_is_for() -> None:
    cards = {name: entry.card for name, entry in parts_of("explanation").items()}
    assert cards["overview"].applies_to == "labels and numbers"
    assert cards["omega_curve"].applies_to == "labels"
    assert cards["similarity"].applies_to == "numbers"


def test_parts_are_listed_as_records() -> None:
    records = list_parts("metric")
    assert [record["name"] for record in records] == list(parts(MetricPart))
    assert {field.name for field in fields(Card)} == set(records[0])
    assert next(record for record in records if record["name"] == "p_c")["origin"] == "built in"


class TestSettings:
    @pytest.mark.parametrize(
        ("typed", "value"),
        [
            ({"n": "2"}, 2),
            ({"share": "0.5"}, 0.5),
            ({"share": None}, None),
            ({"tidy": "true"}, True),
            ({"tidy": "no"}, False),
            ({"tags": "NOUN+VERB"}, "NOUN+VERB"),
            ({"n": 3}, 3),
        ],
    )
    def test_text_becomes_the_declared_type(
        self, settings: TransformationPart, typed: dict[str, Any], value: Any
    ) -> None:
        [found] = settings.bind(typed).values()
        assert found == value
        assert type(found) is type(value)

    @pytest.mark.parametrize(
        ("typed", "told"),
        [
            ({"n": "two"}, "with_settings: n='two' does not work; need a value of type int"),
            ({"n": "1.5"}, "n='1.5' does not work; need a value of type int"),
            ({"share": "half"}, "share='half' does not work; need a value of type float"),
            ({"tidy": "maybe"}, "tidy='maybe' does not work; need true or false"),
        ],
    )
    def test_a_value_of_another_type_is_one_clear_line(
        self, settings: TransformationPart, typed: dict[str, Any], told: str
    ) -> None:
        with pytest.raises(BadSetting) as error:
            settings.bind(typed)
        assert told in str(error.value)
        assert "\n" not in str(error.value)

    def test_an_unknown_setting_gets_a_hint(self, settings: TransformationPart) -> None:
        with pytest.raises(UnknownName, match=r"setting of with_settings 'shar'.*'share'"):
            settings.bind({"shar": 1})
        with pytest.raises(UnknownName, match="it has none"):
            part(MetricPart, "p_c").bind({"n": 1})

    def test_defaults_are_known(self, settings: TransformationPart) -> None:
        assert settings.settings == {"n": 1, "share": None, "tidy": False, "tags": ""}


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An installed plugin that fails after its first part; what is in the list was loaded."""
    loaded: list[str] = []

    def load() -> None:
        loaded.append("broken")

        @transformation(keeps="nothing", destroys="everything")
        def half_there() -> None:
            """Does nothing."""

        list_parts("metric")  # a plugin may look around
        raise ImportError("no module named 'gone'")

    entry = SimpleNamespace(name="broken", load=load)
    monkeypatch.setattr(lookup, "entry_points", lambda group: [entry] * (group == "disorder"))
    monkeypatch.setattr(lookup, "_loaded", lookup._loaded - {lookup.PLUGINS})
    monkeypatch.setattr(lookup, "_broken", {})
    return loaded


def test_a_plugin_is_loaded_when_a_name_is_not_found_or_all_are_listed(broken: list[str]) -> None:
    assert part(MetricPart, "p_c").name == "p_c"
    assert part(TransformationPart, "derange").name == "derange"
    assert broken == [], "a built-in part needs no plugin"
    assert "p_c" in parts(MetricPart)
    assert broken == ["broken"]


def test_a_broken_plugin_stops_nothing_that_does_not_need_it(broken: list[str]) -> None:
    for _ in range(2):
        assert "p_c" in parts(MetricPart)
        assert "half_there" not in parts(TransformationPart)
        with pytest.raises(UnknownName, match=r"plugin 'broken' cannot be loaded.*'gone'"):
            part(TransformationPart, "half_there")
    assert lookup.broken_plugins() == [
        "plugin 'broken' cannot be loaded (no module named 'gone'); reinstall or uninstall it"
    ]


def test_a_plugin_that_takes_a_name_is_at_fault() -> None:
    """Also where nothing of that kind was looked up before."""
    code = """
from dataclasses import fields
from types import SimpleNamespace
from disorder.registry import CheckPart, broken_plugins, check, lookup, part

def load():
    @check(asks="Again?")
    def order(given):
        "Another one."

plugin = SimpleNamespace(name="late", load=load)
lookup.entry_points = lambda group: [plugin] * (group == "disorder")
[told] = broken_plugins()
assert "two parts are called 'order'" in told, told
assert part(CheckPart, "order").is_built_in
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
