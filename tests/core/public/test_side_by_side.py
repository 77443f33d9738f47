"""Slices of an axis, read side by side."""

from __future__ import annotations

import numpy as np
import pytest

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.views import count, publish
from dpsort_geo.core.public.prior import lean
from dpsort_geo.core.public.side_by_side import split_together
from dpsort_geo.core.public.tree import gather
from dpsort_geo.core.rules.adaptive import AdaptiveCounts
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.core.rules.budget import UNITS

DEEPEST = 3
CELLS = 4**DEEPEST


@pytest.fixture(scope="module")
def release():
    """Any release at epsilon 1: rates of answers are in its units."""
    one = np.ones(1)
    cells = count(Grid(0.0, 0.0, 1.0, 3), one, one, None, make_axes({"type": ["a", "b"]}), [["a"]])
    return publish(cells, 1)


def slices(rng):
    """Three maps that keep apart: a row a slice."""
    return rng.poisson(40 * CELLS * rng.dirichlet(np.full(CELLS, 0.5), 3)).astype(np.int64)


def ask(release, truth, scale, rng, levels=(1, 2, 3), roots=(0, 1, 2)):
    """A forest that has answered on some levels, for some roots, with Laplace noise."""
    asked = []
    for depth in levels:
        for root in roots:
            sums = truth[root].reshape(4**depth, -1).sum(axis=1)
            key = (root << 2 * depth) + np.arange(sums.size)
            value = sums + np.rint(rng.laplace(0, scale, sums.size)).astype(np.int64)
            rate = np.full(sums.size, int(UNITS / scale))
            asked.append((np.full(sums.size, depth), key, rate, value))
    return gather(release, AdaptiveCounts(*map(np.concatenate, zip(*asked))), roots=3)


def whole(truth):
    """The map of all points, as its masses in quadtree nodes."""
    upto = np.r_[0.0, np.cumsum(truth.sum(axis=0))]

    def prior(level, index):
        span = 4 ** (DEEPEST - level)
        return upto[(index + 1) * span] - upto[index * span] + 1e-6

    return prior


def read(tree, truth):
    places = np.arange(CELLS)
    level = np.full(CELLS, DEEPEST)
    return split_together(tree, truth.sum(axis=1).astype(float), level, places, whole(truth))


@pytest.mark.parametrize("levels", [(1, 2, 3), (1, 3), (2, 3)])
def test_without_noise_masses_are_the_truth_whatever_level_was_left_out(release, levels):
    rng = np.random.default_rng(1)
    truth = slices(rng)
    found = read(ask(release, truth, 1e-3, rng, levels), truth)
    np.testing.assert_allclose(found, truth, atol=1e-2)


def test_masses_are_positive_and_add_up_to_their_slices_and_nearly_to_all(release):
    rng = np.random.default_rng(2)
    truth = slices(rng)
    found = read(ask(release, truth, 20.0, rng), truth)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), truth.sum(axis=1))
    assert np.abs(found.sum(axis=0) - truth.sum(axis=0)).sum() < 0.03 * truth.sum()


def test_what_others_have_answered_tells_of_a_slice_that_was_not_asked(release):
    rng = np.random.default_rng(3)
    truth = slices(rng)
    found = read(ask(release, truth, 1.0, rng, roots=(0, 1)), truth)
    by_share = truth.sum(axis=0) * truth[2].sum() / truth.sum()
    assert np.abs(found[2] - truth[2]).sum() < 0.2 * np.abs(by_share - truth[2]).sum()


def test_slices_that_keep_apart_are_nearer_than_when_each_is_read_alone(release):
    rng = np.random.default_rng(4)
    together, alone = 0.0, 0.0
    for _ in range(10):
        truth = slices(rng)
        tree = ask(release, truth, 15.0, rng)
        index = tree.index & ((1 << 2 * tree.level) - 1)
        each = lean(tree, truth.sum(axis=1).astype(float), whole(truth)(tree.level, index))
        alone += np.abs(each.estimate[-3 * CELLS :].reshape(3, -1) - truth).sum()
        together += np.abs(read(tree, truth) - truth).sum()
    assert together < 0.95 * alone
