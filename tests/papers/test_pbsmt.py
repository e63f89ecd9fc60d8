"""Does a label's translator learn what goes with the label, is it kept, and is it trained again
when it must be?
"""

from __future__ import annotations

import itertools
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from conftest import NLI
from disorder.errors import BadSetting, DisorderError, DoesNotApply, MissingPackage
from disorder.papers.translation import trained_translators
from disorder.papers.translation import translator as thot_translator
from disorder.papers.translation.trained_translators import PairSelection, choose
from disorder.store.storage import default_cache_folder
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.transformations.words import split
from disorder.types import Example
from disorder.verbs.model_loading import RunContext
from disorder.verbs.perturb import perturb

pytest.importorskip("thot", reason="needs sil-thot")

WORDS = ["dog", "bird", "house", "tree", "car", "river"]
SAYS = {"entailment": "yes", "contradiction": "no", "neutral": "perhaps"}


def planted(labels: tuple[str, ...] = tuple(SAYS), n: int = 60) -> list[Example]:
    """Pairs in which a label has its own word for each word: "dog tree." → "dog-no tree-no."."""
    texts = islice(itertools.permutations(WORDS, 3), n)
    return [
        Example.of(
            f"{label}-{i}",
            " ".join(words) + ".",
            " ".join(f"{word}-{SAYS[label]}" for word in words) + ".",
            label,
        )
        for i, words in enumerate(texts)
        for label in labels
    ]


class Given:
    """A context with these examples to learn from, which counts how often they are read."""

    def __init__(self, examples: list[Example]) -> None:
        self.examples, self.n_read = examples, 0

    def training(self, spec: str) -> Iterator[Example]:
        self.n_read += 1
        return iter(self.examples)


def translated(
    context: Any, text_a: str, text_b: str | None = "Whatever.", *, label: str = "contradiction"
) -> str:
    spec = parse("pbsmt:train=given")
    [(first, second)] = variant_texts(
        spec.apply(Example.of("x", text_a, text_b, label), task=NLI, q=5, seed=0, context=context)
    )
    if text_b is None:
        return first
    assert first == text_a
    return str(second)


@pytest.fixture
def n_built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pairs each training so far had; nothing is in memory at the start."""
    monkeypatch.setattr(trained_translators, "_loaded", {})
    build, built = trained_translators.thot_translator.build, []

    def counted(pairs: Any, folder: Path) -> None:
        built.append(len(pairs))
        build(pairs, folder)

    monkeypatch.setattr(trained_translators.thot_translator, "build", counted)
    return built


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Forget what is in memory, as a new process would."""
    return lambda: monkeypatch.setattr(trained_translators, "_loaded", {})


def kept() -> list[Path]:
    return sorted((default_cache_folder() / "translators").iterdir())


class TestWhatIsWritten:
    @pytest.mark.parametrize("label", SAYS)
    def test_each_label_says_what_its_own_pairs_say(self, label: str) -> None:
        expected = (
            " ".join(f"{word}-{SAYS[label]}" for word in ("tree", "car", "dog", "river")) + " ."
        )
        assert translated(Given(planted()), "Tree car dog river.", label=label) == expected

    def test_a_word_never_seen_is_passed_on(self) -> None:
        assert translated(Given(planted()), "Dog zebra car.") == "dog-no zebra car-no ."

    def test_a_single_text_keeps_its_first_half_and_its_final_mark(self) -> None:
        texts = [
            Example.of(
                f"{i}", f"{' '.join(words)} {' '.join(f'{word}s' for word in words)}!", None, "good"
            )
            for i, words in enumerate(itertools.permutations(WORDS, 2))
        ]
        context = Given(texts)
        assert (
            translated(context, "Tree Dog is what?", None, label="good") == "Tree Dog trees dogs?"
        )
        assert translated(context, "Tree dog, car", None, label="good") == "Tree dog trees dogs"

    def test_scripts_without_spaces_get_none(self) -> None:
        pairs = [
            Example.of(
                f"{i}",
                "".join(chars),
                "".join("犬喵木辆"["狗猫树车".index(char)] for char in chars),
                "neutral",
            )
            for i, chars in enumerate(itertools.permutations("狗猫树车", 3))
        ]
        assert translated(Given(pairs), "树狗", label="neutral") == "木犬"

    def test_real_sentences_stay_in_the_vocabulary_of_the_label(self) -> None:
        rows = list(islice(RunContext().training("builtin:nli:train"), 600))
        context: Any = Given(rows)
        chosen = choose(iter(rows), PairSelection("given", 80, 60, 0))
        spec = parse("pbsmt:train=given,limit=80")
        changed = 0
        for example in islice(RunContext().training("builtin"), 30):
            [(_, second)] = variant_texts(
                spec.apply(example, task=NLI, q=1, seed=0, context=context)
            )
            words = set(split(str(second)).words)
            known = {word for _, target in chosen[example.label, True] for word in target}
            assert words <= known | {word.lower() for word in split(example.text_a).words}
            changed += words != {word.lower() for word in split(example.text_a).words}
        assert changed > 15

    def test_a_later_step_goes_on_from_the_translation(self) -> None:
        example = Example.of("x", "Tree car dog.", "Whatever.", "contradiction")
        chain = parse("pbsmt:train=given+reverse")
        variants = chain.apply(example, task=NLI, q=1, seed=0, context=Given(planted()))  # type: ignore[arg-type]
        assert split(str(variant_texts(variants)[0][1])).words == [
            "dog-no",
            "car-no",
            "tree-no",
            ".",
        ]

    def test_strange_texts_are_learned_from_and_translated(self) -> None:
        strange = [
            "# one two",
            "||| one",
            "a ({ 1 }) b",
            "NULL <s> <unk> two",
            "x\0y z \0",
            "half \ud83d one",
            "👩‍👩‍👧 one",
        ]
        pairs = [
            Example.of(f"{i}", f"{a} {word}", f"{b} {word}", "neutral")
            for i, (a, b, word) in enumerate(itertools.product(strange, strange, WORDS[:2]))
        ]
        context = Given(pairs)
        for text in strange:
            translated(context, text, label="neutral").encode()  # no surrogate is written


class TestWhatDoesNotWork:
    @pytest.mark.parametrize(
        ("text_a", "text_b", "label", "reason"),
        [
            ("", "b", "neutral", "nothing to translate"),
            (" \t", "b", "neutral", "nothing to translate"),
            ("Yes.", None, "neutral", "too short"),
            ("w " * 201, "b", "neutral", "more than 200 words"),
            ("dog", "b", "unheard", "0 pairs of its label 'unheard'"),
            ("dog bird car", None, "neutral", "0 single texts of its label"),
        ],
    )
    def test_an_example_is_left_out_with_the_reason(
        self, text_a: str, text_b: str | None, label: str, reason: str
    ) -> None:
        with pytest.raises(DoesNotApply, match=reason):
            translated(Given(planted()), text_a, text_b, label=label)

    def test_a_few_pairs_are_too_few(self) -> None:
        with pytest.raises(DoesNotApply, match="has 19 pairs"):
            translated(Given(planted(n=19)), "dog")

    @pytest.mark.parametrize(
        ("spec", "line"),
        [
            ("pbsmt", "e.g. pbsmt:train=mnli:train"),
            ("pbsmt:train=x,limit=-1", "1 or more"),
            ("pbsmt:train=x,longest=900", "1 to 200"),
        ],
    )
    def test_a_bad_setting_shows_before_any_data_is_read(self, spec: str, line: str) -> None:
        with pytest.raises(BadSetting, match=line):
            parse(spec).tried()

    def test_a_good_setting_passes_the_trial_without_training(self, n_built: list[int]) -> None:
        assert parse("pbsmt:train=x").tried().spec == "pbsmt:train=x"
        assert n_built == []

    def test_unknown_data_is_the_user_s_mistake(self) -> None:
        with pytest.raises(DisorderError, match="unknown data 'mnlo'; did you mean 'mnli'"):
            list(perturb("builtin", with_="pbsmt:train=mnlo"))

    def test_without_the_package_one_line_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("thot", "thot.alignment", "thot.translation"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(
            MissingPackage,
            match=r"pbsmt needs the package 'sil-thot': pip install .*\[smt\]",
        ):
            parse("pbsmt:train=builtin").tried()

    def test_a_folder_that_cannot_be_used_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("DISORDER_CACHE", str(tmp_path / "file"))
        with pytest.raises(
            DisorderError, match=r"file/translators cannot be used .*DISORDER_CACHE"
        ):
            translated(Given(planted()), "dog")


class TestWhatIsLearnedFrom:
    SELECTION = PairSelection("given", 10, 4, 0)

    def test_rows_in_another_order_give_the_same_pairs(self) -> None:
        examples = planted()
        assert choose(iter(examples), self.SELECTION) == choose(reversed(examples), self.SELECTION)

    def test_no_more_pairs_than_the_limit_and_the_seed_says_which(self) -> None:
        chosen = [
            choose(iter(planted()), PairSelection("given", 10, 60, seed))["neutral", True]
            for seed in (0, 0, 1)
        ]
        assert len(chosen[0]) == 10
        assert chosen[0] == chosen[1] != chosen[2]

    def test_pairs_that_are_too_long_make_room_for_others(self) -> None:
        long = [Example.of(f"l{i}", "one two three four five", "six", "neutral") for i in range(30)]
        chosen = choose(iter([*long, *planted()]), PairSelection("given", 10, 4, 0))
        assert len(chosen["neutral", True]) == 10
        assert all(len(source) == 4 for source, _ in chosen["neutral", True])

    def test_pairs_and_single_texts_are_kept_apart(self) -> None:
        single = [Example.of("s", "one two three four.", None, "neutral")]
        chosen = choose(iter([*planted(n=1), *single]), PairSelection("given", 10, 60, 0))
        assert chosen["neutral", False] == [(["one", "two"], ["three", "four"])]
        assert len(chosen["neutral", True]) == 1


class TestWhatIsKept:
    def test_one_training_a_label_and_one_reading_of_the_data(self, n_built: list[int]) -> None:
        context = Given(planted())
        for text, label in itertools.product(
            ("Dog tree.", "Car.", "River dog."), ("neutral", "entailment")
        ):
            translated(context, text, label=label)
        assert n_built == [60, 60]
        assert context.n_read == 1

    def test_the_next_process_does_not_train(self, n_built: list[int], cold: Any) -> None:
        first = translated(Given(planted()), "Dog tree.")
        cold()
        assert translated(Given(planted()), "Dog tree.") == first
        assert n_built == [60]

    def test_other_pairs_are_another_translator(self, n_built: list[int], cold: Any) -> None:
        translated(Given(planted()), "Dog tree.")
        translated(Given(planted(n=59)), "Dog tree.")
        assert n_built == [60, 59]
        assert len(kept()) == 2

    @pytest.mark.parametrize("name", ["tm.ttable", "tm_swm.hmm_lexnd", "lm", "contents.json"])
    @pytest.mark.parametrize("damage", ["cut", "gone", "changed"])
    def test_a_damaged_one_is_trained_again(
        self, n_built: list[int], cold: Any, name: str, damage: str
    ) -> None:
        first = translated(Given(planted()), "Dog tree.")
        [folder] = kept()
        file, whole = folder / name, (folder / name).read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if damage == "cut" else whole[:-2] + b"!!")
        if damage == "gone":
            file.unlink()
        cold()
        assert translated(Given(planted()), "Dog tree.") == first
        assert n_built == [60, 60]
        assert kept() == [folder]
        assert file.read_bytes() == whole

    def test_a_training_that_is_killed_leaves_nothing_to_be_mistaken(
        self, n_built: list[int], cold: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as during:
            during.setattr(trained_translators, "_hashes", lambda folder: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                translated(Given(planted()), "Dog tree.")
        assert kept() == []
        half_done = default_cache_folder() / "translators" / ".part-left"
        half_done.mkdir()
        assert translated(Given(planted()), "Dog tree.") == "dog-no tree-no ."

    def test_another_process_that_is_faster_is_no_trouble(
        self, n_built: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        build = trained_translators.thot_translator.build

        def slow(pairs: Any, folder: Path) -> None:
            monkeypatch.setattr(trained_translators.thot_translator, "build", build)
            trained_translators._trained(kept_as, "contradiction", pairs)
            build(pairs, folder)

        pairs = choose(iter(planted()), PairSelection("given", 5000, 60, 0))["contradiction", True]
        kept_as = default_cache_folder() / "translators" / trained_translators._key(pairs)
        monkeypatch.setattr(trained_translators.thot_translator, "build", slow)
        assert translated(Given(planted()), "Dog tree.") == "dog-no tree-no ."
        assert n_built == [60, 60]
        assert kept() == [kept_as]

    def test_both_ends_of_a_training_are_told(
        self, n_built: list[int], caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, logger="disorder"):
            translated(Given(planted()), "Dog tree.")
        begun, ended = caplog.messages
        assert begun == "pbsmt: learning 'contradiction' from 60 pairs"
        assert ended.startswith("pbsmt: learned 'contradiction' in ")


def test_two_processes_train_at_once_and_write_the_same(tmp_path: Path) -> None:
    rows = [
        {"id": e.id, "text_a": e.text_a, "text_b": e.text_b, "label": e.label}
        for e in planted(n=40)
    ]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:6]))
    command = [
        sys.executable,
        "-m",
        "disorder",
        "perturb",
        "data.jsonl",
        "--with",
        "pbsmt:train=train.jsonl",
        "--out",
        "-",
    ]
    both = [
        subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    (first, told), (second, _) = (process.communicate(timeout=300) for process in both)
    assert [process.returncode for process in both] == [0, 0], told
    assert first == second
    assert len(first.splitlines()) == 6
    assert told.count("pbsmt: learning") <= 3
    assert not [folder for folder in kept() if folder.name.startswith(".")]


def test_moses_search_may_jump_where_the_quick_one_goes_from_left_to_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With weights that let the language model decide: nouns come first in the target."""
    adjectives = {"red": "rojo", "blue": "azul", "old": "viejo", "new": "nuevo"}
    nouns = {"dog": "perro", "cat": "gato", "car": "coche", "hat": "gorro"}
    pairs = [
        ([first, second], [nouns[second], adjectives[first]])
        for first, second in itertools.product(adjectives, nouns)
        if (first, second) != ("blue", "cat")
    ]
    thot_translator.build(pairs * 5, tmp_path)
    monkeypatch.setattr(thot_translator, "WEIGHTS", (1.0, 3.0, 1.0, 0.1, 1.0, 1.0, 1.0, 0.0))
    quick, moses = (thot_translator.Translator(tmp_path, name) for name in ("quick", "moses"))
    assert quick(["blue", "cat"]) == ["azul", "gato"]
    assert moses(["blue", "cat"]) == ["gato", "azul"]


def test_one_training_serves_both_searches(n_built: list[int]) -> None:
    context = Given(planted(("neutral",)))
    for spec in ("pbsmt:train=given", "pbsmt:train=given,decoder=moses"):
        example = Example.of("x", "Dog tree.", "Whatever.", "neutral")
        parse(spec).apply(example, task=NLI, q=1, seed=0, context=context)
    assert len(n_built) <= 1
    with pytest.raises(BadSetting, match="decoder"):
        parse("pbsmt:train=given,decoder=fast")
