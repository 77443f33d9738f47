"""The published points come in a fixed order of which every stretch is a sample of the map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.publish import count, measure
from dpsort_geo.core.public import points as diffusion
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.points import CHUNK, chunks, points, points_at, ranks


@given(st.integers(0, 5000))
def test_every_point_comes_once(n: int) -> None:
    assert np.array_equal(np.sort(ranks(n)), np.arange(n))


@given(st.integers(1, 2**37), st.integers(0, 2**37), st.integers(1, 300))
def test_a_stretch_is_the_same_however_it_is_asked_for(n: int, first: int, many: int) -> None:
    first = first % n
    stop = min(first + many, n)
    whole = ranks(n, first, stop)
    assert whole.min() >= 0 and whole.max() < n
    alone = [int(ranks(n, place, place + 1)[0]) for place in range(first, stop)]
    assert whole.tolist() == alone


@pytest.mark.parametrize("n", [1000, 4096, 99_991, 10_000_000, 2**37])
@pytest.mark.parametrize("first", [0, 12_345])
@pytest.mark.parametrize("many", [100, 1000])
def test_neighbours_in_a_file_are_spread_evenly_along_the_curve(n, first, many) -> None:
    some = np.sort(ranks(n, first % n, min(first % n + many, n)))
    gaps = np.diff(some, append=some[0] + n)
    assert gaps.max() <= 4 * n / some.size


def test_chunks_longer_than_one_go_on_where_the_last_ended(monkeypatch) -> None:
    whole = ranks(10_000)
    monkeypatch.setattr(diffusion, "CHUNK", 64)
    np.testing.assert_array_equal(ranks(10_000), whole)


def test_the_points_are_those_along_the_curve_in_another_order() -> None:
    rng = np.random.default_rng(1)
    cells = count(Grid(0.0, 0.0, 1.0, 6), *rng.uniform(0, 64, (2, CHUNK + 999)) ** 2 / 64)
    decoded = decode(measure(cells, epsilon=1))
    x, y = points(decoded)
    along = points_at(decoded, np.arange(decoded.n))
    order = ranks(decoded.n)
    # the lean is followed to a hundred-thousandth of a leaf, and leaves are 64 wide at most
    np.testing.assert_allclose(x, along[0][order], rtol=0, atol=1e-3)
    np.testing.assert_allclose(y, along[1][order], rtol=0, atol=1e-3)
    assert [piece[0].size for piece in chunks(decoded)] == [CHUNK, 999]
    # the first thousand have the mean of all of them, as a sample has and one end of the curve not
    assert abs(x[:1000].mean() - x.mean()) < 4 * x.std() / 1000**0.5
    assert abs(along[0][:1000].mean() - x.mean()) > 4 * x.std() / 1000**0.5


@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
def test_points_are_the_same_on_every_processor(method, monkeypatch) -> None:
    """numpy's exp and log differ by a bit between processors, which can move a point by a step."""
    rng = np.random.default_rng(2)
    release = measure(count(Grid(0.0, 0.0, 1.0, 9), *rng.uniform(0, 512, (2, 700))), 1, method)
    expected = points(decode(release))
    for name in ("exp", "log", "power"):
        monkeypatch.setattr(np, name, lambda *_, **__: pytest.fail("asks the processor"))
    assert np.array_equal(points(decode(release)), expected)
