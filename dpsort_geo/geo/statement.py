"""The privacy statement in a file: what it is called there, and how it is found again."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Optional
from xml.etree import ElementTree

from ..core.atomic import PathLike
from ..core.errors import BadInputError
from ._optional import need

#: the name of the statement: GeoJSON member, Parquet key, GeoPackage metadata item
STATEMENT = "privacy_statement"
Statement = dict[str, Any]


def beside(path: PathLike) -> Path:
    """The file with the statement of a format without room for it."""
    return Path(f"{os.fspath(path)}.statement.json")


def read_statement(path: PathLike) -> Statement:
    """The privacy statement of a file that was written here.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "points.geojson")
    ...     _ = file.write_text('{"privacy_statement": {"epsilon": "1"}, "features": []}')
    ...     read_statement(file)
    {'epsilon': '1'}
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            magic = file.read(16)
            file.seek(0)
            if magic.startswith(b"PAR1"):
                statement = _parquet_statement(path)
            elif magic.startswith(b"SQLite format 3"):
                statement = _gpkg_statement(path)
            elif magic.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
                statement = _raster_statement(path)
            elif magic.startswith(b"PMTiles\x03"):
                statement = _pmtiles_statement(file)
            elif name.lower().endswith(".csv") and beside(path).is_file():
                statement = json.loads(beside(path).read_bytes()).get(STATEMENT)
            else:
                statement = find_statement(file)
    except OSError as error:
        raise BadInputError(f"{name} cannot be read: {error.strerror or 'damaged file'}.") from None
    except (ValueError, RuntimeError, EOFError, IndexError, struct.error, sqlite3.Error):
        raise BadInputError(f"{name} is not a file that carries a privacy statement.") from None
    if not isinstance(statement, dict):
        raise BadInputError(f"{name} carries no privacy statement: dpsort-geo did not write it.")
    return statement


def _parquet_statement(path: PathLike) -> Any:
    pq = need("pyarrow.parquet", "GeoParquet")
    return json.loads((pq.read_metadata(path).metadata or {}).get(STATEMENT.encode(), b"null"))


def _raster_statement(path: PathLike) -> Any:
    rasterio = need("rasterio", "Reading a raster")
    with rasterio.open(path) as file:
        return json.loads(file.tags().get(STATEMENT.upper(), "null"))


def _pmtiles_statement(file: Any) -> Any:
    """The header of 127 bytes says where the metadata is, and whether it is compressed (2)."""
    header = file.read(127)
    at, size = struct.unpack("<QQ", header[24:40])
    file.seek(at)
    text = file.read(size)
    return json.loads(gzip.decompress(text) if header[97] == 2 else text).get(STATEMENT)


def _gpkg_statement(path: PathLike) -> Any:
    """GDAL keeps what is said of a layer as XML in a table; GDAL itself takes long to start."""
    for how in ("mode=ro", "immutable=1"):  # the second where a journal cannot be made beside it
        with suppress(sqlite3.OperationalError):
            return _metadata_item(f"{Path(path).absolute().as_uri()}?{how}")
    return None


def _metadata_item(address: str) -> Any:
    with closing(sqlite3.connect(address, uri=True)) as file:
        for (text,) in file.execute("select metadata from gpkg_metadata order by id"):
            with suppress(ElementTree.ParseError, TypeError):  # somebody else's metadata
                for item in ElementTree.fromstring(text).iter("MDI"):
                    if item.get("key") == STATEMENT:
                        return json.loads(item.text or "null")
    return None


def find_statement(file: Any) -> Optional[dict[str, Any]]:
    """The statement in an open file; we write it first, so that a large file need not be read."""
    head = file.read(1 << 20)
    at = head.find(f'"{STATEMENT}":'.encode())
    if 0 <= at < head.find(b'"features"'):
        text = head[at + len(STATEMENT) + 3 :].decode("utf-8", "ignore")
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    else:
        value = json.loads(head + file.read()).get(STATEMENT)
    return value if isinstance(value, dict) else None
