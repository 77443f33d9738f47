"""Seeded noise for tests: what it makes is never private, and the release says so."""

import numpy as np
import pytest


@pytest.fixture
def seeded():
    """A noise function of the same law as the real one, from a numpy generator."""

    def make(seed):
        rng = np.random.default_rng(seed)

        def noise(numerator, denominator, size=None):
            rate = np.asarray(denominator, float) / np.asarray(numerator, float)
            chance = np.broadcast_to(-np.expm1(-rate), size)
            return rng.geometric(chance) - rng.geometric(chance)

        return noise

    return make
