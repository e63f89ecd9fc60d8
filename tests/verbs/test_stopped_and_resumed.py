"""`sanity` and `explain` that were stopped: the same request in the same folder does only the rest,
and ends in the very result of an undisturbed one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from disorder.results.result import Figure, Table
from disorder.store.store import ARRAYS, JOURNAL, UNFINISHED, Store, records
from disorder.types import Score
from disorder.verbs.explain import Explained
from disorder.verbs.sanity.trials import Trials

ROWS = [
    {
        "id": str(i),
        "text_a": f"w{i} x{i * 7} y{i * 11} {'good' if i % 2 else 'bad'} z{i * 13} u{i}.",
        "label": str(i % 2),
    }
    for i in range(80)
]


def test_sanity_repeats_no_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    fit = Trials.fit
    trained: list[str] = []
    stop_at = [-1]

    def counting(self: Trials, model: Any, encoded: Any, name: str) -> list[Any]:
        trained.append(name)
        if len(trained) == stop_at[0]:
            raise KeyboardInterrupt
        return fit(self, model, encoded, name)

    monkeypatch.setattr(Trials, "fit", counting)
    settings: dict[str, Any] = {"check": ["labels", "order"], "folds": 2}
    undisturbed = disorder.sanity(ROWS, **settings)
    everything = [*trained]
    trained.clear()
    stop_at[0] = len(everything)
    with pytest.raises(KeyboardInterrupt):
        disorder.sanity(ROWS, out=tmp_path / "out", **settings)
    assert any((tmp_path / "out" / UNFINISHED).iterdir())
    trained.clear()
    stop_at[0] = -1
    resumed = disorder.sanity(ROWS, out=tmp_path / "out", **settings)
    assert len(everything) > len(trained) > 0, (everything, trained)
    assert not (tmp_path / "out" / UNFINISHED).exists()
    same = {"seconds": 0}
    assert resumed.result.as_data() | same == undisturbed.result.as_data() | same


def test_explain_repeats_no_explanation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from disorder.verbs.explain import explaining

    settings: dict[str, Any] = {"by": ["overlap", "omega_curve"], "limit": 12, "q": 3}
    undisturbed = disorder.explain("builtin:bow", "builtin", **settings)
    fits = explaining._fits
    seen: list[str] = []

    def stopping(entry: Any, dataset: Any) -> bool:
        seen.append(entry.name)
        if entry.name == "omega_curve" and seen.count("omega_curve") == 2:
            raise KeyboardInterrupt
        return fits(entry, dataset)

    monkeypatch.setattr(explaining, "_fits", stopping)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        disorder.explain("builtin:bow", "builtin", out=out, **settings)
    (kept,) = (out / UNFINISHED).glob("*.json")
    assert "-overlap-" in kept.name
    told: list[str] = []
    resumed = disorder.explain(
        "builtin:bow", "builtin", out=out, progress=lambda *each: told.append(each[0]), **settings
    )
    assert resumed.result.as_data() == undisturbed.result.as_data()
    assert [figure.svg for figure in resumed.figures] == [f.svg for f in undisturbed.figures]
    assert not (out / UNFINISHED).exists()
    assert {"overlap", "omega_curve", "in all"} <= set(told)


def explained() -> Explained:
    row = {"x": np.float64(0.1), "n": np.int64(3), "name": "é", "none": None}
    return Explained(
        "finding",
        [Figure("f", "caption", [row], {"mark": "point"})],
        [Table("t", "caption", [row])],
        {"a": Score(0.5, 0.1, 0.9, 3)},
        ["note"],
        {"short": 2},
    )


def test_what_is_kept_comes_back_for_the_same_request_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.bind({"seed": 0})
    first = store.once("heads", explained, records(Explained))

    def never() -> Any:
        raise AssertionError("computed again")

    again = Store(tmp_path)
    again.bind({"seed": 0})
    found = again.once("heads", never, records(Explained))
    assert found.scores == first.scores
    assert found.figures[0].rows == [{"x": 0.1, "n": 3, "name": "é", "none": None}]
    arrays = store.once("derange", lambda: {"a b": np.array([[0.1, np.nan]])}, ARRAYS)
    np.testing.assert_array_equal(store.once("derange", never, ARRAYS)["a b"], arrays["a b"])
    other = Store(tmp_path)
    other.bind({"seed": 1})
    with pytest.raises(AssertionError, match="computed again"):
        other.once("heads", never, records(Explained))
    store.finish()
    assert not (tmp_path / UNFINISHED).exists()


def test_a_damaged_step_is_computed_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.once("heads", explained, records(Explained))
    store.once("derange", lambda: {"a": np.zeros(1)}, ARRAYS)
    for path in (tmp_path / UNFINISHED).iterdir():
        if path.name != JOURNAL:
            path.write_bytes(path.read_bytes()[:20])
    again = Store(tmp_path)
    assert again.once("heads", lambda: Explained("new"), records(Explained)).finding == "new"
    assert again.once("derange", lambda: {"a": np.ones(1)}, ARRAYS)["a"].tolist() == [1.0]
    assert Store(tmp_path).once("heads", explained, records(Explained)).finding == "new"


def test_a_torn_line_of_the_journal_swallows_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.once("heads", lambda: Explained("first"), records(Explained))
    journal = tmp_path / UNFINISHED / JOURNAL
    journal.write_bytes(journal.read_bytes() + b'{"part": "half')
    Store(tmp_path).once("length", lambda: Explained("second"), records(Explained))
    last = Store(tmp_path)
    assert last.once("heads", explained, records(Explained)).finding == "first"
    assert last.once("length", explained, records(Explained)).finding == "second"


def test_numbers_that_json_lacks_are_not_kept(tmp_path: Path) -> None:
    found = Explained("x", tables=[Table("t", "caption", [{"x": float("nan")}])])
    Store(tmp_path).once("heads", lambda: found, records(Explained))
    assert Store(tmp_path).once("heads", explained, records(Explained)).finding == "finding"
