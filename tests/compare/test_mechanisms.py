"""The other mechanisms: right noise, right sensitivity, post-processing that keeps its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsort_geo.compare import MECHANISMS, UNPROVEN, grids, raster, trees, wavelet
from dpsort_geo.compare.dawa import BUCKET_LOG_PRIOR, partition, published_partition
from dpsort_geo.core.errors import BadInputError

ALL = {**MECHANISMS, **UNPROVEN}


class Recorder:
    """A generator that adds no noise and remembers the scales it was asked for."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.scales: list[float] = []
        self.sizes: list[int] = []

    def laplace(self, loc, scale, size):
        self.scales.append(float(scale))
        self.sizes.append(int(np.prod(size)))
        return np.zeros(size)

    def random(self, size):
        return self.rng.random(size)


def some_counts(order: int = 5, n: int = 5000, seed: int = 1) -> np.ndarray:
    side = 1 << order
    at = np.clip(np.random.default_rng(seed).normal(0.4, 0.12, (n, 2)) * side, 0, side - 1)
    j, i = at.astype(int).T
    return np.bincount(j * side + i, minlength=side * side).reshape(side, side).astype(float)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("eps", [0.01, 1.0, 50.0])
def test_estimates_are_non_negative_and_hold_n_points(name, eps):
    counts = some_counts()
    estimate = ALL[name](counts, eps, np.random.default_rng(3))
    assert estimate.shape == counts.shape
    assert estimate.min() >= 0
    assert estimate.sum() == pytest.approx(counts.sum(), rel=1e-6)


@pytest.mark.parametrize("name", [m for m in ALL if m not in ("equi-width", "kd-tree", "HTF")])
def test_without_noise_the_counts_come_back(name):
    """Every method refines to single cells when eps is huge, but for two kinds.

    Scott's histogram has its own number of bins, and trees of a given height whose cuts are not
    halves keep some wide leaves.
    """
    counts = some_counts(n=200_000)
    estimate = ALL[name](counts, 1e7, np.random.default_rng(4))
    assert np.abs(estimate - counts).sum() < 0.01 * counts.sum()


@pytest.mark.parametrize("name", ALL)
def test_a_generator_with_the_same_seed_gives_the_same_estimate(name):
    counts = some_counts()
    one, two = (ALL[name](counts, 1.0, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("name", ALL)
def test_bad_input_is_refused_in_one_sentence(name):
    for counts, eps in [(np.ones((3, 3)), 1.0), (np.ones((4, 8)), 1.0), (np.ones((4, 4)), 0.0)]:
        with pytest.raises(BadInputError, match=r"^[A-Z].*\.$"):
            ALL[name](counts, eps, np.random.default_rng(0))


# --- scales: for each method the noise that its privacy argument asks for, under replacement


@pytest.mark.parametrize("method", [grids.equi_width, grids.identity, grids.uniform_grid])
def test_a_histogram_has_noise_of_two_over_eps(method):
    rng = Recorder()
    method(some_counts(), 0.5, rng)
    assert rng.scales == [4.0]


def test_the_uniform_grid_follows_the_rule_with_half_of_eps():
    rng = Recorder()
    grids.uniform_grid(some_counts(n=8000), 0.5, rng)
    assert rng.sizes == [int(np.ceil(np.sqrt(8000 * 0.25 / 10))) ** 2]


def test_the_two_levels_of_the_adaptive_grid_spend_eps_together():
    rng = Recorder()
    grids.adaptive_grid(some_counts(), 2.0, rng, alpha=0.25)
    assert rng.scales[0] == pytest.approx(2 / (0.25 * 2.0))
    assert rng.scales[1:] == pytest.approx([2 / (0.75 * 2.0)] * 100)
    assert rng.sizes[0] == 100  # the least first level, ten a side


def test_the_adaptive_grid_cuts_a_full_cell_by_its_count():
    counts = np.zeros((64, 64))
    counts[:6, :6] = 200  # all in the first of 10 x 10 cells
    rng = Recorder()
    grids.adaptive_grid(counts, 2.0, rng)
    n = counts.sum()
    assert rng.sizes[1] == min(int(np.ceil(np.sqrt(n * 0.5 / 5))), 6) ** 2
    assert set(rng.sizes[2:]) <= {1, rng.sizes[1]}


@pytest.mark.parametrize("method, growth", [(trees.quadtree, 2 ** (1 / 3)), (trees.pmm, 2**0.25)])
def test_the_rates_of_a_path_add_up_to_half_of_eps_and_grow_as_in_the_paper(method, growth):
    rng = Recorder()
    method(some_counts(n=50_000), 0.8, rng)
    rates = 1 / np.array(rng.scales)
    assert rates.sum() == pytest.approx(0.4)
    assert rates[1:] / rates[:-1] == pytest.approx(growth)
    assert len(rates) > 3


def test_privtree_uses_the_scales_of_its_theorem():
    rng = Recorder()
    trees.privtree(some_counts(), 1.0, rng)
    assert set(np.round(rng.scales[:-1], 9)) == {np.round((2 * 4 - 1) / (4 - 1) / 0.25, 9)}
    assert rng.scales[-1] == pytest.approx(4.0)


def test_privtree_stops_where_the_bias_has_eaten_the_count():
    """Without noise a node at depth d is cut iff its count is above d * lambda * ln 4."""
    counts = np.zeros((8, 8))
    counts[0, 0] = 100
    decay = 7 / 3 / 0.25 * np.log(4)
    rng = Recorder()
    trees.privtree(counts, 1.0, rng)
    depths = 1 + sum(d * decay < 100 for d in range(1, 3))
    assert rng.sizes[-1] == 1 + 3 * depths


def test_every_point_changes_weighted_haar_coefficients_by_what_the_noise_assumes():
    for shape in [(16,), (8, 8)]:
        weight = np.ones(shape)
        for axis, side in enumerate(shape):
            weight = weight * wavelet.haar_weight(side).reshape(
                [-1 if a == axis else 1 for a in range(len(shape))]
            )
        worst = 0.0
        for cell in range(int(np.prod(shape))):
            point = np.zeros(shape)
            point.flat[cell] = 1
            moved = point
            for axis in range(len(shape)):
                moved = np.moveaxis(wavelet.haar(np.moveaxis(moved, axis, 0)), 0, axis)
            change = np.abs(moved * weight)
            worst = max(worst, change.sum() - change.flat[0])
        assert worst == pytest.approx(np.prod([side.bit_length() for side in shape]) - 1)


class Units:
    """A generator whose every draw is one: the estimate shows the scale."""

    def laplace(self, loc, scale, size):
        return np.full(size, float(scale))


def test_the_noise_of_the_wavelet_has_the_right_size():
    """Two levels a point, times two for replacing; n itself has none."""
    seen = wavelet.haar(wavelet.noisy_transform(np.zeros(4), 0.5, Units()))
    assert seen == pytest.approx([0, *(2 * 2 / (0.5 * wavelet.haar_weight(4)))[1:]])


@given(arrays(float, 16, elements=st.integers(-9, 9).map(float)))
def test_haar_is_inverted(values):
    assert np.allclose(wavelet.unhaar(wavelet.haar(values)), values)


# --- DAWA's partitions


def deviation(flat: np.ndarray, start: np.ndarray) -> float:
    return sum(np.abs(part - part.mean()).sum() for part in np.split(flat, start[1:]))


@settings(max_examples=200, deadline=None)
@given(arrays(float, 8, elements=st.integers(0, 4).map(float)), st.data())
def test_replacing_one_point_moves_the_deviation_of_a_partition_by_less_than_four(flat, data):
    start = partition(flat, 1.0, np.random.default_rng(data.draw(st.integers(0, 99))))
    full = np.flatnonzero(flat)
    if not full.size:
        return
    moved = flat.copy()
    moved[data.draw(st.sampled_from(full.tolist()))] -= 1
    moved[data.draw(st.integers(0, 7))] += 1
    assert abs(deviation(flat, start) - deviation(moved, start)) < 4


def test_the_partition_is_drawn_with_the_odds_of_the_exponential_mechanism():
    """Two cells: one bucket or two. 20,000 draws, five standard errors: one false alarm in 1e6."""
    flat, eps = np.array([6.0, 2.0]), 3.0
    rng = np.random.default_rng(5)
    whole = sum(partition(flat, eps, rng).size == 1 for _ in range(20_000)) / 20_000
    odds = np.exp(-BUCKET_LOG_PRIOR - eps * 4 / 8)
    expected = odds / (1 + odds)
    assert whole == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 20_000))


def test_the_published_partition_spends_more_than_its_budget():
    """exp(1.75 e1) for the partition of four cells into single ones, where exp(e1) is allowed.

    Adding one point to the second cell raises three bucket costs at once, by 1, 1 and 3/2, and
    single cells carry no noise that could hide it. First: which noise gives that partition; then
    its exact probability.
    """
    e1, e2 = 0.75, 1.0
    rng = np.random.default_rng(6)
    log_chance = []
    for second in (0.0, 1.0):
        flat = np.array([0.0, second, 0.0, 0.0])
        # the noise that the pairs 01, 12, 23 and the whole must exceed to stay out
        limit = np.array([1 / e2 - second, 1 / e2 - second, 1 / e2, 3 / e2 - 1.5 * second])
        for noise in rng.laplace(0, 2 / e1, (400, 4)):
            parts = published_partition(flat, e1, e2, Given(noise)).size
            assert (parts == 4) == bool((noise > limit).all())
        assert (limit >= 0).all()  # so that each chance is exp(-limit / scale) / 2
        log_chance.append(np.sum(-limit * e1 / 2 - np.log(2)))
    assert log_chance[1] - log_chance[0] == pytest.approx(1.75 * e1)


class Given:
    """A generator that deals out given numbers."""

    def __init__(self, noise: np.ndarray) -> None:
        self.noise = list(noise)

    def laplace(self, loc, scale, size):
        return np.array([self.noise.pop(0) for _ in range(size)])


# --- consistency


@settings(deadline=None)
@given(arrays(float, (3, 5), elements=st.floats(-50, 50)), st.floats(0.1, 100))
def test_the_projection_is_the_nearest_point_of_the_simplex(rows, total):
    near = raster.project(rows, total)
    assert near.min() >= 0
    assert near.sum(1) == pytest.approx(total)
    # Optimality: one level is taken from all entries kept; those at zero lie below it.
    for row, fitted in zip(rows, near):
        level = (row - fitted)[fitted > 0]
        assert level == pytest.approx(level[0], abs=1e-9)
        assert (row[fitted == 0] <= level[0] + 1e-9).all()


def test_the_tree_fit_is_least_squares_where_nothing_is_negative():
    rng = np.random.default_rng(8)
    noisy = [100 + rng.normal(size=2), 50 + rng.normal(size=4), 25 + rng.normal(size=8)]
    variance = [0.5, 1.0, 3.0]
    n = 200.0
    rows, answers = [], []
    for level, (values, v) in enumerate(zip(noisy, variance), start=1):
        for node, value in enumerate(values):
            row = np.zeros(8)
            row[node * 8 >> level : (node + 1) * 8 >> level] = 1 / np.sqrt(v)
            rows.append(row)
            answers.append(value / np.sqrt(v))
    rows.append(np.full(8, 1e6))
    answers.append(n * 1e6)
    expected = np.linalg.lstsq(np.array(rows), np.array(answers), rcond=None)[0]
    assert raster.consistent_tree(noisy, variance, n) == pytest.approx(expected, abs=1e-5)


def test_known_zeros_of_a_tree_stay_zero():
    noisy = [np.array([9.0, 0.0]), np.array([4.0, 7.0, 0.0, 0.0])]
    variance = [np.array([1.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0])]
    assert raster.consistent_tree(noisy, variance, 10.0) == pytest.approx([3.5, 6.5, 0, 0])


@given(arrays(float, (8, 8), elements=st.integers(0, 9).map(float)))
def test_curve_order_and_back_is_the_same_raster(counts):
    assert np.array_equal(raster.from_curve(raster.to_curve(counts)), counts)
