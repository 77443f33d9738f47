"""Point files, tables and features as streams of coordinate batches.

A path may be a file, a folder or a glob. A file is never held in memory as a whole; how each
format is read is in `formats`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Optional

from pyproj import CRS

from ...core.errors import BadInputError
from .._optional import need
from ..layers import split_layer
from . import point_crs
from .features import points_of_features
from .formats import (
    EXPECTED,
    IN_FOLDER,
    Batch,
    PathLike,
    Piece,
    ending,
    file_name,
    guard,
    inspect,
)
from .table import PLAINLY, Layout, Persons, Reading, layout, person_columns, points_of

#: what a stream is called in messages
STREAM = "The Arrow stream"
UNREADABLE = (
    "The rows cannot be had: the query or the frame that makes them fails. Run it by itself to see "
    "why; what it says may quote private values."
)


@dataclass(frozen=True, repr=False)
class PointStream:
    """Batches (x, y, person or None) with the CRS they are in.

    ``crs`` is None where the input does not say; ``total_rows`` is None where it is not known
    before reading. Iterating reads the input.
    """

    crs: Optional[CRS]
    total_rows: Optional[int]
    parts: Iterable[Iterable[Batch]]
    #: coordinates that cannot say in which CRS they are: numbers, or text
    bare: bool = False
    #: which columns hold the points, where they came in columns
    layout: Optional[Layout] = None
    #: the CRS is that of the domain, for want of another
    assumed: bool = False
    _shares: list[float] = field(default_factory=list, compare=False)

    def __repr__(self) -> str:
        return "<PointStream: private points>"

    def __iter__(self) -> Iterator[Batch]:
        for part in self.parts:
            if isinstance(part, Piece):
                self._shares.append(0.0)
                yield from part.read(self._watch)
            else:
                yield from part

    def _watch(self, share: float) -> None:
        self._shares[-1] = share

    def expect(self, done: int) -> Optional[int]:
        """Rows in all once ``done`` are read: known, or from the share of bytes read so far."""
        if self.total_rows is not None or not any(self._shares):
            return self.total_rows
        files = len(self.parts) if isinstance(self.parts, Sized) else len(self._shares)
        return max(done, round(done * files / sum(self._shares)))


def batches(
    path: PathLike,
    columns: Optional[tuple[str, str]] = None,
    person: Persons = None,
    labels: tuple[str, ...] = (),
    how: Reading = PLAINLY,
) -> PointStream:
    """Read points from a file, a folder of files, or a glob.

    Parameters
    ----------
    path : str or path
        GeoParquet, GeoPackage, GeoJSON, Shapefile, FlatGeobuf, KML, Arrow or CSV;
        ``file|layername=name`` picks a layer. Files of a folder must have one format and one CRS.
    columns : (x, y), optional
        Names of two columns that hold the coordinates.
    person : str or several, optional
        Name of the column that says whose point it is, or of the columns that do so together.
    labels : tuple of str
        Columns of axes; batches then end in what is `Beside` the coordinates.
    how : Reading
        What the file does not say itself.

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
    files = _files(path, columns, person, labels, how)
    rows = [file.rows for file in files if file.rows is not None]
    total = sum(rows) if len(rows) == len(files) else None
    return PointStream(files[0].layout.crs, total, files, is_bare(files[0]), files[0].layout)


def is_bare(file: Piece) -> bool:
    """Whether the coordinates in a file cannot say in which CRS they are."""
    return file.layout.xy is not None or file.format == "CSV"


def pieces(
    path: PathLike,
    columns: Optional[tuple[str, str]] = None,
    person: Persons = None,
    how: Reading = PLAINLY,
    labels: tuple[str, ...] = (),
) -> list[Piece]:
    """The same points as ``batches`` reads, cut into pieces that can be read anywhere.

    GeoParquet is cut between row groups; a file of another format is one piece.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "calls.csv").write_text("x,y\\n1,2\\n")
    ...     len(pieces(folder))
    1
    """
    return [piece for file in _files(path, columns, person, labels, how) for piece in file.split()]


def arrow_batches(
    source: Any,
    columns: Optional[tuple[str, str]] = None,
    person: Persons = None,
    labels: tuple[str, ...] = (),
    how: Reading = PLAINLY,
) -> PointStream:
    """Points of anything with an Arrow stream: GeoArrow, WKB, or two columns of numbers.

    The stream can be read once, unless its owner gives another.

    >>> import pyarrow as pa
    >>> stream = arrow_batches(pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]}))
    >>> [x.tolist() for x, _, _ in stream]
    [[1.0, 2.0]]
    """
    pa = need("pyarrow", "Reading an Arrow stream")
    reader = None
    for opened in (pa.RecordBatchReader.from_stream, _open_column):
        # whatever a query or a plan fails with, its error may quote a private value
        with suppress(Exception):
            reader = opened(source)
            break
    if reader is None:
        raise BadInputError(UNREADABLE)
    chosen = layout(reader.schema, columns, person, labels, how)
    batches: Iterator[Any] = (batch for batch in reader if batch.num_rows)
    if chosen.srid is not None:
        first = next(guard(batches, STREAM), None)
        chosen = chosen.settled_by(first)
        batches = chain([] if first is None else [first], batches)
    rows = getattr(source, "num_rows", None)
    found = (points_of(batch, chosen) for batch in batches)
    return PointStream(
        chosen.crs,
        rows if isinstance(rows, int) else None,
        [guard(found, STREAM)],
        bare=chosen.xy is not None,
        layout=chosen,
    )


def _open_column(source: Any) -> Any:
    import pyarrow as pa

    return pa.table({"geometry": pa.chunked_array(source)}).to_reader()


def geo_interface_batches(
    source: Any, person: Persons = None, labels: tuple[str, ...] = (), gaps: bool = False
) -> PointStream:
    """Points of anything with ``__geo_interface__``: features, or geometries.

    >>> stream = geo_interface_batches({"type": "Point", "coordinates": (1.0, 2.0)})
    >>> [x.tolist() for x, _, _ in stream]
    [[1.0]]
    """
    geo = getattr(source, "__geo_interface__", source)
    whole = isinstance(geo, Mapping) and geo.get("type") == "FeatureCollection"
    features = geo.get("features") or () if whole else [geo]
    batch = points_of_features(features, person_columns(person), labels=labels, gaps=gaps)
    return PointStream(None, batch[0].size, [[batch]])


def _files(
    path: PathLike,
    columns: Optional[tuple[str, str]],
    person: Persons,
    labels: tuple[str, ...],
    how: Reading,
) -> list[Piece]:
    files = [inspect(name, columns, person, labels, how) for name in expand(path)]
    crs = files[0].layout.crs
    if not all(point_crs.same_crs(file.layout.crs, crs) for file in files):
        raise BadInputError(
            "The files have different coordinate reference systems; convert them to one first."
        )
    if len({file.layout.person_type for file in files}) > 1:
        # one name would be two persons, or two would be one, by the file it happens to be in
        raise BadInputError(
            f"The person column {person_columns(person)[0]!r} has different types in the files; "
            "write all of them with the same type."
        )
    return files


def expand(path: PathLike) -> list[str]:
    """The files that a path stands for: itself, those of a folder, or of a glob, each once."""
    text = os.fspath(path)
    if os.path.isfile(split_layer(text)[0]):
        return [text]
    if os.path.isdir(text):
        top = Path(text)
        found = [str(file) for file in top.rglob("*") if _is_wanted(file, file.relative_to(top))]
        if not found:
            raise BadInputError(
                f"The folder {file_name(text)} has no point files; expected {EXPECTED}."
            )
    else:
        found = [file for file in glob.glob(text, recursive=True) if os.path.isfile(file)]
        if not found:
            raise BadInputError(f"There is no file {text}; check the path.")
    if len({ending(file) for file in found}) > 1:
        raise BadInputError(
            f"{file_name(text)} stands for point files of more than one format, perhaps of the "
            "same points; say which with a glob, for example 'folder/*.parquet'."
        )
    # a file that is found under two names, links of any kind, still has each point once
    once = {(os.stat(file).st_dev, os.stat(file).st_ino): os.path.realpath(file) for file in found}
    return sorted(once.values())


def _is_wanted(file: Path, below: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in below.parts)
    return not hidden and file.is_file() and file.name.lower().endswith(IN_FOLDER)
