"""Our decoder on other people's estimates."""

from __future__ import annotations

import numpy as np
import pytest

from dpsort_geo.compare import MECHANISMS
from dpsort_geo.compare.isotonic import isotonic_masses
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.public.leaves import make_leaves


@pytest.mark.parametrize("name", MECHANISMS)
def test_any_raw_estimate_becomes_non_negative_with_total_n(name):
    counts = np.random.default_rng(1).poisson(3.0, (32, 32)).astype(float)
    raw = MECHANISMS[name](counts, 0.3, np.random.default_rng(2), raw=True)
    masses = isotonic_masses(raw, counts.sum())
    assert masses.min() >= 0
    assert masses.sum() == pytest.approx(counts.sum())


@pytest.mark.parametrize("name", MECHANISMS)
def test_raw_estimates_have_no_bias(name):
    """Means of 400 runs against the mean of their spread: five standard errors.

    Data-dependent partitions (PrivTree, DAWA, AG) are flat inside a bucket, so only a flat raster,
    on which no partition can be wrong, is asked for.
    """
    counts = np.full((8, 8), 5.0)
    runs = np.array(
        [
            MECHANISMS[name](counts, 1.0, np.random.default_rng(seed), raw=True)[:4].sum()
            for seed in range(400)
        ]
    )
    assert abs(runs.mean() - 160) <= 5 * runs.std() / 20 + 1e-9


def test_on_the_cells_of_a_quadtree_it_is_our_own_decoder():
    rng = np.random.default_rng(3)
    level = np.array([1, 1, 1, 2, 2, 2, 2])
    index = np.array([0, 1, 3, 8, 9, 10, 11])
    estimate = rng.normal(3.0, 4.0, 7)
    grid = Grid(0.0, 0.0, 1.0, 3)
    leaves = make_leaves(grid, level, index, estimate, 20.0)
    raw, expected = np.empty((8, 8)), np.empty((8, 8))
    span = 8 >> leaves.level
    for k in range(7):
        along = np.flatnonzero((level == leaves.level[k]) & (index == leaves.index[k]))[0]
        rows = slice(leaves.row[k] * span[k], (leaves.row[k] + 1) * span[k])
        columns = slice(leaves.column[k] * span[k], (leaves.column[k] + 1) * span[k])
        raw[rows, columns] = estimate[along] / span[k] ** 2
        expected[rows, columns] = leaves.mass[k] / span[k] ** 2
    assert isotonic_masses(raw, 20.0) == pytest.approx(expected)
