"""Point arrays to files, whole columns at a time, with the privacy statement inside.

Every file is written under another name in the same folder and then moved into place: a reader
sees the old file or the new one, and nothing is left of one that failed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import numpy as np
from pyproj import CRS

from ..atomic import PathLike, replacing
from ..errors import BadInput
from ._optional import need
from .coordinates import WKB_POINT, finite

Array = np.ndarray

#: the name of the statement: GeoJSON member, Parquet key, GeoPackage metadata item
STATEMENT = "privacy_statement"

_FEATURE = b'{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":['
_NUMBER = b"-000.0000000"
_ROW = np.frombuffer(_FEATURE + _NUMBER + b"," + _NUMBER + b"]}},\n", np.uint8)
#: first byte of longitude and of latitude in a row
_LON, _LAT = len(_FEATURE), len(_FEATURE) + len(_NUMBER) + 1
#: rows formatted at a time: their bytes stay in the cache
_CHUNK = 1 << 13
#: decimals of a degree: about a centimetre
_DECIMALS = 10**7

#: the four digits of every number below 10,000, as text
_DIGITS = (np.arange(10_000)[:, None] // [1000, 100, 10, 1] % 10 + ord("0")).astype(np.uint8)
#: which of them stay when zeros at the end are cut off
_KEPT = np.logical_or.accumulate(_DIGITS[:, ::-1] != ord("0"), axis=1)[:, ::-1]
_ROWS_PER_GROUP = 1 << 18


def write_geojson(path: PathLike, lon: Array, lat: Array, statement: dict[str, Any]) -> None:
    """Write points as GeoJSON (RFC 7946), the statement as a foreign member.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.geojson")
    ...     write_geojson(file, [-73.95], [40.7], {"epsilon": "1"})
    ...     json.loads(file.read_text())["features"][0]["geometry"]["coordinates"]
    [-73.95, 40.7]
    """
    pieces = geojson(lon, lat, statement)
    with replacing(path) as part, open(part, "wb") as file:
        for piece in pieces:
            file.write(piece)


def geojson(lon: Array, lat: Array, statement: dict[str, Any]) -> Iterator[bytes]:
    """The text of a GeoJSON file, piece by piece: for files and for pipes.

    >>> text = b"".join(geojson([1.0], [2.5], {"epsilon": "1"}))
    >>> json.loads(text)["privacy_statement"]
    {'epsilon': '1'}
    """
    lon, lat = finite(lon, lat)
    if lon.size and (np.abs(lon).max() > 360 or np.abs(lat).max() > 90 + 1e-9):
        raise BadInput("GeoJSON takes longitudes and latitudes in degrees.")
    words = json.dumps(statement, ensure_ascii=False)
    return _geojson_pieces(words, lon, lat)


def _geojson_pieces(words: str, lon: Array, lat: Array) -> Iterator[bytes]:
    head = f'{{"type":"FeatureCollection","{STATEMENT}":{words},"features":[\n'
    yield head.encode("utf-8")
    text = np.tile(_ROW, (min(_CHUNK, lon.size), 1))
    keep = np.ones(text.shape, bool)
    for start in range(0, lon.size, _CHUNK):
        rows = min(_CHUNK, lon.size - start)
        here = slice(start, start + rows)
        _format_numbers(lon[here], text[:rows, _LON:], keep[:rows, _LON:])
        _format_numbers(lat[here], text[:rows, _LAT:], keep[:rows, _LAT:])
        piece = text[:rows][keep[:rows]].tobytes()
        yield piece if start + rows < lon.size else piece[:-2]
    yield b"\n]}\n"


def _format_numbers(value: Array, text: Array, keep: Array) -> None:
    """Write numbers over the digits of ``_NUMBER``, and mark which characters are needed."""
    scaled = np.rint(value * _DECIMALS).astype(np.int64)
    size = np.abs(scaled).astype(np.uint32)
    whole = size // np.uint32(_DECIMALS)
    fraction = size - whole * np.uint32(_DECIMALS)
    high = fraction // np.uint32(10_000)
    low = fraction - high * np.uint32(10_000)
    text[:, 1:4] = _DIGITS[whole][:, 1:]
    text[:, 5:8] = _DIGITS[high][:, 1:]
    text[:, 8:12] = _DIGITS[low]
    keep[:, 0] = scaled < 0
    keep[:, 1] = whole >= 100
    keep[:, 2] = whole >= 10
    keep[:, 4] = fraction > 0
    keep[:, 5:8] = _KEPT[high][:, 1:] | (low > 0)[:, None]
    keep[:, 8:12] = _KEPT[low]


def write_geoparquet(
    path: PathLike, x: Array, y: Array, crs: Optional[CRS], statement: dict[str, Any]
) -> None:
    """Write points as GeoParquet 1.1 (WKB), the statement in the file's metadata.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.parquet")
    ...     write_geoparquet(file, [1.0], [2.0], CRS("EPSG:27700"), {"epsilon": "1"})
    ...     read_statement(file)
    {'epsilon': '1'}
    """
    need("pyarrow", "GeoParquet")
    import pyarrow.parquet as pq

    x, y = finite(x, y)
    table = _wkb_table(x, y, "geometry").replace_schema_metadata(
        {"geo": json.dumps(_geo_metadata(x, y, crs)), STATEMENT: json.dumps(statement)}
    )
    with replacing(path) as part:
        pq.write_table(
            table,
            part,
            # every point is different: dictionaries and minima of binary text are lost labour
            use_dictionary=False,
            write_statistics=False,
            row_group_size=_ROWS_PER_GROUP,
        )


def _wkb_table(x: Array, y: Array, name: str) -> Any:
    import pyarrow as pa

    points = np.empty(x.size, WKB_POINT)
    points["order"], points["type"], points["x"], points["y"] = 1, 1, x, y
    step = WKB_POINT.itemsize
    # a batch of 32-bit offsets holds at most 2^31 bytes
    most = (2**31 - 1) // step
    chunks = []
    for start in range(0, max(x.size, 1), most):
        rows = min(most, x.size - start)
        offset = np.arange(0, step * (rows + 1), step, dtype=np.int32)
        data = pa.py_buffer(points[start : start + rows])
        chunks.append(
            pa.BinaryArray.from_buffers(pa.binary(), rows, [None, pa.py_buffer(offset), data])
        )
    return pa.table({name: pa.chunked_array(chunks, pa.binary())})


def _geo_metadata(x: Array, y: Array, crs: Optional[CRS]) -> dict[str, Any]:
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": ["Point"],
        "crs": None if crs is None else crs.to_json_dict(),
    }
    if x.size:
        column["bbox"] = [float(v) for v in (x.min(), y.min(), x.max(), y.max())]
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}


def write_gpkg(
    path: PathLike, x: Array, y: Array, crs: Optional[CRS], statement: dict[str, Any]
) -> None:
    """Write points as a GeoPackage, the statement in its metadata table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.gpkg")
    ...     write_gpkg(file, [1.0], [2.0], CRS("EPSG:27700"), {"epsilon": "1"})
    ...     read_statement(file)
    {'epsilon': '1'}
    """
    need("pyarrow", "Writing a GeoPackage")
    import pyogrio

    table = _wkb_table(*finite(x, y), "geom")
    with replacing(path) as part:
        try:
            pyogrio.write_arrow(
                table,
                part,
                layer=Path(path).stem,
                driver="GPKG",
                geometry_name="geom",
                geometry_type="Point",
                crs=None if crs is None else crs.to_wkt(),
                layer_metadata={STATEMENT: json.dumps(statement)},
            )
        except (RuntimeError, ValueError):
            raise BadInput(f"{os.fspath(path)} cannot be written as a GeoPackage.") from None


def read_statement(path: PathLike) -> dict[str, Any]:
    """The privacy statement of a file that was written here.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.geojson")
    ...     write_geojson(file, [1.0], [2.0], {"epsilon": "1"})
    ...     read_statement(file)
    {'epsilon': '1'}
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            magic = file.read(16)
            if magic.startswith(b"PAR1"):
                text = _parquet_statement(path)
            elif magic.startswith(b"SQLite format 3"):
                text = _gpkg_statement(path)
            else:
                file.seek(0)
                text = _geojson_statement(file)
        statement = None if text is None else json.loads(text)
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror or 'damaged file'}.") from None
    except (ValueError, RuntimeError):
        raise BadInput(f"{name} is not a GeoJSON, GeoParquet or GeoPackage file.") from None
    if not isinstance(statement, dict):
        raise BadInput(f"{name} carries no privacy statement: dpsort-geo did not write it.")
    return statement


def _parquet_statement(path: PathLike) -> Optional[str]:
    need("pyarrow", "GeoParquet")
    import pyarrow.parquet as pq

    found = (pq.read_metadata(path).metadata or {}).get(STATEMENT.encode())
    return None if found is None else found.decode("utf-8")


def _gpkg_statement(path: PathLike) -> Optional[str]:
    import pyogrio

    for layer in pyogrio.list_layers(path)[:, 0]:
        found = (pyogrio.read_info(path, layer=layer)["layer_metadata"] or {}).get(STATEMENT)
        if found is not None:
            return str(found)
    return None


def _geojson_statement(file: Any) -> Optional[str]:
    """We write the statement before the features, so that a large file need not be read."""
    head = file.read(1 << 20)
    at = head.find(f'"{STATEMENT}":'.encode())
    features = head.find(b'"features"')
    if 0 <= at < features:
        start = at + len(STATEMENT) + 3
        value, _ = json.JSONDecoder().raw_decode(head[start:].decode("utf-8", "ignore").lstrip())
    else:
        value = json.loads(head + file.read()).get(STATEMENT)
    return None if value is None else json.dumps(value)
