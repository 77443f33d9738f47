"""The law of a map's error, and the epsilon that it asks for."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.accuracy import epsilon_for, error_words, expected_error, two_digits
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.planning import plan_side

epsilons = st.floats(0.01, 10)


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
    with pytest.raises(BadInputError, match="allow a larger error, or take more points"):
        plan_side(1000, 50_000.0, target_error=1.0)


def test_two_digits_never_need_an_exponent():
    written = [two_digits(x) for x in (0.00123, 0.999, 9.96, 146.0, 12345.0)]
    assert written == ["0.0012", "1.00", "10.0", "150", "12,000"]


@pytest.mark.parametrize("cell", [2_000.0, 10_000.0])
def test_nothing_is_known_inside_of_a_cell(cell):
    fine, coarse = (expected_error(50_000, 1.0, 50_000.0, cell=c) for c in (5.0, cell))
    assert fine == pytest.approx(expected_error(50_000, 1.0, 50_000.0), rel=1e-3)
    assert 0.1 * cell < coarse < 0.2 * cell
    with pytest.raises(BadInputError, match="smaller cells"):
        epsilon_for(50_000, 0.1 * cell, 50_000.0, cell=cell)


def test_the_lengths_of_a_sentence_have_one_unit():
    words = error_words(2_000, 1.0, 100_000.0, "adaptive")
    assert " m " not in words.replace(" km", "") and words.count("km") == 2
    assert error_words(50_000, 1.0, 50_000.0, "adaptive").count(" m ") == 2
