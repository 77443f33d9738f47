"""Published points some at a time, so that memory does not grow with their number.

Their order is such that the first ones are an even sample of all: what must be small is thinned by
leaving out the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..core.errors import BadInputError
from .geojson import CHUNK, collection, row_lengths
from .statement import Statement

Array = np.ndarray

#: x and y of some points
Chunk = tuple[Array, Array]
Chunks = Iterable[Chunk]


def cut(chunks: Chunks, rows: int) -> Iterator[Chunk]:
    """Finite coordinates in pieces of so many rows at most, none of them empty."""
    for given in chunks:
        x, y = _finite(*given)
        for start in range(0, x.size, rows):
            yield x[start : start + rows], y[start : start + rows]


def _finite(x: Array, y: Array) -> tuple[Array, Array]:
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise BadInputError("Coordinates that are written must be finite numbers.")
    return x, y


def first_points(chunks: Chunks, kept: int) -> Iterator[Chunk]:
    """The first so many points; in the order in which they are published, an even sample."""
    for x, y in chunks:
        if kept <= 0:
            return
        yield x[:kept], y[:kept]
        kept -= len(x)


def thinned_to(chunks: Chunks, total: int, statement: Statement, most_bytes: int) -> int:
    """How many of the first points fit into a GeoJSON file of so many bytes."""
    room, kept = room_for(statement, total, most_bytes), 0
    for x, y in cut(chunks, CHUNK):
        # a row ends with two characters that the last one does without
        size = np.cumsum(row_lengths(x, y))
        kept += int(np.searchsorted(size, room + 2, side="right"))
        room -= int(size[-1])
        if room < 0:
            break
    if total and not kept:
        refuse_size(most_bytes)
    return kept


def say_thinned(statement: Statement, kept: int, total: int) -> Statement:
    """A statement that says how many points were kept.

    >>> say_thinned({}, 25, 100)
    {'thinned': '25 of 100 points, an even sample of the map: 25 %'}
    """
    share = f"{100 * kept / max(total, 1):.3g} %"
    words = f"{kept:,} of {total:,} points, an even sample of the map: {share}"
    return {**statement, "thinned": words}


def room_for(statement: Statement, total: int, most_bytes: int) -> int:
    """Bytes that are left for points, whatever share of them will be kept."""
    longest = say_thinned(statement, total, total)
    longest["thinned"] += " " * 8  # 100 % is a short number
    return most_bytes - sum(map(len, collection([b""], longest)))


def refuse_size(most_bytes: int) -> None:
    raise BadInputError(
        f"Not even one point fits into {most_bytes:,} bytes beside the privacy statement: allow at "
        "least a few thousand bytes."
    )
