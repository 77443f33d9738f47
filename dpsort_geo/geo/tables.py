"""Public tables to files, one writer a format, with the privacy statement inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from ..core.atomic import PathLike, replacing, write_text
from ..core.errors import BadInputError
from ._optional import need
from .chunks import refuse_size, room_for, say_thinned
from .geojson import collection
from .statement import STATEMENT, Statement, beside
from .write import describe_column, write_gpkg_file, write_parquet_file

#: what a spreadsheet takes for the beginning of a formula; the wide ones count in East Asia
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def frame_reader(frame: Any) -> Any:
    """A GeoDataFrame as such a stream, with its other columns."""
    import pyarrow as pa

    shapes = frame.rename_geometry("geom")
    table = pa.table(shapes.to_arrow(index=False, geometry_encoding="WKB"))
    plain = pa.schema(
        [pa.field(f.name, getattr(f.type, "storage_type", f.type)) for f in table.schema]
    )
    arrays = [column.combine_chunks() for column in table.columns]
    plain_arrays = [getattr(array, "storage", array) for array in arrays]
    return pa.table(plain_arrays, schema=plain).to_reader()


def write_frame(path: PathLike, frame: Any, statement: Statement, ending: str = "") -> None:
    """Write a GeoDataFrame as GeoPackage, GeoJSON, GeoParquet or CSV, by the path's ending.

    The statement goes where the format has room for it; CSV has none, so that it stands in a file
    beside the table: counts.csv has counts.csv.statement.json.

    >>> import tempfile
    >>> from dpsort_geo.geo.statement import read_statement
    >>> import geopandas as gpd, shapely
    >>> frame = gpd.GeoDataFrame({"n": [1]}, geometry=[shapely.box(0, 0, 1, 1)], crs="EPSG:4326")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_frame(Path(folder, "a.geojson"), frame, {"epsilon": "1"})
    ...     read_statement(Path(folder, "a.geojson"))
    {'epsilon': '1'}
    """
    writers: dict[str, Callable[..., None]] = {
        ".gpkg": _frame_to_gpkg,
        ".geojson": _frame_to_geojson,
        ".json": _frame_to_geojson,
        ".parquet": _frame_to_parquet,
        ".geoparquet": _frame_to_parquet,
        ".csv": _frame_to_csv,
    }
    ending = ending or Path(path).suffix.lower()
    if ending not in writers:
        raise BadInputError(f"{path} should end in one of {', '.join(sorted(writers))}.")
    writers[ending](path, frame, statement)


def frame_text(frame: Any, statement: Statement, most_bytes: Optional[int] = None) -> bytes:
    """A table as GeoJSON text, for pipes; its first rows, where not all fit into so many bytes."""
    plain = frame.to_crs("EPSG:4326")
    for name in plain.columns.drop(plain.geometry.name):
        if plain[name].dtype.kind == "M":
            plain[name] = plain[name].dt.strftime("%Y-%m-%dT%H:%M:%S")
    features = json.loads(plain.to_json(drop_id=True))["features"]
    rows = [json.dumps(feature, ensure_ascii=False).encode() for feature in features]
    if most_bytes is not None:
        room = room_for(statement, len(rows), most_bytes)
        size = np.cumsum([len(row) + 2 for row in rows])
        kept = int(np.searchsorted(size, room + 2, side="right"))
        if rows and not kept:
            refuse_size(most_bytes)
        rows, statement = rows[:kept], say_thinned(statement, kept, len(rows))
    return b"".join(collection([b",\n".join(rows)], statement))


def _frame_to_gpkg(path: PathLike, frame: Any, statement: Statement) -> None:
    write_gpkg_file(path, frame.to_file, statement)


def _frame_to_geojson(path: PathLike, frame: Any, statement: Statement) -> None:
    with replacing(path) as part:
        # GDAL turns and rounds the rings; of what it writes around the features nothing is kept
        frame.to_crs("EPSG:4326").to_file(part, driver="GeoJSON", RFC7946="YES")
        features = json.loads(part.read_bytes())["features"]
        text = ",\n".join(json.dumps(feature, ensure_ascii=False) for feature in features)
        part.write_bytes(b"".join(collection([text.encode()], statement)))


def _frame_to_parquet(path: PathLike, frame: Any, statement: Statement) -> None:
    pyarrow = need("pyarrow", "GeoParquet")
    table = pyarrow.table(frame.to_arrow(index=False, geometry_encoding="WKB"))
    geo = {}
    for name in frame.columns[frame.dtypes == "geometry"]:
        shapes = frame[name].dropna()
        kinds = shapes.geom_type + np.where(shapes.has_z, " Z", "")
        geo[name] = describe_column(sorted(set(kinds)), shapes.crs, shapes.total_bounds)
    names = sorted(geo, key=lambda name: name != frame.geometry.name)
    write_parquet_file(path, table.schema, table.to_batches(), names, lambda: geo, statement)


def _frame_to_csv(path: PathLike, frame: Any, statement: Statement) -> None:
    # lines as RFC 4180 has them; only then both of their characters are quoted inside of a text
    with replacing(path) as part:
        csv_table(frame).to_csv(part, index=False, lineterminator="\r\n")
    write_text(beside(path), json.dumps({STATEMENT: statement}, indent=1) + "\n")


def csv_table(frame: Any) -> Any:
    """The columns of a table without its geometry, for CSV: no text in it is a formula.

    A spreadsheet would run a text that begins like one; behind an apostrophe it shows it.

    >>> import geopandas as gpd, shapely
    >>> frame = gpd.GeoDataFrame({"a": ["=1+1", "b"], "n": [-1, 2]}, geometry=[shapely.Point()] * 2)
    >>> print(csv_table(frame).to_csv(index=False))
    a,n
    '=1+1,-1
    b,2
    <BLANKLINE>
    """
    from pandas.api.types import is_numeric_dtype

    table = frame.drop(columns=frame.geometry.name)
    for place, kind in enumerate(table.dtypes):
        if not is_numeric_dtype(kind):
            table.isetitem(place, table.iloc[:, place].astype(object).map(_shown))
    return table.set_axis([_shown(name) for name in table.columns], axis=1)


def _shown(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
