"""Public tables with geometry, such as counts in zones, written with their privacy statement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import geopandas as gpd

from ..atomic import PathLike, replacing
from ..errors import BadInput
from .write import STATEMENT


def write_frame(path: PathLike, frame: gpd.GeoDataFrame, statement: dict[str, Any]) -> None:
    """Write a table as GeoPackage, GeoJSON (RFC 7946), GeoParquet or CSV, by the path's ending.

    The statement goes where the format has room for it; CSV has none.

    >>> import tempfile, shapely
    >>> from dpsort_geo.geo.write import read_statement
    >>> frame = gpd.GeoDataFrame({"n": [1]}, geometry=[shapely.box(0, 0, 1, 1)], crs="EPSG:4326")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_frame(Path(folder, "a.geojson"), frame, {"epsilon": "1"})
    ...     read_statement(Path(folder, "a.geojson"))
    {'epsilon': '1'}
    """
    writers: dict[str, Callable[..., None]] = {
        ".gpkg": _gpkg,
        ".geojson": _geojson,
        ".json": _geojson,
        ".parquet": _parquet,
        ".geoparquet": _parquet,
        ".csv": _csv,
    }
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise BadInput(f"{path} should end in one of {', '.join(sorted(writers))}.")
    with replacing(path) as part:
        writers[ending](part, Path(path).stem, frame, json.dumps(statement))


def _gpkg(part: Path, name: str, frame: gpd.GeoDataFrame, statement: str) -> None:
    frame.to_file(part, driver="GPKG", layer=name, layer_metadata={STATEMENT: statement})


def _geojson(part: Path, name: str, frame: gpd.GeoDataFrame, statement: str) -> None:
    frame.to_crs("EPSG:4326").to_file(part, driver="GeoJSON", RFC7946="YES", WRITE_NAME="NO")
    document = json.loads(part.read_text("utf-8"))
    marked = {"type": document["type"], STATEMENT: json.loads(statement), **document}
    part.write_text(json.dumps(marked, ensure_ascii=False), "utf-8")


def _parquet(part: Path, name: str, frame: gpd.GeoDataFrame, statement: str) -> None:
    from ._optional import need

    pq = need("pyarrow.parquet", "GeoParquet")
    frame.to_parquet(part)
    table = pq.read_table(part)
    metadata = {**(table.schema.metadata or {}), STATEMENT.encode(): statement.encode()}
    pq.write_table(table.replace_schema_metadata(metadata), part)


def _csv(part: Path, name: str, frame: gpd.GeoDataFrame, statement: str) -> None:
    frame.drop(columns=frame.geometry.name).to_csv(part, index=False)
