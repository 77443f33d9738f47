"""Public polygons of files; of the two kinds that most cities have, read at once.

pyogrio loads geopandas and pandas, which take longer than a whole plan. GeoJSON needs shapely
alone, and a GeoPackage is a database that Python reads by itself. Whatever is unusual in such a
file is left to GDAL.
"""

from __future__ import annotations

import os
import re
import sqlite3
import warnings
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
import shapely

from ..core.errors import BadInputError
from .layers import choose_layer, pick_layer, split_layer

#: bytes before the well-known binary, by the kind of bounding box in the flags (GeoPackage 2.1.3)
_ENVELOPE = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}
_LAYERS = (
    "select c.table_name, coalesce(g.geometry_type_name, ''), g.column_name, s.organization, "
    "s.organization_coordsys_id from gpkg_contents c "
    "left join gpkg_geometry_columns g on g.table_name = c.table_name "
    "left join gpkg_spatial_ref_sys s on s.srs_id = g.srs_id order by c.rowid"
)
#: as GDAL writes longitudes and latitudes; a file in another system is GDAL's to read
_LONLAT = re.compile(
    r'"crs"\s*:\s*\{\s*"type"\s*:\s*"name"\s*,\s*"properties"\s*:\s*'
    r'\{\s*"name"\s*:\s*"urn:ogc:def:crs:OGC:1.3:CRS84"'
)


@dataclass(frozen=True)
class Shapes:
    """Geometries with a CRS, as a GeoSeries has them, without the time to load geopandas."""

    array: Any
    crs: Any

    @property
    def geometry(self) -> Shapes:
        return self


def read_polygons(path: str, layer: Optional[str] = None) -> Any:
    """The geometries of a file of public polygons and their CRS; GeoParquet needs geopandas."""
    bare, layer = split_layer(path, layer)
    if bare.lower().endswith("parquet"):
        return read_frame(path, layer)

    def read() -> Any:
        found = read_quickly(bare, layer)
        if found is not None:
            return found
        import pyogrio.raw

        meta, _, shapes, _ = pyogrio.raw.read(
            bare, layer=pick_layer(bare, layer, "Polygon"), columns=[]
        )
        return Shapes(shapely.from_wkb(shapes), meta["crs"])

    return _explain_failure(bare, read)


def read_frame(path: str, layer: Optional[str] = None) -> Any:
    """A file of public polygons as a GeoDataFrame."""
    bare, layer = split_layer(path, layer)

    def read() -> Any:
        import geopandas

        if not bare.lower().endswith("parquet"):
            return geopandas.read_file(bare, layer=pick_layer(bare, layer, "Polygon"))
        if layer is not None:
            raise BadInputError(f"{os.path.basename(bare)} has no layers: name none.")
        return geopandas.read_parquet(bare)

    return _explain_failure(bare, read)


def read_quickly(path: str, layer: Optional[str]) -> Optional[Shapes]:
    """The geometries of a GeoJSON file or of a layer of a GeoPackage; None where GDAL should."""
    ending = Path(path).suffix.lower()
    if not Path(path).is_file() or ending not in (".geojson", ".json", ".gpkg"):
        return None
    try:
        if ending == ".gpkg":
            return _read_geopackage(path, layer)
        return _read_geojson(Path(path).read_text("utf-8")) if layer is None else None
    except (sqlite3.Error, shapely.errors.ShapelyError, UnicodeDecodeError):
        return None


def _read_geojson(text: str) -> Optional[Shapes]:
    if text.count('"crs"') != len(_LONLAT.findall(text)):
        return None
    return Shapes(shapely.get_parts(shapely.from_geojson(text)), "EPSG:4326")


def _read_geopackage(path: str, layer: Optional[str]) -> Optional[Shapes]:
    address = Path(path).absolute().as_uri() + "?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as file:
        layers = {row[0]: row[1:] for row in file.execute(_LAYERS)}
        listed = [(name, str(kind)) for name, (kind, *_) in layers.items()]
        chosen = choose_layer(listed, path, layer, "Polygon")
        _, column, authority, code = layers[chosen]
        if column is None or str(authority).upper() != "EPSG":
            return None
        table, column = ('"{}"'.format(name.replace('"', '""')) for name in (chosen, column))
        rows = file.execute(f"select {column} from {table} where {column} is not null")
        found = [_well_known(blob) for (blob,) in rows]
    if None in found:
        return None
    return Shapes(shapely.from_wkb(np.array(found, object)), f"EPSG:{code}")


def _well_known(blob: bytes) -> Optional[bytes]:
    """The well-known binary in a geometry of a GeoPackage; None for an extended one."""
    box = (blob[3] >> 1) & 7
    if blob[:2] != b"GP" or blob[3] & 0x20 or box not in _ENVELOPE:
        return None
    return blob[8 + _ENVELOPE[box] :]


def _explain_failure(path: str, read: Any) -> Any:
    try:
        with warnings.catch_warnings():  # they name the path, and what may be secret in it
            warnings.simplefilter("ignore")
            return read()
    except BadInputError:
        raise
    except Exception as error:
        # these files are public, but a traceback of a reader library helps nobody
        reason = str(error).splitlines()[0] if str(error) else "it cannot be read"
        sentence = f"{path} cannot be read as polygons: {reason}"
    raise BadInputError(sentence)
