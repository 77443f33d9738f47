"""Which columns of an Arrow table hold the points, and the points of a batch of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from pyproj import CRS

from ..errors import BadInput
from . import coordinates

Array = np.ndarray

_GEOMETRY_NAMES = ("geometry", "geom", "wkb_geometry", "the_geom", "wkb", "shape")


@dataclass(frozen=True)
class Layout:
    """A geometry column or two columns of numbers, their CRS, and the person column."""

    geometry: Optional[str] = None
    xy: Optional[tuple[str, str]] = None
    crs: Optional[CRS] = None
    person: Optional[str] = None

    @property
    def names(self) -> list[str]:
        """The columns to read, each once."""
        places = (self.geometry,) if self.xy is None else self.xy
        return list(dict.fromkeys(name for name in (*places, self.person) if name is not None))


def layout(
    schema: Any, columns: Optional[tuple[str, str]] = None, person: Optional[str] = None
) -> Layout:
    """Find the points in an Arrow schema: as told, by metadata, or by name.

    >>> import pyarrow as pa
    >>> layout(pa.schema([("id", pa.int64()), ("x", pa.float64()), ("y", pa.float64())])).xy
    ('x', 'y')
    """
    for name in (*(columns or ()), *([person] if person else [])):
        if schema.get_field_index(name) < 0:
            raise BadInput(f"The input needs exactly one column named {name!r}.")
    if columns is not None:
        x, y = columns
        return Layout(xy=(x, y), crs=coordinates.pair_crs(x, y), person=person)
    found = _geoparquet(schema) or _extension(schema) or _by_name(schema)
    if found is not None:
        return Layout(geometry=found[0], crs=found[1], person=person)
    x, y = coordinates.pair(schema.names)
    return Layout(xy=(x, y), crs=coordinates.pair_crs(x, y), person=person)


def points_of(batch: Any, chosen: Layout) -> tuple[Array, Array, Optional[Array]]:
    """Coordinates and persons of a record batch."""
    who = None if chosen.person is None else _persons(batch.column(chosen.person), chosen.person)
    if chosen.xy is not None:
        x, y = (batch.column(name) for name in chosen.xy)
        return (*coordinates.from_arrow_numbers(x, y), who)
    return (*coordinates.from_arrow(batch.column(chosen.geometry)), who)


def _persons(column: Any, name: str) -> Array:
    if column.null_count:
        raise BadInput(f"Every point must have a value in the person column {name!r}.")
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _geoparquet(schema: Any) -> Optional[tuple[str, Optional[CRS]]]:
    try:
        geo = json.loads((schema.metadata or {}).get(b"geo", b"null"))
        if geo is None:
            return None
        name = geo["primary_column"]
        column = geo["columns"][name]
        kinds = {kind.split(" ")[0] for kind in column.get("geometry_types", [])}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            "The GeoParquet metadata cannot be understood; write the file anew."
        ) from None
    if kinds and "Point" not in kinds:
        multi = "MultiPoint" in kinds
        raise BadInput(coordinates.MULTIPOINT if multi else coordinates.NOT_POINTS)
    # the standard: no crs member means longitude and latitude, null means unknown
    return name, coordinates.parse_crs(column.get("crs", "OGC:CRS84"))


def _extension(schema: Any) -> Optional[tuple[str, Optional[CRS]]]:
    for field in schema:
        metadata = field.metadata or {}
        name = metadata.get(b"ARROW:extension:name", b"").decode()
        extra = metadata.get(b"ARROW:extension:metadata")
        if hasattr(field.type, "extension_name"):
            name = field.type.extension_name
            extra = field.type.__arrow_ext_serialize__()
        if name in ("geoarrow.wkb", "ogc.wkb", "geoarrow.point"):
            return field.name, coordinates.extension_crs(extra)
        if name == "geoarrow.multipoint":
            raise BadInput(coordinates.MULTIPOINT)
        if name.startswith("geoarrow."):
            raise BadInput(coordinates.NOT_POINTS)
    return None


def _by_name(schema: Any) -> Optional[tuple[str, Optional[CRS]]]:
    for field in schema:
        if field.name.lower() in _GEOMETRY_NAMES and str(field.type) not in ("string", "double"):
            return field.name, None
    return None
