"""Training pairs for pbsmt: which pairs of texts the translator of a label learns from."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from weakref import WeakKeyDictionary

from disorder.errors import DisorderError, DoesNotApply
from disorder.papers.translation import translator as thot_translator
from disorder.papers.translation.translator import (
    DecoderName,
    Translator,
    Untranslatable,
    WordPair,
)
from disorder.randomness import digest
from disorder.store.storage import default_cache_folder
from disorder.transformations.words import split
from disorder.types import Context, Example, Ints, Sentence

PairKind = tuple[str, bool]  # a label, and whether its examples are pairs


@dataclass(frozen=True)
class PairSelection:
    """What translators learn from: data, the most pairs per label (0: all), the most words per
    text, and the seed that draws.
    """

    train: str
    limit: int
    longest: int
    seed: int


def choose(examples: Iterator[Example], selection: PairSelection) -> dict[PairKind, list[WordPair]]:
    """The pairs of each label, drawn by their ids: whatever the order of the rows."""
    drawn: dict[PairKind, list[tuple[bytes, Example]]] = defaultdict(list)
    for example in examples:
        place = digest(selection.seed, "pbsmt", example.id)
        drawn[example.label, example.text_b is not None].append((place, example))
    return {kind: list(_usable(found, selection)) for kind, found in drawn.items()}


def _usable(drawn: list[tuple[bytes, Example]], selection: PairSelection) -> Iterator[WordPair]:
    n_left = selection.limit or float("inf")
    for _, example in sorted(drawn, key=lambda item: item[0]):
        source, target = sides(example.text_a, example.text_b)
        if source and target and max(len(source), len(target)) <= selection.longest:
            yield source, target
            n_left -= 1
        if not n_left:
            return


def sides(text_a: str, text_b: str | None) -> WordPair:
    """What is translated and into what: the two texts, or the halves of the only one."""
    if text_b is not None:
        return _words(split(text_a)), _words(split(text_b))
    sentence = split(text_a)
    first, second = halves(sentence)
    return _words(sentence.select(first)), _words(sentence.select(second))


def halves(sentence: Sentence) -> tuple[Ints, Ints]:
    """The positions before and after the middle; the final punctuation belongs to neither."""
    middle = (len(sentence.body) + 1) // 2
    return sentence.body[:middle], sentence.body[middle:]


def _words(sentence: Sentence) -> list[str]:
    """Lower-cased words without what Thot's files cannot hold: control characters, three bars."""
    words = (word.lower().replace("|", "¦") for word in sentence.words)
    unwritable = ("Cc", "Cs")
    return [w for w in words if not any(unicodedata.category(char) in unwritable for char in w)]


TRAINING = "1"  # changed whenever the same pairs would train another translator
FEWEST = 20  # pairs to learn anything from
CONTENTS = "contents.json"  # names and hashes of the files beside it, written last
UNFINISHED = ".part-"  # how folders that are being filled begin
STALE = 24 * 3600.0  # seconds after which an unfinished folder is taken for abandoned
N_LOADED = 8  # translators in memory at once
say = logging.getLogger("disorder").info

_chosen: WeakKeyDictionary[Context, dict[PairSelection, Mapping[PairKind, list[WordPair]]]] = (
    WeakKeyDictionary()
)
_loaded: dict[tuple[Path, DecoderName], Translator] = {}
_one_at_a_time = RLock()


def translator(
    context: Context,
    label: str,
    *,
    is_pair: bool,
    selection: PairSelection,
    decoder: DecoderName = "quick",
) -> Translator:
    """The translator of a label, trained now if it never was."""
    with _one_at_a_time:
        known = _chosen.setdefault(context, {})
        if selection not in known:
            known[selection] = choose(context.training(selection.train), selection)
        pairs = known[selection].get((label, is_pair), [])
        if len(pairs) < FEWEST:
            what = "pairs" if is_pair else "single texts"
            raise DoesNotApply(
                f"{selection.train} has {len(pairs)} {what} of its label {label!r}, "
                "too few to learn from"
            )
        folder = default_cache_folder() / "translators" / _key(pairs)
        return _kept(folder, label, pairs, decoder)


def _key(pairs: Sequence[WordPair]) -> str:
    hashed = blake2b(f"{TRAINING} {version('sil-thot')}".encode(), digest_size=16)
    for source, target in pairs:
        hashed.update(f"\n{' '.join(source)}\t{' '.join(target)}".encode())
    return hashed.hexdigest()


def _kept(folder: Path, label: str, pairs: Sequence[WordPair], decoder: DecoderName) -> Translator:
    """A translator in memory; one that was trained serves every way of searching."""
    key = (folder, decoder)
    if key not in _loaded:
        if len(_loaded) == N_LOADED:
            del _loaded[next(iter(_loaded))]
        try:
            _loaded[key] = _found(folder, decoder) or _trained(folder, label, pairs, decoder)
        except OSError as error:
            raise DisorderError(
                f"pbsmt: {folder.parent} cannot be used ({error.strerror or error}); "
                "set DISORDER_CACHE to a folder with room"
            ) from None
    return _loaded[key]


def _found(folder: Path, decoder: DecoderName) -> Translator | None:
    with suppress(Untranslatable):
        return Translator(folder, decoder) if _is_undamaged(folder) else None
    return None


def _trained(
    folder: Path, label: str, pairs: Sequence[WordPair], decoder: DecoderName = "quick"
) -> Translator:
    say("pbsmt: learning %r from %s pairs", label, f"{len(pairs):,}")
    began = time.monotonic()
    with _beside(folder) as part:
        thot_translator.build(pairs, part)
        # Loaded before it has its place, where another process might clear it away
        made = Translator(part, decoder)
        (part / CONTENTS).write_text(json.dumps(_hashes(part)), encoding="utf-8")
        if not _is_undamaged(folder):
            _clear(folder)
            with suppress(OSError):  # another process was faster: its translator is the same
                part.rename(folder)
    say("pbsmt: learned %r in %.0f s, kept in %s", label, time.monotonic() - began, folder)
    return made


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder to fill, removed in the end unless it was moved."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.glob(f"{UNFINISHED}*"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > STALE:
                shutil.rmtree(old, ignore_errors=True)
    part = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.parent))
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _clear(folder: Path) -> None:
    """Take a damaged translator away in one step, so that no process finds half of it."""
    with suppress(FileNotFoundError), _beside(folder) as part:
        folder.rename(part / "damaged")


def _is_undamaged(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / CONTENTS).read_bytes()) == _hashes(folder))
    except (OSError, ValueError):
        return False


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.name != CONTENTS)
    return {path.name: blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in files}
