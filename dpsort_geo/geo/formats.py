"""How the points of one file are read: GeoParquet, CSV, and whatever GDAL knows.

The geometry column (and the person column, when asked for) is all that is read: GeoParquet by
record batch, CSV by block, the others through GDAL's Arrow stream.
"""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Optional, Union

import numpy as np
import pyogrio
from shapely.errors import ShapelyError

from ..errors import BadInput
from . import coordinates
from ._optional import have, need
from .table import Layout, layout, points_of

Array = np.ndarray
Batch = tuple[Array, Array, Optional[Array]]
PathLike = Union[str, "os.PathLike[str]"]
Columns = Optional[tuple[str, str]]

#: rows of a batch: enough to hide what is done once for each, little enough to need no memory
BATCH_ROWS = 1 << 19
#: rows of a piece of work for the cluster, as near as row groups allow
PIECE_ROWS = 1 << 22
#: bytes of a block of CSV
_BLOCK = 1 << 22

_PARQUET = (".parquet", ".geoparquet", ".pq")
_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".txt")
_GEOJSON = (".geojson", ".geojsonl", ".geojsons", ".ndjson", ".json")
_OGR = (".gpkg", *_GEOJSON, ".shp", ".shp.zip", ".fgb")
#: what is looked for in a folder, where text and plain JSON may be anything
IN_FOLDER = tuple(sorted({*_PARQUET, *_CSV, *_OGR} - {".txt", ".json", ".ndjson"}))
EXPECTED = "GeoParquet, GeoPackage, GeoJSON, Shapefile, FlatGeobuf or CSV"


@dataclass(frozen=True)
class Piece:
    """A file, or some row groups of it; small, and can be sent to another process."""

    path: str
    format: str
    layout: Layout
    rows: Optional[int] = None
    row_groups: Optional[tuple[int, ...]] = None
    layer: Optional[str] = None
    delimiter: str = ","
    #: the file itself, where it is not on a disk
    text: Optional[bytes] = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Batch]:
        return guarded(_READERS[self.format](self), file_name(self.path))

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
    return os.path.basename(os.fspath(path).rstrip("/")) or os.fspath(path)


def ending(path: str) -> str:
    """The end of a file's name that tells its format: ".csv.gz" is not ".csv"."""
    lower = path.partition("|layername=")[0].lower()
    known = [end for end in (*_PARQUET, *_CSV, *_OGR) if lower.endswith(end)]
    if not known:
        raise BadInput(f"{file_name(path)} is not a point file known here; expected {EXPECTED}.")
    return max(known, key=len)


def known_format(path: str) -> str:
    """Which reader a file needs, by the end of its name."""
    end = ending(path)
    return "GeoParquet" if end in _PARQUET else "CSV" if end in _CSV else "OGR"


def guarded(batches: Iterable[Batch], name: str) -> Iterator[Batch]:
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
        except BadInput:
            raise
        except (OSError, ValueError, TypeError, KeyError, RuntimeError, ShapelyError):
            pass
    # raised here and not above: an exception remembers the one during which it was raised
    raise BadInput(
        f"{name} cannot be read: it is damaged, not what its name says, "
        "or has text where numbers are expected."
    )


def inspect(path: str, columns: Columns, person: Optional[str]) -> Piece:
    """What there is to read in a file, without reading its points."""
    kind = known_format(path)
    if kind != "OGR":
        need("pyarrow", kind)
    if os.path.getsize(path.partition("|layername=")[0]) == 0:
        raise BadInput(f"{file_name(path)} is empty.")
    found: Piece = _quietly(file_name(path), _INSPECTORS[kind], path, columns, person)
    return found


def _inspect_parquet(path: str, columns: Columns, person: Optional[str]) -> Piece:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        chosen = layout(file.schema_arrow, columns, person)
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


def csv_text(text: bytes, columns: Columns, person: Optional[str]) -> Piece:
    """A CSV file that came through a pipe."""
    need("pyarrow", "CSV")
    name = "The text"
    piece: Piece = _quietly(name, _inspect_csv, name, columns, person, text)
    return piece


def _inspect_csv(
    path: str, columns: Columns, person: Optional[str], text: Optional[bytes] = None
) -> Piece:
    import pyarrow as pa

    file = pa.input_stream(path, compression="detect") if text is None else pa.BufferReader(text)
    with file as raw:
        head = raw.read(1 << 16).decode("utf-8-sig", errors="replace")
    first = head.splitlines()[0] if head.strip() else ""
    delimiter = max(",;\t|", key=first.count)
    names = next(csv.reader([first], delimiter=delimiter), [])
    types = dict.fromkeys(names, pa.float64())
    if person is not None:
        types[person] = pa.string()
        if person not in names:
            raise BadInput(f"There is no person column {person!r} in {file_name(path)}.")
    schema = pa.schema(list(types.items()))
    return Piece(path, "CSV", layout(schema, columns, person), delimiter=delimiter, text=text)


def _read_csv(piece: Piece) -> Iterator[Batch]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    numbers = piece.layout.xy or ()
    types = dict.fromkeys(numbers, pa.float64())
    if piece.layout.person is not None:
        types[piece.layout.person] = pa.string()
    with arrow_csv.open_csv(
        piece.path if piece.text is None else pa.BufferReader(piece.text),
        read_options=arrow_csv.ReadOptions(block_size=_BLOCK, use_threads=False),
        parse_options=arrow_csv.ParseOptions(delimiter=piece.delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=piece.layout.names,
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
        ),
    ) as reader:
        for batch in reader:
            if batch.num_rows:
                yield points_of(batch, piece.layout)


def _inspect_ogr(path: str, columns: Columns, person: Optional[str]) -> Piece:
    bare, _, layer = path.partition("|layername=")
    layer = layer or _only_layer(bare)
    info = pyogrio.read_info(bare, layer=layer, force_feature_count=True)
    for name in (*(columns or ()), *([person] if person else [])):
        if name not in info["fields"]:
            raise BadInput(f"There is no column {name!r} in {file_name(bare)}.")
    if columns is None:
        kind = str(info["geometry_type"])
        if kind.endswith("MultiPoint") or kind.startswith("MultiPoint"):
            raise BadInput(coordinates.MULTIPOINT)
        if not kind.replace("2.5D ", "").startswith(("Point", "Unknown", "Geometry")):
            raise BadInput(coordinates.NOT_POINTS)
        chosen = Layout(geometry="", crs=coordinates.parse_crs(info["crs"]), person=person)
    else:
        chosen = Layout(xy=columns, crs=coordinates.pair_crs(*columns), person=person)
    rows = int(info["features"])
    return Piece(bare, "OGR", chosen, rows=rows if rows >= 0 else None, layer=layer)


def _only_layer(path: str) -> str:
    layers = pyogrio.list_layers(path)
    points = [str(name) for name, kind in layers if "Point" in str(kind)]
    if len(layers) == 1:
        return str(layers[0][0])
    if len(points) == 1:
        return points[0]
    raise BadInput(
        f"{file_name(path)} has more than one layer; "
        f"say which as '{file_name(path)}|layername=name'."
    )


def _read_ogr(piece: Piece) -> Iterator[Batch]:
    chosen = piece.layout
    fields = [*(chosen.xy or ()), *([chosen.person] if chosen.person else [])]
    wanted: dict[str, Any] = {
        "layer": piece.layer,
        "columns": fields,
        "read_geometry": chosen.geometry is not None,
    }
    if not have("pyarrow"):
        yield _read_ogr_at_once(piece, wanted)
        return
    with pyogrio.open_arrow(piece.path, batch_size=BATCH_ROWS, use_pyarrow=True, **wanted) as (
        meta,
        reader,
    ):
        if chosen.geometry is not None:
            chosen = replace(chosen, geometry=meta["geometry_name"] or "wkb_geometry")
        for batch in reader:
            if batch.num_rows:
                yield points_of(batch, chosen)


def _read_ogr_at_once(piece: Piece, wanted: dict[str, Any]) -> Batch:
    """Without pyarrow there is no stream; the coordinates still come without shapely objects."""
    _, _, geometry, values = pyogrio.raw.read(piece.path, **wanted)
    chosen = piece.layout
    who = None
    if chosen.person is not None:
        who = values[-1]
        if any(value is None or value != value for value in who):
            raise BadInput(f"Every point must have a value in the person column {chosen.person!r}.")
    if chosen.xy is not None:
        return (*coordinates.finite(values[0], values[1]), who)
    return (*coordinates.from_wkb_objects(geometry), who)


_INSPECTORS = {"GeoParquet": _inspect_parquet, "CSV": _inspect_csv, "OGR": _inspect_ogr}
_READERS = {"GeoParquet": _read_parquet, "CSV": _read_csv, "OGR": _read_ogr}
