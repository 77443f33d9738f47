"""Point files, tables and features as streams of coordinate batches.

A path may be a file, a folder or a glob. A file is never held in memory as a whole; how each
format is read is in `formats`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
from pyproj import CRS

from ..errors import BadInput
from . import coordinates
from ._optional import need
from .formats import (
    EXPECTED,
    IN_FOLDER,
    Batch,
    PathLike,
    Piece,
    ending,
    file_name,
    guarded,
    inspect,
)
from .table import layout, points_of


@dataclass(frozen=True)
class PointStream:
    """Batches (x, y, person or None) with the CRS they are in.

    ``crs`` is None where the input does not say; ``total_rows`` is None where it is not known
    before reading. Iterating reads the input.
    """

    crs: Optional[CRS]
    total_rows: Optional[int]
    parts: Iterable[Iterable[Batch]]

    def __iter__(self) -> Iterator[Batch]:
        for part in self.parts:
            yield from part


def batches(
    path: PathLike, columns: Optional[tuple[str, str]] = None, person: Optional[str] = None
) -> PointStream:
    """Read points from a file, a folder of files, or a glob.

    Parameters
    ----------
    path : str or path
        GeoParquet, GeoPackage, GeoJSON, Shapefile, FlatGeobuf or CSV; ``file|layername=name``
        picks a layer. Files of a folder must have one format and one CRS.
    columns : (x, y), optional
        Names of two columns that hold the coordinates.
    person : str, optional
        Name of the column that says whose point it is.

    Returns
    -------
    PointStream

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "calls.csv")
    ...     _ = file.write_text("id,lon,lat\\n1,-73.9,40.7\\n2,-73.8,40.6\\n")
    ...     stream = batches(file)
    ...     [(x.tolist(), y.tolist()) for x, y, _ in stream]
    [([-73.9, -73.8], [40.7, 40.6])]
    >>> stream.crs.to_epsg()
    4326
    """
    files = _files(path, columns, person)
    rows = [file.rows for file in files if file.rows is not None]
    return PointStream(files[0].layout.crs, sum(rows) if len(rows) == len(files) else None, files)


def pieces(
    path: PathLike, columns: Optional[tuple[str, str]] = None, person: Optional[str] = None
) -> list[Piece]:
    """The same points as ``batches`` reads, cut into pieces that can be read anywhere.

    GeoParquet is cut between row groups; a file of another format is one piece.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "calls.csv").write_text("x,y\\n1,2\\n")
    ...     len(pieces(folder))
    1
    """
    return [piece for file in _files(path, columns, person) for piece in file.split()]


def arrow_batches(
    source: Any, columns: Optional[tuple[str, str]] = None, person: Optional[str] = None
) -> PointStream:
    """Points of anything with an Arrow stream: GeoArrow, WKB, or two columns of numbers.

    The stream can be read once, unless its owner gives another.

    >>> import pyarrow as pa
    >>> stream = arrow_batches(pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]}))
    >>> [x.tolist() for x, _, _ in stream]
    [[1.0, 2.0]]
    """
    pa = need("pyarrow", "Reading an Arrow stream")
    try:
        reader = pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowInvalid, TypeError):
        column = pa.chunked_array(source)
        reader = pa.table({"geometry": column}).to_reader()
    chosen = layout(reader.schema, columns, person)
    rows = getattr(source, "num_rows", None)
    found = (points_of(batch, chosen) for batch in reader if batch.num_rows)
    return PointStream(
        chosen.crs,
        rows if isinstance(rows, int) else None,
        [guarded(found, "The Arrow stream")],
    )


def geo_interface_batches(source: Any, person: Optional[str] = None) -> PointStream:
    """Points of anything with ``__geo_interface__``: features, or geometries.

    >>> stream = geo_interface_batches({"type": "Point", "coordinates": (1.0, 2.0)})
    >>> [x.tolist() for x, _, _ in stream]
    [[1.0]]
    """
    x, y, people = [], [], []
    try:
        for point, properties in _walk(getattr(source, "__geo_interface__", source), {}):
            x.append(float(point[0]))
            y.append(float(point[1]))
            if person is not None:
                people.append(properties.get(person))
    except BadInput:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise BadInput(coordinates.EMPTY) from None
    if any(who is None for who in people):
        raise BadInput(f"Every point must have a value in the person column {person!r}.")
    coords = coordinates.finite(np.array(x, float), np.array(y, float))
    who = None if person is None else np.array(people, object)
    return PointStream(None, len(x), [[(*coords, who)]])


def _walk(geo: Any, properties: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    kind = geo.get("type") if isinstance(geo, Mapping) else None
    if kind == "FeatureCollection":
        for feature in geo.get("features", ()):
            yield from _walk(getattr(feature, "__geo_interface__", feature), {})
    elif kind == "Feature":
        yield from _walk(geo.get("geometry"), geo.get("properties") or {})
    elif kind == "GeometryCollection":
        for part in geo.get("geometries", ()):
            yield from _walk(part, properties)
    elif kind == "Point":
        yield geo.get("coordinates"), properties
    elif geo is None:
        raise BadInput(coordinates.EMPTY)
    elif kind == "MultiPoint":
        raise BadInput(coordinates.MULTIPOINT)
    else:
        raise BadInput(coordinates.NOT_POINTS)


def _files(
    path: PathLike, columns: Optional[tuple[str, str]], person: Optional[str]
) -> list[Piece]:
    files = [inspect(name, columns, person) for name in _expand(path)]
    crs = files[0].layout.crs
    if not all(coordinates.same_crs(file.layout.crs, crs) for file in files):
        raise BadInput(
            "The files have different coordinate reference systems; convert them to one first."
        )
    if all(file.rows == 0 for file in files):
        raise BadInput(f"{file_name(path)} has no rows; expected at least one point.")
    return files


def _expand(path: PathLike) -> list[str]:
    text = os.fspath(path)
    bare = text.partition("|layername=")[0]
    if os.path.isfile(bare):
        return [text]
    if os.path.isdir(text):
        top = Path(text)
        found = [str(file) for file in top.rglob("*") if _wanted(file, file.relative_to(top))]
        if not found:
            raise BadInput(f"The folder {file_name(text)} has no point files; expected {EXPECTED}.")
    else:
        found = [file for file in glob.glob(text, recursive=True) if os.path.isfile(file)]
        if not found:
            raise BadInput(f"There is no file {text}; check the path.")
    if len({ending(file) for file in found}) > 1:
        raise BadInput(
            f"{file_name(text)} stands for point files of more than one format, perhaps of the "
            "same points; say which with a glob, for example 'folder/*.parquet'."
        )
    # a file that is found under two names, links of any kind, still has each point once
    once = {(os.stat(file).st_dev, os.stat(file).st_ino): os.path.realpath(file) for file in found}
    return sorted(once.values())


def _wanted(file: Path, below: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in below.parts)
    return not hidden and file.is_file() and file.name.lower().endswith(IN_FOLDER)
