"""Whether a domain was drawn around the points themselves: its edges would tell where they end.

Nothing of this leaves: the outermost coordinates are known while points are counted, and serve
only to refuse a domain before anything is debited or drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ...core.errors import BadInputError
from ...core.frame.area import wrapped
from ...core.frame.host import Bounds
from ...core.frame.rings import box_ring
from ..crs import read_crs
from ..domain import Domain
from ..host import HOST
from .point_crs import same_crs

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
#: degrees that a CRS may be used beyond the area it was made for
_REACH = 20.0
#: relative; four margins of an honest box are so alike once in 10^9
_ALIKE = 1e-3

REFUSED = (
    "The domain has the bounds of the points themselves, and would tell where the outermost of "
    "them are: give an area that is known without them, such as a city's, from a map."
)


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
    """How far points reach in their own CRS, and in that of the domain."""

    own: Extent
    there: Extent
    crs: Any

    @classmethod
    def of(
        cls, x: Array, y: Array, crs: Any, domain: Domain, moved: tuple[Array, Array]
    ) -> Extents:
        """Of points in ``crs``, and ``moved`` to the working CRS of the domain."""
        own = Extent.of(x, y)
        if same_crs(crs, domain.crs):
            return cls(own, own, crs)
        if domain.crs != domain.working_crs:
            moved = HOST.transform(x, y, read_crs(crs), domain.crs)
        return cls(own, Extent.of(*moved), crs)

    def __or__(self, other: Optional[Extents]) -> Extents:
        if other is None:
            return self
        return Extents(self.own | other.own, self.there | other.there, self.crs)

    def check(self, domain: Domain) -> None:
        """Refuse a domain that has the bounds of the points, in its CRS or in theirs."""
        if drawn_around(domain, self.there) or self._is_their_box(domain):
            raise BadInputError(REFUSED)

    def _is_their_box(self, domain: Domain) -> bool:
        """Whether it is their box as a polygon, by its corners or with edges cut before."""
        if self.own is self.there or _exact(domain, self.there.box).all():
            return False  # that was a matter of the other rule
        for pieces in (1, _PIECES):
            ring = box_ring(*self.own.box, pieces=pieces)
            x, y = HOST.transform(ring[:, 0], ring[:, 1], read_crs(self.crs), domain.crs)
            if _exact(domain, (x.min(), y.min(), x.max(), y.max())).all():
                return True
        return False


def is_elsewhere(crs: Any, domain: Domain) -> bool:
    """Whether a projected CRS is for a part of the world far from the domain.

    By what is declared alone, before any point is read. A CRS reaches somewhat further than the
    area it was made for: points of a city are often in the next UTM zone.

    >>> city = Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326")
    >>> is_elsewhere(read_crs(27700), city), is_elsewhere(read_crs(32619), city)
    (True, False)
    """
    area = None if crs is None or crs.is_geographic else crs.area_of_use
    if area is None:
        return False
    west, south, east, north = domain.bounds
    ring = box_ring(west, south, east + 360 * (east < west), north, pieces=4)
    lon, lat = HOST.transform(ring[:, 0], ring[:, 1], domain.crs, read_crs(4326))
    if not (np.isfinite(lon).all() and np.isfinite(lat).all()):
        return False
    width = (area.east - area.west) % 360 or 360.0
    beyond = (lon - area.west + _REACH) % 360  # from a bit west of the area, eastwards
    return bool(
        (lat > area.north + _REACH).all()
        or (lat < area.south - _REACH).all()
        or (beyond > min(width + 2 * _REACH, 360)).all()
    )


def refuse_elsewhere(crs: Any, domain: Domain) -> None:
    """Refuse points that cannot lie in the domain, before anything is read or debited."""
    if is_elsewhere(crs, domain):
        raise BadInputError(
            "The CRS of the points is that of another part of the world than the domain, so that "
            "none of them can lie in it: check both CRS, and look at the points with check()."
        )


def drawn_around(domain: Domain, extent: Extent) -> bool:
    """Whether all four edges of a domain are those of the points, or those moved a little.

    Refused are the same box; the same box with one margin on all sides, of up to a five
    hundredth of its size, or one in proportion; and the same box rounded, if every edge is far
    nearer to the outermost point than that one to the next. An honest box does not know where
    the points end: also if it cuts through dense points, these are rarer than one in a million.
    Points that are known on a finer scale than the edges of the box, and still end there on all
    four sides, were cut off at a public box, or moved to it.
    """
    edges = np.array(domain.bounds)
    outer, inner = (np.array(_bounds(domain, box)) for box in (extent.box, extent.second))
    side = _sides(edges)
    gap = (outer - edges) * [1, 1, -1, -1]
    share = gap / side
    if not (np.abs(share) <= _NEAR).all():
        return False
    exact = _exact(domain, extent.box)
    alike = [np.abs(g - g.mean()).max() <= _ALIKE * abs(g.mean()) for g in (gap, share)]
    nearer = bool((exact | (np.abs(gap) * _NEARER <= np.abs(inner - outer))).all())
    if nearer and exact.sum() <= 1:
        return True
    finest = side.max() * 10.0**-_DIGITS
    return (nearer or any(alike)) and _decimals(edges, finest) >= _decimals(inner, finest)


def _exact(domain: Domain, box: Bounds) -> Array:
    """Which of the edges of a box are those of the domain."""
    edges = np.array(domain.bounds)
    return np.abs(np.array(_bounds(domain, box)) - edges) <= _EXACT * _sides(edges)


def _bounds(domain: Domain, box: Bounds) -> Bounds:
    """A box as the bounds of the domain are written."""
    return wrapped(box) if domain.crs.is_geographic else box


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
