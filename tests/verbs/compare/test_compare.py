"""`disorder compare`: paired on the same examples, abstained on others, harmless whatever a run's
names are.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest

import disorder
from conftest import pairs as made_up
from disorder.errors import BadData, BadSetting, DisorderError, UnknownName
from disorder.results.comparison import (
    Comparison,
    counted,
    headline,
    result_of,
    shown_p,
    signed,
)
from disorder.results.render import render
from disorder.results.run_folder import read_run
from disorder.store.sample_parts import SampleParts
from disorder.verbs.audit.pipeline import audit
from disorder.verbs.compare import compare

ASKED: dict[str, Any] = {
    "limit": 60,
    "q": 8,
    "with_": ("derange", "reverse"),
    "fidelity": "paper",
    "cache": "off",
}
KEYS = [
    "transformation",
    "metric",
    "group",
    "base",
    "other",
    "base_value",
    "other_value",
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "n",
    "test",
    "family",
]
HOSTILE = "<img src=x onerror=alert(1)> | \x1b[31mred\x1b[0m\n\u202eend"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs of the built-in models on the same 60 examples."""
    home = tmp_path_factory.mktemp("runs")
    models = {"reader": "builtin", "bag": "builtin:bow", "guess": "uniform"}
    for name, model in models.items():
        audit(model, "builtin", out=home / name, **ASKED)
    audit("builtin:bow", "builtin", out=home / "curtailed", curtail=True, **ASKED)
    return {name: home / name for name in [*models, "curtailed"]}


@pytest.fixture(scope="session")
def found(folders: dict[str, Path]) -> Comparison:
    return compare(folders["reader"], folders["bag"])


def changed(folder: Path, to: Path, **facts: Any) -> Path:
    """A copy of a run with other facts in result.json."""
    shutil.copytree(folder, to)
    run = json.loads((to / "result.json").read_text(encoding="utf-8"))
    for name, fact in facts.items():
        run[name] = run[name] | fact if isinstance(fact, dict) else fact
    (to / "result.json").write_text(json.dumps(run), encoding="utf-8")
    return to


class TestNumbers:
    def test_values_are_those_of_the_runs(
        self, found: Comparison, folders: dict[str, Path]
    ) -> None:
        assert len(found.differences) > 12
        for d in found.differences:
            for name, value in ((d.base, d.base_value), (d.other, d.other_value)):
                run = read_run(folders["reader" if name == "builtin" else "bag"])
                record = run.score(d.transformation, d.metric, d.group)
                assert record is not None
                assert value == pytest.approx(record.value, abs=2e-6)
            assert d.difference == pytest.approx(d.other_value - d.base_value, abs=2e-6)
            assert d.low <= d.difference <= d.high
            assert d.p <= d.p_holm <= 1

    def test_mcnemar_from_the_samples_themselves(
        self, found: Comparison, folders: dict[str, Path]
    ) -> None:
        accepted = [_accepted(folders[name]) for name in ("reader", "bag")]
        assert list(accepted[0]) == list(accepted[1])
        gained = sum(
            b and not a for a, b in zip(accepted[0].values(), accepted[1].values(), strict=True)
        )
        lost = sum(
            a and not b for a, b in zip(accepted[0].values(), accepted[1].values(), strict=True)
        )
        record = next(
            d for d in found.differences if (d.transformation, d.metric) == ("derange", "omega_max")
        )
        assert record.test == "mcnemar"
        assert record.n == len(accepted[0])
        assert record.difference == pytest.approx((gained - lost) / record.n, abs=1e-6)
        assert record.p == pytest.approx(binomtest(gained, gained + lost).pvalue, rel=1e-5)

    def test_holm_is_over_the_named_family(
        self, folders: dict[str, Path], found: Comparison
    ) -> None:
        one = compare(folders["reader"], folders["bag"], metrics=["omega_max"], with_=["derange"])
        assert len(one.differences) == 1
        assert one.differences[0].p_holm == one.differences[0].p
        among = next(
            d for d in found.differences if (d.transformation, d.metric) == ("derange", "omega_max")
        )
        assert among.p == one.differences[0].p
        assert among.p_holm > among.p

    def test_a_bag_of_words_is_told_from_a_reader(self, found: Comparison) -> None:
        record = next(
            d for d in found.differences if (d.transformation, d.metric) == ("derange", "p_c")
        )
        assert record.other_value == 1
        assert record.low > 0
        assert record.is_sure
        assert "are significant at 0.05" in counted(found)

    def test_one_model_twice_shows_no_difference(
        self, folders: dict[str, Path], tmp_path: Path
    ) -> None:
        again = shutil.copytree(folders["bag"], tmp_path / "again")
        same = compare(folders["bag"], again)
        assert {(d.difference, d.p, d.p_holm) for d in same.differences} == {(0, 1, 1)}
        assert all(d.low < 0 < d.high for d in same.differences)
        n = len(same.differences)
        told = f"None of {n} differences is significant at 0.05 after Holm's correction."
        assert counted(same) == told
        assert headline(same).startswith("Which of builtin:bow (again) and builtin:bow (bag) uses")
        assert [run.name for run in same.runs] == ["builtin:bow (bag)", "builtin:bow (again)"]

    def test_seeded(self, folders: dict[str, Path], found: Comparison) -> None:
        assert compare(folders["reader"], folders["bag"]) == found
        assert compare(folders["reader"], folders["bag"], seed=1) != found

    def test_the_other_way_round(self, folders: dict[str, Path], found: Comparison) -> None:
        back = compare(folders["bag"], folders["reader"])
        assert [d.difference for d in back.differences] == pytest.approx(
            [-d.difference for d in found.differences]
        )
        assert compare(folders["reader"], folders["bag"], base=folders["bag"]) == back


def _accepted(folder: Path) -> dict[str, bool]:
    gold = {
        row["id"]: row["label"] for row in pq.read_table(folder / "examples.parquet").to_pylist()
    }
    accepted: dict[str, bool] = {}
    for path in sorted((folder / "samples").glob("01-*.parquet")):
        for row in pq.read_table(path).to_pylist():
            accepted[row["example"]] = (
                accepted.get(row["example"], False) or row["label"] == gold[row["example"]]
            )
    return accepted


class TestWhichAreCompared:
    def test_groups(self, folders: dict[str, Path]) -> None:
        split = compare(
            folders["reader"], folders["bag"], groups=["all", "needs=order"], metrics=["wos"]
        )
        assert [d.group for d in split.differences] == ["all", "all", "needs=order", "needs=order"]
        with pytest.raises(UnknownName, match="did you mean 'needs=order'"):
            compare(folders["reader"], folders["bag"], groups=["needs=ordr"])

    def test_three_runs(self, folders: dict[str, Path]) -> None:
        three = [folders[name] for name in ("reader", "bag", "guess")]
        only = {"metrics": ["accuracy"], "with_": ["derange"]}
        names = [
            (d.base, d.other)
            for d in compare(*three, **only).differences
            if d.transformation == "derange"
        ]
        assert names == [("builtin", "builtin:bow"), ("builtin", "uniform")]
        every = compare(*three, pairs="all", **only)
        names = [(d.base, d.other) for d in every.differences if d.transformation == "derange"]
        assert names == [
            ("builtin", "builtin:bow"),
            ("builtin", "uniform"),
            ("builtin:bow", "uniform"),
        ]
        assert max(d.p_holm for d in every.differences) <= 1

    def test_a_threshold_of_omega(self, folders: dict[str, Path]) -> None:
        found = compare(folders["reader"], folders["bag"], metrics=["omega@0.5"])
        assert [d.transformation for d in found.differences] == ["derange"]

    def test_curtailed_runs_compare_what_was_decided(
        self, folders: dict[str, Path], found: Comparison
    ) -> None:
        curtailed = compare(folders["reader"], folders["curtailed"], with_=["derange"])
        perturbed = [d for d in curtailed.differences if d.transformation == "derange"]
        mine = {d.metric: (d.difference, d.low, d.high, d.p, d.n) for d in perturbed}
        assert set(mine) == {"omega_max", "omega_rand"}
        for d in found.differences:
            if d.transformation == "derange" and d.metric in mine:
                assert mine[d.metric] == (d.difference, d.low, d.high, d.p, d.n)
        assert any("did not measure" in note and "p_c" in note for note in curtailed.notes)

    def test_curtailed_runs_that_use_short_examples(self, tmp_path: Path) -> None:
        asked = {"q": 30, "short": "use", "with_": ["derange:side=b"], "cache": "off"}
        data = [
            row | {"text_b": row["text_b"].split(maxsplit=7 - i % 4)[-1]}
            for i, row in enumerate(made_up(40))
        ]
        for name, model in (("a", "always:entailment"), ("b", "uniform")):
            audit(model, data, out=tmp_path / name, **asked)
            audit(model, data, out=tmp_path / f"{name}-short", curtail=True, **asked)
        full, short = (
            compare(tmp_path / f"a{end}", tmp_path / f"b{end}", metrics=["omega_max"])
            for end in ("", "-short")
        )
        assert full.differences == short.differences

    def test_runs_that_stopped_early_are_compared_on_shared_examples(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("disorder.verbs.audit.sampling.BLOCK", 50)
        asked = {
            "limit": 150,
            "q": 5,
            "with_": ["derange"],
            "cache": "off",
            "stop_when": "width(p_c) < 0.3",
        }
        for name, model in (("reader", "builtin"), ("bag", "builtin:bow")):
            audit(model, "builtin", out=tmp_path / name, **asked)
        runs = [read_run(tmp_path / name) for name in ("reader", "bag")]
        sizes = [run["derange", "accuracy"].n for run in runs]
        assert sizes[0] != sizes[1]
        found = compare(
            tmp_path / "reader",
            tmp_path / "bag",
            with_=["derange"],
            metrics=["agreement"],
        )
        assert [d.n for d in found.differences] == [min(sizes)]
        assert any(f"{min(sizes):,} examples that both" in note for note in found.notes)

    def test_numbers(self, tmp_path: Path) -> None:
        rows = [
            {"id": f"e{i}", "text_a": f"one two three four five {'x ' * i}six", "label": i / 7}
            for i in range(40)
        ]

        def length(texts: list[str]) -> list[float]:
            return [float(len(text)) for text in texts]

        def last(texts: list[str]) -> list[float]:
            return [float(sum(map(ord, text[-7:]))) for text in texts]

        for name, model in (("length", length), ("last", last)):
            audit(model, rows, out=tmp_path / name, q=4, with_=["derange"], cache="off")
        found = compare(tmp_path / "length", tmp_path / "last", metrics=["spearman"])
        assert {d.test for d in found.differences} == {"bootstrap"}
        assert [d.base_value for d in found.differences] == [1, 1]


class TestCannotBeCompared:
    @pytest.mark.parametrize(
        ("asked", "told"),
        [
            ({"seed": 1}, "seed (0 and 1)"),
            ({"q": 9}, "q (8 and 9)"),
            ({"limit": 50}, "number of examples (60 and 50)"),
            (
                {"fidelity": "released", "with_": ("reverse",)},
                "fidelity (paper and released)",
            ),
            (
                {"with_": ("derange", "sort")},
                "transformations (derange, reverse and derange, sort)",
            ),
            (
                {"data": "builtin:sentiment"},
                "cannot be compared: they are on different data, builtin and builtin:sentiment; ",
            ),
        ],
    )
    def test_other_questions(
        self,
        folders: dict[str, Path],
        tmp_path: Path,
        command: Command,
        asked: dict[str, Any],
        told: str,
    ) -> None:
        if asked.get("fidelity"):
            pytest.importorskip("nltk", reason="the released code's words need NLTK")
        data = asked.pop("data", "builtin")
        model = "builtin:bow" if data == "builtin" else "uniform"
        audit(model, data, out=tmp_path / "other", **(ASKED | asked))
        code, out, err = command("compare", folders["reader"], tmp_path / "other")
        assert (code, out) == (2, "")
        assert told in err
        assert err.count("\n") == 1

    def test_other_rows_under_one_name_are_told_in_words(self, tmp_path: Path) -> None:
        path = tmp_path / "data.jsonl"
        for n in (6, 7):
            path.write_text("\n".join(map(json.dumps, made_up(n))), encoding="utf-8")
            audit("uniform", str(path), q=2, with_="sort", out=tmp_path / f"run-{n}")
        with pytest.raises(
            DisorderError, match=r"data\.jsonl did not hold the same rows when they"
        ):
            compare(tmp_path / "run-6", tmp_path / "run-7")

    def test_other_transformations_are_fine_when_one_is_chosen(
        self, folders: dict[str, Path], tmp_path: Path
    ) -> None:
        audit(
            "builtin:bow",
            "builtin",
            out=tmp_path / "other",
            **(ASKED | {"with_": ("sort", "derange")}),
        )
        found = compare(folders["reader"], tmp_path / "other", with_=["derange"])
        assert {d.transformation for d in found.differences} == {"original", "derange"}
        with pytest.raises(UnknownName, match="transformation of these runs 'sort'"):
            compare(folders["reader"], tmp_path / "other", with_=["sort"])

    @pytest.mark.parametrize(
        ("status", "told"), [("started", "is not finished"), ("failed", "failed")]
    )
    def test_unfinished(
        self, folders: dict[str, Path], tmp_path: Path, status: str, told: str
    ) -> None:
        other = changed(folders["bag"], tmp_path / "other", status=status)
        with pytest.raises(DisorderError, match=rf"{told}; resume it: disorder\.resume\("):
            compare(folders["reader"], other)

    def test_too_few_and_twice(
        self, folders: dict[str, Path], command: Command, tmp_path: Path
    ) -> None:
        with pytest.raises(DisorderError, match="two or more runs"):
            compare(folders["reader"])
        with pytest.raises(DisorderError, match="named twice"):
            compare(folders["reader"], folders["reader"])
        with pytest.raises(BadSetting, match="base or all"):
            compare(folders["reader"], folders["bag"], pairs="some")
        with pytest.raises(UnknownName, match="did you mean 'omega_max'"):
            compare(folders["reader"], folders["bag"], metrics=["omega_mx"])
        assert command("compare", tmp_path, folders["bag"])[::2] == (
            2,
            f"disorder: {tmp_path} is no run folder: it has no run.json\n",
        )

    def test_damaged_samples(self, folders: dict[str, Path], tmp_path: Path) -> None:
        other = Path(shutil.copytree(folders["bag"], tmp_path / "other"))
        part = next((other / "samples").glob("01-*.parquet"))
        part.write_bytes(part.read_bytes()[:-9] + b"\0" * 9)
        with pytest.raises(BadData, match="missing or damaged"):
            compare(folders["reader"], other)
        shutil.rmtree(other / "samples")
        with pytest.raises(BadData, match="has no samples"):
            compare(folders["reader"], other)

    def test_scores_that_the_samples_do_not_give(
        self, folders: dict[str, Path], tmp_path: Path
    ) -> None:
        scores = json.loads((folders["bag"] / "run.json").read_text())["scores"]
        for record in scores:
            record["value"] = record["low"] = record["value"] / 2
        other = changed(folders["bag"], tmp_path / "other", scores=scores)
        with pytest.raises(BadData, match=r"run\.json says"):
            compare(folders["reader"], other)

    def test_other_permutations(self, folders: dict[str, Path], tmp_path: Path) -> None:
        other = Path(shutil.copytree(folders["bag"], tmp_path / "other"))
        parts = SampleParts.open(other, of=read_run(other).binding)
        name = next(name for name in parts.known if name.startswith("01-"))
        table = parts.read(name)
        column = table["positions_b"].to_pylist()
        column[0] = column[0][::-1]
        at = table.schema.get_field_index("positions_b")
        field = table.schema.field(at)
        parts.write(
            name,
            table.set_column(at, field, pa.array(column, field.type)),
            {},
            transformation="derange",
        )
        with pytest.raises(DisorderError, match="drew other permutations under derange"):
            compare(folders["reader"], other)


@pytest.mark.parametrize(
    ("column", "change", "told"),
    [
        ("variant", lambda values: [values[0], *values[:-1]], "stands there twice"),
        ("variant", lambda values: [-5, *values[1:]], "variant -5"),
        ("repeat", lambda values: [-1, *values[1:]], "repeat -1"),
        ("outcome", lambda values: ["perhaps", *values[1:]], "'perhaps' is no outcome"),
        ("probabilities", lambda values: [[9.0] * 3, *values[1:]], "between 0 and 1"),
        ("probabilities", lambda values: [[0.5] * 2, *values[1:]], "numbers of probabilities"),
        ("probabilities", lambda values: [[float("nan")] * 3, *values[1:]], "not a number"),
        ("probabilities", lambda values: [[None, 0.5, 0.5], *values[1:]], "lacks a probability"),
    ],
)
def test_samples_that_no_audit_wrote_are_one_line(
    folders: dict[str, Path],
    tmp_path: Path,
    run: Command,
    column: str,
    change: Callable[[list[Any]], list[Any]],
    told: str,
) -> None:
    other = Path(shutil.copytree(folders["bag"], tmp_path / "other"))
    parts = SampleParts.open(other, of=read_run(other).binding)
    name = next(name for name in parts.known if name.startswith("01-"))
    table = parts.read(name)
    at = table.schema.get_field_index(column)
    field = table.schema.field(at)
    values = pa.array(change(table[column].to_pylist()), field.type)
    parts.write(name, table.set_column(at, field, values), {}, transformation="derange")
    code, _, err = run("compare", folders["reader"], other)
    assert code == 2
    assert told in " ".join(err.split())
    assert "Traceback" not in err
    assert run("report", other)[0] == 0
    assert run("gate", other, "--fail-if", "derange:p_c > 2")[0] == 0


def test_an_example_in_two_parts_is_one_line(
    folders: dict[str, Path], tmp_path: Path, run: Command
) -> None:
    other = Path(shutil.copytree(folders["bag"], tmp_path / "other"))
    parts = SampleParts.open(other, of=read_run(other).binding)
    name = next(name for name in parts.known if name.startswith("01-"))
    again = name.replace(".parquet", "-again.parquet")
    parts.write(again, parts.read(name), {}, transformation="derange")
    code, _, err = run("compare", folders["reader"], other)
    assert code == 2
    assert "stands there twice" in " ".join(err.split())


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]


class TestShown:
    def test_json_is_flat_records_and_nothing_else(
        self, folders: dict[str, Path], command: Command, found: Comparison
    ) -> None:
        code, out, err = command("compare", folders["reader"], folders["bag"], "--json")
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert list(told["differences"][0]) == KEYS
        assert told == found.result.as_data()
        assert [run["folder"] for run in told["runs"]] == [
            str(folders["reader"]),
            str(folders["bag"]),
        ]

    def test_terminal_fits_eighty_columns(self, found: Comparison) -> None:
        text = render(result_of(found, every_row=True), "terminal")
        assert max(map(len, text.splitlines())) <= 80
        assert "builtin:bow minus builtin" in text
        assert "P_c" in text

    def test_page_is_self_contained(
        self, folders: dict[str, Path], tmp_path: Path, command: Command
    ) -> None:
        code, out, _ = command(
            "compare", folders["reader"], folders["bag"], "--html", tmp_path / "page.html"
        )
        html = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert code == 0
        assert "page.html" in out
        tags = Tags()
        tags.feed(html)
        assert not {"script", "link", "img", "iframe"} & set(tags.names)
        assert not {"src", "onload", "onerror"} & set(tags.attributes)
        assert tags.names.count("figure") == 1
        assert "exact McNemar test" in html
        code, _, err = command(
            "compare", folders["reader"], folders["bag"], "--html", "/proc/no/page.html"
        )
        assert (code, err.startswith("disorder: --html /proc/no/page.html cannot be written")) == (
            2,
            True,
        )

    def test_hostile_names_are_text(
        self, folders: dict[str, Path], tmp_path: Path, command: Command
    ) -> None:
        other = changed(folders["bag"], tmp_path / "other", model=HOSTILE)
        code, out, err = command(
            "compare", folders["reader"], other, "--html", tmp_path / "page.html"
        )
        assert (code, err) == (0, "")
        assert "\x1b" not in out
        assert "\u202e" not in out
        html = (tmp_path / "page.html").read_text(encoding="utf-8")
        tags = Tags()
        tags.feed(html)
        assert "img" not in tags.names
        assert "onerror" not in tags.attributes
        assert "\x1b" not in html
        assert "&lt;img src=x onerror=alert(1)&gt;" in html
        told = json.loads(command("compare", folders["reader"], other, "--json")[1])
        assert told["runs"][1]["model"] == HOSTILE

    def test_hostile_settings_in_a_refusal(
        self, folders: dict[str, Path], tmp_path: Path, command: Command
    ) -> None:
        other = changed(folders["bag"], tmp_path / "other", settings={"q": 8, "short": HOSTILE})
        code, _, err = command("compare", folders["reader"], other)
        assert code == 2
        assert "its samples are of another model, data or settings" in err
        assert "\x1b" not in err

    def test_hostile_names_in_the_page_of_many(self, found: Comparison) -> None:
        hostile = found.model_copy(deep=True)
        for d in hostile.differences:
            d.transformation = d.metric = d.base = d.other = HOSTILE
        hostile.notes = [HOSTILE]
        tags = Tags()
        tags.feed(render(hostile.result, "page"))
        assert "img" not in tags.names

    def test_a_comparison_leaves_the_folders_alone(
        self, folders: dict[str, Path], tmp_path: Path
    ) -> None:
        copies = [
            Path(shutil.copytree(folders[name], tmp_path / name)) for name in ("reader", "bag")
        ]
        before = {
            path: path.read_bytes()
            for copy in copies
            for path in sorted(copy.rglob("*"))
            if path.is_file()
        }
        compare(*copies)
        assert {
            path: path.read_bytes()
            for copy in copies
            for path in sorted(copy.rglob("*"))
            if path.is_file()
        } == before

    def test_from_python(self, folders: dict[str, Path], found: Comparison) -> None:
        assert disorder.compare(str(folders["reader"]), folders["bag"]) == found

    def test_figures_are_written_plainly(self) -> None:
        assert (signed(-0.25), signed(0.1, 2), signed(-0.0004)) == ("−0.250", "+0.10", "0.000")
        assert [shown_p(p) for p in (1e-9, 0.0123, 0.25, 1.0)] == ["<.0001", ".0123", ".25", "1.00"]


def test_many_models_of_one_law_are_rarely_told_apart(tmp_path: Path) -> None:
    """Guessing models with other seeds of their own, run end to end: after Holm's correction
    nothing is significant (19 times in 20).
    """
    rng = np.random.default_rng(0)

    def guess(texts: list[Any]) -> np.ndarray[Any, Any]:
        return rng.dirichlet(np.ones(3), size=len(texts))

    data = made_up(60)
    for i in range(3):
        audit(guess, data, out=tmp_path / str(i), q=6, with_=["derange"], cache="off")
    found = compare(*(tmp_path / str(i) for i in range(3)), pairs="all")
    assert len(found.differences) >= 30
    assert not any(d.is_sure for d in found.differences)
