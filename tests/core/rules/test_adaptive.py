"""The adaptive rule and what is read from it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.core.curve.blocks import pixel_area
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import Cells, count_cells
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.parabola import fit_parabolas
from dpsort_geo.core.public.points import points
from dpsort_geo.core.rules.adaptive import (
    FIXED,
    GAMMA,
    KAPPA,
    C,
    _project,
    _share,
    _steps,
    most_spent,
    walk,
)
from dpsort_geo.core.rules.budget import UNITS, path_units

MASK = np.array([[10, 700], [800, 801], [1000, 1024]])


def clustered(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(8, 3, n), rng.normal(20, 5, n)


def silent(numerator, denominator, size):
    return np.zeros(size, np.int64)


@pytest.mark.parametrize("remaining", range(1, 17))
def test_the_steps_of_the_rule_are_those_of_the_design(remaining):
    for depth in range(1, 20):
        if depth >= remaining:
            k = -(-remaining // 2) - 1
            s = remaining - 2 * k
        elif depth == 1:
            k, s = 0, 1
        else:
            k = -(-(depth - 1) // 2)
            s = (depth - 1) - 2 * (k - 1)
        steps, step = _steps(np.array([depth]), remaining)
        assert (int(steps[0]), int(step[0])) == (k, s)


def test_the_share_of_a_step_is_the_designs_rounded_down():
    left = np.array([UNITS // 2, 12345, 7])
    for k in range(9):
        weight = sum(GAMMA**i for i in range(k)) + KAPPA * GAMMA ** (k - 1) if k else 1
        expected = [int(Fraction(value) / weight) for value in left.tolist()]
        assert _share(np.full(3, k), left).tolist() == expected


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=16, max_size=16),
    st.lists(st.booleans(), min_size=16, max_size=16),
    st.integers(0, 10**6),
)
def test_the_projection_is_the_nearest_point_of_the_simplex(values, mask, total):
    allowed = np.array([[*mask[:-1], True]])
    block = np.array([values], np.int64) * FIXED
    got = _project(block, allowed, np.array([total * FIXED]))[0] / FIXED
    y = np.array(values, float)[allowed[0]]
    # the textbook way, in floats
    ranked = np.sort(y)[::-1]
    excess = (np.cumsum(ranked) - total) / np.arange(1, y.size + 1)
    keep = np.flatnonzero(ranked - excess > 0)
    nearest = np.maximum(y - excess[keep[-1] if keep.size else 0], 0)
    assert np.allclose(got[allowed[0]], nearest, atol=1e-4)
    assert np.all(got[~allowed[0]] == 0)
    # and it does not depend on the order of the parts
    order = np.random.default_rng(0).permutation(16)
    again = _project(block[:, order], allowed[:, order], np.array([total * FIXED]))[0] / FIXED
    assert np.array_equal(again, got[order])


@given(st.integers(2, 6), st.integers(0, 10**5), st.sampled_from(["0.1", "1", "3"]), st.data())
@settings(deadline=None, max_examples=60)
def test_no_path_ever_spends_more_than_its_budget_and_every_path_spends_it_all(
    order, n, epsilon, data
):
    seed = data.draw(st.integers(0, 99))
    rng = np.random.default_rng(seed)
    wild = data.draw(st.sampled_from([1, 100, 10**6, 2**62]))
    budget = path_units(data.draw(st.sampled_from(["replace", "add-remove"])))
    grid = Grid(0, 0, 1, order)

    def answer(level, index, rate):
        return rng.integers(-wild, wild, index.size, endpoint=True)

    nodes = walk(grid, n, Fraction(epsilon), budget, answer)
    assert most_spent(nodes) == budget
    size = 4**order
    spent = np.zeros(size, np.int64)
    for level, index, rate in zip(nodes.level, nodes.index, nodes.rate):
        span = 4 ** (order - level)
        spent[index * span : (index + 1) * span] += rate
    assert np.all(spent == budget)


def test_nodes_without_an_allowed_cell_are_never_asked():
    grid = Grid(0.0, 0.0, 1.0, 5, MASK)
    cells = count_cells(grid, *clustered(20_000))
    nodes = publish_adaptive(cells, 3).measured
    span = np.int64(4) ** (5 - nodes.level)
    inside = grid.allowed_before((nodes.index + 1) * span) - grid.allowed_before(nodes.index * span)
    assert np.all(inside > 0)


def test_the_rule_has_the_constants_of_the_design():
    assert (C, GAMMA, KAPPA) == (3, Fraction(7, 5), 4)


def test_without_noise_every_answer_is_the_true_count():
    cells = count_cells(Grid(0.0, 0.0, 1.0, 5), *clustered(5_000))
    nodes = publish_adaptive(cells, 1, noise=silent).measured
    span = np.int64(4) ** (5 - nodes.level)
    true = cells.counts_in(nodes.index * span, (nodes.index + 1) * span)
    assert np.array_equal(nodes.value, true)


@pytest.mark.parametrize("runs", [None, MASK])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_leaves_tile_the_allowed_cells_and_their_masses_sum_to_n(runs, neighbours, seeded):
    grid = Grid(0.0, 0.0, 1.0, 5, runs)
    cells = count_cells(grid, *clustered(3_000))
    for seed in range(20):
        release = publish_adaptive(cells, "0.3", neighbours=neighbours, noise=seeded(seed))
        release.verify()
        leaves = decode(release).leaves
        assert np.array_equal(leaves.start[1:], np.cumsum(leaves.area)[:-1])
        assert leaves.area.sum() == grid.n_cells
        assert leaves.mass.min() >= 0
        assert leaves.mass.sum() == pytest.approx(release.size)


def test_the_tree_estimate_is_weighted_least_squares(seeded):
    from dpsort_geo.core.public.tree import noise_variance

    cells = count_cells(Grid(0.0, 0.0, 1.0, 3, np.array([[0, 40], [48, 64]])), *clustered(400))
    release = publish_adaptive(cells, 2, noise=seeded(4))
    decoded = decode(release)
    tree, m = decoded.tree, release.measured.arrays()
    leaf = np.flatnonzero(tree.is_leaf)
    span = 4 ** (3 - m["level"])
    place = tree.index[leaf] * 4 ** (3 - tree.level[leaf])
    inside = (place >= (m["index"] * span)[:, None]) & (place < ((m["index"] + 1) * span)[:, None])
    root = 1e6  # n is known: a measurement of next to no variance
    design = np.concatenate([inside, np.ones((1, leaf.size))]).astype(float)
    weight = np.concatenate([1 / np.sqrt(noise_variance(release, m["rate"])), [root]])
    answer = np.concatenate([m["value"], [400]])
    best = np.linalg.lstsq(design * weight[:, None], answer * weight, rcond=None)[0]
    assert np.allclose(best, tree.estimate[leaf], atol=1e-4)


@pytest.mark.parametrize("runs", [None, MASK])
def test_exactly_n_points_come_out_and_none_outside_the_mask(runs, seeded):
    grid = Grid(0.0, 0.0, 1.0, 5, runs)
    cells = count_cells(grid, *clustered(4_000))
    decoded = decode(publish_adaptive(cells, 1, noise=seeded(3)))
    for spread in (True, False):
        x, y = points(decoded, spread)
        assert x.size == y.size == 4_000
        index = Grid(0.0, 0.0, 1.0, 5).curve_index(x, y)
        assert grid.is_allowed(index).all()
        assert np.all((x >= 0) & (x <= 32) & (y >= 0) & (y <= 32))


def test_points_follow_the_masses_of_the_leaves_to_within_one(seeded):
    cells = count_cells(Grid(0.0, 0.0, 1.0, 6), *clustered(4_000))
    decoded = decode(publish_adaptive(cells, 1, noise=seeded(3)))
    leaves = decoded.leaves
    index = decoded.grid.curve_index(*points(decoded))
    start = leaves.index << 2 * (6 - leaves.level)
    leaf = np.searchsorted(start, index, side="right") - 1
    assert np.abs(np.bincount(leaf, minlength=start.size) - leaves.mass).max() < 1.0 + 1e-6


def test_without_noise_and_with_a_large_epsilon_the_map_is_the_truth():
    grid = Grid(0.0, 0.0, 1.0, 5, MASK)
    cells = count_cells(grid, *clustered(50_000))
    decoded = decode(publish_adaptive(cells, 1000, noise=silent))
    published = count_cells(grid, *points(decoded))
    assert np.array_equal(published.index, cells.index)
    assert np.array_equal(published.count, cells.count)


def test_the_raster_keeps_all_mass_and_puts_none_outside_the_mask(seeded):
    grid = Grid(0.0, 0.0, 1.0, 5, MASK)
    decoded = decode(publish_adaptive(count_cells(grid, *clustered(900)), 1, noise=seeded(8)))
    for level in (1, 3, 5):
        picture = raster(decoded, level)
        assert picture.shape == (2**level, 2**level)
        assert picture.sum() == pytest.approx(900)
        assert picture.min() >= 0
        assert np.all(picture[pixel_area(grid, level) == 0] == 0)


def test_the_lean_inside_a_leaf_is_nowhere_negative_and_keeps_its_mass(seeded):
    cells = count_cells(Grid(0.0, 0.0, 1.0, 6), *clustered(3_000))
    leaves = decode(publish_adaptive(cells, 1, noise=seeded(3))).leaves
    shape = fit_parabolas(leaves)
    every, u = np.arange(leaves.mass.size), np.linspace(0.005, 0.995, 100)
    assert (shape.slope != 0).any()
    for axis in (0, 1):
        g = np.array([shape.density(axis, every, np.full(every.size, v), np.full(every.size, 0.01))
                      for v in u])  # fmt: skip
        assert g.min() > -1e-12
        assert np.allclose(g.mean(axis=0), 1)
        share = np.random.default_rng(0).random(every.size)
        at = shape.inverse(axis, every, share)
        assert np.all((at >= 0) & (at <= 1))
        back = shape.density(axis, every, at / 2, at) * at
        assert np.allclose(back, share, atol=1e-4)


def test_a_fine_grid_is_never_visited_cell_by_cell(seeded):
    grid = Grid(0.0, 0.0, 1.0, 16)
    rng = np.random.default_rng(0)
    cells = count_cells(grid, rng.normal(3e4, 5e3, 100_000), rng.normal(3e4, 5e3, 100_000))
    release = publish_adaptive(cells, 1, noise=seeded(1))
    assert release.measured.arrays()["level"].size < 200_000
    assert points(decode(release))[0].size == 100_000


def test_a_very_large_n_does_not_ask_for_more_than_two_million_nodes(seeded):
    grid = Grid(0.0, 0.0, 1.0, 16)
    asked = []

    def answer(level, index, rate):
        asked.append(index.size)
        return np.full(index.size, 10**11 >> 2 * level)

    walk(grid, 10**11, Fraction(3), path_units("replace"), answer)
    assert sum(asked) < 2_000_000


def test_persons_are_counted_in_units_and_published_in_persons(seeded):
    from dpsort_geo.core.rules.budget import PERSON_UNITS

    grid = Grid(0.0, 0.0, 1.0, 4)
    mass = np.array([PERSON_UNITS * 30, PERSON_UNITS // 2, PERSON_UNITS * 20 - PERSON_UNITS // 2])
    release = publish_adaptive(
        Cells(grid, np.array([3, 99, 200]), mass), 5, unit="person", noise=seeded(2)
    )
    release.verify()
    assert release.n == 50 and points(decode(release))[0].size == 50
    assert decode(release).cumulative.total == 50


def test_nothing_to_publish_and_a_domain_of_one_cell_are_refused():
    empty = count_cells(Grid(0, 0, 1, 2), np.zeros(0), np.zeros(0))
    with pytest.raises(BadInputError, match="no points"):
        publish_adaptive(empty, 1)
    one = Grid(0, 0, 1, 2, np.array([[3, 4]]))
    with pytest.raises(BadInputError, match="one cell"):
        publish_adaptive(count_cells(one, [1.0], [1.0]), 1)
