"""Limits of counts by trying it out, for the benchmark that compares them with the formula."""

from dataclasses import replace

import numpy as np
import pytest
from bootstrap import bootstrap_counts, plausible_points

from dpsort_geo.core.curve.cover import cover
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.counts import count_within
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.intervals import unevenness


def towns(n, rng):
    centre, width = rng.random((40, 2)), 0.003 * 20 ** rng.random(40)
    town = rng.choice(40, n, p=(1 / np.arange(1, 41)) / (1 / np.arange(1, 41)).sum())
    return centre[town] + width[town][:, None] * rng.standard_normal((n, 2))


def even(n, rng):
    return rng.random((n, 2))


def released(at, epsilon, noise, order=8, grid=None, **more):
    grid = grid or Grid(0.0, 0.0, 2.0**-order, order)
    return publish_adaptive(count_cells(grid, at[:, 0], at[:, 1]), epsilon, noise=noise, **more)


def squares(at, many, rng):
    """Corners and widths: log-uniform, half of them around a point."""
    width = np.exp(rng.uniform(-np.log(64), 0, many))
    corner = rng.random((many, 2)) * (1 - width[:, None])
    corner[::2] = (at[rng.integers(len(at), size=many)] - width[:, None] / 2)[::2]
    return corner, width


def ring(corner, width):
    return corner + width * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])


def test_plausible_points_are_where_the_leaves_have_mass(seeded):
    full = Grid(0.0, 0.0, 2.0**-7, 7)
    grid = replace(full, runs=cover([np.array([[0.1, 0.0], [0.9, 0.3], [0.5, 1.0]])], full))
    at = np.clip(towns(3000, np.random.default_rng(5)), 0, 1 - 1e-9)
    leaves = decode(released(at, 1, seeded(8), grid=grid)).leaves
    drawn = plausible_points(leaves, 0.15, np.random.default_rng(0))
    assert drawn.size == 3000 and grid.is_allowed(drawn).all()
    edges = np.append(leaves.start, grid.n_cells)
    mass = np.diff(np.searchsorted(grid.compress(drawn), edges))
    assert np.abs(mass - leaves.mass).max() <= 1 + 1e-6


@pytest.mark.parametrize("rho", [0.05, 0.3])
def test_plausible_points_are_as_uneven_as_they_are_asked_to_be(rho, seeded):
    # four quarters of 256 leaves: the standard error is about 6 % of rho
    leaves = decode(released(even(200_000, np.random.default_rng(5)), 1, seeded(8), order=6)).leaves
    large = replace(leaves, level=np.full(256, 4), index=np.arange(256), mass=np.full(256, 780.0))
    drawn = plausible_points(large, rho, np.random.default_rng(0))
    quarter = np.bincount(drawn >> 2, minlength=1024)
    whole = np.repeat(np.bincount(drawn >> 4, minlength=256), 4).astype(float)
    found = unevenness(quarter, np.zeros(1024), whole, np.full(1024, 0.25))
    assert found == pytest.approx(rho, rel=0.35)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_bootstrap_gives_limits_of_the_same_size_as_the_formula(neighbours, seeded):
    rng = np.random.default_rng(6)
    at = np.clip(towns(2000, rng), 0, 1 - 1e-9)
    release = released(at, 1, seeded(1), order=6, neighbours=neighbours)
    decoded = decode(release)
    zones = [[ring(c, w)] for c, w in zip(*squares(at, 40, rng))]
    estimate, low, high = bootstrap_counts(decoded, zones)
    same, below, above = count_within(decoded, zones)
    assert np.array_equal(estimate, same)
    assert (low == np.rint(low)).all() and (high == np.rint(high)).all()
    assert (low <= estimate).all() and (estimate <= high).all() and low.min() >= 0
    assert 0.6 < (high - low).sum() / (above - below).sum() < 1.6
    again = bootstrap_counts(decoded, zones)
    assert np.array_equal(low, again[1]) and np.array_equal(high, again[2])


def test_only_adaptive_releases_have_a_bootstrap(seeded):
    zones = [[ring(np.zeros(2), 0.5)]]
    at = even(300, np.random.default_rng(1))
    cells = count_cells(Grid(0.0, 0.0, 2.0**-8, 8), at[:, 0], at[:, 1])
    with pytest.raises(BadInputError, match="adaptive"):
        bootstrap_counts(decode(publish_sorted(cells, 1, noise=seeded(1))), zones)
