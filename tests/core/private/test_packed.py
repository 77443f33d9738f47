"""Tables of cells in few bytes."""

from __future__ import annotations

import numpy as np

from dpsort_geo.core.private.packed import Packed, pack


def test_narrow_offsets_are_added_as_whole_numbers_of_eight_bytes() -> None:
    """Numpy before 2 adds a number that fits into two bytes in two bytes, and wraps around."""
    for key in (np.arange(1_000, 66_500, 4), np.arange(250, 505), np.arange(60_000, 65_700, 8)):
        found, count = Packed(pack(key, np.ones(key.size, np.int64))).pairs()
        assert np.array_equal(found, key) and int(count.sum()) == key.size
        assert int(Packed(pack(key, count)).before(np.array([key[-1]]))[0]) == key.size - 1
