"""Whether a public area was drawn around the points themselves: its edges tell where they end.

Nothing of this leaves: the outermost coordinates are known while points are counted, and serve
only to refuse an area before anything is debited or drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple

import numpy as np

from ..frame.area import wrap_box
from ..frame.host import LONLAT, Bounds
from ..frame.rings import box_ring

Array = np.ndarray

#: of a side: edges nearer than this to the outermost points are looked at
_NEAR = 2e-3
#: of a side: edges nearer than this are at the outermost points
_EXACT = 1e-9
#: An edge that cuts through points lies about as far from the first of them as that from the
#: next: the one is t times nearer with chance 1/(1 + t), on all four sides once in 10^6.
_NEARER = 32
#: numbers are not told apart by more digits than these
_DIGITS = 7
#: pieces of an edge when others move a box to another CRS: pyproj's and geopandas's default
_PIECES = 22
#: relative; four margins of an honest box are so alike once in 10^8
_ALIKE = 1e-3
#: margins of fewer steps of the last digit are alike more often than that
_STEPS = 1000


@dataclass(frozen=True, repr=False)
class Extent:
    """The two smallest and the two largest values of x and of y, each value once, in order."""

    x: Array
    y: Array

    @classmethod
    def of(cls, x: Array, y: Array) -> Extent:
        """
        >>> Extent.of(np.array([3.0, 1.0, 1.0, 2.0, 7.0]), np.zeros(5)).x
        array([1., 2., 3., 7.])
        """
        return cls(_outermost(x), _outermost(y))

    def __or__(self, other: Extent) -> Extent:
        return Extent.of(np.append(self.x, other.x), np.append(self.y, other.y))

    @property
    def box(self) -> Bounds:
        """West, south, east, north."""
        x, y = self.x, self.y
        return float(x[0]), float(y[0]), float(x[-1]), float(y[-1])

    @property
    def second(self) -> Bounds:
        """The next values behind those of the box."""
        x, y = self.x, self.y
        return float(x[:2][-1]), float(y[:2][-1]), float(x[-2:][0]), float(y[-2:][0])


@np.errstate(all="ignore")  # a warning of numpy would tell that a point is far away
def _outermost(values: Array) -> Array:
    if not values.size:
        return values
    low, high = values.min(), values.max()
    # what differs by less went to another CRS and back
    blur = _EXACT * (high - low)
    inner = values[(values > low + blur) & (values < high - blur)]
    ends = [low, high] if not inner.size else [low, inner.min(), inner.max(), high]
    return np.unique(ends)


@dataclass(frozen=True, repr=False)
class Extents:
    """How far points reach in their own CRS, and in that of the area."""

    own: Extent
    there: Extent
    crs: Any

    @classmethod
    def of(cls, x: Array, y: Array, crs: Any, there: Optional[Tuple[Array, Array]]) -> Extents:
        """Of points in ``crs``; ``there`` they are in the CRS of the area, if it is another."""
        own = Extent.of(x, y)
        return cls(own, own if there is None else Extent.of(*there), crs)

    def __or__(self, other: Optional[Extents]) -> Extents:
        if other is None:
            return self
        own = self.own | other.own
        same = self.own is self.there and other.own is other.there
        there = own if same else self.there | other.there
        return Extents(own, there, self.crs)

    @np.errstate(all="ignore")
    def shown_by(self, area: Any) -> bool:
        """Whether an area has the bounds of the points, in its CRS or in theirs."""
        return drawn_around(area, self.there) or self._is_their_box(area)

    def _is_their_box(self, area: Any) -> bool:
        """Whether it is their box as a polygon, by its corners or with edges cut before."""
        if self.own is self.there or _exact(area, self.there.box).all():
            return False  # that was a matter of the other rule
        for pieces in (1, _PIECES):
            ring = box_ring(*self.own.box, pieces=pieces)
            x, y = area.host.transform(ring[:, 0], ring[:, 1], self.crs, area.crs)
            if _exact(area, (x.min(), y.min(), x.max(), y.max())).all():
                return True
        return False


def drawn_around(area: Any, extent: Extent) -> bool:
    """Whether all four edges of an area are those of the points, or those moved a little.

    ``area`` has bounds, a CRS and a host. Refused are the same box; the same box with one margin
    on all sides, or one in proportion; and the same box rounded, if every edge is far nearer to
    the outermost point than that one to the next. An honest box does not know where the points
    end: also if it cuts through dense points, these are rarer than one in a million. Points that
    are known on a finer scale than the edges of the box, and still end there on all four sides,
    were cut off at a public box, or moved to it.
    """
    if _is_one_of_them(area, extent):
        return True
    edges = np.array(area.bounds)
    outer, inner = (np.array(_bounds(area, box)) for box in (extent.box, extent.second))
    side = _sides(edges)
    gap = (outer - edges) * [1, 1, -1, -1]
    share = gap / side
    finest = side.max() * 10.0**-_DIGITS
    digits = _decimals(edges, finest)
    as_fine = digits >= _decimals(inner, finest)
    alike = any(np.abs(g - g.mean()).max() <= _ALIKE * abs(g.mean()) for g in (gap, share))
    if not (np.abs(share) <= _NEAR).all():
        return bool(alike and as_fine and np.abs(gap).min() >= _STEPS * 10.0**-digits)
    exact = _exact(area, extent.box)
    nearer = bool((exact | (np.abs(gap) * _NEARER <= np.abs(inner - outer))).all())
    if nearer and exact.sum() <= 1:
        return True
    return (nearer or alike) and as_fine


def _is_one_of_them(area: Any, extent: Extent) -> bool:
    """Whether a single edge is an outermost coordinate to its last digit, and nobody's invention.

    Two numbers of sixteen digits are not equal by chance. One that is short in degrees is the end
    of the world, or of a public box, in another CRS.
    """
    edges = np.array(area.bounds)
    there = np.abs(np.array(_bounds(area, extent.box)) - edges) <= 4 * np.spacing(np.abs(edges))
    west, south, east, north = edges
    middles = (west + east) / 2, (south + north) / 2
    for at in np.flatnonzero(there):
        if _is_short(edges[at], _sides(edges)[at]):
            continue
        if area.host.is_geographic(area.crs):
            return True
        x, y = (edges[at] if at % 2 == axis else middles[axis] for axis in (0, 1))
        lonlat = area.host.crs_of(LONLAT)
        degrees = area.host.transform(np.array([x]), np.array([y]), area.crs, lonlat)[at % 2][0]
        if not abs(degrees - np.round(degrees, 3)) <= _EXACT:
            return True
    return False


def _is_short(value: float, side: float) -> bool:
    """Whether a number has no digits below a billionth of a side.

    >>> _is_short(13.0883450, 0.5), _is_short(13.238471293847, 0.5)
    (True, False)
    """
    blur = 4 * np.spacing(abs(value))
    digits = range(-9, int(np.ceil(9 - np.log10(side))))
    return any(bool(abs(value - np.rint(value * 10.0**d) / 10.0**d) <= blur) for d in digits)


def _exact(area: Any, box: Bounds) -> Array:
    """Which of the edges of a box are those of the area."""
    edges = np.array(area.bounds)
    return np.abs(np.array(_bounds(area, box)) - edges) <= _EXACT * _sides(edges)


def _bounds(area: Any, box: Bounds) -> Bounds:
    """A box as the bounds of the area are written."""
    return wrap_box(box) if area.host.is_geographic(area.crs) else box


def _sides(edges: Array) -> Array:
    width, height = edges[2:] - edges[:2]
    width += 360 * (width < 0)  # across the antimeridian
    return np.array([width, height, width, height])


def _decimals(values: Array, finest: float) -> int:
    """Digits behind the point that are needed to write the values, if steps of ``finest`` will do.

    >>> _decimals(np.array([40.5, 41.25]), 1e-7), _decimals(np.array([300.0, 2000.0]), 0.1)
    (2, -2)
    """
    most = int(np.ceil(-np.log10(finest)))
    for digits in range(most - _DIGITS, most):
        rounded = np.rint(values * 10.0**digits) / 10.0**digits
        if (np.abs(values - rounded) <= finest / 100).all():
            return digits
    return most
