"""Error measures against hand-made cases and slower computations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsort_geo.compare import metrics
from dpsort_geo.compare.raster import project
from dpsort_geo.core.errors import BadInputError

rasters = arrays(float, (8, 8), elements=st.integers(0, 20).map(float)).filter(
    lambda a: a.sum() > 0
)


def one_at(j: int, i: int, side: int = 32) -> np.ndarray:
    raster = np.zeros((side, side))
    raster[j, i] = 3.0
    return raster


@pytest.mark.parametrize("distance", [metrics.emd_exact, metrics.emd_sliced])
@pytest.mark.parametrize("step", [(0, 8), (8, 0), (6, 8), (-3, 4)])
def test_a_shift_costs_its_length(distance, step):
    pytest.importorskip("ot")
    truth, moved = one_at(10, 10), one_at(10 + step[0], 10 + step[1])
    assert distance(truth, moved) == pytest.approx(np.hypot(*step) / 32, rel=1e-3)


@settings(deadline=None, max_examples=200)
@given(rasters, arrays(float, (8, 8), elements=st.floats(0, 20)))
def test_the_sliced_distance_is_not_more_than_the_exact_one(truth, other):
    pytest.importorskip("ot")
    estimate = project(other.ravel(), truth.sum()).reshape(8, 8)
    exact, sliced = metrics.emd_exact(truth, estimate), metrics.emd_sliced(truth, estimate)
    # the mean of |cos| over 64 even directions is 2/pi up to (pi / 128)^2 / 6 of it
    assert sliced <= exact * (1 + 1.1e-4) + 1e-9
    assert metrics.emd_sliced(truth, truth) == 0


@given(rasters, st.integers(0, 10_000))
def test_range_errors_are_those_of_counting_by_hand(truth, seed):
    rng = np.random.default_rng(seed)
    estimate = rng.random((8, 8))
    ranges = np.concatenate(
        [metrics.random_squares(8, 5, rng), metrics.data_rectangles(truth, 5, rng)]
    )
    by_hand = [abs((estimate - truth)[a:b, c:d].sum()) for a, b, c, d in ranges]
    assert metrics.range_error(truth, estimate, ranges) == pytest.approx(
        np.mean(by_hand) / truth.sum()
    )


def test_ranges_lie_inside_and_are_never_empty():
    rng = np.random.default_rng(1)
    truth = np.zeros((64, 64))
    truth[0, 63] = truth[63, 0] = 1
    for ranges in (
        metrics.random_squares(64, 2000, rng),
        metrics.data_rectangles(truth, 2000, rng),
    ):
        y0, y1, x0, x1 = ranges.T
        assert (y0 < y1).all() and (x0 < x1).all() and ranges.min() >= 0 and ranges.max() <= 64


def test_data_rectangles_hold_the_point_that_they_are_centred_on():
    truth = one_at(20, 3)
    ranges = metrics.data_rectangles(truth, 500, np.random.default_rng(2))
    y0, y1, x0, x1 = ranges.T
    assert ((y0 <= 20) & (y1 > 20) & (x0 <= 3) & (x1 > 3)).all()


def test_the_papers_error_needs_as_many_points_on_both_sides():
    assert metrics.emd_1d([0.5, 0.1], [0.2, 0.4]) == pytest.approx(0.1)
    with pytest.raises(BadInputError, match="same number"):
        metrics.emd_1d([0.1], [0.1, 0.2])


def test_the_distance_along_the_curve_is_that_of_sorted_positions():
    from dpsort_geo.compare.raster import from_curve

    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 64, (2, 500))
    one, two = (from_curve(np.bincount(v, minlength=64).astype(float)) for v in (a, b))
    assert metrics.emd_curve(one, two) == pytest.approx(np.abs(np.sort(a) - np.sort(b)).mean() / 64)
