"""How wide the intervals of counts in zones will be, before anything is spent."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import geopandas as gpd
import numpy as np
import shapely

from ...core.curve.grid import Grid
from ...core.errors import BadInputError
from ...core.public.counts import count_within
from ...core.public.decode import decode
from ...core.public.within import inside_of
from ...core.rules.budget import EpsilonLike
from ..domain import Domain
from ..zones import zone_frame
from .rehearsal import rehearse

#: zones with this part of the domain or more are taken to hold all points
_GOOD_PART = 0.25
#: invented data sets of which the mean is taken
_REHEARSALS = 3


def expected_intervals(
    zones: Any, n: int, epsilon: EpsilonLike, domain: Domain, method: str, confidence: float = 0.9
) -> gpd.GeoDataFrame:
    """Zones with the mean count of invented points in each, and the half width of its interval.

    The invented points lie anywhere in the domain, clumped as real ones are; where a zone really
    holds many times as many, its interval will be wider. Zones that make up a good part of the
    domain, such as the districts of a city in a box around it, are taken to hold all of them.
    """
    frame, shapes = zone_frame(zones)
    rings = domain.zone_rings(shapes, frame.crs)
    inside = _ground_of(shapes, frame.crs, domain)
    expected: List[Any] = []
    half: List[Any] = []
    for seed in range(_REHEARSALS):
        decoded = decode(rehearse(domain.grid, n, epsilon, method, seed, inside))
        estimate, low, high = count_within(decoded, rings, confidence)
        expected.append(estimate)
        half.append((high - low) / 2)
    return frame.assign(expected=np.mean(expected, axis=0), half_width=np.mean(half, axis=0))


def _ground_of(shapes: Sequence[Any], crs: Any, domain: Domain) -> Optional[Grid]:
    """The cells that lie in one of the zones, if these are a good part of the domain."""
    grid = domain.grid
    (rings,) = domain.zone_rings([shapely.union_all(shapes)], crs)
    try:
        inside = inside_of(grid, rings)
    except BadInputError:  # no cell is in them, or cells are too fine for a boundary
        return None
    part = inside.n_cells / 4**inside.order / (grid.n_cells / 4**grid.order)
    return inside if part >= _GOOD_PART else None
