"""Statistics as a smoke test: an honest mechanism is not accused, one with half the noise is."""

from __future__ import annotations

import numpy as np
import pytest

from dpsort_geo.core.private.noise import discrete_laplace
from tests.privacy.blackbox import shown_epsilon
from tests.privacy.claims import as_adaptive, as_hybrid, as_sort
from tests.privacy.replay import MIDDLE, SMALL, table


def smaller(times):
    """Noise of so many times less than the scale that was asked for."""

    def noise(numerator, denominator, size=None):
        return discrete_laplace(numerator, times * np.asarray(denominator), size)

    return noise


MECHANISMS = {
    "adaptive": (as_adaptive("1"), SMALL, [0, 0, 0], [0, 0, 3], True),
    "sort": (as_sort("1", group_size=1), SMALL, [0, 0, 0], [0, 0, 3], True),
    "adaptive, n private": (as_adaptive("1", "add-remove"), SMALL, [0] * 3, [0, 0, 0, 3], True),
    "width-depth": (as_hybrid("1", "width-depth"), MIDDLE, [0, 0, 0], [0, 0, 15], False),
    "depth-width": (as_hybrid("1", "depth-width", group_size=3), SMALL, [0] * 3, [0, 0, 3], False),
}
#: with few points a hybrid does not spend all it has, and half of its noise may go unnoticed
HYBRIDS = ("width-depth", "depth-width")


def shown(name, noise, runs):
    publish, grid, one, other, fixed = MECHANISMS[name]
    return shown_epsilon(publish, noise, table(grid, one), table(grid, other), runs, fixed)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_auditor_shows_no_more_than_epsilon(name):
    assert shown(name, discrete_laplace, 1000 if name in HYBRIDS else 2500) <= 1


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_auditor_catches_too_little_noise(name):
    times, runs = (4, 1000) if name in HYBRIDS else (2, 2500)
    assert shown(name, smaller(times), runs) > 1
