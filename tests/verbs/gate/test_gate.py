"""`disorder gate`: decided on intervals, never a pass for want of a score, harmless whatever a
run's names are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import disorder
from disorder.errors import DisorderError, UnknownName
from disorder.metrics import SkillRatio
from disorder.registry import MetricPart, metric, metric_named, parts, unregister
from disorder.results.conclusion import Caveat, Conclusion
from disorder.results.gate import Decision, badge_svg, junit_xml
from disorder.results.markup import markdown_code
from disorder.results.render import render
from disorder.results.run import Omitted, Record, Run
from disorder.results.run_folder import write_run
from disorder.types import Dataset, Outcomes, Task
from disorder.verbs.audit import sampling
from disorder.verbs.audit.pipeline import audit
from disorder.verbs.audit.watching import LiveGate
from disorder.verbs.gate import BETTER, GateRule, ScoreNames, gate

HOSTILE = (
    "</code><img src=x onerror=alert(1)> | \x1b[31mred\x1b[0m\n\u202e[x](http://e.vil) "
    '`@you` "q" \ufffe'
)
Command = Callable[..., tuple[int, str, str]]


def record(
    transformation: str, metric: str, value: float, low: float, high: float, group: str = "all"
) -> Record:
    return Record(
        transformation=transformation,
        metric=metric,
        group=group,
        value=value,
        low=low,
        high=high,
        n=1000,
        skipped=0,
    )


def made(**more: object) -> Run:
    """A finished run with a few scores."""
    facts: dict[str, object] = {
        "status": "done",
        "model": "m",
        "data": "d",
        "task": "t",
        "labels": ["x", "y"],
        "chance": 0.5,
        "seed": 0,
        "settings": {},
        "transformations": ["derange", "shuffle_ngrams:n=2", "reverse"],
        "started": "",
        "n_examples": 1000,
        "n_available": 1000,
        "scores": [
            record("original", "accuracy", 0.9, 0.88, 0.92),
            record("derange", "accuracy", 0.6, 0.57, 0.63),
            record("derange", "omega_max", 0.96, 0.94, 0.98),
            record("derange", "omega@0.5", 0.5, 0.47, 0.53),
            record("derange", "wos", 0.25, 0.2, 0.29),
            record("derange", "wos", 0.8, 0.7, 0.9, "needs=order"),
            record("shuffle_ngrams:n=2", "omega_max", 0.7, 0.68, 0.72),
            record("shuffle_ngrams:n=2", "wos", 0.5, 0.4, 0.6),
        ],
        "omitted": [
            Omitted(
                transformation="derange",
                metric="p_f",
                group="all",
                reason="no wrong prediction was flipped",
            )
        ],
        "skips": {"reverse": {"no other order of its words exists": 1000}},
    }
    return Run(**(facts | more))


def decided(rule: str, on: str = "sure", **more: object) -> tuple[bool, bool]:
    """Whether one rule passed, and whether the interval excludes the limit."""
    ruling = gate(made(**more), [rule], on=on).rulings[0]
    return ruling.passed, ruling.is_sure


class TestDecisions:
    @pytest.mark.parametrize(
        ("rule", "sure", "value", "doubt"),
        [
            ("omega_max > 0.93", False, False, False),
            ("omega_max > 0.95", True, False, False),
            ("omega_max > 0.97", True, True, False),
            ("omega_max > 0.98", True, True, True),
            ("omega_max >= 0.98", True, True, False),
            ("omega_max >= 0.94", False, False, False),
            ("omega_max > 0.94", True, False, False),
            ("wos < 0.3", False, False, False),
            ("wos < 0.29", True, False, False),
            ("wos <= 0.29", False, False, False),
            ("wos < 0.22", True, True, False),
            ("wos < 0.2", True, True, True),
        ],
    )
    def test_which_bound_decides(self, rule: str, sure: bool, value: bool, doubt: bool) -> None:
        assert [gate(made(), [rule], on=on).passed for on in ("sure", "value", "doubt")] == [
            sure,
            value,
            doubt,
        ]
        assert decided(rule)[1] == (sure == doubt)

    def test_undecided_is_a_state_of_its_own_whatever_it_means_for_the_gate(self) -> None:
        for undecided in ("pass", "fail"):
            decision = gate(made(), ["wos < 0.22"], undecided=undecided)
            [ruling] = decision.rulings
            assert (ruling.state, decision.state) == ("undecided", "undecided")
            assert decision.passed == ruling.passed == (undecided == "pass")
        [by_value] = gate(made(), ["wos < 0.22"], by="value", undecided="fail").rulings
        assert (by_value.state, by_value.passed, by_value.is_sure) == ("passed", True, False)
        assert gate(made(), ["wos < 0.22", "wos < 0.3"]).state == "failed"

    def test_one_rule_that_fails_fails_all(self) -> None:
        decision = gate(made(), ["omega_max > 0.99", "wos < 0.3"])
        assert [r.passed for r in decision.rulings] == [True, False]
        assert not decision.passed

    @pytest.mark.parametrize(
        ("on", "now"),
        [
            ("sure", {"by": "interval", "undecided": "pass"}),
            ("value", {"by": "value"}),
            ("doubt", {"undecided": "fail"}),
        ],
    )
    def test_the_old_spelling_is_accepted_with_a_note(self, on: str, now: dict[str, str]) -> None:
        old, new = gate(made(), ["wos < 0.22"], on=on), gate(made(), ["wos < 0.22"], **now)
        assert old.rulings == new.rulings
        assert (old.by, old.undecided) == (new.by, new.undecided)
        [note] = old.notes
        assert note.startswith(f"on={on!r} is now written ")
        assert not new.notes

    @given(st.floats(-2, 2), st.sampled_from(["<", "<=", ">", ">="]))
    def test_sure_is_never_stricter_than_value_nor_value_than_doubt(
        self, limit: float, operator: str
    ) -> None:
        passed = [
            gate(made(), [f"omega_max {operator} {limit!r}"], on=on).passed
            for on in ("doubt", "value", "sure")
        ]
        assert passed == sorted(passed)


class TestWhichScore:
    @pytest.mark.parametrize(
        ("rule", "score"),
        [
            ("omega_max > 1", "derange:omega_max"),
            ("derange:omega_max>1", "derange:omega_max"),
            ("  shuffle_ngrams:n=2:omega_max  >  1 ", "shuffle_ngrams:n=2:omega_max"),
            ("omega@0.5 > 1", "derange:omega@0.5"),
            ("original:accuracy < 0", "original:accuracy"),
            ("wos[needs=order] < 0", "derange:wos[needs=order]"),
            ("derange:wos[needs=order]<-1e-3", "derange:wos[needs=order]"),
        ],
    )
    def test_grammar(self, rule: str, score: str) -> None:
        decision = gate(made(), [rule])
        assert [r.score for r in decision.rulings] == [score]
        assert decision.passed

    def test_a_spec_may_be_spelt_otherwise(self) -> None:
        run = made(
            transformations=["shuffle_ngrams"],
            scores=[record("shuffle_ngrams", "wos", 0.5, 0.4, 0.6)],
        )
        assert gate(run, ["shuffle_ngrams:n=1:wos < 0.1"]).rulings[0].score == "shuffle_ngrams:wos"
        assert gate(run, ["wos < 0.1"]).rulings[0].score == "shuffle_ngrams:wos"

    def test_every_transformation(self) -> None:
        run = made(transformations=["derange", "shuffle_ngrams:n=2"])
        decision = gate(run, ["*:wos < 0.3"])
        assert [(r.score, r.passed) for r in decision.rulings] == [
            ("derange:wos", False),
            ("shuffle_ngrams:n=2:wos", True),
        ]

    def test_groups_may_have_any_name(self) -> None:
        run = made(scores=[record("derange", "wos", 0.5, 0.4, 0.6, "a=b > 0.1] [x")])
        assert GateRule.parse("wos[a=b > 0.1] [x] < 0.3").group == "a=b > 0.1] [x"
        assert gate(run, ["wos[a=b > 0.1] [x] < 0.3"]).passed


class TestNeverAPassForWantOfAScore:
    @pytest.mark.parametrize(
        ("rule", "told"),
        [
            ("p_f > 0.1", r"derange:p_f was not measured \(no wrong prediction was flipped\)"),
            (
                "reverse:wos < 0.1",
                r"no example could be used under reverse \(no other order of its words exists\)",
            ),
            ("*:wos < 0.1", r"no example could be used under reverse"),
            (
                "shuffle_ngrams:n=2:omega@0.5 > 1",
                "was not measured under shuffle_ngrams:n=2; it was measured under derange",
            ),
            (
                "omega_max[needs=order] > 1",
                "omega_max was not measured under derange in needs=order",
            ),
            (
                "accuracy < 0.1",
                "on original texts or on perturbed ones. "
                'Write "original:accuracy" or "derange:accuracy"',
            ),
        ],
    )
    def test_not_measured(self, rule: str, told: str) -> None:
        with pytest.raises(DisorderError, match=told):
            gate(made(), [rule])

    @pytest.mark.parametrize(
        ("rule", "told"),
        [
            ("omega_mx > 0.1", "did you mean 'omega_max'"),
            ("derang:wos > 0.1", "did you mean 'derange'"),
            ("wos[needs=ordr] > 0.1", "did you mean 'needs=order'"),
        ],
    )
    def test_unknown_names(self, rule: str, told: str) -> None:
        with pytest.raises(UnknownName, match=told):
            gate(made(), [rule])

    @pytest.mark.parametrize(
        "rule",
        [
            "",
            "wos",
            "> 0.1",
            "wos 0.1",
            "wos == 0.1",
            "wos != 1",
            "wos => 1",
            "wos < 1 < 2",
            "a b > 1",
        ],
    )
    def test_no_rule(self, rule: str) -> None:
        with pytest.raises(DisorderError, match="write it as"):
            gate(made(), [rule])

    @pytest.mark.parametrize("limit", ["30%", "nan", "inf", "x", "0,3"])
    def test_no_number(self, limit: str) -> None:
        with pytest.raises(DisorderError, match="is not a number"):
            gate(made(), [f"wos < {limit}"])

    def test_no_rules_at_all_and_other_mistakes(self) -> None:
        with pytest.raises(
            DisorderError, match='no rule to decide: disorder gate RUN --fail-if "skill_kept > 0'
        ):
            gate(made(), [])
        with pytest.raises(DisorderError, match="sure or value or doubt"):
            gate(made(), ["wos < 0.3"], on="maybe")
        with pytest.raises(DisorderError, match="is not finished"):
            gate(made(status="started"), ["wos < 0.3"])

    @given(st.text(max_size=30))
    def test_any_text_is_a_decision_or_one_clear_error(self, rule: str) -> None:
        with suppress(DisorderError):
            assert gate(made(), [rule]).rulings


def terminal(decision: Decision) -> str:
    return render(decision.result, "terminal")


def summary(decision: Decision) -> str:
    return render(decision.result, "markdown")


def rows_of(printed: str) -> list[str]:
    """The rows of the table, each with single spaces."""
    outcomes = ("PASS ", "FAIL ", "UNDECIDED ")
    return [" ".join(line.split()) for line in printed.splitlines() if line.startswith(outcomes)]


class TestCommand:
    def test_exit_codes_and_one_line_per_rule(self, tmp_path: Path, command: Command) -> None:
        write_run(tmp_path, made())
        code, out, err = command("gate", tmp_path, "--fail-if", "omega_max > 0.99")
        assert (code, err) == (0, "")
        assert out.splitlines()[0] == "All rules hold"
        assert rows_of(out) == ["PASS derange:omega_max > 0.99 0.960 0.940 to 0.980 1,000"]
        assert "\nomega_max" in out, "the note on it"
        code, out, err = command(
            "gate", tmp_path, "--fail-if", "wos < 0.3", "--fail-if", "omega_max > 0.95"
        )
        assert (code, err) == (1, "")
        assert out.splitlines()[0] == "1 of 2 rules failed, 1 of 2 undecided"
        assert rows_of(out) == [
            "FAIL derange:wos < 0.3 0.250 0.200 to 0.290 1,000",
            "UNDECIDED derange:omega_max > 0.95 0.960 0.940 to 0.980 1,000",
        ]
        assert "1 rule is undecided, which fails nothing" in out
        code, out, err = command(
            "gate", tmp_path, "--fail-if", "p_f > 0.1", "--badge", tmp_path / "badge.svg"
        )
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert not (tmp_path / "badge.svg").exists()
        assert command("gate", tmp_path)[0] == 2
        assert command("gate", tmp_path / "no", "--fail-if", "wos < 0.3")[0] == 2

    def test_files(self, tmp_path: Path, command: Command) -> None:
        write_run(tmp_path, made())
        files = {name: tmp_path / name for name in ("junit", "markdown", "badge")}
        options = [word for name, path in files.items() for word in (f"--{name}", path)]
        assert command("gate", tmp_path, "--fail-if", "wos < 0.3", *options)[0] == 1
        assert ElementTree.parse(files["junit"]).getroot().get("failures") == "1"
        assert "1 of 1 rules failed" in files["markdown"].read_text(encoding="utf-8")
        assert "1 of 1 failed" in files["badge"].read_text(encoding="utf-8")
        code, _, err = command(
            "gate", tmp_path, "--fail-if", "wos < 0.3", "--junit", "/proc/no/junit.xml"
        )
        assert (code, err.startswith("disorder: --junit /proc/no/junit.xml cannot be written")) == (
            2,
            True,
        )

    def test_json(self, tmp_path: Path, command: Command) -> None:
        write_run(tmp_path, made())
        code, out, err = command("gate", tmp_path, "--fail-if", "wos < 0.3", "--json")
        told = json.loads(out)
        assert (code, err, told["passed"]) == (1, "", False)
        ruling = {
            "rule": "wos < 0.3",
            "transformation": "derange",
            "metric": "wos",
            "group": "all",
            "operator": "<",
            "limit": 0.3,
            "value": 0.25,
            "low": 0.2,
            "high": 0.29,
            "n": 1000,
            "passed": False,
            "is_sure": True,
            "more_examples": None,
            "state": "failed",
            "because": "",
        }
        assert told["rulings"] == [ruling]

    def test_a_real_run(self, tmp_path: Path, command: Command) -> None:
        settings = {"limit": 40, "q": 8, "with_": ["derange"], "cache": "off"}
        run = audit("builtin:bow", "builtin", out=tmp_path / "bag", **settings)
        assert (
            command("gate", tmp_path / "bag", "--fail-if", "p_c > 0.8", "--fail-if", "wos < 0.3")[0]
            == 1
        )
        assert command("gate", tmp_path / "bag", "--fail-if", "original:accuracy < 0.1")[0] == 0
        assert not disorder.gate(run, ["p_c > 0.8"]).passed


@pytest.fixture
def hostile() -> Decision:
    """A decision on a run whose every name is hostile."""
    scores = [
        record(HOSTILE, "wos", 0.1, 0.05, 0.2, HOSTILE),
        record(HOSTILE, "wos", 0.5, 0.4, 0.6),
    ]
    run = made(model=HOSTILE, data=HOSTILE, transformations=[HOSTILE], scores=scores, omitted=[])
    decision = gate(run, ["wos < 0.3"])
    decision.rulings[0].group = HOSTILE
    return decision


class TestShown:
    def test_junit_has_the_usual_form(self) -> None:
        root = ElementTree.fromstring(junit_xml(gate(made(), ["omega_max > 0.99", "wos < 0.3"])))
        assert (root.tag, [suite.tag for suite in root]) == ("testsuites", ["testsuite"])
        suite = root[0]
        assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
            "tests": "2",
            "failures": "1",
            "errors": "0",
            "skipped": "0",
        }
        assert [case.tag for case in suite] == ["testcase"] * 2
        assert all({"name", "classname", "time"} <= set(case.attrib) for case in suite)
        assert [[child.tag for child in case] for case in suite] == [["system-out"], ["failure"]]
        assert {"message", "type"} == set(suite[1][0].attrib)

    def test_row_15_undecided_is_neither_green_nor_red_anywhere(self) -> None:
        """A smaller run must not turn FAIL into a pass."""
        decision = gate(made(), ["omega_max > 0.95"])
        told = "about 3,000 more examples would decide it"
        assert rows_of(terminal(decision))[0].startswith("UNDECIDED")
        assert told in terminal(decision)
        suite = ElementTree.fromstring(junit_xml(decision))[0]
        assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
        assert [child.tag for child in suite[0]] == ["skipped"]
        assert told in str(suite[0][0].get("message"))
        text = summary(decision)
        assert "No rule failed, 1 of 1 undecided" in text
        assert "| ⚠ UNDECIDED |" in text
        assert "✅" not in text
        assert "1 of 1 undecided" in badge_svg(decision)
        assert "hold" not in badge_svg(decision)
        assert decision.model_dump()["state"] == "undecided"
        assert decision.model_dump()["rulings"][0]["state"] == "undecided"

    def test_undecided_may_fail(self) -> None:
        decision = gate(made(), ["omega_max > 0.95"], undecided="fail")
        suite = ElementTree.fromstring(junit_xml(decision))[0]
        assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")
        assert "1 of 1 undecided, which fails the gate" in summary(decision)
        assert "❌ UNDECIDED" in summary(decision)
        assert "1 rule is undecided, and so the gate fails (--undecided fail)." in terminal(
            decision
        )

    def test_a_value_beside_its_limit_is_not_decided_by_more_examples(self) -> None:
        told = gate(made(), ["omega_max > 0.96"]).result.notes[0]
        assert told.endswith("the value is too near to the limit for more examples to decide it")

    def test_row_15_the_caveats_of_the_audit_are_printed(self) -> None:
        caveat = Caveat(kind="left_out", text="270 of 300 examples were left out")
        concluded = Conclusion(
            kind="bag_of_words",
            value=1,
            low=0.9,
            high=1.1,
            because="",
            n=9,
            transformation="derange",
            caveats=[caveat],
        )
        decision = gate(made(conclusion=concluded), ["wos < 0.3"])
        assert "\ncaveat: 270 of 300 examples were left out\n" in terminal(decision)
        assert "- Caveat: 270 of 300 examples were left out" in summary(decision)

    def test_badge_says_it_in_words(self) -> None:
        held, failed = (
            badge_svg(gate(made(), ["omega_max > 0.99"])),
            badge_svg(gate(made(), ["wos < 0.3", "omega_max > 0.99"])),
        )
        for text, words in ((held, "1 of 1 hold"), (failed, "1 of 2 failed")):
            root = ElementTree.fromstring(text)
            assert root.get("role") == "img"
            assert root.get("aria-label") == f"word order: {words}"
            assert root[0].text == f"word order: {words}"
            assert "http" not in text.replace("http://www.w3.org/2000/svg", "")

    def test_markdown_is_a_table(self) -> None:
        text = summary(gate(made(), ["omega_max > 0.95", "wos < 0.3"]))
        html = MarkdownIt("commonmark").enable("table").render(text)
        assert html.count("<tr>") == 3
        assert html.count("<td") == 10
        assert "<code>derange:omega_max &gt; 0.95</code>" in html
        assert "1 of 2 rules failed" in html

    def test_hostile_names_are_text_everywhere(self, hostile: Decision) -> None:
        told = terminal(hostile)
        assert "\x1b" not in told
        assert "\u202e" not in told
        case = ElementTree.fromstring(junit_xml(hostile))[0][0]
        assert "<img src=x onerror=alert(1)>" in str(case.get("name"))
        text = summary(hostile)
        html = MarkdownIt("commonmark").enable("table").render(text)
        assert html.count("<tr>") == 2
        assert html.count("<td") == 5
        for tag in ("<img", "<a ", "<em>", "\x1b"):
            assert tag not in html
        assert html.count("<code>") == html.count("</code>") == 2
        assert "img" not in badge_svg(hostile).replace('role="img"', "")

    @given(st.text(max_size=60))
    def test_any_text_stays_in_its_cell(self, text: str) -> None:
        html = (
            MarkdownIt("commonmark")
            .enable("table")
            .render(f"| a | b |\n| --- | --- |\n| {markdown_code(text, in_table=True)} | 1 |\n")
        )
        assert html.count("<td>") == 2
        assert html.count("<code>") == html.count("</code>") == 1

    @given(st.text(max_size=60))
    def test_any_name_makes_valid_xml(self, text: str) -> None:
        decision = gate(made(), ["wos < 0.3"])
        decision.model = decision.rulings[0].group = text
        ElementTree.fromstring(junit_xml(decision).encode())


class TestRulesThatMeanWhatTheySay:
    @pytest.fixture(scope="class")
    @classmethod
    def runs(cls) -> dict[str, Run]:
        return {
            name: audit(model, "builtin", with_="derange", q=10, limit=300, cache="off")
            for name, model in (("reader", "builtin"), ("bag", "builtin:bow"))
        }

    def test_the_rule_that_is_taught_stops_the_bag_and_not_the_reader(
        self, runs: dict[str, Run]
    ) -> None:
        for rule in (BETTER, "wos < 0.2"):
            assert gate(runs["reader"], rule).passed
            assert not gate(runs["bag"], rule).passed

    @pytest.mark.parametrize("name", ["README.md", "docs/compare.md"])
    def test_the_pages_teach_rules_that_need_no_note(self, name: str) -> None:
        text = (Path(__file__).parents[3] / name).read_text(encoding="utf-8")
        taught = {GateRule.parse(rule).metric for rule in re.findall(r'--fail-if "([^"]+)"', text)}
        assert "skill_kept" in taught
        assert [each for each in taught if (part := metric_named(each)) and part.alone] == []

    def test_what_was_taught_before_gets_a_note(self, runs: dict[str, Run]) -> None:
        old = "omega_max > 0.8"
        assert not gate(runs["reader"], old).passed  # backwards
        decision = gate(runs["bag"], old)
        assert decision.passed
        [note] = decision.notes
        assert "omega_max (here q = 10): it grows with q" in note
        assert f'--fail-if "{BETTER}"' in note
        assert decision.result.notes == decision.notes
        assert "grows with q" in summary(decision)

    @pytest.mark.parametrize(
        ("rule", "has_note"),
        [
            (BETTER, False),
            ("wos < 0.2", False),
            ("original:accuracy < 0.5", False),
            ("p_c > 0.9", True),
            ("agreement > 0.9", True),
            ("omega@0.5 > 0.5", True),
            ("omega_rand > 0.5", True),
            ("omega_all > 0.5", True),
            ("derange:accuracy > 0.5", True),
        ],
    )
    def test_which_scores_get_one(self, runs: dict[str, Run], rule: str, has_note: bool) -> None:
        assert bool(gate(runs["bag"], rule).notes) == has_note

    def test_every_score_that_depends_on_q_has_one(self) -> None:
        for entry in parts(MetricPart).values():
            if entry.depends_on_q:
                assert entry.alone, entry.name

    def test_no_better_rule_on_word_order_where_words_were_dropped(self) -> None:
        scores = [record("drop_text", "agreement", 0.5, 0.4, 0.6)]
        run = made(transformations=["drop_text"], scores=scores, omitted=[], skips={})
        [note] = gate(run, "agreement > 0.9").notes
        assert note.startswith("agreement: a model with one constant answer has 1")
        assert "bag of words" not in note

    @pytest.mark.parametrize(
        ("rule", "more"),
        [("omega_max > 0.95", 3000), ("omega_max > 0.96", None), ("omega_max > 0.5", None)],
    )
    def test_how_many_more_examples_would_decide(self, rule: str, more: int | None) -> None:
        [ruling] = gate(made(), rule).rulings
        assert ruling.more_examples == more

    def test_the_better_rule_is_about_the_same_texts(self, runs: dict[str, Run]) -> None:
        [note] = gate(runs["bag"], "derange:p_c[needs=order] > 0.9").notes
        assert '--fail-if "derange:skill_kept[needs=order] > 0.8"' in note

    def test_without_skill_it_cannot_be_decided(self) -> None:
        run = audit("uniform", "builtin", with_="derange", q=5, limit=300, cache="off")
        with pytest.raises(DisorderError, match=r"skill_kept was not measured \(balanced accuracy"):
            gate(run, BETTER)
        for chosen in ({}, {"by": "value"}):  # issue 25, row 10: a guesser is no reader
            decision = gate(run, "wos < 0.2", **chosen)
            assert (decision.state, decision.passed) == ("undecided", True)
            assert decision.result.notes[0].endswith("no skill, so no wos")
        assert not gate(run, "wos < 0.2", undecided="fail").passed


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("accuracy < 0.1", "on original texts or on perturbed ones"),
        ("deragne:skill_kept > 0.8", "did you mean 'derange'"),
        ("*:skil_kept > 0.8", "did you mean 'skill_kept'"),
        ("skill_kept[needs=ordr] > 0.5", "did you mean 'needs=order'"),
        ("original:skill_kept > 0.8", "skill_kept is not measured under original"),
        ("copy_sort:skill_kept > 0.8", "skill_kept is not measured under copy_sort"),
        ("derange:p_c > 0.8", "unknown score in fail_if 'p_c'"),
    ],
)
def test_a_rule_that_cannot_be_decided_is_told_before_the_first_prediction(
    rule: str, told: str
) -> None:
    def predict(texts: list[str]) -> list[str]:
        raise AssertionError("nothing may be predicted")

    scores = "skill_kept" if "p_c" in rule else ()
    options = {"with_": ["derange", "copy_sort"], "q": 4, "limit": 20, "score": scores}
    with pytest.raises(DisorderError, match=told):
        audit(predict, "builtin", group_by="needs", fail_if=rule, **options)


def test_a_live_rule_may_spell_a_transformation_as_a_user_does() -> None:
    names = ScoreNames({"original": ["accuracy"], "shuffle_ngrams": ["agreement"]}, ["all"])
    data = Dataset("d", Task("t", ("x", "y")), [], {}, "")
    live = LiveGate.of(["shuffle_ngrams:n=1:agreement < 0.01"], names, data, None)
    assert [rule.spec for rule in live.rules] == ["shuffle_ngrams"]


def test_every_score_that_a_live_gate_watched_has_its_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampling, "BLOCK", 100)
    rules = ["reverse:skill_kept > 0.3", "reverse:agreement < 0.2", "original:accuracy < 0.1"]
    options = {"with_": ["derange", "reverse"], "q": 1, "limit": 600, "short": "use"}
    run = audit("builtin:bow", "builtin", fail_if=rules, **options)
    assert "not predicted (--fail-if)" in run.skips["data"]
    watched = [(each.transformation, each.metric) for each in run.stopped]
    assert watched == [
        ("reverse", "skill_kept"),
        ("reverse", "agreement"),
        ("original", "accuracy"),
    ]
    for each in run.stopped:
        record = run[each.transformation, each.metric]
        assert (record.low, record.high) == (each.low, max(each.high, record.value))
    assert any(
        "only the intervals of reverse:skill_kept, reverse:agreement, original:accuracy hold"
        in note
        for note in run.notes
    )
    assert run.conclusion is not None  # on derange, which no rule is about
    assert "stopped_early" in [caveat.kind for caveat in run.conclusion.caveats]


def test_runs_of_older_versions_have_one_early_stop_per_transformation() -> None:
    old = made().model_dump() | {
        "stopped": {"derange": {"metric": "p_c", "low": 0.1, "high": 0.2, "n_examples": 9}}
    }
    run = Run.model_validate(old)
    assert run.stopped_after("derange") == 9
    assert run.stopped[0].metric == "p_c"


def test_a_ratio_of_skills_from_a_plugin_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    @metric(title="strict skill", meaning="skill kept by all variants", better="low", of="variants")
    def strict_skill(outcomes: Outcomes) -> SkillRatio:
        """Skill of texts whose variants are all right."""
        return SkillRatio.of_labels(outcomes.gold, outcomes.is_right, outcomes.acceptance == 1)

    monkeypatch.setattr(sampling, "BLOCK", 100)
    options = {"with_": "derange", "q": 2, "limit": 600, "short": "use"}
    try:
        run = audit("builtin:bow", "builtin", fail_if="strict_skill > 0.3", **options)
    finally:
        unregister(MetricPart, "strict_skill")
    assert run.n_examples < 600
    assert [each.metric for each in run.stopped] == ["strict_skill"]
    assert not run.gate["passed"]


def test_a_minus_is_a_true_minus() -> None:
    run = made(scores=[record("derange", "skill_kept", -0.1, -0.2, 0.05)])
    decision = gate(run, ["derange:skill_kept > 0.8"])
    text = render(decision.result, "markdown") + junit_xml(decision)
    assert "−0.100" in text
    assert "−0.200" in text
    assert not re.search(r"-0\.\d", text)
