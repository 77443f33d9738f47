"""The paper's model of the sort error, beside simulation and the data it is exact for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.paper_model import best_group_size, generalisation_error, group_error, noise_error
from dpsort_geo.core.public.isotonic import isotonic_l2

counts = st.integers(1, 10**8)
epsilons = st.floats(0.01, 10)


@pytest.mark.parametrize("n", [1, 2, 5, 40, 400])
def test_the_noise_error_is_that_of_simulated_isotonic_regression(n):
    # Many runs side by side in one sequence, far enough apart not to be pooled.
    # False alarm 1e-6 (4.9 standard errors).
    runs = 400_000 // n
    apart = 100.0 * np.arange(runs)[:, None]
    noise = np.random.default_rng(n).laplace(size=(runs, n))
    fit = isotonic_l2((noise + apart).ravel()).reshape(runs, n) - apart
    errors = np.abs(fit).mean(axis=1)
    assert abs(errors.mean() - noise_error(n, 1.0)) < 4.9 * errors.std() / math.sqrt(runs)


@given(st.integers(1, 10**7), epsilons)
def test_the_noise_error_is_inverse_to_epsilon_and_falls_with_n(n, epsilon):
    assert noise_error(n, epsilon) == pytest.approx(noise_error(n, 1.0) / epsilon)
    assert noise_error(2 * n, epsilon) < noise_error(n, epsilon)
    if n > 100:
        stirling = 4 / math.sqrt(math.pi * n) - 2 / n
        assert noise_error(n, 1.0) == pytest.approx(stirling, rel=1 / n)


@pytest.mark.parametrize("k", [2, 10, 50])
def test_the_generalisation_error_is_exact_for_equally_spaced_points(k):
    points = (np.arange(1000) + 0.5) / 1000
    groups = points.reshape(-1, k)
    error = np.abs(groups - groups.mean(axis=1, keepdims=True)).mean()
    assert error == pytest.approx(generalisation_error(k, 1000))


@given(st.lists(st.floats(0, 1), min_size=12, max_size=12), st.sampled_from([1, 2, 3, 4, 6, 12]))
def test_no_data_has_more_than_twice_the_generalisation_error(points, k):
    groups = np.sort(points).reshape(-1, k)
    error = np.abs(groups - groups.mean(axis=1, keepdims=True)).mean()
    assert error <= 2 * generalisation_error(k, 12) + 1e-12


@pytest.mark.parametrize("n", [1, 7, 300, 5000])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 3.0, 50.0])
def test_no_group_size_has_less_error_than_the_best_one(n, epsilon):
    every = [group_error(k, n, epsilon) for k in range(1, n + 1)]
    assert group_error(best_group_size(n, epsilon), n, epsilon) == min(every)


@given(counts, epsilons)
def test_the_best_group_size_is_between_one_and_n(n, epsilon):
    assert 1 <= best_group_size(n, epsilon) <= n
