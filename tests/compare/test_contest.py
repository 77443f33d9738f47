"""Our releases among the other mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

from dpsort_geo.compare import MECHANISMS
from dpsort_geo.compare.contest import contest
from dpsort_geo.compare.ours import ours, seeded_noise
from dpsort_geo.core.rules import METHODS as OURS


def some_counts() -> np.ndarray:
    at = np.clip(np.random.default_rng(1).normal((20, 40), 5, (4000, 2)), 0, 63).astype(int)
    return np.bincount(at[:, 0] * 64 + at[:, 1], minlength=4096).reshape(64, 64).astype(float)


@pytest.mark.parametrize("method", OURS)
def test_our_releases_hold_n_points_and_repeat_with_the_seed(method):
    counts = some_counts()
    one, two = (ours(counts, 1.0, np.random.default_rng(2), method) for _ in range(2))
    assert np.array_equal(one, two)
    assert one.min() >= 0
    assert one.sum() == pytest.approx(counts.sum(), rel=1e-6)


def test_without_noise_our_default_gives_every_count_in_its_place():
    counts = some_counts()
    assert ours(counts, 1000.0, np.random.default_rng(3)) == pytest.approx(counts, abs=0.5)


def test_seeded_noise_has_the_variance_of_discrete_laplace():
    """200,000 draws; 5 % of the variance are over six standard errors."""
    draws = seeded_noise(np.random.default_rng(3))(7, 2, 200_000)
    p = np.exp(-2 / 7)
    assert draws.var() == pytest.approx(2 * p / (1 - p) ** 2, rel=0.05)
    assert abs(draws.mean()) < 0.1


def test_the_contest_runs_everybody_the_best_first():
    found = contest(some_counts(), 1.0, repeats=1)
    names = [result.mechanism for result in found]
    assert sorted(names) == sorted([*(f"ours: {method}" for method in OURS), *MECHANISMS])
    assert [result.emd for result in found] == sorted(result.emd for result in found)
    assert min(min(r.emd, r.squares, r.rectangles, r.l1, r.l2) for r in found) > 0
