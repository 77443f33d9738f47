"""Counts in polygons and quantiles: what is read from a release, before any limit is put on it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpsort_geo.core.curve.blocks import pixel_area
from dpsort_geo.core.curve.cover import cover
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.counts import count_within, quantiles
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.points import points

N = 2000
KINDS = ("adaptive", "sort", "width-depth", "depth-width")


def rectangle(x0, y0, x1, y1):
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)


def clustered(n=N):
    rng = np.random.default_rng(8)
    at = np.concatenate([rng.normal(20, 3, (n // 2, 2)), 64 * rng.random((n - n // 2, 2))])
    return np.clip(at, 0, 63.999)


def released(kind, grid, at, noise, epsilon=1, **more):
    cells = count_cells(grid, at[:, 0], at[:, 1])
    if kind == "adaptive":
        return publish_adaptive(cells, epsilon, noise=noise, **more)
    if kind == "sort":
        return publish_sorted(cells, epsilon, noise=noise, **more)
    return publish_hybrid(cells, epsilon, variant=kind, noise=noise, **more)


@pytest.fixture(params=KINDS)
def decoded(request, seeded):
    return decode(released(request.param, Grid(0, 0, 1, 6), clustered(), seeded(4)))


@pytest.fixture
def adaptive(seeded):
    return decode(released("adaptive", Grid(0, 0, 1, 6), clustered(), seeded(4)))


def counts(decoded, zones):
    return count_within(decoded, zones)[0]


def test_the_whole_domain_holds_all_points(decoded):
    wide = rectangle(-10, -10, 100, 100)
    found = count_within(decoded, [[rectangle(0, 0, 64, 64)], [wide]])
    assert found[0] == pytest.approx([N, N])
    assert found[2].tolist() == [N, N]


def test_a_partition_adds_up(decoded):
    cuts = [0, 5.3, 17, 31.9, 64]
    zones = [
        [rectangle(a, c, b, d)] for a, b in zip(cuts, cuts[1:]) for c, d in zip(cuts, cuts[1:])
    ]
    assert counts(decoded, zones).sum() == pytest.approx(N)


def test_a_long_table_adds_up_and_gives_every_zone_its_own_answer(adaptive):
    edge = np.linspace(0, 64, 72)
    zones = [
        [rectangle(a, c, b, d)] for a, b in zip(edge, edge[1:]) for c, d in zip(edge, edge[1:])
    ]
    assert len(zones) > 5000
    found = count_within(adaptive, zones)
    assert found[0].sum() == pytest.approx(N)
    some = [17, 4000, 4095, 4096, 5040]
    alone = count_within(adaptive, [zones[number] for number in some])
    assert found[0][some] == pytest.approx(alone[0], abs=0.05)
    for limit, own in zip(found[1:], alone[1:]):
        assert np.abs(limit[some] - own).max() <= 1


def test_zones_made_of_leaves_hold_the_leaves_masses(adaptive):
    leaves = adaptive.leaves
    size = leaves.size
    corners = leaves.column * size, leaves.row * size
    zones = [[rectangle(i, j, i + s, j + s)] for i, j, s in zip(*corners, size)]
    assert counts(adaptive, zones) == pytest.approx(leaves.mass, abs=1e-9)


def test_aligned_zones_hold_as_many_as_are_drawn_there(adaptive):
    # point i stands for the mass from i to i + 1 along the curve: a quarter or a sixteenth of the
    # domain, which is one stretch of the curve, can be off by one at either end
    x, y = points(adaptive)
    step = 16
    corners = [(a, b) for a in range(0, 64, step) for b in range(0, 64, step)]
    zones = [[rectangle(a, b, a + step, b + step)] for a, b in corners]
    drawn = [np.sum((x >= a) & (x < a + step) & (y >= b) & (y < b + step)) for a, b in corners]
    assert np.abs(counts(adaptive, zones) - drawn).max() <= 1 + 1e-6


def test_points_and_counts_agree_where_leaves_are_cut(adaptive):
    # points follow the same lean as counts; what is left is that they are whole
    x, y = points(adaptive)
    zones = [[rectangle(0, 0, edge, 64)] for edge in (10.5, 21.25, 37.0, 50.125)]
    drawn = [np.sum(x < edge) for edge in (10.5, 21.25, 37.0, 50.125)]
    assert counts(adaptive, zones) == pytest.approx(drawn, abs=0.01 * N)


def test_a_hole_takes_away_what_it_holds(decoded):
    outer, hole = rectangle(3, 4, 60, 50), rectangle(12, 13, 30.5, 28)
    with_hole, full, inner = counts(decoded, [[outer, hole], [outer], [hole]])
    assert with_hole == pytest.approx(full - inner)
    assert inner > 100  # the cluster is in the hole


def test_parts_of_a_multipolygon_add_up(decoded):
    one, two = rectangle(3, 4, 20, 20), rectangle(33, 40, 60, 50.5)
    both, first, second = counts(decoded, [[one, two], [one], [two]])
    assert both == pytest.approx(first + second)


def test_the_direction_and_the_closing_corner_of_a_ring_do_not_matter(decoded):
    ring = np.array([[3, 4], [40, 9], [22, 50]], float)
    closed = np.vstack([ring, ring[:1]])
    assert np.ptp(counts(decoded, [[ring], [ring[::-1]], [closed]])) < 1e-9


@given(st.tuples(*[st.floats(0, 64)] * 6))
@example((0.0, 1e-307, 64.0, 0.0, 0.0, 64.0))
@example((1.0, 0.0, 0.0, 1.1920928955078146e-07, 0.0, 0.0))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_triangle_and_the_rest_are_everything(adaptive, corners):
    triangle = np.array(corners).reshape(3, 2)
    inside, outside = counts(adaptive, [[triangle], [rectangle(0, 0, 64, 64), triangle]])
    if np.isnan(inside):  # a sliver that no allowed cell sees has no count
        inside = 0.0
        (ax, ay), (bx, by), (cx, cy) = triangle
        assert abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) < 1e-6
    assert inside + outside == pytest.approx(N)
    assert inside >= -1e-9


def test_a_count_follows_an_edge_however_little_it_moves(adaptive):
    edges = 20 + np.arange(0.01, 1, 0.02)
    step = np.diff(counts(adaptive, [[rectangle(0, 0, edge, 64)] for edge in edges]))
    assert step.min() > 0.5 * step.mean() and step.max() < 1.5 * step.mean()


def test_zones_outside_have_no_count(decoded):
    around = rectangle(-20, -20, 80, 80), rectangle(-10, -10, 70, 70)[::-1]
    zones = [[rectangle(70, 0, 80, 10)], [rectangle(-9, -9, -1, 100)], [], list(around)]
    assert np.isnan(count_within(decoded, zones)).all()
    assert np.isnan(count_within(decoded, [[]])[0]).all()


def test_a_zone_without_area_holds_nothing(decoded):
    line = np.array([[3, 3], [9, 9], [5, 5.0]])
    estimate, low, high = count_within(decoded, [[line]])
    assert estimate[0] == low[0] == 0 and high[0] <= 1


def test_a_zone_that_holds_the_domain_has_n_exactly(decoded):
    zones = [[rectangle(0, 0, 64, 64)], [rectangle(-5, -7, 200, 100)], [rectangle(0, 0, 64, 63)]]
    estimate, low, high = count_within(decoded, zones)
    assert estimate[:2].tolist() == low[:2].tolist() == high[:2].tolist() == [N, N]
    assert low[2] < N


def test_no_zones_give_no_counts(decoded):
    assert [part.size for part in count_within(decoded, [])] == [0, 0, 0]


def test_zones_finer_than_a_cell_get_their_share_of_it(decoded):
    whole, *quarters = counts(
        decoded,
        [[rectangle(20, 20, 21, 21)]]
        + [[rectangle(a, b, a + 0.5, b + 0.5)] for a in (20, 20.5) for b in (20, 20.5)],
    )
    assert sum(quarters) == pytest.approx(whole)
    assert min(quarters) >= 0


def test_overlapping_zones_are_counted_each_for_itself(decoded):
    zone = [rectangle(5, 5, 40, 40)]
    assert np.ptp(counts(decoded, [zone, zone, zone])) == 0


def masked(seeded, kind="adaptive"):
    full = Grid(0, 0, 1, 6)
    land = np.array([[2, 3], [61, 9], [50, 60], [11, 41]], float)
    grid = replace(full, runs=cover([land], full))
    return grid, decode(released(kind, grid, clustered(), seeded(4)))


@pytest.mark.parametrize("kind", KINDS)
def test_outside_the_mask_there_is_nothing(kind, seeded):
    grid, found = masked(seeded, kind)
    zones = [[rectangle(i, j, i + 1, j + 1)] for i in range(0, 64, 3) for j in range(0, 64, 3)]
    estimate = counts(found, zones)
    allowed = pixel_area(grid, 6)[::3, ::3].T.ravel() > 0
    assert allowed.any() and not allowed.all()
    assert np.isnan(estimate[~allowed]).all() and not np.isnan(estimate[allowed]).any()
    assert counts(found, [[rectangle(0, 0, 64, 64)]]) == pytest.approx([N])


def test_a_masked_leaf_shares_its_mass_among_allowed_cells(seeded):
    grid, found = masked(seeded)
    leaves = found.leaves
    leaf = np.flatnonzero(~leaves.is_whole & (leaves.mass > 0) & (leaves.area > 1))[0]
    place = np.arange(leaves.start[leaf], leaves.start[leaf] + leaves.area[leaf])
    half = grid.cell / 2
    cells = [
        [rectangle(x - half, y - half, x + half, y + half)] for x, y in zip(*grid.centres(place))
    ]
    assert counts(found, cells) == pytest.approx(leaves.mass[leaf] / leaves.area[leaf])


def test_quantiles_lie_at_their_share_of_the_curve(decoded):
    grid = decoded.grid
    x, y = quantiles(decoded, [0, 0.25, 0.5, 1])
    place = grid.positions(x, y)
    assert (np.diff(place) >= 0).all()
    upto = decoded.cumulative
    assert upto.before(place[1:3].astype(float)) == pytest.approx([N / 4, N / 2], abs=N / 4)
    before, after = upto.before(place[1:3] + 0.0), upto.before(place[1:3] + 1.5)
    assert (before <= [N / 4 + 1e-6, N / 2 + 1e-6]).all()
    assert (after >= [N / 4 - 1e-6, N / 2 - 1e-6]).all()


@pytest.mark.parametrize("shares", [[-0.1], [1.5], [[0.5]], [float("nan")]])
def test_quantiles_that_are_no_shares_are_refused(adaptive, shares):
    with pytest.raises(BadInputError, match="between 0 and 1"):
        quantiles(adaptive, shares)


@pytest.mark.parametrize("level", [0, 1, -1, 90, float("nan")])
def test_a_level_that_is_no_share_is_refused(adaptive, level):
    with pytest.raises(BadInputError, match="between 0 and 1"):
        count_within(adaptive, [[rectangle(0, 0, 1, 1)]], level)


def test_a_ring_of_two_corners_or_without_a_place_is_refused(adaptive):
    with pytest.raises(BadInputError):
        count_within(adaptive, [[np.array([[0, 0], [1, 1]], float)]])
    with pytest.raises(BadInputError):
        count_within(adaptive, [[np.array([[0, 0], [1, np.nan], [1, 1]])]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_no_points_counts_none(kind):
    def less(numerator, denominator, size=None):
        return np.full(size, -5)

    at = clustered(4)
    found = decode(released(kind, Grid(0, 0, 1, 6), at, less, neighbours="add-remove"))
    assert found.n == 0
    assert counts(found, [[rectangle(0, 0, 30, 30)]]).tolist() == [0]


def in_cells(order, index, n):
    grid = Grid(0.0, 0.0, 1.0, order)
    x, y = grid.centres(np.resize(np.asarray(index, np.int64), n))
    return count_cells(grid, x, y)


@pytest.mark.parametrize("n, group_size", [(20, None), (500, 500), (2000, None)])
def test_a_sort_release_with_all_groups_in_one_place_can_be_counted(n, group_size):
    for _ in range(20):
        release = publish_sorted(in_cells(4, [0], n), "0.05", group_size=group_size)
        estimate, low, high = count_within(decode(release), [[rectangle(0, 0, 16, 16)]])
        assert estimate[0] == pytest.approx(n) and low[0] <= n <= high[0]


def test_the_whole_domain_of_a_sort_release_holds_n():
    for turn in range(40):
        release = publish_sorted(in_cells(5, np.arange(1024)[-turn - 1 :], 200), 1)
        estimate, _, _ = count_within(decode(release), [[rectangle(0, 0, 32, 32)]])
        assert estimate[0] == pytest.approx(200)


@pytest.mark.parametrize("publish", [publish_sorted, publish_hybrid, publish_adaptive])
def test_where_a_noisy_n_says_nobody_the_interval_still_has_room(publish):
    for _ in range(2000):
        release = publish(in_cells(4, [7], 1), "0.5", neighbours="add-remove")
        if release.n <= 0:
            break
    assert release.n <= 0
    estimate, low, high = count_within(decode(release), [[rectangle(0, 0, 16, 16)]])
    assert estimate[0] == low[0] == 0 and high[0] >= 1
    with pytest.raises(BadInputError, match="no points at all"):
        quantiles(decode(release), [0.5])


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_an_epsilon_of_a_thousand_can_be_decoded(neighbours):
    release = publish_adaptive(in_cells(4, np.arange(256), 300), 1000, neighbours=neighbours)
    estimate, low, high = count_within(decode(release), [[rectangle(0, 0, 16, 16)]])
    assert low[0] <= 300 <= high[0] and estimate[0] == pytest.approx(300, abs=1)


def test_quantiles_at_both_ends_of_the_longest_curve_are_cells():
    grid = Grid(0.0, 0.0, 1.0, 31)
    cells = count_cells(grid, np.full(50, 2.0**31 - 0.5), np.full(50, 0.5))
    x, y = quantiles(decode(publish_adaptive(cells, 10)), [0.0, 0.5, 1.0])
    assert np.all((x > 0) & (x < 2.0**31) & (y > 0) & (y < 2.0**31))


def test_a_fine_picture_is_the_coarse_one_cut_up():
    rng = np.random.default_rng(3)
    grid = Grid(0.0, 0.0, 1.0, 12, np.array([[0, 5_000_000], [6_000_000, 4**12]]))
    cells = count_cells(grid, *rng.normal(2000, 300, (2, 5000)))
    decoded = decode(publish_adaptive(cells, 1))
    fine = raster(decoded, 11)
    assert fine.sum() == pytest.approx(decoded.n) and fine.min() >= 0
    assert fine[pixel_area(grid, 11) == 0].sum() == 0
    corner = fine[:1024, :1024].sum(), raster(decoded, 6)[:32, :32].sum()
    assert corner[0] == pytest.approx(corner[1], abs=5)
