"""Points that were moved to the edge are noticed in the release; others are not."""

from __future__ import annotations

import numpy as np
import pytest

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.publish import measure
from dpsort_geo.core.private.slices import count_slices
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.edge import crowds_edge
from dpsort_geo.core.rules.axes import make_axes

SQUARE = Grid(0.0, 0.0, 1.0, 8)


def crowds(grid: Grid, x: np.ndarray, y: np.ndarray, epsilon: float = 1, method: str = "adaptive"):
    return crowds_edge(decode(measure(count_cells(grid, x, y), epsilon, method)))


def scatter(n: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(5).uniform(0, 256, (2, n))
    return x, y


@pytest.mark.parametrize("method", ["adaptive", "hybrid"])
def test_points_that_all_went_to_a_corner_or_to_one_side_are_noticed(method: str) -> None:
    x, y = scatter(20_000)
    assert crowds(SQUARE, x + 1000, y + 1000, method=method)
    assert crowds(SQUARE, x + 1000, y, method=method)
    assert not crowds(SQUARE, x, y, method=method)


def test_a_sort_release_is_judged_by_wider_pixels_because_its_points_err_more() -> None:
    """0.80 to 0.91 of them were at the edge in forty runs; at epsilon 1 down to 0.58."""
    x, y = scatter(20_000)
    assert crowds(SQUARE, x + 1000, y, epsilon=30, method="sort")
    assert not crowds(SQUARE, x, y, epsilon=1, method="sort")


def test_a_release_of_noise_alone_says_nothing() -> None:
    x, y = scatter(50)
    assert not crowds(SQUARE, x + 1000, y)


def test_where_everything_is_edge_nothing_is_said() -> None:
    x, y = scatter(20_000)
    assert not crowds(Grid(0.0, 0.0, 64.0, 2), x, y)


def test_a_release_with_categories_is_looked_at_like_any_other() -> None:
    axes = make_axes({"type": ["a", "b"]})
    grid, draw = Grid(0.0, 0.0, 1.0, 8), np.random.default_rng(5)
    place, kind = draw.uniform(0, 256, (2, 5000)), draw.integers(0, 2, 5000)
    inside = count_slices(grid, axes, place[0], place[1], kind)
    beyond = count_slices(grid, axes, np.full(5000, 999.0), np.full(5000, 77.0), kind)
    found = [crowds_edge(decode(measure(cells, 1, "views"))) for cells in (inside, beyond)]
    assert found == [False, True]
