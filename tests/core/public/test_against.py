"""Reading a release against a public map: what holds always, what helps, what must not hurt."""

from __future__ import annotations

from typing import Any, Dict, List

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.compare.metrics import emd_sliced
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.cover import cover
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private import adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.publish import measure
from dpsort_geo.core.public import against, prior
from dpsort_geo.core.public.counts import count_within, quantiles
from dpsort_geo.core.public.cumulative import Cumulative
from dpsort_geo.core.public.decode import Decoded, decode
from dpsort_geo.core.public.density import raster
from dpsort_geo.core.public.points import points

SIDE = 1024.0
ORDER = 9


def towns(n: int, seed: int) -> np.ndarray:
    """Points around twelve towns that are always the same."""
    shape, rng = np.random.default_rng(12), np.random.default_rng(seed)
    centre, width = shape.uniform(80, 940, (12, 2)), shape.uniform(5, 50, 12)
    town = rng.choice(12, n, p=np.arange(12, 0, -1) / 78)
    at = centre[town] + width[town][:, None] * rng.standard_normal((n, 2))
    return np.clip(at, 0, SIDE - 1e-6)


def grid(masked: bool = False) -> Grid:
    bare = Grid(0.0, 0.0, SIDE / 2**ORDER, ORDER)
    if not masked:
        return bare
    island = np.array([[40, 40], [990, 120], [900, 990], [100, 880]], float)
    return Grid(0.0, 0.0, bare.cell, ORDER, cover([island], bare))


def released(
    at: np.ndarray, epsilon: str, seed: int, masked: bool = False, neighbours: str = "replace"
) -> Decoded:
    noise = seeded_noise(np.random.default_rng(seed))
    cells = count_cells(grid(masked), *at.T)
    return decode(adaptive.publish(cells, epsilon, neighbours=neighbours, noise=noise))


def picture(at: np.ndarray, level: int = 6) -> np.ndarray:
    return np.histogram2d(at[:, 1], at[:, 0], bins=2**level, range=[[0, SIDE]] * 2)[0]


def error(decoded: Decoded, at: np.ndarray) -> float:
    return emd_sliced(picture(at), raster(decoded, 6), 8)


@given(
    seed=st.integers(0, 2**32),
    epsilon=st.sampled_from(["0.05", "1", "20"]),
    masked=st.booleans(),
    add_remove=st.booleans(),
    jumps=st.lists(st.floats(0, 1e6), min_size=1, max_size=40),
)
@settings(max_examples=40, deadline=None)
def test_masses_are_never_negative_and_add_up_to_n(
    seed: int, epsilon: str, masked: bool, add_remove: bool, jumps: list
) -> None:
    neighbours = "add-remove" if add_remove else "replace"
    alone = released(towns(500, seed), epsilon, seed, masked, neighbours)
    place = np.linspace(0, alone.grid.n_cells, len(jumps) + 1)
    map_ = Cumulative(place, np.concatenate([[0.0], np.cumsum(jumps)]))
    if not map_.total > 0:
        with pytest.raises(BadInputError, match="no weight inside the domain"):
            alone.read_against(map_)
        return
    found: Any = alone.read_against(map_)
    assert (found.leaves.mass >= 0).all()
    assert found.leaves.mass.sum() == pytest.approx(alone.n)
    assert found.n == alone.n and found.cumulative.total == alone.n
    assert found.leaves.area.sum() == alone.grid.n_cells
    own = found.against
    assert 0 <= own.trust <= 1 and 0 <= own.detail <= own.trust
    assert np.bincount(own.whole, own.share) == pytest.approx(np.ones(own.leaves.level.size))
    x, y = points(found)
    assert x.size == alone.n and alone.grid.is_allowed(alone.grid.curve_index(x, y)).all()


def test_a_map_of_the_area_alone_changes_next_to_nothing() -> None:
    alone = released(towns(3000, 1), "1", 1)
    even = Cumulative(np.array([0.0, alone.grid.n_cells]), np.array([0.0, 1.0]))
    found: Any = alone.read_against(even)
    assert found.against.trust == pytest.approx(1 / (1 + np.exp(4.0)))
    assert found.against.detail < against._HARDLY
    moved = np.abs(found.leaves.mass - alone.leaves.mass).sum()  # type: ignore[attr-defined]
    assert moved < 0.02 * alone.n


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_a_prior_that_is_the_truth_helps(epsilon: str) -> None:
    at = towns(3000, 2)
    truth = released(towns(300_000, 3), "100", 3).cumulative
    readings = [released(at, epsilon, seed) for seed in range(4)]
    alone = np.mean([error(one, at) for one in readings])
    helped = np.mean([error(one.read_against(truth), at) for one in readings])
    assert helped < 0.9 * alone


def test_a_town_that_moved_does_not_spoil_what_the_map_says_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each block of the tree has its own unevenness: better than any one for all. Seeded."""
    before, at = released(towns(30_000, 3), "3", 3).cumulative, towns(3000, 2)
    first = np.random.default_rng(12).uniform(80, 940, (12, 2))[0]
    moved = np.hypot(*(at - first).T) < 60
    at[moved] = SIDE - 1e-6 - at[moved]
    readings = [released(at, "1", seed) for seed in range(4)]
    alone = np.mean([error(one, at) for one in readings])
    helped = np.mean([error(one.read_against(before), at) for one in readings])
    assert helped < 0.85 * alone
    for rho in (0.03, 0.3, 3.0):
        with monkeypatch.context() as mutant:
            mutant.setattr(prior, "UNEVEN", (rho,))
            same = np.mean([error(one.read_against(before), at) for one in readings])
        assert same > 1.05 * helped


def test_an_irrelevant_prior_does_not_hurt_and_without_learning_it_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The noise is seeded, so that this is the same in every run: no false alarms at all."""
    at = towns(3000, 4)
    elsewhere = released(SIDE - 1e-6 - towns(3000, 5), "1", 5).cumulative
    for epsilon in ("0.1", "1", "3"):
        readings = [released(at, epsilon, seed) for seed in range(4)]
        alone = np.mean([error(one, at) for one in readings])
        assert np.mean([error(one.read_against(elsewhere), at) for one in readings]) < 1.02 * alone
        with monkeypatch.context() as mutant:
            mutant.setattr(against, "relevance", lambda *_: 1.0)
            hurt = np.mean([error(one.read_against(elsewhere), at) for one in readings])
        assert hurt > 1.05 * alone


def test_intervals_hold_as_often_as_without_a_prior() -> None:
    edge = np.linspace(0, SIDE, 8)
    zones = [
        [np.array([[a, c], [b, c], [b, d], [a, d]])]
        for c, d in zip(edge[:-1], edge[1:])
        for a, b in zip(edge[:-1], edge[1:])
    ]
    before = released(towns(3000, 6), "1", 6).cumulative
    held: Dict[str, List[np.ndarray]] = {"alone": [], "against": []}
    for seed in range(6):
        at = towns(3000, 10 + seed)
        truth = np.histogram2d(at[:, 1], at[:, 0], bins=7, range=[[0, SIDE]] * 2)[0].reshape(-1)
        alone = released(at, "1", seed)
        for name, one in (("alone", alone), ("against", alone.read_against(before))):
            _, low, high = count_within(one, zones)
            held[name].append((low <= truth) & (truth <= high))
    assert np.mean(held["against"]) > 0.85
    assert np.mean(held["against"]) > np.mean(held["alone"]) - 0.03


def test_quantiles_and_counts_follow_the_prior() -> None:
    alone = released(towns(3000, 7), "0.1", 7)
    before = released(towns(100_000, 8), "10", 8).cumulative
    found = alone.read_against(before)
    everything = [np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]])]
    estimate, low, high = count_within(found, [everything])
    assert (estimate[0], low[0], high[0]) == (3000, 3000, 3000)
    assert not np.array_equal(quantiles(found, [0.3])[0], quantiles(alone, [0.3])[0])


@pytest.mark.parametrize("method", ["sort", "hybrid"])
def test_what_has_no_counts_of_places_is_refused(method: str) -> None:
    decoded = decode(measure(count_cells(grid(), *towns(900, 1).T), "1", method))
    with pytest.raises(BadInputError, match="Only adaptive releases"):
        decoded.read_against(decoded.cumulative)
