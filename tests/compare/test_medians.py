"""Private medians and masks: sensitivity by brute force, scales by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.compare import masking, medians
from dpsort_geo.core.errors import BadInputError

numbers = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def brute_force(values: list[float], beta: float) -> float:
    """max over k of exp(-k beta) * the largest local sensitivity after k replacements."""
    n = len(values)
    x = sorted(values)
    m = (n + 1) // 2

    def at(rank: int) -> float:
        return 0.0 if rank < 1 else 1.0 if rank > n else x[rank - 1]

    return max(
        np.exp(-k * beta) * max(at(m + t) - at(m + t - k - 1) for t in range(k + 2))
        for k in range(n + 1)
    )


@settings(deadline=None, max_examples=200)
@given(numbers, st.floats(0.001, 3))
def test_smooth_sensitivity_is_that_of_the_definition(values, beta):
    assert medians.smooth_sensitivity(values, beta) == pytest.approx(brute_force(values, beta))


@settings(deadline=None)
@given(numbers, st.floats(0.001, 3), st.integers(0, 29), st.floats(0, 1))
def test_neighbours_have_smooth_sensitivities_within_a_factor(values, beta, which, new):
    moved = list(values)
    moved[which % len(values)] = new
    one, two = (medians.smooth_sensitivity(v, beta) for v in (values, moved))
    assert one <= np.exp(beta) * two * (1 + 1e-9)


class Units:
    """A generator whose every draw is one: the answer shows the scale."""

    def standard_cauchy(self) -> float:
        return 1.0

    def laplace(self) -> float:
        return 1.0


def test_the_noise_of_the_smooth_median_has_the_stated_scale():
    values, eps = np.linspace(0, 1, 2001), 2.0
    pure = medians.smooth_median(values, eps, Units()) - 0.5
    assert pure == pytest.approx(6 / eps * medians.smooth_sensitivity(values, eps / 6))
    relaxed = medians.smooth_median(values, eps, Units(), delta=1e-6) - 0.5
    beta = eps / (2 * np.log(2e6))
    assert relaxed == pytest.approx(2 / eps * medians.smooth_sensitivity(values, beta))


def test_the_exponential_median_is_drawn_with_the_right_odds():
    """Three numbers, four gaps; 40,000 draws, five standard errors."""
    values, eps, many = [0.2, 0.5, 0.6], 1.5, 40_000
    rng = np.random.default_rng(4)
    drawn = [medians.exponential_median(values, eps, rng) for _ in range(many)]
    share = np.histogram(drawn, [0, 0.2, 0.5, 0.6, 1])[0] / many
    weight = np.array([0.2, 0.3, 0.1, 0.4]) * np.exp(-eps / 2 * np.array([1.5, 0.5, 0.5, 1.5]))
    expected = weight / weight.sum()
    assert (np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / many)).all()


@pytest.mark.parametrize("values", [[], [0.5, 1.5], [-0.1], [float("nan")]])
def test_numbers_outside_the_unit_interval_are_refused(values):
    with pytest.raises(BadInputError, match="between 0 and 1"):
        medians.exponential_median(values, 1.0, np.random.default_rng(0))


def test_planar_laplace_moves_points_by_the_gamma_law():
    """Mean distance 2/eps, mean square 6/eps^2; 100,000 points see 2 %."""
    rng = np.random.default_rng(5)
    moved = masking.planar_laplace(np.zeros((100_000, 2)), 0.01, rng)
    radius = np.hypot(*moved.T)
    assert radius.mean() == pytest.approx(200, rel=0.02)
    assert (radius**2).mean() == pytest.approx(60_000, rel=0.04)
    assert np.abs(moved.mean(0)).max() < 5


def test_the_donut_is_evenly_filled():
    rng = np.random.default_rng(6)
    radius = np.hypot(*masking.donut(np.zeros((100_000, 2)), 1.0, 3.0, rng).T)
    assert radius.min() >= 1 and radius.max() <= 3
    assert (radius**2).mean() == pytest.approx(5.0, rel=0.02)
