"""What and when on a page: the shares of slices, from which it makes the picture of each."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ..core.rules.time_axis import TimeAxis
from ..geo.domain import Domain
from .field import cells_at
from .pack import pack
from .regions import even_regions, most_regions, pack_regions, slice_answers
from .sheet import Sheet

Array = np.ndarray

#: shares are told on blocks of this level, or of a coarser one where there are many slices
_LEVEL = 6
_MOST_SHARES = 1_500_000
_PIXELS = 160
#: shares are packed as the square root of so many steps
_STEPS = 65535.0


def pack_slices(decoded: Any, domain: Domain, sheet: Sheet) -> Dict[str, Any]:
    """Axes, shares of slices on coarse blocks, and answers about them."""
    axes = decoded.release.axes
    level = min(_LEVEL, domain.grid.order)
    slices = sum(axis.size for axis in axes)
    while level > 2 and slices * np.count_nonzero(_cells(domain, level)) > _MOST_SHARES:
        level -= 1
    x, y, inside = sheet.pixels(_PIXELS)
    cell, known = cells_at(domain, level, x, y)
    kept, shares, joint, factor = block_shares(decoded, domain, level)
    number = np.zeros(4**level, np.int64)
    number[kept] = np.arange(kept.size) + 1
    regions = even_regions(domain, most_regions([axis.size for axis in axes]))
    answers = slice_answers(decoded, regions.blocks(), regions.level.size)
    return {
        "axes": [describe_axis(axis) for axis in axes],
        "size": list(cell.shape[::-1]),
        "window": list(sheet.window),
        "block": pack(np.where(inside & known, number[cell], 0), "u16"),
        "blocks": int(kept.size),
        "shares": [_pack_shares(each) for each in shares],
        "joint": [_pack_shares(each) for each in joint] if joint else None,
        "factor": None if factor is None else np.round(factor, 4).tolist(),
        "regions": pack_regions(regions, answers, sheet),
    }


def block_shares(
    decoded: Any, domain: Domain, level: int
) -> "Tuple[Array, List[Array], List[Array], Optional[Array]]":
    """Blocks of a level, and shares of slices there: a row a slice.

    With a table of category x time the joint share is a factor times two further shares.
    """
    kept = np.flatnonzero(_cells(domain, level))
    shares = [
        _on_blocks(decoded, decoded.axis_share(axis), kept, level)
        for axis in range(len(decoded.release.axes))
    ]
    table = decoded.table
    if table is None:
        return kept, shares, [], None
    factor, *parts = table
    return kept, shares, [_on_blocks(decoded, part, kept, level) for part in parts], factor


def _on_blocks(decoded: Any, share: Array, kept: Array, level: int) -> Array:
    """Shares on patches as shares on blocks; of several patches in a block, by their mass."""
    order, patches = decoded.grid.order, decoded.patches
    coarse = share[:, patches.holding(kept << 2 * (order - level))]
    fine = np.flatnonzero(patches.level > level)
    if fine.size:
        block = np.searchsorted(kept, patches.start[fine] >> 2 * (order - level))
        weight = decoded.patch_mass[fine] + 1e-9
        whole = np.bincount(block, weight, kept.size)
        some = whole > 0
        for row, own in enumerate(share[:, fine]):
            mean = np.bincount(block, own * weight, kept.size)
            coarse[row, some] = mean[some] / whole[some]
    return np.asarray(coarse)


def _cells(domain: Domain, level: int) -> Array:
    grid = domain.grid
    edge = np.arange(4**level + 1, dtype=np.int64) << 2 * (grid.order - level)
    return np.diff(grid.allowed_before(edge))


def _pack_shares(share: Array) -> Dict[str, Any]:
    most = max(float(share.max()), 1e-9)
    return {"most": most, "data": pack(np.sqrt(share / most) * _STEPS, "u16")}


def describe_axis(axis: Any) -> Dict[str, Any]:
    """An axis for the page."""
    is_time = isinstance(axis, TimeAxis)
    return {
        "name": axis.name,
        "time": is_time,
        "labels": list(axis.labels),
        "words": [time_words(axis, label) for label in axis.labels] if is_time else None,
    }


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def time_words(axis: TimeAxis, label: str) -> str:
    """A bin of time as people say it.

    >>> time_words(TimeAxis("when", "2026-01-01", "2027-01-01", "1 month"), "2026-03")
    'March 2026'
    """
    is_month = axis.cycle is None and axis.every == "1 month"
    return label_words(label) if is_month else label.replace("T", " ")


def label_words(label: str) -> str:
    """The name of a month, a day or an hour as people say it.

    >>> label_words("2026-03"), label_words("2026-03-02T05")
    ('March 2026', '2026-03-02 05')
    """
    if len(label) == 7 and label[4] == "-":
        year, month = label.split("-")
        return f"{_MONTHS[int(month) - 1]} {year}"
    return label.replace("T", " ")


def range_words(axis: TimeAxis) -> str:
    """From when to when, as people say it.

    >>> range_words(TimeAxis("when", "2026-01-01", "2027-01-01", "1 month"))
    'January to December 2026'
    """
    known = axis.labels[:-1] if axis.other else axis.labels
    first, last = time_words(axis, known[0]), time_words(axis, known[-1])
    if axis.cycle is not None:
        return f"by the {axis.every.split()[1]} of the {axis.cycle}"
    return span_words(first, last)


def span_words(first: str, last: str) -> str:
    """From one time to another; a year that is the same is said once.

    >>> span_words("January 2026", "March 2026"), span_words("2026", "2026")
    ('January to March 2026', '2026')
    """
    if first == last:
        return first
    if first[-5:] == last[-5:] and first[-5:-4] == " ":
        first = first[:-5]
    return f"{first} to {last}"
