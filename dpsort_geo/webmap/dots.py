"""Points as dots on a page."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

import numpy as np

from .pack import pack, pack_amounts
from .sheet import Window

Array = np.ndarray
Layer = Dict[str, Any]

#: a page shows at most this many dots a layer; more cannot be told apart on a screen
MOST_DOTS = 200_000
#: and this many places of repeated points, found from at most so many points
MOST_PLACES = 60_000
MOST_COUNTED = 1 << 20


def dots_layer(
    name: str,
    u: Array,
    v: Array,
    window: Window,
    id: str = "dots",
    colour: Optional[str] = None,
    note: str = "",
    on: bool = True,
    total: Optional[int] = None,
    labels: Sequence[Array] = (),
) -> Layer:
    """Dots at places of the sheet; they may be an `even_sample` of ``total`` ones.

    >>> dots_layer("a", np.zeros(3), np.zeros(3), (0.0, 0.0, 1.0, 1.0), total=30)["note"]
    '3 of 30 shown.'
    """
    total = u.size if total is None else total
    if total > u.size:
        note = f"{note} {u.size:,} of {total:,} shown.".strip()
    return {
        "id": id, "name": name, "note": note, "on": on, "colour": colour, "total": total,
        **_places(u, v, window),
        "labels": [pack(each, "u16") for each in labels],
    }  # fmt: skip


def circles_layer(name: str, u: Array, v: Array, window: Window, total: int, **look: Any) -> Layer:
    """Points that repeat: one circle for all points of a place, by their number."""
    places, counts = np.unique(np.column_stack([u, v]), axis=0, return_counts=True)
    kept = _largest(counts, MOST_PLACES)
    layer = dots_layer(name, places[kept, 0], places[kept, 1], window, **look)
    return {**layer, "count": pack_amounts(counts[kept] * (total / max(counts.sum(), 1)))}


def _places(u: Array, v: Array, window: Window) -> Dict[str, Any]:
    left, top, right, bottom = window
    return {
        "window": list(window),
        "u": pack((u - left) / (right - left) * 65535, "u16"),
        "v": pack((v - top) / (bottom - top) * 65535, "u16"),
    }


def even_sample(n: int, most: int) -> Array:
    """Numbers of at most so many of n points; they come along the curve, so every k-th is even.

    >>> even_sample(3, 5), even_sample(10, 5)
    (array([0, 1, 2]), array([0, 2, 4, 6, 8]))
    """
    return np.arange(n) if n <= most else (np.arange(most) * (n / most)).astype(np.int64)


def _largest(counts: Array, most: int) -> Array:
    """Which places to show when there are too many: the largest, and evenly among equals."""
    if counts.size <= most:
        return np.arange(counts.size)
    limit = int(np.partition(counts, -most)[-most])
    above, equal = np.flatnonzero(counts > limit), np.flatnonzero(counts == limit)
    room = most - above.size
    chosen = equal[(np.arange(room) * (equal.size / max(room, 1))).astype(np.int64)]
    return np.sort(np.concatenate([above, chosen]))
