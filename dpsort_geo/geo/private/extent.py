"""Whether a domain was drawn around the points themselves, or far away from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import BadInputError
from ...core.frame.rings import box_ring
from ...core.private.extent import Extents
from ..crs import read_crs
from ..domain import Domain
from ..host import HOST
from .point_crs import same_crs

Array = np.ndarray

#: degrees that a CRS may be used beyond the area it was made for
_REACH = 20.0

REFUSED = (
    "The domain has the bounds of the points themselves, and would tell where the outermost of "
    "them are: give an area that is known without them, such as a city's, from a map."
)


def see_extents(
    x: Array, y: Array, crs: Any, domain: Domain, moved: tuple[Array, Array]
) -> Extents:
    """How far points in ``crs`` reach, which are ``moved`` in the working CRS of the domain."""
    if same_crs(crs, domain.crs):
        return Extents.of(x, y, crs, None)
    if domain.crs != domain.working_crs:
        moved = HOST.transform(x, y, read_crs(crs), domain.crs)
    return Extents.of(x, y, read_crs(crs), moved)


def refuse_shown(extents: Extents, domain: Domain) -> None:
    """Refuse a domain that has the bounds of the points, in its CRS or in theirs."""
    if extents.shown_by(domain):
        raise BadInputError(REFUSED)


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
