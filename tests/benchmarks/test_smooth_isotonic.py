"""The paper's remark 4: a smooth non-decreasing fit."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from smooth_isotonic import isotonic_smooth

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.public.isotonic import isotonic_l2


def smooth_by_bounded_least_squares(y, roughness, w):
    """Write x as a start and increments that are not negative, and let scipy solve for them."""
    n = len(y)
    build = np.tril(np.ones((n, n)))
    bend = np.sqrt(roughness) * np.diff(build, 2, axis=0)
    system = np.vstack((np.sqrt(w)[:, None] * build, bend))
    right = np.concatenate((np.sqrt(w) * y, np.zeros(n - 2)))
    bounds = (np.r_[-np.inf, np.zeros(n - 1)], np.inf)
    return build @ lsq_linear(system, right, bounds, method="bvls", tol=1e-15).x


@pytest.mark.parametrize("roughness", [1e-3, 1.0, 30.0, 1e4])
def test_smooth_agrees_with_a_general_solver(roughness):
    rng = np.random.default_rng(6)
    for trial in range(25):
        n = int(rng.integers(3, 25))
        y = np.cumsum(rng.normal(0.2, 1, n)) if trial % 2 else rng.normal(size=n)
        w = rng.uniform(0.05, 3, n)
        x = isotonic_smooth(y, roughness, w)
        assert np.all(np.diff(x) >= 0)
        expected = smooth_by_bounded_least_squares(y, roughness, w)
        np.testing.assert_allclose(x, expected, atol=1e-6 * np.ptp(y))


def test_smooth_without_a_penalty_is_l2_and_with_a_huge_one_a_line():
    y = np.random.default_rng(7).normal(size=200) + np.linspace(0, 9, 200)
    np.testing.assert_array_equal(isotonic_smooth(y, 0.0), isotonic_l2(y))
    nearly = isotonic_smooth(y, 1e-9)
    np.testing.assert_allclose(nearly, isotonic_l2(y), atol=1e-4)
    line = np.polyval(np.polyfit(np.arange(200), y, 1), np.arange(200))
    np.testing.assert_allclose(isotonic_smooth(y, 1e12), line, atol=1e-3)


def test_smooth_is_best_among_its_neighbours_at_a_size_no_general_solver_likes():
    rng = np.random.default_rng(8)
    y = np.linspace(0, 1, 3000) + rng.laplace(size=3000) * 0.1
    x = isotonic_smooth(y, 100.0)

    def cost(z):
        return ((z - y) ** 2).sum() + 100 * (np.diff(z, 2) ** 2).sum()

    for other in (isotonic_l2(y), isotonic_smooth(y, 90.0), isotonic_smooth(y, 110.0), x * 0.999):
        assert cost(x) < cost(other)


def test_short_sequences_are_fine_and_a_negative_price_is_refused():
    assert isotonic_smooth([], 1.0).tolist() == []
    assert isotonic_smooth([1, 2], 1.0).tolist() == [1.0, 2.0]
    with pytest.raises(BadInputError):
        isotonic_smooth([1, 2, 3], -1.0)
