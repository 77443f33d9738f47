"""Which reader a file needs: GeoParquet and Arrow here, `delimited` text, `vector` layers.

The coordinates, and the columns of persons and axes when asked for, are all that is read, batch
by batch.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Optional, Union

import numpy as np
from shapely.errors import ShapelyError

from ...core.errors import BadInputError, hide_secrets
from .._optional import need
from ..layers import split_layer
from .delimited import Bytes, find_columns, read_rows
from .table import (
    PLAINLY,
    Layout,
    Persons,
    Reading,
    layout,
    native_geometry,
    person_columns,
    points_of,
)
from .vector import Layer, find_layer, read_layer

Array = np.ndarray
Batch = tuple[Array, Array, Any]
Labels = tuple[str, ...]
PathLike = Union[str, "os.PathLike[str]"]
Columns = Optional[tuple[str, str]]

#: rows of a batch: enough to hide what is done once for each, little enough to need no memory
BATCH_ROWS = 1 << 19
#: rows of a piece of work for the cluster, as near as row groups allow
PIECE_ROWS = 1 << 22

_PARQUET = (".parquet", ".geoparquet", ".pq")
_ARROW = (".arrow", ".arrows", ".feather", ".ipc")
_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".txt")
_GEOJSON = (".geojson", ".geojsonl", ".geojsons", ".ndjson", ".json")
_OGR = (".gpkg", *_GEOJSON, ".shp", ".shp.zip", ".fgb", ".kml", ".kmz")
_FORMATS = {"GeoParquet": _PARQUET, "Arrow": _ARROW, "CSV": _CSV, "OGR": _OGR}
_ENDINGS = {end: name for name, ends in _FORMATS.items() for end in ends}
#: what is looked for in a folder, where text and plain JSON may be anything
IN_FOLDER = tuple(sorted({*_ENDINGS} - {".txt", ".json", ".ndjson"}))
EXPECTED = "GeoParquet, GeoPackage, GeoJSON, Shapefile, FlatGeobuf, KML, Arrow or CSV"


@dataclass(frozen=True, repr=False)
class Piece:
    """A file, or some row groups of it; small, and can be sent to another process."""

    path: str
    format: str
    layout: Layout
    rows: Optional[int] = None
    row_groups: Optional[tuple[int, ...]] = None
    #: of a format that GDAL reads
    layer: Optional[Layer] = None
    #: of delimited text: what stands between columns and before decimals, and its encoding
    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    #: the file itself, where it is not on a disk
    text: Optional[bytes] = None

    def __repr__(self) -> str:
        return f"<Piece: private points in {self.format}>"

    def __iter__(self) -> Iterator[Batch]:
        return self.read()

    def read(self, watch: Optional[Callable[[float], None]] = None) -> Iterator[Batch]:
        """The batches; ``watch`` is told the share that has been read, where rows are not known."""
        if self.format == "CSV":
            return guard(_read_csv(self, watch), file_name(self.path))
        return guard(_READERS[self.format](self), file_name(self.path))

    def split(self) -> list[Piece]:
        """The same rows in pieces of about PIECE_ROWS, cut between row groups."""
        if self.format != "GeoParquet":
            return [self]
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(self.path)
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        # a group goes to the piece in which its first row falls
        owner = (np.cumsum([0, *sizes])[:-1]) // PIECE_ROWS
        found = []
        for number in np.unique(owner):
            groups = tuple(int(i) for i in np.flatnonzero(owner == number))
            rows = sum(sizes[i] for i in groups)
            found.append(replace(self, row_groups=groups, rows=rows))
        return found


def file_name(path: PathLike) -> str:
    """The last part of a path, for messages."""
    text = hide_secrets(os.fspath(path))
    return os.path.basename(text.rstrip("/")) or text


def ending(path: str) -> str:
    """The end of a file's name that tells its format: ".csv.gz" is not ".csv"."""
    lower = split_layer(path)[0].lower()
    known = [end for end in _ENDINGS if lower.endswith(end)]
    if not known:
        raise BadInputError(
            f"{file_name(path)} is not a point file known here; expected {EXPECTED}."
        )
    return max(known, key=len)


def guard(batches: Iterable[Batch], name: str) -> Iterator[Batch]:
    """The same batches, with one sentence for whatever goes wrong in reading them.

    The libraries' own errors and warnings may quote private values.
    """
    source = iter(batches)
    while (batch := _quietly(name, next, source, None)) is not None:
        yield batch


def _quietly(name: str, read: Callable[..., Any], *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(*arguments)
        except BadInputError:
            raise
        except (OSError, ValueError, TypeError, KeyError, RuntimeError, ShapelyError):
            pass
    # raised here and not above: an exception remembers the one during which it was raised
    raise BadInputError(
        f"{name} cannot be read: it is damaged, not what its name says, "
        "or has text where numbers are expected."
    )


def inspect(
    path: str,
    columns: Columns,
    person: Persons,
    labels: Labels = (),
    how: Reading = PLAINLY,
) -> Piece:
    """What there is to read in a file, without reading its points."""
    kind = _ENDINGS[ending(path)]
    if kind in ("GeoParquet", "Arrow"):
        need("pyarrow", kind)
    if os.path.getsize(split_layer(path)[0]) == 0:
        raise BadInputError(f"{file_name(path)} is empty.")
    wanted = (path, columns, person_columns(person), labels, how)
    found: Piece = _quietly(file_name(path), _INSPECTORS[kind], *wanted)
    return found


def _inspect_parquet(
    path: str, columns: Columns, person: Labels, labels: Labels, how: Reading
) -> Piece:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        native = native_geometry(file)
        chosen = layout(file.schema_arrow, columns, person, labels, how, native)
        if chosen.srid is not None:
            first = next(file.iter_batches(1, columns=[chosen.geometry]), None)
            chosen = chosen.settled_by(first)
        return Piece(path, "GeoParquet", chosen, rows=file.metadata.num_rows)


def _read_parquet(piece: Piece) -> Iterator[Batch]:
    import pyarrow.parquet as pq

    # no pre-buffering: it would hold whole row groups, and memory must not grow with the file
    with pq.ParquetFile(piece.path, pre_buffer=False, buffer_size=1 << 20) as file:
        for batch in file.iter_batches(
            BATCH_ROWS,
            row_groups=None if piece.row_groups is None else list(piece.row_groups),
            columns=piece.layout.names,
            use_threads=False,
        ):
            if batch.num_rows:
                yield points_of(batch, piece.layout)


def _inspect_arrow(
    path: str, columns: Columns, person: Labels, labels: Labels, how: Reading
) -> Piece:
    with closing(_arrow_batches(path)) as batches:
        chosen = layout(next(batches), columns, person, labels, how)
        if chosen.srid is not None:
            chosen = chosen.settled_by(next(batches, None))
    return Piece(path, "Arrow", chosen)


def _read_arrow(piece: Piece) -> Iterator[Batch]:
    batches = _arrow_batches(piece.path)
    next(batches)
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield points_of(batch.slice(start, BATCH_ROWS), piece.layout)


def _arrow_batches(path: str) -> Generator[Any, None, None]:
    """The schema of Arrow's file or stream, or of Feather, which are the same, and its batches."""
    import pyarrow as pa

    with pa.memory_map(path) as source:
        if source.read(6) == b"ARROW1":
            file = pa.ipc.open_file(source)
            yield file.schema
            for i in range(file.num_record_batches):
                yield file.get_batch(i)
            return
        source.seek(0)
        with pa.ipc.open_stream(source) as stream:
            yield stream.schema
            yield from stream


def csv_text(
    text: bytes,
    columns: Columns,
    person: Persons,
    labels: Labels = (),
    how: Reading = PLAINLY,
) -> Piece:
    """A CSV file that came through a pipe."""
    name = "The text"
    wanted = (name, columns, person_columns(person), labels, how, text)
    piece: Piece = _quietly(name, _inspect_csv, *wanted)
    return piece


def _inspect_csv(
    path: str,
    columns: Columns,
    person: Labels,
    labels: Labels,
    how: Reading,
    text: Optional[bytes] = None,
) -> Piece:
    chosen, delimiter, encoding = find_columns(path, text, columns, person, labels, how)
    return Piece(
        path, "CSV", chosen, delimiter=delimiter, decimal=how.decimal, encoding=encoding, text=text
    )


def _read_csv(piece: Piece, watch: Optional[Callable[[float], None]]) -> Iterator[Batch]:
    with Bytes(piece.path, piece.text) as source:
        for batch in read_rows(
            source, piece.layout, piece.delimiter, piece.encoding, piece.decimal
        ):
            if watch is not None:
                watch(source.share)
            yield batch


def _inspect_layer(
    path: str, columns: Columns, person: Labels, labels: Labels, how: Reading
) -> Piece:
    found = find_layer(path, columns, person, labels, how)
    return Piece(found.path, "OGR", found.layout, rows=found.rows, layer=found)


def _read_layer(piece: Piece) -> Iterator[Batch]:
    assert piece.layer is not None
    return read_layer(piece.layer, BATCH_ROWS)


_INSPECTORS: dict[str, Callable[..., Piece]] = {
    "GeoParquet": _inspect_parquet,
    "Arrow": _inspect_arrow,
    "CSV": _inspect_csv,
    "OGR": _inspect_layer,
}
_READERS: dict[str, Callable[[Piece], Iterator[Batch]]] = {
    "GeoParquet": _read_parquet,
    "Arrow": _read_arrow,
    "OGR": _read_layer,
}
