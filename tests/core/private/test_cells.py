"""Sparse counts: the same numbers as writing every point down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.cells import Cells, count_cells, merge, merge_all

GRID = Grid(0.0, 0.0, 1.0, 3)
MASKED = Grid(0.0, 0.0, 1.0, 3, np.array([[3, 20], [33, 34], [50, 64]]))
coordinates = st.lists(st.tuples(st.floats(-2, 10), st.floats(-2, 10)), min_size=1, max_size=60)


def split(points):
    return np.array(points, float).reshape(-1, 2).T


@given(coordinates, st.sampled_from([GRID, MASKED]))
def test_counts_are_those_of_the_sorted_positions(points, grid):
    cells = count_cells(grid, *split(points))
    index, count = np.unique(grid.curve_index(*split(points)), return_counts=True)
    assert np.array_equal(cells.index, index) and np.array_equal(cells.count, count)
    assert cells.n == len(points)


@given(coordinates, coordinates)
def test_merging_is_counting_together_in_any_order(a, b):
    one, other = count_cells(MASKED, *split(a)), count_cells(MASKED, *split(b))
    both = count_cells(MASKED, *split(a + b))
    for merged in (merge(one, other), merge(other, one), merge_all([one, other])):
        assert np.array_equal(merged.index, both.index)
        assert np.array_equal(merged.count, both.count)


@given(coordinates, st.data(), st.sampled_from([GRID, MASKED]))
def test_group_sums_are_those_of_the_sorted_points(points, data, grid):
    cuts = data.draw(st.lists(st.integers(0, len(points)), max_size=6))
    edges = np.array(sorted({0, len(points), *cuts}))
    cells = count_cells(grid, *split(points))
    sequence = np.sort(grid.positions(*split(points)))
    expected = [sequence[a:b].sum() for a, b in zip(edges, edges[1:])]
    assert cells.group_sums(np.diff(edges)).tolist() == expected


def test_group_sums_stay_exact_when_their_total_passes_64_bits():
    grid = Grid(0.0, 0.0, 1.0, 20)
    top = 4**20 - 1
    cells = Cells(grid, np.array([5, top]), np.array([3, 10**8], np.int64))
    sizes = np.full(10**3, 10**5)
    sizes[-1] += 3
    sums = cells.group_sums(sizes)
    assert int(sums[0]) == 15 + (10**5 - 3) * top
    assert int(sums[-1]) == (10**5 + 3) * top
    assert sum(int(s) for s in sums) == 15 + 10**8 * top > 2**63


def test_sums_that_could_overflow_are_refused_with_the_fix():
    grid = Grid(0.0, 0.0, 1.0, 30)
    with pytest.raises(BadInputError, match="2\\^62"):
        Cells(grid, np.array([0]), np.array([8], np.int64)).group_sums(np.array([8]))


def test_counts_of_different_grids_do_not_merge():
    with pytest.raises(BadInputError, match="same grid"):
        merge(count_cells(GRID, [1.0], [1.0]), count_cells(MASKED, [1.0], [1.0]))


@given(coordinates)
def test_counts_in_intervals_are_sums_of_counts(points):
    cells = count_cells(GRID, *split(points))
    index = GRID.curve_index(*split(points))
    start = np.arange(0, 64, 4)
    expected = [((index >= s) & (index < s + 4)).sum() for s in start]
    assert cells.counts_in(start, start + 4).tolist() == expected
