"""How wide the intervals of counts in zones will be, before anything is spent."""

from __future__ import annotations

from typing import Any, List

import geopandas as gpd
import numpy as np

from ...core.public.counts import count_within
from ...core.public.decode import decode
from ...core.rules.budget import EpsilonLike
from ..domain import Domain
from ..zones import zone_frame
from .rehearsal import rehearse

#: invented data sets of which the mean is taken
_REHEARSALS = 3


def expected_intervals(
    zones: Any, n: int, epsilon: EpsilonLike, domain: Domain, method: str, confidence: float = 0.9
) -> gpd.GeoDataFrame:
    """Zones with the mean count of invented points in each, and the half width of its interval.

    The invented points lie anywhere in the domain, clumped as real ones are; where a zone really
    holds many times as many, its interval will be wider.
    """
    frame, shapes = zone_frame(zones)
    rings = domain.zone_rings(shapes, frame.crs)
    expected: List[Any] = []
    half: List[Any] = []
    for seed in range(_REHEARSALS):
        decoded = decode(rehearse(domain.grid, n, epsilon, method, seed))
        estimate, low, high = count_within(decoded, rings, confidence)
        expected.append(estimate)
        half.append((high - low) / 2)
    return frame.assign(expected=np.mean(expected, axis=0), half_width=np.mean(half, axis=0))
