"""drop_pos and keep_pos remove what NLI Data Sanity Check removes, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conftest import example
from disorder.data import read_data
from disorder.errors import DisorderError, DoesNotApply
from disorder.transformations import parse, suite
from disorder.transformations.rendering import variant_texts
from disorder.types import Task
from disorder.verbs.perturb import Tally, perturb

# appendix, Table 2, test datasets: words removed from premises and hypotheses
PUBLISHED = {
    "drop_pos:tags=NUM": (3_100, 1_133),
    "drop_pos:tags=CONJ": (7_584, 1_874),
    "drop_pos:tags=ADV": (11_777, 5_862),
    "drop_pos:tags=PRON": (13_060, 7_466),
    "drop_pos:tags=ADJ": (16_162, 7_562),
    "drop_pos:tags=DET": (21_198, 11_723),
    "drop_pos:tags=VERB": (35_813, 22_101),
    "drop_pos:tags=NOUN": (54_700, 27_182),
    "drop_pos:tags=NOUN+PRON": (67_760, 34_648),
    "keep_pos:tags=NOUN+PRON+VERB": (109_325, 53_647),
    "keep_pos:tags=NOUN+ADV+VERB": (110_608, 55_251),
    "keep_pos:tags=NOUN+VERB": (122_385, 61_113),
    "keep_pos:tags=NOUN+VERB+ADJ": (106_223, 53_551),
    "keep_pos:tags=NOUN+VERB+ADV+ADJ": (94_446, 47_689),
}
COUNTED = [f"drop_pos:tags={tag}" for tag in ("NOUN", "ADV", "NUM", "DET")] + [
    "keep_pos:tags=NOUN+VERB"
]
TEXT = "The old man never saw two dogs and a cat near Berlin, did he?"


def perturbed_text(spec: str, text: str = TEXT) -> str:
    [(made, _)] = variant_texts(parse(spec).apply(example(text), task=Task("x"), q=1, seed=0))
    return made


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        ("drop_pos:tags=NOUN", "The old never saw two and a near, did he?"),
        ("drop_pos:tags=PROPN", "The old man never saw two dogs and a cat near, did he?"),
        ("drop_pos:tags=NUM", "The old man never saw dogs and a cat near Berlin, did he?"),
        ("drop_pos:tags=DET+CONJ", "old man never saw two dogs cat near Berlin, did he?"),
        ("keep_pos:tags=NOUN+VERB", "man saw dogs cat Berlin did"),
        ("keep_pos:tags=adv", "never"),
    ],
)
def test_known_sentence(spec: str, left: str) -> None:
    assert perturbed_text(spec) == left


def test_released_joins_by_single_spaces() -> None:
    assert (
        perturbed_text("drop_pos:tags=NOUN,fidelity=released")
        == "The old never saw two and a near , did he ?"
    )


def test_a_class_is_dropped_or_kept() -> None:
    dropped, kept = (
        Counter(perturbed_text(f"{verb}_pos:tags=VERB,words=simple").split())
        for verb in ("drop", "keep")
    )
    assert dropped + kept == Counter(TEXT.split())


def test_a_text_without_the_class_stays_and_one_of_nothing_else_is_skipped() -> None:
    assert perturbed_text("drop_pos:tags=NUM", "He never saw it.") == "He never saw it."
    with pytest.raises(DoesNotApply, match="no word of a text would be left"):
        perturbed_text("drop_pos:tags=NOUN", "Dogs")


def test_unknown_class() -> None:
    with pytest.raises(DisorderError, match="unknown word class 'NUON'; did you mean 'NOUN'"):
        parse("drop_pos:tags=NUON").tried()


def test_a_tagger_where_none_is_needed_is_a_mistake() -> None:
    with pytest.raises(DisorderError, match="no tagger"):
        parse("derange:tagger=nltk")


def test_word_classes_are_those_of_the_original_text_in_a_chain() -> None:
    assert perturbed_text("reverse+drop_pos:tags=NOUN") == perturbed_text(
        "drop_pos:tags=NOUN+reverse"
    )


def test_the_fourteen_configurations_are_a_suite() -> None:
    assert sorted(suite("classes")) == sorted(PUBLISHED)
    assert suite("alldrop")[0] == "original"
    assert len(suite("alldrop")) == 9


def test_removed_words_match_the_paper(shared_data: Path) -> None:
    path = str(shared_data / "mnli" / "dev_matched.jsonl.gz")
    data, tally = read_data(path), Tally()
    for spec in COUNTED:
        for variants in parse(spec).apply_all(data.examples, task=data.task, q=1, seed=0):
            if isinstance(variants, DoesNotApply):
                tally.skip(spec, str(variants))
            else:
                tally.add(spec, variants)
    for spec in COUNTED:
        premises, hypotheses = PUBLISHED[spec]
        assert tally.removed[spec]["a"] == pytest.approx(premises, rel=0.01)
        assert tally.removed[spec]["b"] == pytest.approx(hypotheses, rel=0.01)
    assert sum(tally.skips["drop_pos:tags=NOUN"].values()) == 46
    assert sum(tally.skips["drop_pos:tags=ADV"].values()) == 2


def test_alldrop_is_nine_times_the_data_but_for_emptied_rows(shared_data: Path) -> None:
    path = str(shared_data / "rte" / "dev.jsonl.gz")
    lines = list(perturb(path, suite="alldrop"))
    assert len(lines) == 9 * len(read_data(path).examples)
    originals = [line for line in lines if line["transformation"] == "original"]
    assert sorted(line["text_a"] for line in originals) == sorted(
        e.text_a for e in read_data(path).examples
    )
