"""A phrase-based statistical translator, through Thot.

Words are aligned in both directions (IBM model 1, then a hidden Markov model), the two alignments
are joined, phrases are read off them, and a trigram language model is counted on the target side; a
stack decoder strings phrases together. The weights of these scores are fixed and equal: nothing is
tuned, so that a few thousand pairs train in a minute. The decoder searches quickly, or as widely as
Moses does unless told otherwise, which Word Salad used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from disorder.errors import MissingPackage

WordPair = tuple[list[str], list[str]]

N_ROUNDS = 5  # of expectation-maximisation, for either alignment model
LONGEST_PHRASE = 7
LONGEST_TEXT = 200  # words that Thot aligns and translates
ORDER = 3  # of the language model
N_OPTIONS = 20  # translations kept of a phrase
# Thot's number for estimating what is left to translate by phrases, language model and distortion
LOOK_AHEAD = 6
# Word penalty, language model, target phrase length, jumps, source phrase length,
# p(target | source), p(source | target), sentence length: all equal except the last, which says
# nothing when only one side is known
WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
# Thot's file names: phrases, single words in either direction, language model
PHRASES = "tm"
FORWARD = "tm_invswm"
BACKWARD = "tm_swm"
LANGUAGE = "lm"
FIXED = {
    # how far phrase counts are trusted over word probabilities, either way
    f"{PHRASES}.lambda": "0.7 0.7",
    f"{PHRASES}.srcsegmlentable": "Uniform",
    f"{PHRASES}.trgcutstable": "0.999",
    f"{PHRASES}.trgsegmlentable": "Geometric",
    f"{LANGUAGE}.weights": f"{ORDER} 3 10 {' '.join(['0.5'] * 3 * ORDER)}\n",
}


DecoderName = Literal["quick", "moses"]


@dataclass(frozen=True)
class DecoderSearch:
    """How far the decoder searches: hypotheses, translations of a phrase, words jumped over."""

    n_hypotheses: int
    n_options: int
    n_skipped: int


# Moses: a stack of 200 by default; 20 translations per phrase and jumps of 6 words are what its
# training script writes into moses.ini
SEARCHES: dict[DecoderName, DecoderSearch] = {
    "quick": DecoderSearch(n_hypotheses=10, n_options=10, n_skipped=0),
    "moses": DecoderSearch(n_hypotheses=200, n_options=N_OPTIONS, n_skipped=6),
}


def thot(module: str) -> Any:
    """A module of Thot, loaded only where it is used."""
    try:
        import thot.alignment
        import thot.translation
    except ImportError:
        raise MissingPackage("pbsmt", "sil-thot", "smt") from None
    return {"alignment": thot.alignment, "translation": thot.translation}[module]


class Untranslatable(Exception):
    """A folder that holds no complete translator."""


class Translator:
    """Turns words into words; loaded from a folder that `build` filled."""

    def __init__(self, folder: Path, decoder: DecoderName = "quick") -> None:
        search = SEARCHES[decoder]
        self._model = thot("translation").SmtModel(thot("alignment").AlignmentModelType.HMM)
        if not (
            self._model.load_translation_model(str(folder / PHRASES))
            and self._model.load_language_model(str(folder / LANGUAGE))
        ):
            raise Untranslatable(str(folder))
        self._model.heuristic = LOOK_AHEAD
        self._model.weights = list(WEIGHTS)
        self._model.w = search.n_options
        self._model.a = LONGEST_PHRASE
        self._model.non_monotonicity = search.n_skipped
        self._decoder = thot("translation").SmtDecoder(self._model)
        self._decoder.s = search.n_hypotheses
        self._decoder.is_breadth_first = True
        self._lock = Lock()  # a decoder keeps the sentence at hand in itself

    def __call__(self, words: Sequence[str]) -> list[str]:
        """The most probable translation; words it never saw stay as they are."""
        with self._lock:
            return list(self._decoder.translate(" ".join(words)).target)


def build(pairs: Sequence[WordPair], folder: Path) -> None:
    """Train on pairs of texts and leave in `folder` what a `Translator` loads."""
    forward = _word_model(pairs, folder / FORWARD)
    backward = _word_model([(b, a) for a, b in pairs], folder / BACKWARD)
    _write_phrases(pairs, forward, backward, folder)
    _write_language_model([target for _, target in pairs], folder / LANGUAGE)
    for name, text in FIXED.items():
        (folder / name).write_text(text, encoding="utf-8")


def _word_model(pairs: Sequence[WordPair], path: Path) -> Any:
    """Which words of one side stand for which of the other."""
    first = thot("alignment").Ibm1AlignmentModel()
    for source, target in pairs:
        first.add_sentence_pair(source, target)
    _train(first)
    model = thot("alignment").HmmAlignmentModel(first)
    model.hmm_p0 = 0.1
    model.lexical_smoothing_factor = 0.1
    model.hmm_alignment_smoothing_factor = 0.3
    _train(model)
    model.print(str(path))
    return model


def _train(model: Any) -> None:
    model.start_training()
    for _ in range(N_ROUNDS):
        model.train()
    model.end_training()


def _write_phrases(pairs: Sequence[WordPair], forward: Any, backward: Any, folder: Path) -> None:
    """The phrase table: runs of words whose alignments do not leave the run."""
    both = thot("alignment").SymmetrizedAligner(forward, backward)
    both.heuristic = thot("alignment").SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    found = both.get_best_alignments(
        [source for source, _ in pairs], [target for _, target in pairs]
    )
    path = folder / f"{PHRASES}.alignments"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for pair, (_, matrix) in zip(pairs, found, strict=True):
            file.write(_alignment(pair, matrix.to_numpy()))
    table = thot("translation").PhraseModel()
    parameters = thot("translation").PhraseExtractParameters()
    parameters.max_target_phrase_length = LONGEST_PHRASE
    table.build(str(path), parameters, False)
    table.print_phrase_table(str(folder / f"{PHRASES}.ttable"), N_OPTIONS)
    path.unlink()


def _alignment(pair: WordPair, is_aligned: Any) -> str:
    """One pair as GIZA++ writes it: source words, then target words with numbers of theirs."""
    source, target = pair
    columns = [("NULL", ~is_aligned.any(axis=1)), *zip(target, is_aligned.T, strict=True)]
    cells = (
        f"{word} ({{ {''.join(f'{i + 1} ' for i in column.nonzero()[0])}}})"
        for word, column in columns
    )
    return f"# 1\n{' '.join(source)}\n{' '.join(cells)}\n"


def _write_language_model(sentences: Iterable[Sequence[str]], path: Path) -> None:
    """Counts of runs of up to three words; a word's first occurrence is the unknown word."""
    counts: Counter[tuple[str, ...]] = Counter()
    known: set[str] = set()
    for sentence in sentences:
        words = ["<s>"]
        for word in sentence:
            words.append(word if word in known else "<unk>")
            known.add(word)
        words.append("</s>")
        counts.update(
            tuple(words[i : i + n]) for n in range(1, ORDER + 1) for i in range(len(words) - n + 1)
        )
    total = sum(count for run, count in counts.items() if len(run) == 1)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for run, count in sorted(counts.items(), key=lambda item: (len(item[0]), item[0])):
            file.write(f"{' '.join(run)} {counts[run[:-1]] if run[:-1] else total} {count}\n")
    # Thot wants the file of a word predictor, which is not used here
    path.with_name(f"{path.name}.wp").write_text("", encoding="utf-8")
