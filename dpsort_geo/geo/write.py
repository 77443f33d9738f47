"""Public points and tables to files, one writer a format, with the privacy statement inside.

Points come in chunks, so that memory does not grow with their number.

Every file is written under another name in the same folder and then moved into place: a reader
sees the old file or the new one, and nothing is left of one that failed.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np
from pyproj import CRS

from ..core.atomic import PathLike, replacing
from ..core.errors import BadInputError
from ._optional import need
from .chunks import Chunks, cut
from .geojson import CHUNK, collection, point_features
from .statement import STATEMENT, Statement

Array = np.ndarray

#: one plain point in little-endian well-known binary
WKB_POINT = np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")])
_ROWS_PER_GROUP = 1 << 18


def write_geojson(path: PathLike, chunks: Chunks, statement: Statement) -> None:
    """Write points as GeoJSON (RFC 7946), the statement as a foreign member.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.geojson")
    ...     write_geojson(file, [([-73.95], [40.7])], {"epsilon": "1"})
    ...     json.loads(file.read_text())["features"][0]["geometry"]["coordinates"]
    [-73.95, 40.7]
    """
    with replacing(path) as part, open(part, "wb") as file:
        file.writelines(geojson(chunks, statement))


def geojson(chunks: Chunks, statement: Statement) -> Iterator[bytes]:
    """The text of that file, piece by piece: for pipes.

    >>> text = b"".join(geojson([([1.0], [2.5])], {"epsilon": "1"}))
    >>> json.loads(text)["privacy_statement"]
    {'epsilon': '1'}
    """
    return collection(point_features(cut(chunks, CHUNK)), statement)


def write_geoparquet(
    path: PathLike, chunks: Chunks, crs: Optional[CRS], statement: Statement
) -> None:
    """Write points as GeoParquet 1.1 (WKB), the statement in the file's metadata.

    >>> import tempfile
    >>> from dpsort_geo.geo.statement import read_statement
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.parquet")
    ...     write_geoparquet(file, [([1.0], [2.0])], CRS("EPSG:27700"), {"epsilon": "1"})
    ...     read_statement(file)
    {'epsilon': '1'}
    """
    pa = need("pyarrow", "GeoParquet")
    corners: list[tuple[float, ...]] = []

    def batches() -> Iterator[Any]:
        for x, y in cut(chunks, _ROWS_PER_GROUP):
            corners.append((x.min(), y.min(), x.max(), y.max()))
            yield _wkb_batch(x, y, "geometry")

    def describe() -> dict[str, Any]:
        west, south, east, north = np.array(corners).reshape(-1, 4).T
        bounds = [west.min(), south.min(), east.max(), north.max()] if corners else []
        return {"geometry": describe_column(["Point"], crs, bounds)}

    schema = pa.schema([("geometry", pa.binary())])
    write_parquet_file(path, schema, batches(), ["geometry"], describe, statement)


def write_gpkg(path: PathLike, chunks: Chunks, crs: Optional[CRS], statement: Statement) -> None:
    """Write points as a GeoPackage, the statement in its metadata table.

    >>> import tempfile
    >>> from dpsort_geo.geo.statement import read_statement
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.gpkg")
    ...     write_gpkg(file, [([1.0], [2.0])], CRS("EPSG:27700"), {"epsilon": "1"})
    ...     read_statement(file)
    {'epsilon': '1'}
    """
    need("pyarrow", "Writing a GeoPackage")
    import pyogrio

    stopped: list[KeyboardInterrupt] = []
    reader = points_reader(chunks, stopped)
    wkt = None if crs is None else crs.to_wkt()
    kind = {"geometry_name": "geom", "geometry_type": "Point", "crs": wkt}
    try:
        write_gpkg_file(path, partial(pyogrio.write_arrow, reader, **kind), statement)
    except BadInputError:
        if stopped:  # to GDAL it was a failure like any other
            raise stopped[0] from None
        raise


def points_reader(chunks: Chunks, stopped: Optional[list[KeyboardInterrupt]] = None) -> Any:
    """Points as an Arrow stream with one column ``geom`` of well-known binary.

    Whoever reads it may take an interrupt for a failure: ``stopped`` remembers it.
    """
    import pyarrow as pa

    def batches() -> Iterator[Any]:
        try:
            for x, y in cut(chunks, _ROWS_PER_GROUP):
                yield _wkb_batch(x, y, "geom")
        except KeyboardInterrupt as interrupt:
            if stopped is not None:
                stopped.append(interrupt)
            raise

    return pa.RecordBatchReader.from_batches(pa.schema([("geom", pa.binary())]), batches())


def write_gpkg_file(path: PathLike, write: Callable[..., None], statement: Statement) -> None:
    """GDAL writes the file; ``write`` says of what."""
    words = {STATEMENT: json.dumps(statement)}
    with replacing(path) as part:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they quote the path, with a password in it
            with suppress(RuntimeError, ValueError):
                write(part, driver="GPKG", layer=Path(path).stem, layer_metadata=words)
                return
        # raised here and not above: an exception remembers the one during which it was raised
        raise BadInputError(f"{os.fspath(path)} cannot be written as a GeoPackage.")


def write_parquet_file(
    path: PathLike,
    schema: Any,
    batches: Iterable[Any],
    geometries: list[str],
    describe: Callable[[], dict[str, Any]],
    statement: Statement,
) -> None:
    """Write batches; what is said of the geometry columns is known when all were written."""
    import pyarrow.parquet as pq

    # every geometry is different: dictionaries and minima of them are lost labour;
    # a stored schema would hide the metadata that is added at the end
    others = [name for name in schema.names if name not in geometries]
    options = {"use_dictionary": others, "write_statistics": others, "store_schema": False}
    with (
        replacing(path) as part,
        # absolute: a name with a colon would be one of another file system
        pq.ParquetWriter(part.absolute(), schema.remove_metadata(), **options) as file,
    ):
        for batch in batches:
            file.write_batch(batch.cast(file.schema), row_group_size=_ROWS_PER_GROUP)
        described = {"version": "1.1.0", "primary_column": geometries[0], "columns": describe()}
        file.add_key_value_metadata(
            {"geo": json.dumps(described), STATEMENT: json.dumps(statement)}
        )


def describe_column(kinds: list[str], crs: Optional[CRS], bounds: Any) -> dict[str, Any]:
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": kinds,
        "crs": None if crs is None else crs.to_json_dict(),
    }
    if len(bounds) and np.isfinite(bounds).all():
        column["bbox"] = [float(value) for value in bounds]
    return column


def _wkb_batch(x: Array, y: Array, name: str) -> Any:
    import pyarrow as pa

    points = np.empty(x.size, WKB_POINT)
    points["order"], points["type"], points["x"], points["y"] = 1, 1, x, y
    step = WKB_POINT.itemsize
    offset = pa.py_buffer(np.arange(0, step * (x.size + 1), step, dtype=np.int32))
    data = pa.BinaryArray.from_buffers(pa.binary(), x.size, [None, offset, pa.py_buffer(points)])
    return pa.record_batch([data], [name])
