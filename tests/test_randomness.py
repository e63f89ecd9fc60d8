"""Draw keys: the same numbers on every machine and with every version."""

import pickle

import numpy as np
from numpy.random import Generator, Philox

from disorder.randomness import digest, generator


def test_numbers_are_those_of_philox_under_the_key() -> None:
    key = np.frombuffer(digest(3, "derange", "a"), dtype=np.uint64)
    expected = Generator(Philox(key=key)).integers(2**62, size=50)
    assert np.array_equal(generator(3, "derange", "a").integers(2**62, size=50), expected)


def test_a_generator_goes_on_where_it_was_on_another_worker() -> None:
    rng = generator(0, "a")
    rng.random(3)
    again = pickle.loads(pickle.dumps(rng))
    assert again.random() == rng.random()
