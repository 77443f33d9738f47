"""What is promised before publishing: the paper's model of the sort error, and the plan."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo import planning
from dpsort_geo.errors import BadInput
from dpsort_geo.planning import (
    PAPER_EPSILON,
    PAPER_GROUP_SIZE,
    PAPER_N,
    best_group_size,
    default_group_size,
    epsilon_for,
    expected_error,
    generalisation_error,
    group_error,
    noise_error,
    paper_group_size,
    plan_side,
)
from dpsort_geo.reader.isotonic import isotonic_l2

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


def test_the_table_is_what_the_papers_recipe_gives():
    recomputed = tuple(tuple(best_group_size(n, e) for e in PAPER_EPSILON) for n in PAPER_N)
    assert recomputed == PAPER_GROUP_SIZE


def test_the_paper_group_size_is_the_table_and_follows_the_recipe_around_it():
    for n, row in zip(PAPER_N, PAPER_GROUP_SIZE):
        assert tuple(paper_group_size(n, e) for e in PAPER_EPSILON) == row
    for n, epsilon in ((3_000, 0.7), (50_000, 2.5), (10**6, 0.1), (500, 5.0)):
        recipe = best_group_size(n, epsilon)
        assert paper_group_size(n, epsilon) == pytest.approx(recipe, rel=0.06, abs=1)


@given(counts, epsilons)
def test_group_sizes_are_between_one_and_n(n, epsilon):
    for size in (paper_group_size, default_group_size, best_group_size):
        assert 1 <= size(n, epsilon) <= n


def test_the_default_group_size_is_larger_than_the_papers():
    for n in PAPER_N:
        for epsilon in PAPER_EPSILON:
            assert default_group_size(n, epsilon) > paper_group_size(n, epsilon)


def test_the_law_is_the_fitted_one():
    n, epsilon, side = 20_000, 0.5, 30_000.0
    adaptive = side * (1.38 * (n * epsilon) ** -0.612 + 0.033 / math.sqrt(n))
    assert expected_error(n, epsilon, side) == pytest.approx(adaptive)
    sort = side * 0.884 * (n * epsilon) ** -0.300
    assert expected_error(n, epsilon, side, "sort") == pytest.approx(sort)
    hybrid = side * 2.26 * (n * epsilon) ** -0.567
    assert expected_error(n, epsilon, side, "hybrid") == pytest.approx(hybrid)
    plan = plan_side(n, side, epsilon=epsilon)
    assert plan.low == pytest.approx(0.46 * adaptive)
    assert plan.high == pytest.approx(1.84 * adaptive)


@given(st.integers(100, 10**7), epsilons, st.sampled_from(["adaptive", "sort", "hybrid"]))
def test_the_epsilon_for_an_error_undoes_the_law(n, epsilon, method):
    target = expected_error(n, epsilon, 1000.0, method)
    found = epsilon_for(n, target, 1000.0, method)
    assert epsilon * (1 - 1e-6) <= found <= epsilon * 1.0101  # rounded up to three digits
    assert expected_error(n, found, 1000.0, method) <= target * (1 + 1e-9)
    assert found == float(f"{found:.3g}")


@given(st.floats(60, 400), st.floats(60, 400))
def test_a_smaller_error_needs_no_smaller_epsilon(one, two):
    small, large = sorted((one, two))
    assert epsilon_for(50_000, small, 50_000.0) >= epsilon_for(50_000, large, 50_000.0)


def test_an_error_out_of_reach_is_refused_with_advice():
    with pytest.raises(BadInput, match="allow a larger error, or take more points"):
        plan_side(1000, 50_000.0, target_error=1.0)


def test_a_plan_speaks_metres_and_kilometres():
    near = str(plan_side(10_000, 50_000.0, epsilon="1"))
    assert "10,000 points, epsilon = 1, adaptive method" in near
    assert "move about 260 m to turn the published map into the true one" in near
    assert "(expect 120 to 480 m; half of the points move less)" in near
    far = str(plan_side(10_000, 500_000.0, epsilon=1.0, method="sort"))
    assert "sort method in groups of 110" in far
    assert "about 28 km" in far and "expect 13 to 51 km" in far
    assert "US survey foot" in str(plan_side(10_000, 5e4, epsilon=1, units="US survey foot"))


def test_a_plan_says_whom_epsilon_protects():
    assert "Had any one point been elsewhere" in str(plan_side(1000, 1e4, epsilon=1.0))
    person = str(plan_side(1000, 1e4, epsilon=1.0, unit="person"))
    assert "Had any one person, with all of their points, been elsewhere" in person
    assert "2.7 times" in person


def test_a_plan_is_a_value():
    plan = plan_side(1000, 1e4, epsilon=1.0)
    assert plan == plan_side(1000, 1e4, epsilon="1.0")
    assert plan.group_size == default_group_size(1000, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.n = 3


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1, "target_error": 5},
        {"epsilon": 0},
        {"epsilon": "much"},
        {"epsilon": float("nan")},
        {"target_error": -1},
        {"epsilon": 1, "unit": "household"},
        {"epsilon": 1, "method": "magic"},
        {"epsilon": 1, "n": 0},
        {"epsilon": 1, "side": 0},
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(BadInput):
        plan_side(**{"n": 1000, "side": 1e4, **arguments})


def test_two_digits_never_need_an_exponent():
    written = [planning._two_digits(x) for x in (0.00123, 0.999, 9.96, 146.0, 12345.0)]
    assert written == ["0.0012", "1.00", "10.0", "150", "12,000"]
