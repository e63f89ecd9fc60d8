"""Models whose mechanism is known, and the texts that they are right on.

Every model is a function of texts; what it reads is what its name says. Texts are real sentences of
fillers around the evidence, so that cutting, joining and refusing all take part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

Row = dict[str, str]
Answer = Callable[[Sequence[str]], list[str]]

# a word that means yes, and one that means no
EVIDENCE: dict[str, tuple[str, str]] = {
    "plain": ("superb", "dreadful"),
    "upper case": ("SUPERB", "DREADFUL"),
    "accent": ("naïve", "décevant"),
    "apostrophe": ("don't", "can't"),
    "hyphen": ("well-made", "ill-made"),
    "decimal": ("4.5", "1.5"),
    "abbreviation": ("U.S.", "U.K."),
    "emoji": ("😀", "😡"),
    "emoji of several": ("👩‍👩‍👧", "👨‍👨‍👦"),
    "skin tone": ("👍🏽", "👎🏽"),
    "emoticon": (":)", ":("),
    "ellipsis": ("…", "—"),
    "hashtag": ("#win", "#fail"),
    "name": ("@ann", "@bob"),
    "url": ("https://good.example/a?b=1", "https://bad.example/a?b=1"),
    "fraction": ("9/10", "2/10"),
    "exclamation": ("superb!", "dreadful!"),
    "money": ("$5", "$9"),
    "per cent": ("95%", "15%"),
    "plus": ("C++", "D++"),
    "e-mail": ("ann@good.example", "bob@bad.example"),
    "html": ("<b>", "<i>"),
    "quoted": ('"superb"', '"dreadful"'),
    "bracketed": ("(superb)", "(dreadful)"),
    "ampersand": ("AT&T", "B&O"),
    "minus": ("−5", "−9"),
    "time": ("10:30", "22:30"),
    "slash": ("and/or", "either/or"),
    "dots": ("well...", "meh..."),
}
FILLERS = str.split(
    "the old film about a small town by the sea was shown again last night to many people who had "
    "never heard of it before and some of them left early while others stayed until late"
)
YES, NO = "pos", "neg"


def filler(rng: np.random.Generator, n: int) -> list[str]:
    """Some words that say nothing of the label."""
    return rng.choice(FILLERS, n).tolist()


def evidence_rows(kind: str, n: int = 200, *, seed: int = 0) -> list[Row]:
    """Texts with one word of evidence at a random place, a capital and a full stop."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        words = filler(rng, int(rng.integers(6, 12)))
        words.insert(int(rng.integers(1, len(words))), EVIDENCE[kind][i % 2])
        text = " ".join(words)
        rows.append(
            {"id": str(i), "text": f"{text[0].upper()}{text[1:]}.", "label": (YES, NO)[i % 2]}
        )
    return rows


def bag_of_tokens(kind: str) -> Answer:
    """It knows two tokens as they are written between spaces."""
    yes, no = EVIDENCE[kind]

    def answer(text: str) -> str:
        tokens = set(text.split())
        # without evidence it guesses, by the words alone
        return YES if yes in tokens else NO if no in tokens else _guess(" ".join(sorted(tokens)))

    return lambda texts: [answer(text) for text in texts]


def plain_words(text: str) -> list[str]:
    """The words in their order, lower case, marks stripped: what a reader of order reads."""
    return re.findall(r"\w+", text.lower())


def order_rows(n: int = 200, *, seed: int = 0) -> list[Row]:
    """Texts whose label is which of two words comes first."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        words = filler(rng, int(rng.integers(5, 10)))
        first, second = sorted(rng.choice(len(words) + 1, 2, replace=False).tolist())
        pair = ("up", "down") if i % 2 == 0 else ("down", "up")
        words.insert(second, pair[1])
        words.insert(first, pair[0])
        text = " ".join(words)
        rows.append(
            {"id": str(i), "text": f"{text[0].upper()}{text[1:]}.", "label": (YES, NO)[i % 2]}
        )
    return rows


def reads_order(texts: Sequence[str]) -> list[str]:
    """Which of two words comes first."""
    return [_order_of(text) for text in texts]


def _order_of(text: str) -> str:
    words = plain_words(text)
    if "up" not in words or "down" not in words:
        return _guess(text)
    return YES if words.index("up") < words.index("down") else NO


def knows_the_order_of(rows: Sequence[Row], knows: Callable[[Row], bool]) -> Answer:
    """It reads the order of the words of some texts, and says yes to all others."""
    known = {tuple(sorted(plain_words(row["text"]))) for row in rows if knows(row)}
    return lambda texts: [
        _order_of(text) if tuple(sorted(plain_words(text))) in known else YES for text in texts
    ]


def wants_capital(inner: Answer) -> Answer:
    """A model that answers no to any text that does not begin with a capital."""
    return _only_where(inner, lambda text: text[:1].isupper())


def wants_lines(inner: Answer, n: int = 3) -> Answer:
    """A model that answers no to any text that has not so many lines."""
    return _only_where(inner, lambda text: len(text.splitlines()) == n)


def wants_double_space(inner: Answer) -> Answer:
    """A model that answers no to any text without a double space."""
    return _only_where(inner, lambda text: "  " in text)


def _only_where(inner: Answer, holds: Callable[[str], bool]) -> Answer:
    def answer(texts: Sequence[str]) -> list[str]:
        found = inner(texts)
        return [label if holds(text) else NO for text, label in zip(texts, found, strict=True)]

    return answer


def in_lines(rows: Sequence[Row]) -> list[Row]:
    """The same texts on three lines."""
    return [row | {"text": _cut_in_lines(row["text"])} for row in rows]


def _cut_in_lines(text: str) -> str:
    words = text.split()
    third = len(words) // 3
    pieces = (words[:third], words[third : 2 * third], words[2 * third :])
    return "\n".join(" ".join(piece) for piece in pieces)


def with_double_space(rows: Sequence[Row]) -> list[Row]:
    """The same texts with one double space."""
    return [row | {"text": row["text"].replace(" ", "  ", 1)} for row in rows]


def has_double_space(texts: Sequence[str]) -> list[str]:
    """Whether two spaces stand side by side."""
    return [YES if "  " in text else NO for text in texts]


def glued_rows(yes: str, no: str, n: int, *, seed: int = 0) -> list[Row]:
    """Texts with a mark glued to the end of any word."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        words = filler(rng, int(rng.integers(5, 10)))
        place = int(rng.integers(len(words)))
        words[place] += (yes, no)[i % 2]
        rows.append({"id": str(i), "text": " ".join(words), "label": (YES, NO)[i % 2]})
    return rows


def truncated(inner: Answer, n_words: int) -> Answer:
    """A model that sees the first words only."""
    return lambda texts: inner([" ".join(text.split()[:n_words]) for text in texts])


def long_rows(n: int = 100, n_words: int = 240, *, n_evident: int = 60, seed: int = 0) -> list[Row]:
    """Long texts with three words of evidence each, among the first so many."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        words = filler(rng, n_words)
        for place in rng.choice(n_evident, 3, replace=False).tolist():
            words[place] = EVIDENCE["plain"][i % 2]
        rows.append({"id": str(i), "text": " ".join(words), "label": (YES, NO)[i % 2]})
    return rows


def refusing(inner: Answer, originals: Sequence[str], share: float, refusal: str) -> Answer:
    """A model that declines a share of the texts whose words are in no original order."""
    known = {tuple(plain_words(text)) for text in originals}

    def answer(texts: Sequence[str]) -> list[str]:
        found = inner(texts)
        return [
            refusal if tuple(plain_words(text)) not in known and _number(text) < share else label
            for text, label in zip(texts, found, strict=True)
        ]

    return answer


def half_order_rows(n: int = 400, *, seed: int = 0) -> list[Row]:
    """Half of the texts show their label by a word, half by an order."""
    plain = evidence_rows("plain", n // 2, seed=seed)
    ordered = order_rows(n // 2, seed=seed + 1)
    return [row | {"id": str(i)} for i, row in enumerate([*plain, *ordered])]


def reads_or_counts(texts: Sequence[str]) -> list[str]:
    """A bag of words where there is a word of evidence, else a reader of order."""
    bag = bag_of_tokens("plain")
    return [
        bag([text])[0] if set(text.split()) & set(EVIDENCE["plain"]) else _order_of(text)
        for text in texts
    ]


def rare_rows(n: int = 394, *, seed: int = 0) -> list[Row]:
    """Three labels of which one has a single example; the word says which."""
    labels = ["common"] * 344 + ["other"] * 49 + ["rare"]
    rng = np.random.default_rng(seed)
    rows = []
    for i, label in enumerate(labels[:n]):
        words = filler(rng, 7)
        words.insert(int(rng.integers(1, len(words))), f"is{label}")
        rows.append({"id": str(i), "text": " ".join(words), "label": label})
    return rows


def rare_bag(texts: Sequence[str]) -> list[str]:
    """It reads the word of `rare_rows`, wherever it stands."""
    return [next(word[2:] for word in text.split() if word[:2] == "is") for text in texts]


def rare_reader(rows: Sequence[Row]) -> Answer:
    """It knows the order of the words of every text, and gives the frequent label to any other."""
    known = {tuple(plain_words(row["text"])): row["label"] for row in rows}
    return lambda texts: [known.get(tuple(plain_words(text)), "common") for text in texts]


def pair_rows(n: int = 300, *, seed: int = 0) -> list[Row]:
    """Pairs whose first text shows the label by an order, and whose second is one word."""
    return [
        {"id": row["id"], "text_a": row["text"], "text_b": "Topic", "label": row["label"]}
        for row in order_rows(n, seed=seed)
    ]


def longer_pairs(n: int = 300, *, seed: int = 0) -> list[Row]:
    """The same with a second text of several words that says nothing."""
    rng = np.random.default_rng(seed)
    return [row | {"text_b": " ".join(filler(rng, 8))} for row in pair_rows(n, seed=seed)]


def misled_rows(n: int = 300, *, seed: int = 0) -> list[Row]:
    """Texts with a word of evidence, of which most have a phrase that turns it round."""
    rng = np.random.default_rng(seed)
    rows = evidence_rows("plain", n, seed=seed)
    for row in rows:
        if rng.random() < 0.35:
            row["text"] = f"Not at all {row['text'][0].lower()}{row['text'][1:]}"
    return rows


def misled_by_phrase(texts: Sequence[str]) -> list[str]:
    """A bag of words that takes the opposite where "not at all" stands side by side."""
    bag = bag_of_tokens("plain")(texts)
    opposite = {YES: NO, NO: YES}
    return [
        opposite[label] if "not at all" in text.lower() else label
        for text, label in zip(texts, bag, strict=True)
    ]


def families(rows: Sequence[Row], copies: int) -> list[Row]:
    """Near copies of every row, which share all words but one."""
    return [
        row | {"id": f"{row['id']}.{k}", "text": f"{row['text'][:-1]} note{k}."}
        for row in rows
        for k in range(copies)
    ]


class Stochastic:
    """A bag of tokens that answers by chance a share of the time; each call draws anew."""

    def __init__(self, inner: Answer, share: float, seed: int = 0) -> None:
        self.inner = inner
        self.share = share
        self.rng = np.random.default_rng(seed)
        self.n_texts = 0

    def __call__(self, texts: Sequence[str]) -> list[str]:
        self.n_texts += len(texts)
        by_chance = self.rng.random(len(texts)) < self.share
        drawn = self.rng.integers(2, size=len(texts)).tolist()
        return [
            (YES, NO)[draw] if is_drawn else label
            for label, is_drawn, draw in zip(self.inner(texts), by_chance, drawn, strict=True)
        ]


def by_place(inner: Answer) -> Answer:
    """A model whose every seventh answer of a batch is turned round."""
    opposite = {YES: NO, NO: YES}
    return lambda texts: [
        opposite[label] if i % 7 == 0 else label for i, label in enumerate(inner(texts))
    ]


def guesser(texts: Sequence[str]) -> list[str]:
    """An answer that has nothing to do with the text."""
    return [_guess(text) for text in texts]


def _number(text: str) -> float:
    """A number below 1 that belongs to a text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") / 2**32


def _guess(text: str) -> str:
    return YES if _number(text) < 0.5 else NO
