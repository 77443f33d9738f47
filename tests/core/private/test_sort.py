"""The paper's mechanism: its sensitivity, exhaustively, and what it publishes."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private import sort
from dpsort_geo.core.private.cells import Cells, count_cells, from_index
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.rules.sort import balanced_sizes, group_count, sum_scale

GRID = Grid(0.0, 0.0, 1.0, 1, np.array([[0, 3]]))  # three positions
LINE = Grid(0.0, 0.0, 1.0, 2, np.array([[1, 6]]))  # five positions


def multisets(grid, n):
    for positions in combinations_with_replacement(range(grid.n_cells), n):
        yield from_index(grid, grid.expand(np.array(positions, np.int64)))


def dense(cells):
    full = np.zeros(cells.grid.n_cells, int)
    full[cells.grid.compress(cells.index)] = cells.count
    return full


def are_neighbours(a, b):
    return np.abs(dense(a) - dense(b)).sum() == 2


@pytest.mark.parametrize("grid, n", [(GRID, 6), (LINE, 5)])
def test_replacing_one_point_moves_the_sums_by_at_most_the_domain(grid, n):
    most = {}
    everything = list(multisets(grid, n))
    for groups in range(1, n + 1):
        sizes = balanced_sizes(n, groups)
        sums = [cells.group_sums(sizes) for cells in everything]
        for a in range(len(everything)):
            for b in range(a):
                if are_neighbours(everything[a], everything[b]):
                    moved = int(np.abs(sums[a] - sums[b]).sum())
                    assert moved <= grid.n_cells - 1
                    most[groups] = max(most.get(groups, 0), moved)
    assert set(most.values()) == {grid.n_cells - 1}  # the bound is reached, for every cut


@pytest.mark.parametrize("grid, n", [(GRID, 5), (LINE, 4)])
def test_adding_or_removing_one_point_moves_the_resize_sums_by_at_most_the_domain(grid, n):
    most = 0
    for fewer in multisets(grid, n):
        for extra in range(grid.n_cells):
            place = grid.expand(np.array([extra]))
            more = sort.merge(fewer, Cells(grid, place, np.ones(1, np.int64)))
            for size in range(1, n + 4):
                one, other = sort._resize(fewer, size), sort._resize(more, size)
                assert one.n == other.n == size
                for groups in range(1, size + 1):
                    sizes = balanced_sizes(size, groups)
                    moved = np.abs(one.group_sums(sizes) - other.group_sums(sizes)).sum()
                    assert moved <= grid.n_cells - 1
                    most = max(most, int(moved))
    assert most == grid.n_cells - 1


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(0, 12))
def test_resizing_keeps_the_largest_and_pads_with_zeros(positions, size):
    cells = from_index(LINE, LINE.expand(np.array(positions)))
    resized = sort._resize(cells, size)
    got = np.repeat(LINE.compress(resized.index), resized.count)
    assert got.tolist() == sorted(([0] * size + sorted(positions))[len(positions) :])


@given(st.integers(1, 10**6), st.integers(1, 10**4))
def test_group_sizes_differ_by_at_most_one_and_add_up(points, groups):
    sizes = balanced_sizes(points, groups)
    assert sizes.sum() == points and sizes.max() - sizes.min() <= 1 and sizes.size == groups


@given(st.integers(1, 10**7), st.sampled_from(["0.1", "1", "3"]))
def test_the_default_group_size_is_eleven_tenths_of_the_root_of_n_over_epsilon(n, epsilon):
    groups = group_count(n, Fraction(epsilon))
    size = min(n, max(1, round(1.1 * (n / float(epsilon)) ** 0.5)))
    assert groups == -(-n // size)


def test_every_sum_is_the_true_sum_plus_its_own_noise():
    rng = np.random.default_rng(1)
    cells = count_cells(Grid(0, 0, 1, 5), rng.uniform(0, 32, 300), rng.uniform(0, 32, 300))
    drawn = []

    def tape(numerator, denominator, size):
        assert Fraction(numerator, denominator) == sum_scale(1024, Fraction(1, 2), "replace", 1)
        drawn.append(rng.integers(-(10**6), 10**6, size))
        return drawn[-1]

    release = publish_sorted(cells, "0.5", group_size=7, noise=tape)
    sizes = balanced_sizes(300, 43)
    assert len(drawn) == 1
    assert np.array_equal(release.measured.arrays()["sums"] - drawn[0], cells.group_sums(sizes))


def test_with_a_noisy_n_nothing_but_the_noisy_n_sets_the_sizes():
    cells = count_cells(Grid(0, 0, 1, 3), np.arange(8.0), np.arange(8.0))
    for shift in (-30, -8, -3, 0, 5, 200):
        tape = iter([np.array([shift])])

        def noise(numerator, denominator, size, tape=tape):
            return next(tape, np.zeros(size, np.int64))

        release = publish_sorted(cells, 1, neighbours="add-remove", noise=noise)
        assert release.n == 8 + shift
        assert release.measured.arrays()["sums"].size == group_count(max(8 + shift, 0), Fraction(1))
        release.verify()


@pytest.mark.parametrize("size", [0, -3, "papers", 2.5, True])
def test_an_impossible_group_size_is_refused(size):
    cells = count_cells(Grid(0, 0, 1, 3), np.arange(8.0), np.arange(8.0))
    with pytest.raises(BadInputError, match="group size"):
        publish_sorted(cells, 1, group_size=size)


def test_nothing_to_publish_and_a_domain_of_one_cell_are_refused():
    grid = Grid(0, 0, 1, 2)
    empty = count_cells(grid, np.zeros(0), np.zeros(0))
    with pytest.raises(BadInputError, match="no points"):
        publish_sorted(empty, 1)
    one = Grid(0, 0, 1, 2, np.array([[3, 4]]))
    with pytest.raises(BadInputError, match="one cell"):
        publish_sorted(count_cells(one, [1.0], [1.0]), 1)
