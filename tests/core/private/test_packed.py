"""Tables of cells in few bytes."""

from __future__ import annotations

import numpy as np
import pytest

from dpsort_geo.core.private.packed import Packed, pack


def test_narrow_offsets_are_added_as_whole_numbers_of_eight_bytes() -> None:
    """Numpy before 2 adds a number that fits into two bytes in two bytes, and wraps around."""
    for key in (np.arange(1_000, 66_500, 4), np.arange(250, 505), np.arange(60_000, 65_700, 8)):
        found, count = Packed(pack(key, np.ones(key.size, np.int64))).pairs()
        assert np.array_equal(found, key) and int(count.sum()) == key.size
        assert int(Packed(pack(key, count)).before(np.array([key[-1]]))[0]) == key.size - 1


@pytest.mark.parametrize("most", [1, 300, 1 << 45])
@pytest.mark.parametrize("shift", [0, 4, 11])
def test_sums_before_equal_steps_are_those_before_each_edge(most: int, shift: int) -> None:
    """Also where they pass 2^53, beyond which floating point knows even numbers only."""
    rng = np.random.default_rng(shift)
    key = np.unique(rng.integers(0, 1 << 17, 40_000))
    packed = Packed(pack(key, rng.integers(1, most + 1, key.size) | 1))
    steps = (1 << 17) >> shift
    edge = np.arange(steps + 1, dtype=np.int64) << shift
    assert np.array_equal(packed.before_each(shift, steps), packed.before(edge))
    assert packed.before_each(shift, steps)[-1] == packed.total
