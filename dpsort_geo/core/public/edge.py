"""Whether a release looks as if its points were put in the wrong place.

Points in another CRS, or with x and y swapped, are moved to the nearest allowed cells, in silence:
how many there were is private. But the release itself shows everybody where the mass went.
"""

from __future__ import annotations

import math

import numpy as np

from ..accuracy import expected_error, terms_of
from ..curve.blocks import pixel_area
from .decode import Decoded
from .density import raster

#: pixels along the outline are the edge of a domain: of this level, or as wide as the error to
#: expect, beyond which the noise carries points from the edge
_LEVEL = 8
#: share of the domain that an edge may have to be called so
_WIDEST = 0.25
#: n epsilon from which on a release shows more than noise
_CLEAR = 100

AT_EDGE = (
    "Most of the published points lie at the edge of the domain; check that the points are "
    "in the CRS that they say, with x and y in the right order."
)


def crowds_edge(decoded: Decoded) -> bool:
    """Tell whether more than half of the published points lie along the edge of the domain.

    >>> from dpsort_geo.core.curve.grid import Grid
    >>> from dpsort_geo.core.private.adaptive import publish
    >>> from dpsort_geo.core.private.cells import count_cells
    >>> from dpsort_geo.core.public.decode import decode
    >>> swapped = count_cells(Grid(0.0, 0.0, 1.0, 8), np.full(5000, 999.0), np.full(5000, 77.0))
    >>> crowds_edge(decode(publish(swapped, epsilon=1)))
    True
    """
    release = decoded.release
    if decoded.n * release.exact_epsilon < _CLEAR:
        return False
    error = expected_error(decoded.n, *terms_of(release, 1.0))
    level = max(1, min(_LEVEL, decoded.grid.order, math.floor(-math.log2(error))))
    area = pixel_area(decoded.grid, level)
    allowed = np.pad(area > 0, 1)
    inner = allowed.copy()
    for axis in (0, 1):
        inner &= np.roll(allowed, 1, axis) & np.roll(allowed, -1, axis)
    edge = ~inner[1:-1, 1:-1]
    if area[edge].sum() > _WIDEST * area.sum():  # of a river, or a grid of few cells, all is edge
        return False
    return bool(raster(decoded, level)[edge].sum() > decoded.n / 2)
