"""Density pictures: the mass in each pixel of a raster, made only for the picture asked for."""

from __future__ import annotations

import numpy as np

from ..curve import hilbert
from ..curve.blocks import Blocks, lay_out, pixel_area
from ..errors import BadInputError
from .coverage import cover_leaves
from .decode import Decoded
from .leaves import Leaves

Array = np.ndarray

#: a picture has at most this many pixels a side
MAX_LEVEL = 12
#: up to this level leaves are smoothed into each other on the raster itself
SMOOTH_LEVEL = 10
ROUNDS = 100
#: pixels of a fine picture worked on at a time
_CHUNK = 1 << 18


def raster(decoded: Decoded, level: int) -> Array:
    """Mass in each of 2^level x 2^level pixels; row 0 is the south, column 0 the west."""
    if not 1 <= level <= min(decoded.grid.order, MAX_LEVEL):
        raise BadInputError(f"The picture's level must lie between 1 and {MAX_LEVEL}.")
    return decoded.raster(level)


def raster_of_leaves(leaves: Leaves, level: int) -> Array:
    """Mass in each pixel, for leaves; on fine pictures smoothing would take minutes."""
    return _smooth(leaves, level) if level <= SMOOTH_LEVEL else _lean(leaves, level)


def _lean(leaves: Leaves, level: int) -> Array:
    """The density inside each leaf leans towards its neighbours, see `parabola`."""
    index = np.arange(4**level, dtype=np.int64)
    mass, whole = np.empty(index.size), np.ones(_CHUNK)
    for first in range(0, index.size, _CHUNK):
        some = index[first : first + _CHUNK]
        pixel = np.arange(some.size)
        blocks = Blocks(pixel, np.full(some.size, level), some, whole[: some.size])
        covered = cover_leaves(leaves, blocks, some.size)
        part = leaves.mass[covered.leaf] * covered.mass
        mass[first : first + _CHUNK] = np.bincount(covered.zone, part, some.size)
    return lay_out(mass, level)


def _smooth(leaves: Leaves, level: int, rounds: int = ROUNDS) -> Array:
    """Tobler's pycnophylactic smoothing: leaves larger than a pixel blend, each keeps its mass."""
    zone = _zones(leaves, level)
    area = pixel_area(leaves.grid, level)
    count = int(zone.max()) + 1
    total = _zone_masses(leaves, zone, level, count)
    flat_zone, flat_area = zone.reshape(-1), area.reshape(-1)
    zone_area = np.bincount(flat_zone, flat_area, count)
    per_area = total / np.where(zone_area > 0, zone_area, 1.0)
    inside = (area > 0).astype(np.float64)
    value = per_area[zone] * inside  # density per allowed pixel
    single = (np.bincount(flat_zone, minlength=count) == 1)[zone]
    if single.all():
        return value * area
    # the pixel itself counts too: a leaf with none but empty neighbours must not vanish
    weight = inside / (1 + _around(inside))
    for _ in range(rounds):
        mean = _around(value)
        mean += value
        mean *= weight
        np.copyto(mean, value, where=single)
        have = np.bincount(flat_zone, (mean * area).reshape(-1), count)
        mean *= (total / np.where(have > 0, have, np.inf))[zone]
        value = mean
    return value * area


def _around(picture: Array) -> Array:
    total = np.empty_like(picture)
    total[:1] = 0.0
    total[1:] = picture[:-1]
    total[:-1] += picture[1:]
    total[:, 1:] += picture[:, :-1]
    total[:, :-1] += picture[:, 1:]
    return total


def _zones(leaves: Leaves, level: int) -> Array:
    """Number of the leaf that covers each pixel; a pixel of several leaves is its own zone."""
    index = np.arange(4**level, dtype=np.int64)
    start = leaves.index << 2 * (leaves.grid.order - leaves.level)
    pixel = index << 2 * (leaves.grid.order - level)
    leaf = np.searchsorted(start, pixel, side="right") - 1
    coarse = (leaf >= 0) & (leaves.level[leaf] < level)
    coarse &= pixel < start[leaf] + (np.int64(1) << 2 * (leaves.grid.order - leaves.level[leaf]))
    zone = np.where(coarse, leaf, leaves.level.size + index)
    _, dense = np.unique(zone, return_inverse=True)
    return lay_out(dense.reshape(-1), level)


def _zone_masses(leaves: Leaves, zone: Array, level: int, count: int) -> Array:
    """Mass of each zone, from the leaves in it."""
    shift = leaves.level - level
    pixel = np.where(shift >= 0, leaves.index >> 2 * np.maximum(shift, 0), 0)
    pixel = np.where(shift < 0, leaves.index << 2 * np.maximum(-shift, 0), pixel)
    i, j = hilbert.decode(pixel, level)
    return np.bincount(zone[j, i], leaves.mass, count)
