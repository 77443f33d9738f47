"""The grid, its mask, and how polygons become masks."""

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shapely.geometry.polygon import orient

from dpsort_geo.core.curve import hilbert
from dpsort_geo.core.curve.cover import blocks_of, cover, runs_of
from dpsort_geo.core.curve.grid import Grid, default_order
from dpsort_geo.core.curve.overlap import overlap
from dpsort_geo.core.errors import BadInputError

orders = st.integers(1, 5)


@st.composite
def masked_grids(draw):
    order = draw(orders)
    allowed = draw(st.lists(st.booleans(), min_size=4**order, max_size=4**order))
    allowed = np.array(allowed)
    allowed[draw(st.integers(0, 4**order - 1))] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[0], allowed.astype(int), [0]])))
    return Grid(-3.0, 5.0, 2.0, order, edges.reshape(-1, 2)), allowed


@given(masked_grids())
def test_positions_number_the_allowed_cells_without_gaps(made):
    grid, allowed = made
    assert grid.n_cells == allowed.sum()
    position = np.arange(grid.n_cells)
    index = grid.expand(position)
    assert np.array_equal(index, np.flatnonzero(allowed))
    assert np.array_equal(grid.compress(index), position)
    everywhere = np.arange(4**grid.order + 1)
    counted = np.concatenate([[0], np.cumsum(allowed)])
    assert np.array_equal(grid.allowed_before(everywhere), counted)
    assert np.array_equal(grid.is_allowed(everywhere[:-1]), allowed)


@given(masked_grids(), st.lists(st.tuples(st.floats(-90, 90), st.floats(-90, 90)), max_size=20))
def test_a_point_outside_goes_to_the_nearest_allowed_cell(made, points):
    grid, allowed = made
    x, y = np.array(points, float).reshape(-1, 2).T
    got = grid.curve_index(x, y)
    i, j = hilbert.decode(np.flatnonzero(allowed), grid.order)
    column, row = grid.columns_and_rows(x, y)
    distance = (i - column[:, None]) ** 2 + (j - row[:, None]) ** 2
    # argmin takes the first, which is the smallest index, among equals
    assert np.array_equal(got, np.flatnonzero(allowed)[distance.argmin(axis=1)])


@given(masked_grids())
def test_the_centre_of_a_cell_lies_in_that_cell(made):
    grid, _ = made
    position = np.arange(grid.n_cells)
    assert np.array_equal(grid.positions(*grid.centres(position)), position)
    x, y = grid.centres(position)
    for near in (-0.49, 0.49):  # and so do places near its corners
        at = x + near * grid.cell, y + near * grid.cell
        assert np.array_equal(grid.positions(*at), position)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_coordinate_that_is_no_number_is_refused_without_repeating_it(bad):
    with pytest.raises(BadInputError) as caught:
        Grid(0, 0, 1, 3).positions([0.5, bad], [123.25, 0.5])
    assert "123" not in str(caught.value) and "nan" not in str(caught.value).lower().split()


def test_far_away_points_are_taken_to_the_edge():
    grid = Grid(0.0, 0.0, 1.0, 2)
    far = np.array([1e300, -1e300, 1.7e308])
    assert np.array_equal(
        grid.positions(far, far), grid.positions([3.5, 0.5, 3.5], [3.5, 0.5, 3.5])
    )


@pytest.mark.parametrize(
    "runs",
    [[], [[0, 0]], [[2, 1]], [[0, 2], [2, 3]], [[0, 2], [1, 3]], [[-1, 2]], [[0, 17]], [[0, 1, 2]]],
)
def test_a_mask_that_is_not_sorted_disjoint_and_inside_is_refused(runs):
    with pytest.raises(BadInputError):
        Grid(0, 0, 1, 2, np.array(runs))


@pytest.mark.parametrize(
    "settings_",
    [
        (np.nan, 0, 1, 3), (0, 0, 0, 3), (0, 0, -1, 3), (0, 0, 1, 0), (0, 0, 1, 32),
        (0, 0, 1, 2.5), (0, np.inf, 1, 3),
    ],
)  # fmt: skip
def test_an_impossible_grid_is_refused(settings_):
    with pytest.raises(BadInputError):
        Grid(*settings_)


@pytest.mark.parametrize("side", [3.0, 100.0, 1e4, 5e4, 1e6, 4e7])
def test_the_default_cell_is_never_below_a_metre_and_the_order_never_above_16(side):
    order = default_order(side)
    assert 1 <= order <= 16 and side / 2**order >= 1
    if 2e4 <= side <= 1e5:
        assert 4 <= side / 2**order <= 16


def rings_of(geometry):
    return [
        np.asarray(ring.coords)[:-1]
        for part in shapely.get_parts(geometry)
        for ring in [part.exterior, *part.interiors]
    ]


@st.composite
def polygons(draw):
    """Unions of boxes and triangles with holes: multipolygons of all kinds."""
    coordinate = st.floats(-2, 18).map(lambda v: round(v, 3))
    shape = shapely.Polygon()
    for add in draw(st.lists(st.booleans(), min_size=1, max_size=5)):
        corners = [(draw(coordinate), draw(coordinate)) for _ in range(3)]
        triangle = shapely.Polygon(corners)
        shape = shape.union(triangle) if add else shape.difference(triangle)
    parts = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"]
    return shapely.MultiPolygon([part for part in parts if part.area > 1e-3])


@settings(deadline=None)
@given(polygons(), st.integers(1, 5))
def test_the_mask_holds_exactly_the_cells_whose_centre_is_inside(polygon, order):
    grid = Grid(0.0, 0.0, 16 / 2**order, order)
    x, y = grid.centres(np.arange(4**order))
    sure = shapely.distance(polygon.boundary, shapely.points(x, y)) > 1e-9
    inside = shapely.contains_xy(polygon, x, y)
    if not inside.any():
        return
    masked = Grid(0.0, 0.0, 16 / 2**order, order, cover(rings_of(polygon), grid))
    assert np.array_equal(masked.is_allowed(np.arange(4**order))[sure], inside[sure])


@settings(deadline=None)
@given(st.lists(polygons(), min_size=1, max_size=4), st.integers(1, 5))
def test_many_zones_at_once_give_what_each_gives_alone_in_the_largest_blocks(zones, order):
    grid = Grid(0.0, 0.0, 16 / 2**order, order)
    rings = [rings_of(zone) or [np.zeros((3, 2))] for zone in zones]
    zone, level, index = blocks_of(rings, grid)
    for number, ring in enumerate(rings):
        alone = blocks_of([ring], grid)
        here = zone == number
        if not here.any():
            assert alone[0].size == 0
            continue
        together = runs_of(level[here], index[here], order)
        assert np.array_equal(together, runs_of(alone[1], alone[2], order))
        # no four brothers are left that could be one block
        brothers = np.stack([level[here], index[here] >> 2])
        _, count = np.unique(brothers[:, level[here] > 0], axis=1, return_counts=True)
        assert (count < 4).all()


def shares_of(rings, grid):
    """The share of every cell, from the blocks."""
    _, level, index, share = overlap([rings], grid).parts
    cells = np.zeros(grid.n_cells)
    for depth, number, part in zip(level, index, share):
        span = 4 ** (grid.order - depth)
        cells[number * span : (number + 1) * span] += part
    return cells


@settings(deadline=None)
@given(polygons(), st.integers(1, 5), st.sampled_from([1, 3, 7]))
@example(
    shapely.from_wkt(
        "MULTIPOLYGON (((1.722 10.307, 0 12.036, 15.323 17.224, 1.722 10.307)), "
        "((8.013 0.287, 0 11.855, 13.83 -1.745, 8.013 0.287)))"
    ),
    4,
    1,
)
def test_a_zone_has_exactly_the_share_of_every_cell_that_lies_in_it(polygon, order, digits):
    # rounded corners, but exact unions: GEOS would round those to the same grid, and move edges
    rounded = shapely.set_precision(polygon, 10.0**-digits)
    polygon = shapely.make_valid(shapely.set_precision(rounded, 0))
    parts = [part for part in shapely.get_parts(polygon) if part.geom_type == "Polygon"]
    if not parts:
        return
    grid = Grid(0.0, 0.0, 16 / 2**order, order)
    x, y = grid.centres(np.arange(4**order))
    half = grid.cell / 2
    cells = shapely.box(x - half, y - half, x + half, y + half)
    inside = shapely.area(shapely.intersection(cells, shapely.union_all(parts))) / grid.cell**2
    rings = [
        np.asarray(r.coords) for p in parts for r in (orient(p).exterior, *orient(p).interiors)
    ]
    assert shares_of(rings, grid) == pytest.approx(inside, abs=1e-5)


def test_a_zone_may_lie_far_outside_on_any_side_and_be_as_thin_as_it_likes():
    grid = Grid(0.0, 0.0, 1.0, 3)
    box = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    for away in ([-20, 3], [20, 3], [3, -20], [3, 20]):
        assert not shares_of([box + away], grid).any()
    assert shares_of([box * 1e6 - 5e5], grid).tolist() == [1.0] * 64
    assert shares_of([box * [1e6, 1e-3] - [5e5, -3.3]], grid).sum() == pytest.approx(8e-3)
    assert shares_of([box * [1e-3, 1e6] - [-3.3, 5e5]], grid).sum() == pytest.approx(8e-3)
    slanting = np.array([[-1e5, -1e5], [1e5, 1e5], [1e5, -1e5]])
    assert shares_of([slanting], grid).sum() == pytest.approx(32)


@pytest.mark.parametrize("tiny", [1e-307, 5e-324, -1e-307, 1e-200])
def test_a_corner_next_to_the_grids_corner_lies_on_it(tiny):
    grid = Grid(0.0, 0.0, 1.0, 3)
    for corner in ([0.0, tiny], [tiny, 0.0], [tiny, tiny]):
        near, on = (np.array([at, [64.0, 0.0], [0.0, 64.0]]) for at in (corner, [0.0, 0.0]))
        assert shares_of([near], grid).tolist() == shares_of([on], grid).tolist()
        assert cover([near], grid).tolist() == cover([on], grid).tolist()


def test_rings_may_turn_either_way():
    grid = Grid(0.0, 0.0, 1.0, 4)
    box = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    outer, hole, island = box * 13.3 + 1.1, box * 8.4 + 3.2, box * 3.3 + 5.7
    expected = shares_of([outer, hole[::-1], island], grid)
    assert expected.sum() == pytest.approx(13.3**2 - 8.4**2 + 3.3**2)
    for turned in ([outer, hole, island], [outer[::-1], hole[::-1], island[::-1]]):
        assert shares_of(turned, grid) == pytest.approx(expected)


def test_a_polygon_that_covers_no_cell_centre_is_refused_with_the_fix():
    sliver = np.array([[0.1, 0.1], [0.2, 0.1], [0.2, 0.2]])
    with pytest.raises(BadInputError, match="larger polygon or smaller cells"):
        cover([sliver], Grid(0, 0, 1, 3))


def test_a_fine_mask_never_visits_all_cells_of_the_grid():
    grid = Grid(0.0, 0.0, 1.0, 16)
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = 32768 + 30000 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    runs = cover([ring], grid)
    polygon = shapely.Polygon(ring)
    assert (runs[:, 1] - runs[:, 0]).sum() == pytest.approx(polygon.area, rel=1e-5)
    assert len(runs) < 4**16 / 1e4
