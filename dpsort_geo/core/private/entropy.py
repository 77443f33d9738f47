"""Whole numbers exactly uniform below a bound, from the operating system's entropy.

No bytes are kept for the next call: a buffer that outlives a call would be copied by a fork, and
two processes would publish the same noise.
"""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def below(bound: Union[int, IntArray], n: int) -> IntArray:
    """n independent draws, exactly uniform on 0..bound-1.

    Cut the 2^b words of b bits, from 0 on, into blocks of `bound` words. In a whole block the place
    of a word is uniform; a word of the cut block at the end is drawn again. Words have four bits to
    spare (bounds beyond 2^60 fewer), so that this is at most one in 16.
    """
    bits = (int(np.max(bound)) if n else 1).bit_length() + 4
    word = np.dtype("u1" if bits <= 8 else "u2" if bits <= 16 else "u4" if bits <= 32 else "u8")
    block = np.broadcast_to(np.asarray(bound).astype(word), n)
    last_start = np.iinfo(word).max - (block - word.type(1))
    drawn = words(n, word)
    place = drawn % block
    redo = np.flatnonzero(drawn - place > last_start)
    while redo.size:
        drawn = words(redo.size, word)
        place[redo] = drawn % block[redo]
        redo = redo[drawn - place[redo] > last_start[redo]]
    return place.astype(np.int64)


def draw_below(bound: IntArray) -> IntArray:
    """A draw for each bound >= 1, exactly uniform on 0..bound-1, from the system's entropy.

    >>> draw_below(np.array([1, 1]))
    array([0, 0])
    """
    return below(bound, bound.size)


def words(n: int, word: np.dtype[Any]) -> NDArray[Any]:
    """So many words of the system's entropy."""
    return np.frombuffer(os.urandom(n * word.itemsize), word)


def randbelow(bound: int) -> int:
    """Exactly uniform on 0..bound-1, for a bound of any size."""
    bits = bound.bit_length()
    n_bytes = (bits + 7) // 8
    while True:
        drawn = int.from_bytes(os.urandom(n_bytes), "big") >> (8 * n_bytes - bits)
        if drawn < bound:
            return drawn
