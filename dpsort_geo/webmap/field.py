"""The density as the page shows it: as smooth as the noise in the release asks for, and no more.

At each place the picture is averaged over the smallest surroundings that hold enough points for
the noise to be small beside them. So a centre is sharp, a village is a soft spot, and empty land
has no holes and no specks that only noise has made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

import numpy as np

from ..core.curve import hilbert
from ..core.curve.blocks import pixel_area
from ..core.public.decode import Decoded
from ..core.public.density import raster
from ..geo.domain import Domain
from .pack import pack
from .sheet import Sheet

Array = np.ndarray

_LEVEL = 9
#: pixels of the picture along its longer side
_PIXELS = 640
#: the surroundings of a place hold at least so many points, and so many more for each 1 / epsilon
_ENOUGH, _ENOUGH_NOISE = 15.0, 25.0
#: the widest surroundings are 2^this times the narrowest
_WIDEST = 6
#: bytes are this root of the density: few steps in the dark, many in the light
_ROOT = 3
#: the colours end at this share of the area that is not empty
_CAP = 0.99
#: of the cap: less is taken for empty when the cap is looked for
_EMPTY = 1e-3


@dataclass(frozen=True, eq=False)
class Field:
    """Points per square kilometre on the pixels of the grid; row 0 is the south."""

    domain: Domain
    level: int
    density: Array
    share: Array

    def at(self, x: Array, y: Array) -> Array:
        """The density at places of the working CRS, linear between pixels; 0 outside."""
        return sample(self.domain, self.density, self.share > 0, x, y)


def smooth_density(decoded: Decoded, domain: Domain, rate: float, error: float) -> Field:
    """The density, smoothed at each place as far as ``rate`` (epsilon) asks.

    ``error`` is how far points are off, in metres: less than half of it is never told apart.
    """
    grid = domain.grid
    level = min(grid.order, _LEVEL)
    share = pixel_area(grid, level)
    pixel = grid.side / 2**level
    middle = (np.arange(2**level) + 0.5) * pixel
    square = domain.square_metres(grid.x0 + middle, grid.y0 + middle)
    area = share * square * (pixel / 1000) ** 2
    mass = raster(decoded, level)
    least = max(0.5, 0.5 * error / (pixel * domain.metres)) if np.isfinite(error) else 0.5
    return Field(domain, level, _smooth(mass, area, least, _ENOUGH + _ENOUGH_NOISE / rate), share)


def _smooth(mass: Array, area: Array, least: float, enough: float) -> Array:
    """Mass over area; what lies in a pixel is spread over its least surroundings with enough mass.

    All mass is kept: a crowd is not seen in the empty land beside it.
    """
    widths = np.minimum(least * 2.0 ** np.arange(_WIDEST + 1), mass.shape[0] / 8).tolist()
    needed = np.full(mass.shape, float(_WIDEST))
    before, found = np.zeros_like(mass), mass <= 0
    for step, width in enumerate(widths):
        held = blur(mass, width) * 4 * np.pi * max(width, 0.5) ** 2
        new = (held >= enough) & ~found
        # between two widths, as far as is needed
        part = (enough - before[new]) / np.maximum(held[new] - before[new], 1e-12)
        needed[new] = max(step - 1, 0) + (np.clip(part, 0, 1) if step else 0.0)
        before, found = held, found | new
        if found.all():
            break
    density = np.zeros_like(mass)
    for step, width in enumerate(widths):
        own = mass * np.clip(1 - np.abs(needed - step), 0, 1)
        if own.any():
            density += blur(own / np.maximum(blur(area, width), 1e-12), width)
    inside = (area > 0).astype(np.float64)
    even = blur(density * inside, least) / np.maximum(blur(inside, least), 1e-12)
    return np.asarray(even * inside)


def blur(picture: Array, width: float) -> Array:
    """A picture averaged with a bell of so many pixels: three boxes, one after the other.

    >>> blur(np.eye(1, 9, 4), 1.0).round(2).tolist()[0][3:6]
    [0.23, 0.29, 0.23]
    """
    half = (np.sqrt(4 * width**2 + 1) - 1) / 2  # three boxes of 2 half + 1 have this deviation
    for _ in range(3):
        for axis in (0, 1):
            if picture.shape[axis] > 1:
                picture = _box(picture, half, axis)
    return picture


def _box(picture: Array, half: float, axis: int) -> Array:
    whole, part = int(half), half - int(half)
    size, reach = picture.shape[axis], int(half) + 2
    total = np.zeros(
        [long + 2 * reach if each == axis else long for each, long in enumerate(picture.shape)]
    )
    along = np.swapaxes(total, 0, axis)
    np.cumsum(np.swapaxes(picture, 0, axis), axis=0, out=along[reach : reach + size])
    along[reach + size :] = along[reach + size - 1]

    def upto(offset: int) -> Array:
        return along[reach + offset : reach + offset + size]

    inner = upto(whole) - upto(-whole - 1)
    if part:
        inner += part * (upto(whole + 1) - upto(-whole - 2) - inner)
    inner /= 2 * half + 1
    return np.swapaxes(inner, 0, axis)


def sample(domain: Domain, values: Array, inside: Array, x: Array, y: Array) -> Array:
    """Values of a square picture at places of the working CRS, linear between pixels."""
    grid, last = domain.grid, len(values) - 1
    pixel = grid.side / len(values)
    known = np.isfinite(x) & np.isfinite(y)
    u = np.where(known, (x - grid.x0) / pixel - 0.5, -9.0)
    v = np.where(known, (y - grid.y0) / pixel - 0.5, -9.0)
    i, j = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
    total, weight = np.zeros(x.shape), np.zeros(x.shape)
    for di in (0, 1):
        for dj in (0, 1):
            column, row = np.clip(i + di, 0, last), np.clip(j + dj, 0, last)
            part = np.abs(1 - di - (u - i)) * np.abs(1 - dj - (v - j)) * inside[row, column]
            total += part * values[row, column]
            weight += part
    near = (u > -1) & (v > -1) & (u < last + 1) & (v < last + 1)
    return np.where(near & (weight > 0), total / np.maximum(weight, 1e-9), 0.0)


def pack_field(field: Field, sheet: Sheet) -> Dict[str, Any]:
    """The picture for the page: bytes on the sheet's pixels, and where the colours end."""
    x, y, inside = sheet.pixels(min(_PIXELS, 2 ** (field.level + 1)))
    values = field.at(x, y) * inside
    highest = float(values.max()) or 1.0
    cap = top_of(values)
    return {
        "size": list(values.shape[::-1]),
        "window": list(sheet.window),
        "highest": highest,
        "root": _ROOT,
        "cap": cap,
        "data": pack(255 * (values / highest) ** (1 / _ROOT)),
    }


def top_of(values: Array) -> float:
    """Where the colours end: at the 99th percentile of what is not empty.

    >>> top_of(np.append(np.zeros(900), np.arange(1.0, 101.0)))
    99.01
    """
    some = values[values > _EMPTY * values.max()] if values.size else values
    return float(np.quantile(some, _CAP)) if some.size else 1.0


def cells_at(domain: Domain, level: int, x: Array, y: Array) -> Tuple[Array, Array]:
    """Curve indices, at a level, of places in the working CRS; and whether they are in the grid."""
    grid = domain.grid
    known = np.isfinite(x) & np.isfinite(y)
    size = grid.side / 2**level
    column = np.floor(np.where(known, (x - grid.x0) / size, -1)).astype(np.int64)
    row = np.floor(np.where(known, (y - grid.y0) / size, -1)).astype(np.int64)
    last = 2**level - 1
    inside = (column >= 0) & (row >= 0) & (column <= last) & (row <= last)
    flat = hilbert.encode(
        np.clip(column, 0, last).reshape(-1), np.clip(row, 0, last).reshape(-1), level
    )
    return np.asarray(flat).reshape(x.shape), inside


def area_unit(cap: float) -> Dict[str, Any]:
    """The area for which amounts are told, so that they are neither 0.0003 nor millions.

    >>> area_unit(0.004)["text"], area_unit(120.0)["text"]
    ('per 10,000 km²', 'per km²')
    """
    sizes: List[float] = [1, 100, 1e4, 1e6]
    size = next((each for each in sizes if cap * each >= 5), 1e6)
    text = "per km²" if size == 1 else "per million km²" if size == 1e6 else f"per {size:,.0f} km²"
    return {"km2": size, "text": text}
