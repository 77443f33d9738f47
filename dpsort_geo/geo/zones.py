"""Public zones as people have them: a table of polygons with a CRS."""

from __future__ import annotations

from typing import Any, List, Union

import geopandas as gpd
import numpy as np
import shapely

from ..core.errors import BadInputError

#: polygons to count in
Zones = Union[gpd.GeoDataFrame, gpd.GeoSeries]


def zone_frame(zones: Zones) -> "tuple[gpd.GeoDataFrame, List[Any]]":
    """A table of polygons, and the polygons; anything else is refused."""
    if isinstance(zones, gpd.GeoSeries):
        frame = gpd.GeoDataFrame(geometry=zones)
    elif isinstance(zones, gpd.GeoDataFrame):
        frame = zones
    else:
        raise BadInputError("Zones must be a GeoDataFrame or a GeoSeries of polygons.")
    try:
        crs, shapes = frame.crs, np.asarray(frame.geometry.array, object)
    except AttributeError:
        raise BadInputError(
            "The zones have no geometry column: name it with set_geometry()."
        ) from None
    if crs is None:
        raise BadInputError("The zones have no CRS: say which one it is with set_crs().")
    if not np.isin(shapely.get_type_id(shapes), (3, 6)).all():
        raise BadInputError(
            "Zones must be polygons; null geometries, lines and points have no inside."
        )
    return frame, [shapely.force_2d(shape) for shape in shapes]
