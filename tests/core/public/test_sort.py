"""From the noisy sums of a sort release to sorted positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.public.sort import decode_sorted, decode_sorted_paper, sorted_points

releases = st.lists(
    st.tuples(st.integers(-5000, 5000), st.integers(1, 9)), min_size=1, max_size=20
).map(lambda pairs: tuple(np.array(column) for column in zip(*pairs)))


@given(releases)
def test_the_default_decoder_gives_sorted_positions_on_the_curve(release):
    sums, sizes = release
    knots = decode_sorted(sums, sizes, n_cells=256)
    rank, position = knots.rank, knots.position
    points = sorted_points(knots)
    assert rank[0] == 0 and rank[-1] == sizes.sum() == points.size
    for sequence in (rank, position, points):
        assert np.all(np.diff(sequence) >= 0)
    assert position.min() >= -0.5 and position.max() <= 255.5


@given(releases)
def test_the_papers_decoder_repeats_each_group_and_cuts_nothing(release):
    sums, sizes = release
    knots = decode_sorted_paper(sums, sizes, n_cells=256)
    rank, position = knots.rank, knots.position
    points = sorted_points(knots)
    assert rank[0] == 0 and rank[-1] == sizes.sum() == points.size
    assert np.all(np.diff(points) >= 0)
    starts = np.cumsum(sizes) - sizes
    np.testing.assert_array_equal(points, np.repeat(points[starts], sizes))
    np.testing.assert_array_equal(position[::2], points[starts])
    np.testing.assert_allclose(points[starts].mean(), (sums / sizes).mean(), atol=1e-6)


@pytest.mark.parametrize("decode", [decode_sorted, decode_sorted_paper])
def test_exact_sums_of_equally_spaced_points_give_them_back(decode):
    sizes = np.array([4, 4, 4, 3, 3])
    truth = np.arange(18) * 3.0 + 1
    sums = np.add.reduceat(truth, np.cumsum(sizes) - sizes).astype(np.int64)
    points = sorted_points(decode(sums, sizes, n_cells=54))
    if decode is decode_sorted:
        np.testing.assert_allclose(points, truth, atol=1e-9)
    else:
        np.testing.assert_array_equal(points, np.repeat(sums / sizes, sizes))


@pytest.mark.parametrize("decode", [decode_sorted, decode_sorted_paper])
def test_sums_longer_than_64_bits_are_read_without_overflow(decode):
    sizes = np.array([5, 5, 4])
    sums = np.array([2**70 + 1, 3 * 2**70, 2**72], dtype=object)
    points = sorted_points(decode(sums, sizes, n_cells=2**90))
    assert np.all(np.isfinite(points)) and points[2] == pytest.approx(2**70 / 5)


def test_a_single_group_puts_all_points_at_its_mean():
    for decode in (decode_sorted, decode_sorted_paper):
        assert sorted_points(decode([12], [3], n_cells=16)).tolist() == [4.0, 4.0, 4.0]


def test_sums_that_do_not_fit_the_groups_are_refused():
    for sums, sizes in (([1, 2], [1]), ([], []), ([3], [0])):
        with pytest.raises(BadInputError, match="one noisy sum for each group"):
            decode_sorted(sums, sizes, 16)
