"""Isotonic regression: two fits against other people's solvers, and their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, linprog
from sklearn.isotonic import IsotonicRegression

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.public import isotonic
from dpsort_geo.core.public.isotonic import isotonic_l2
from dpsort_geo.core.rules.isotonic import isotonic_l1

values = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40)
whole_values = st.lists(st.integers(-6, 6), min_size=1, max_size=25)


def shapes(n: int) -> dict[str, np.ndarray]:
    """Sequences that exercise every path: rounds within a chunk, across chunks, pair by pair."""
    rng = np.random.default_rng(20)
    ramp = np.arange(n) * 1.0
    saw = np.tile(np.r_[np.arange(99), -1e5], n // 100 + 1)[:n]
    return {
        "noise on a ramp": ramp / n + rng.laplace(size=n),
        "little noise": ramp + 2 * rng.laplace(size=n),
        "descending": -ramp,
        "ascending": ramp,
        "constant": np.zeros(n),
        "whole numbers": rng.integers(0, 5, n) * 1.0,
        "random walk": np.cumsum(rng.normal(size=n)),
        "drop at the end": np.r_[ramp[:-1], -1e12],
        "peak at the start": np.r_[1e12, ramp[:-1]],
        "saw teeth": saw,
        "rising saw teeth": saw + 30 * ramp,
        "hill": -((ramp - n / 2) ** 2),
        "waves": np.sin(ramp / 50),
        "heavy tails": rng.standard_cauchy(n),
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chunk", [64, 1 << 16])
def test_l2_agrees_with_scipy_on_every_shape(monkeypatch, chunk, weighted):
    monkeypatch.setattr(isotonic, "CHUNK", chunk)
    weights = np.random.default_rng(3).uniform(0.1, 5, 5000) if weighted else None
    for name, y in shapes(5000).items():
        fit = isotonic_l2(y, weights)
        other = isotonic_regression(y, weights=weights).x
        assert np.all(np.diff(fit) >= 0), name
        np.testing.assert_allclose(fit, other, rtol=0, atol=1e-12 * np.abs(y).max(), err_msg=name)


def test_l2_agrees_with_scikit_learn():
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 10, 300):
        y, w = rng.normal(size=n), rng.uniform(0.1, 4, n)
        other = IsotonicRegression().fit_transform(np.arange(n), y, sample_weight=w)
        np.testing.assert_allclose(isotonic_l2(y, w), other, atol=1e-9)


@given(values, st.randoms(use_true_random=False))
def test_l2_agrees_with_scipy_on_any_values(y, random):
    weights = [random.choice([0.25, 1.0, 4.0, 1024.0]) for _ in y]
    expected = isotonic_regression(y, weights=weights).x
    scale = max(1.0, np.abs(y).max())
    np.testing.assert_allclose(isotonic_l2(y, weights), expected, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("fit", [isotonic_l2, isotonic_l1])
@given(y=values)
def test_a_fit_is_sorted_and_its_own_fit_and_leaves_its_input_alone(fit, y):
    y = np.array(y)
    before = y.copy()
    x = fit(y)
    assert x.dtype == np.float64 and x.shape == y.shape
    assert np.all(np.diff(x) >= 0)
    np.testing.assert_array_equal(fit(x), x)
    np.testing.assert_array_equal(y, before)
    x += 1  # the result is a copy, also when there was nothing to fit
    np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize("fit", [isotonic_l2, isotonic_l1])
@given(y=whole_values, shift=st.integers(-1000, 1000))
def test_moving_the_values_moves_the_fit(fit, y, shift):
    np.testing.assert_allclose(fit(np.add(y, shift)), fit(y) + shift, atol=1e-9)


@pytest.mark.parametrize("fit", [isotonic_l2, isotonic_l1])
@given(y=whole_values)
def test_turning_the_sequence_around_turns_the_fit_around(fit, y):
    turned = -fit(-np.array(y)[::-1])[::-1]
    np.testing.assert_allclose(turned, fit(y), atol=1e-12)


@pytest.mark.parametrize("fit", [isotonic_l2, isotonic_l1])
@given(pairs=st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 4)), min_size=1, max_size=15))
def test_a_weight_is_a_number_of_repetitions(fit, pairs):
    y, w = (np.array(column) for column in zip(*pairs))
    np.testing.assert_allclose(np.repeat(fit(y, w), w), fit(np.repeat(y, w)), atol=1e-12)


@given(values)
def test_l2_keeps_the_mean(y):
    np.testing.assert_allclose(isotonic_l2(y).mean(), np.mean(y), atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(whole_values, st.randoms(use_true_random=False))
def test_l1_costs_what_linear_programming_finds(y, random):
    y = np.array(y, dtype=float)
    w = np.array([random.choice([1.0, 2.0, 0.3]) for _ in y])
    n, one = y.size, np.eye(y.size)
    # Least sum of w * t with t >= |x - y| and x sorted.
    rows = [np.c_[one, -one], np.c_[-one, -one], np.c_[-np.diff(one, axis=0), np.zeros((n - 1, n))]]
    bounds = [(None, None)] * n + [(0, None)] * n
    limit = np.concatenate((y, -y, np.zeros(n - 1)))
    best = linprog(np.r_[np.zeros(n), w], np.vstack(rows), limit, bounds=bounds)
    assert w @ np.abs(isotonic_l1(y, w) - y) == pytest.approx(best.fun, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_l1_is_the_middle_of_the_smallest_and_the_largest_minimiser(y):
    # There are minimisers whose entries are all among the values, the smallest and largest too.
    grids = np.meshgrid(*[np.arange(5)] * len(y), indexing="ij")
    every = np.stack(grids, axis=-1).reshape(-1, len(y))
    every = every[(np.diff(every, axis=1) >= 0).all(axis=1)]
    cost = np.abs(every - y).sum(axis=1)
    best = every[cost == cost.min()]
    middle = (best.min(axis=0) + best.max(axis=0)) / 2
    np.testing.assert_array_equal(isotonic_l1(y), middle)


def test_l1_of_a_hundred_thousand_values_is_sorted():
    y = np.random.default_rng(5).laplace(size=100_000)
    assert np.all(np.diff(isotonic_l1(y)) >= 0)


def test_short_and_empty_sequences_are_fine():
    for fit in (isotonic_l1, isotonic_l2):
        assert fit([]).tolist() == []
        assert fit([3]).tolist() == [3.0]
        assert fit([1, 2]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("fit", [isotonic_l1, isotonic_l2])
def test_bad_values_and_weights_are_refused(fit):
    for y, w in (([1, np.nan], None), ([[1, 2]], None), ([1, 2], [1]), ([1, 2], [1, 0])):
        with pytest.raises(BadInputError):
            fit(y, w)
