"""The numbers of the paper, from simulation with fixed seeds.

Noise here is numpy's Laplace on the unit interval, as in the paper; releases never use it. Stated
tolerances are the issue's; beside each is the standard error of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.paper_model import noise_error
from dpsort_geo.core.public.isotonic import isotonic_l2
from dpsort_geo.core.public.sort import decode_sorted, decode_sorted_paper, sorted_points
from dpsort_geo.core.rules.group_size import default_group_size, paper_group_size

CELLS = 1 << 40  # cells on the curve, so many that rounding to cells does not matter


def equally_spaced(n: int) -> np.ndarray:
    return (np.arange(n) + 0.5) / n


def clustered(n: int) -> np.ndarray:
    """Four dense places of different width on a thin background."""
    rng = np.random.default_rng(2011)
    centre = rng.choice([0.2, 0.45, 0.5, 0.8], n, p=[0.45, 0.2, 0.2, 0.15])
    width = np.select([centre == 0.2, centre == 0.45, centre == 0.5], [0.01, 0.05, 0.002], 0.03)
    points = np.where(rng.random(n) < 0.95, rng.normal(centre, width), rng.random(n))
    return np.sort(np.clip(points, 0, 1))


def fits(points: np.ndarray, runs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield noise and fit of many runs, k = 1, epsilon = 1, L2, nothing cut.

    Runs are put behind each other, too far apart to be pooled, and fitted in one go.
    """
    rng = np.random.default_rng(seed)
    at_once = 500_000 // points.size
    for done in range(0, runs, at_once):
        noise = rng.laplace(size=(min(at_once, runs - done), points.size))
        apart = 100.0 * np.arange(len(noise))[:, None]
        fit = isotonic_l2((points + noise + apart).ravel()).reshape(noise.shape) - apart
        yield noise, fit


def mean_error(points: np.ndarray, runs: int, seed: int) -> tuple[float, float]:
    """Give the mean normalised error of the fit and its standard error."""
    errors = np.concatenate(
        [np.abs(fit - points).mean(axis=1) for _, fit in fits(points, runs, seed)]
    )
    return float(errors.mean()), float(errors.std() / np.sqrt(runs))


@pytest.mark.parametrize(("n", "runs", "stated"), [(2_000, 8_000, 0.0501), (10_000, 1_600, 0.0225)])
def test_error_of_a_repeated_value(n, runs, stated):
    error, standard_error = mean_error(np.full(n, 0.5), runs, seed=n)
    assert standard_error < 0.0125 * stated
    assert error == pytest.approx(stated, rel=0.03)
    assert abs(error - noise_error(n, 1.0)) < 4.9 * standard_error  # false alarm 1e-6


def test_error_of_equally_spaced_points():
    error, standard_error = mean_error(equally_spaced(10_000), 600, seed=3)
    assert standard_error < 0.01 * 0.0418
    assert error == pytest.approx(0.0418, rel=0.03)


def test_bias_and_variance_at_both_ends_of_equally_spaced_points():
    # The noise averaged over the 141 values around a place has mean zero and goes along with the
    # fit there: taking it away leaves the bias, and two thirds of its standard error.
    points, places = equally_spaced(1_000), (99, 899)
    off, quiet = [], []
    for noise, fit in fits(points, 25_000, seed=4):
        off.append(fit[:, places] - points[list(places)])
        around = [noise[:, place - 70 : place + 71].mean(axis=1) for place in places]
        quiet.append(off[-1] - np.stack(around, axis=1))
    error, steady = np.concatenate(off), np.concatenate(quiet)
    assert np.all(steady.std(axis=0) / np.sqrt(len(steady)) < 0.0005)
    assert steady.mean(axis=0) == pytest.approx([-0.016, 0.016], abs=0.001)
    assert error.var(axis=0).mean() == pytest.approx(0.0138, rel=0.03)


@pytest.mark.parametrize("k", [1, 8, 50, 200])
def test_generalisation_error_is_k_over_4n_when_equally_spaced_and_at_most_k_over_2n(k):
    n = 10_000

    def error(points: np.ndarray) -> float:
        groups = np.sort(points).reshape(-1, k)
        return float(np.abs(groups - groups.mean(axis=1, keepdims=True)).mean())

    if k > 1:
        assert error(equally_spaced(n)) == pytest.approx(k / (4 * n))
    # The worst there is: half of one group at either end of the interval.
    worst = np.repeat([0.0, 1.0], [k // 2, n - k // 2])
    assert error(worst) == pytest.approx(k / (2 * n) if k > 1 else 0.0)
    rng = np.random.default_rng(5)
    for points in (clustered(n), rng.random(n), rng.random(n) ** 9, rng.integers(0, 2, n) * 1.0):
        assert error(points) <= k / (2 * n)


def release(points: np.ndarray, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Give the noisy sums of balanced groups of about k points, epsilon = 1, and their sizes."""
    groups = -(-points.size // k)
    sizes = np.full(groups, points.size // groups)
    sizes[: points.size % groups] += 1
    sums = np.add.reduceat(points, np.cumsum(sizes) - sizes) * (CELLS - 1)
    noise = rng.laplace(scale=CELLS - 1, size=groups)
    return np.array([int(s) for s in sums + noise], dtype=object), sizes


@pytest.mark.parametrize("data", [equally_spaced, clustered])
@pytest.mark.parametrize("choose", [default_group_size, paper_group_size])
def test_the_default_decoder_errs_a_tenth_less_than_the_papers(data, choose):
    n = 10_000
    points, k = data(n), choose(n, 1.0)
    rng = np.random.default_rng(6)
    ratios = []
    for _ in range(20):
        ours = theirs = 0.0
        for _ in range(15):
            sums, sizes = release(points, k, rng)
            fit = sorted_points(decode_sorted(sums, sizes, CELLS))
            ours += np.abs(np.clip(fit / (CELLS - 1), 0, 1) - points).mean()
            paper = sorted_points(decode_sorted_paper(sums, sizes, CELLS))
            theirs += np.abs(paper / (CELLS - 1) - points).mean()
        ratios.append(ours / theirs)
    standard_error = np.std(ratios) / np.sqrt(len(ratios))
    assert np.mean(ratios) + 4.9 * standard_error < 0.9  # false alarm 1e-6


def test_the_table_gives_smaller_groups_than_the_least_error_wants():
    # One of the paper's slips: on spread-out points larger groups than its own do better.
    n = 10_000
    points, rng = equally_spaced(n), np.random.default_rng(7)
    error = {
        choose: [
            np.abs(
                sorted_points(decode_sorted_paper(*release(points, choose(n, 1.0), rng), CELLS))
                / CELLS
                - points
            ).mean()
            for _ in range(200)
        ]
        for choose in (paper_group_size, default_group_size)
    }
    papers, defaults = error[paper_group_size], error[default_group_size]
    spread = np.sqrt((np.var(papers) + np.var(defaults)) / 200)
    assert np.mean(papers) - np.mean(defaults) > 4.9 * spread


def test_the_error_falls_as_the_two_thirds_power_of_epsilon():
    # Another slip: c times the epsilon does not divide the error by c when n is large.
    n, runs = 100_000, 12
    points, rng = equally_spaced(n), np.random.default_rng(8)
    errors = [
        np.mean(
            [
                np.abs(isotonic_l2(points + rng.laplace(scale=1 / epsilon, size=n)) - points).mean()
                for _ in range(runs)
            ]
        )
        for epsilon in (1.0, 8.0)
    ]
    exponent = np.log(errors[0] / errors[1]) / np.log(8.0)
    assert exponent == pytest.approx(2 / 3, abs=0.05)
