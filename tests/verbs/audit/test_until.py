"""`--until decided`: a run ends at the first planned look that decides its conclusion."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import disorder
from disorder.errors import DisorderError, naming_options
from disorder.results.run import LastLook, Run
from disorder.results.run_folder import read_run
from disorder.verbs.audit import deciding

NAMES = [f"{a}{b}{c}" for a, b, c in itertools.product("bdgkl", "aeio", "mnprstvw")]


def rows(n: int) -> list[dict[str, str]]:
    """Texts of words that no two share, in which the words or their order decide."""
    found = []
    for i in range(n):
        is_good = i % 2 == 0
        first, second = ("helped", "harmed") if is_good else ("harmed", "helped")
        names = [f"{NAMES[(7 * i + k) % len(NAMES)]}{i}" for k in range(4)]
        text = f"{names[0]} {first} {names[1]} {names[2]} {second} {names[3]}"
        mark = "fine" if is_good else "poor"
        found.append({"id": str(i), "text": f"{text} {mark}", "label": mark})
    return found


def bag(texts: list[str]) -> list[str]:
    """Looks for one word."""
    return ["fine" if "fine" in text.split() else "poor" for text in texts]


def reader(texts: list[str]) -> list[str]:
    """Looks at which of two words comes first."""
    return ["fine" if text.find("helped") < text.find("harmed") else "poor" for text in texts]


def half(texts: list[str]) -> list[str]:
    """Reads some texts, by their last name, and looks for a word in the others."""
    is_read = [sum(map(ord, max(text.split()))) % 4 == 0 for text in texts]
    given = zip(is_read, reader(texts), bag(texts), strict=True)
    return [order if is_one else word for is_one, order, word in given]


bag.labels = reader.labels = half.labels = ("fine", "poor")  # type: ignore[attr-defined]


def audited(model: object, n: int = 600, **options: object) -> Run:
    return disorder.audit(model, rows(n), with_="derange", q=2, **({"until": "decided"} | options))


@pytest.mark.parametrize(("model", "kind"), [(bag, "bag_of_words"), (reader, "reads_order")])
def test_a_clear_case_ends_at_an_early_look(model: object, kind: str) -> None:
    run = audited(model)
    assert run.conclusion is not None
    assert run.conclusion.kind == kind
    assert 200 <= run.n_examples < 600
    [stop] = run.stopped
    assert isinstance(stop, LastLook)
    assert (stop.n_examples, stop.n_planned) == (run.n_examples, 600)
    assert stop.z > 3
    told = f"Decided after {run.n_examples} of 600 examples: the value leans outward."
    assert told in " ".join(run.result.lead)


def test_the_interval_is_that_of_the_look() -> None:
    cut = audited(half, reads_below=0.01, bag_above=0.99)
    seen = set(cut.samples()["example"].to_pylist())
    given = [row for row in rows(600) if row["id"] in seen]
    whole = disorder.audit(half, given, with_="derange", q=2, until="never")
    assert whole.n_examples == cut.n_examples < 600
    first, second = cut.conclusion, whole.conclusion
    assert first is not None
    assert second is not None
    assert first.value == pytest.approx(second.value)
    assert (first.high or 0) - (first.low or 0) > 1.5 * ((second.high or 0) - (second.low or 0))


def test_what_stays_open_uses_every_example() -> None:
    kept = audited(half).conclusion
    assert kept is not None
    assert kept.value is not None
    run = audited(half, bag_above=round(kept.value, 2), reads_below=0.1)
    assert run.n_examples == 600
    assert run.cut_short is None


def test_two_models_share_their_first_examples_and_are_compared_on_them(tmp_path: Path) -> None:
    first = audited(bag, out=tmp_path / "bag")
    second = audited(half, reads_below=0.3, bag_above=0.35, out=tmp_path / "half")
    every = audited(reader, until="never", out=tmp_path / "reader")
    assert first.n_examples < second.n_examples
    assert every.cut_short is None
    for other in (second, every):
        found = disorder.compare(first, other)
        assert found.n_examples == first.n_examples
        assert any(f"compared on the {first.n_examples:,} examples" in n for n in found.notes)


def test_a_run_is_continued(tmp_path: Path) -> None:
    cut = audited(bag, out=tmp_path / "run")
    done = disorder.resume(tmp_path / "run", model=bag, data=rows(600), until="never")
    assert cut.n_examples < done.n_examples == 600
    assert done.cut_short is None
    assert not [note for note in done.notes if "damaged" in note]
    again = disorder.resume(tmp_path / "run", model=bag, data=rows(600))
    assert again.n_examples == 600
    assert read_run(tmp_path / "run").n_predictions < 2 * 600 * 4
    assert "--until never" in done.result.command


def test_what_to_do_says_how_to_continue(tmp_path: Path) -> None:
    lines = "".join(f"{row['id']},{row['text']},{row['label']}\n" for row in rows(300))
    data = tmp_path / "texts.csv"
    data.write_text(f"id,text,label\n{lines}")
    model = tmp_path / "looks_for_a_word.py"
    model.write_text(
        "def bag(texts):\n    return ['fine' if 'fine' in t.split() else 'poor' for t in texts]\n"
    )
    spec = f"{model}:bag"
    run = disorder.audit(spec, str(data), out=tmp_path / "run", until="decided", with_="derange")
    assert run.cut_short is not None
    folder = tmp_path / "run"
    with naming_options():
        step = run.result.next_steps[-1]
        assert step.command == f"disorder audit --resume {folder} {run.model} --until never"


def test_it_is_on_by_itself_where_a_run_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert audited(bag, until=None).n_examples == 600
    monkeypatch.setattr(deciding, "LONG", 0.0)
    run = audited(bag, until=None)
    assert run.n_examples < 600
    assert run.settings["until"] == "decided"
    for options in ({"until": "never"}, {"score": "accuracy"}, {"fail_if": "skill_kept > 2"}):
        assert audited(bag, **({"until": None} | options)).cut_short is None
    assert audited(bag, n=200, until=None).n_examples == 200


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("score", "accuracy"),
        ("fail_if", "skill_kept > 2"),
        ("fidelity", "paper"),
        ("group_by", "g"),
    ],
)
def test_it_does_not_go_with_other_ways_to_end(option: str, value: str) -> None:
    with pytest.raises(DisorderError, match=f"need no {option} beside it"):
        audited(bag, **{option: value})


def test_numbers_have_no_interval_that_decides() -> None:
    numbers = [{"text": f"word{i} other{i} last{i}", "label": str(i / 7)} for i in range(20)]
    with pytest.raises(DisorderError, match="numbers as gold labels"):
        disorder.audit(lambda texts: [float(len(t)) for t in texts], numbers, until="decided")
