"""Doors: every way in which points come in, and what was understood of each record behind it.

A record is a place and whose it is. A door takes records and gives, for each of them, the cell it
fell into and which others are the same person; or, when the same column is that of an axis, its
category and its bin of time. The claim of `test_every_door.py` is that one record decides its own
and nobody else's.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import geopandas as gpd
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.persons import joined_names, number_persons
from dpsort_geo.core.private.slices import joint_slices
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.geo.private.points import point_stream, projected

#: a projected domain whose points are taken as they are, and one whose points are transformed
PLAIN = dp.Domain.from_bounds((0, 0, 16, 16), crs=3857, order=4)
ROUND = dp.Domain.from_bounds((0, 40, 16, 56), crs=4326, order=4)


@dataclass(frozen=True)
class Record:
    """One row: a place in the domain's CRS, and the name of its person."""

    x: float
    y: float
    who: Any


Understood = Optional[dict[int, tuple[int, int]]]


@dataclass(frozen=True)
class Door:
    """A way in. ``take`` gives the points argument of `publish`, and what else it needs."""

    name: str
    take: Callable[[Path, Sequence[Record], Any], tuple[Any, dict[str, Any]]]
    #: which kind of names its person column holds
    names: str = "text"
    #: whether rows come back in another order, so that they are known by their place
    shuffles: bool = False
    #: whether coordinates without a CRS are given, so that only the plain domain makes sense
    bare: bool = False

    def __repr__(self) -> str:
        return self.name


def understood(door: Door, folder: Path, records: Sequence[Record], domain: Any) -> Understood:
    """For each record its cell, and the first record of the same person; None if refused."""
    try:
        points, how = door.take(folder, records, domain)
        stream = point_stream(points, domain, how.get("person"), how.get("columns"))
        xs, ys, names, cells = [], [], [], []
        for x, y, who in stream:
            xs.append(x)
            ys.append(y)
            names.append(np.asarray(who))
            cells.append(domain.grid.curve_index(*projected(domain, stream, x, y)))
        code = number_persons(joined_names(names))
    except BadInputError:
        return None
    cell = np.concatenate(cells)
    places = list(zip(np.concatenate(xs).tolist(), np.concatenate(ys).tolist()))
    assert len(places) == len(records)
    row = _rows(records, places) if door.shuffles else list(range(len(records)))
    mine = code[row]
    return {i: (int(cell[at]), int(np.flatnonzero(mine == mine[i])[0])) for i, at in enumerate(row)}


CATEGORIES = make_axes({"who": ["bob", "0", "1", "01", "100", "2024-01-01", "other"]})
TIMES = make_axes(None, dp.TimeAxis("who", "1500", "2500", every="10 years", other=True))


def sliced(
    door: Door, folder: Path, records: Sequence[Record], domain: Any, axes: Any
) -> Optional[dict[int, int]]:
    """For each record its slice, by the column of the persons; None if refused."""
    try:
        points, how = door.take(folder, records, domain)
        given = how.get("person")
        values = None if isinstance(given, str) else {"who": given}
        stream = point_stream(points, domain, None, how.get("columns"), ("who",), values)
        xs, ys, found = [], [], []
        for x, y, beside in stream:
            (column,) = beside.values
            xs.append(x)
            ys.append(y)
            found.append(joint_slices(axes, [column]))
    except BadInputError:
        return None
    slice_ = np.concatenate(found).tolist()
    places = list(zip(np.concatenate(xs).tolist(), np.concatenate(ys).tolist()))
    assert len(places) == len(records) == len(slice_)
    row = _rows(records, places) if door.shuffles else list(range(len(records)))
    return {i: slice_[at] for i, at in enumerate(row)}


def _rows(records: Sequence[Record], places: list[tuple[float, float]]) -> list[int]:
    """Where each record went; records of a shuffling door have places of their own."""
    at = {place: i for i, place in enumerate(places)}
    return [at[record.x, record.y] for record in records]


# files --------------------------------------------------------------------------------------------


def _frame(records: Sequence[Record], domain: Any) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame(
        {"who": [record.who for record in records]},
        geometry=shapely.points([[record.x, record.y] for record in records]),
        crs=domain.crs,
    )


def _features(records: Sequence[Record]) -> list[dict[str, Any]]:
    return [
        {
            "type": "Feature",
            "properties": {"who": record.who},
            "geometry": {"type": "Point", "coordinates": [record.x, record.y]},
        }
        for record in records
    ]


def _by_gdal(name: str, driver: str, **options: Any) -> Callable[..., tuple[Any, dict[str, Any]]]:
    def take(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
        path = folder / name
        path.unlink(missing_ok=True)
        _frame(records, domain).to_file(path, driver=driver, **options)
        return path, {"person": "who"}

    return take


def _geojson(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    path = folder / "a.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": _features(records)}))
    return path, {"person": "who"}


def _geojson_lines(
    folder: Path, records: Sequence[Record], domain: Any
) -> tuple[Any, dict[str, Any]]:
    path = folder / "a.geojsonl"
    path.write_text("\n".join(map(json.dumps, _features(records))))
    return path, {"person": "who"}


def _csv_bytes(records: Sequence[Record], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, delimiter=delimiter)
    rows.writerows([("who", "x", "y"), *((r.who, repr(r.x), repr(r.y)) for r in records)])
    return text.getvalue().encode()


def _csv(name: str, delimiter: str = ",") -> Callable[..., tuple[Any, dict[str, Any]]]:
    def take(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
        path, data = folder / name, _csv_bytes(records, delimiter)
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        return path, {"person": "who", "columns": ("x", "y")}

    return take


def _csv_pipe(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    return _csv_bytes(records), {"person": "who", "columns": ("x", "y")}


def _geoparquet(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    path = folder / "a.parquet"
    _frame(records, domain).to_parquet(path)
    return path, {"person": "who"}


def _parquet_xy(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    path = folder / "a.parquet"
    pq.write_table(_table(records), path, row_group_size=2)
    return path, {"person": "who", "columns": ("x", "y")}


def _folder(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    """Two files whose persons have one type; the second holds the last record alone."""
    for name, some in (("a", records[:-1]), ("b", records[-1:])):
        pq.write_table(_table(some), folder / f"{name}.parquet")
    return folder, {"person": "who", "columns": ("x", "y")}


# frames, tables and values ------------------------------------------------------------------------


def _table(records: Sequence[Record]) -> pa.Table:
    whole = all(isinstance(record.who, int) for record in records)
    return pa.table(
        {
            "who": pa.array([r.who for r in records], pa.int64() if whole else pa.string()),
            "x": pa.array([r.x for r in records], pa.float64()),
            "y": pa.array([r.y for r in records], pa.float64()),
        }
    )


def _arrow(layout: str) -> Callable[..., tuple[Any, dict[str, Any]]]:
    def take(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
        table = _table(records)
        if layout == "dictionary":
            table = table.set_column(0, "who", table["who"].dictionary_encode())
        elif layout == "chunks":
            table = pa.concat_tables([table.slice(i, 1) for i in range(len(table))])
        if layout in ("two columns", "dictionary", "chunks"):
            return table, {"person": "who", "columns": ("x", "y")}
        frame = _frame(records, domain)
        encoding = "geoarrow" if layout.startswith("geoarrow") else "WKB"
        interleaved = layout.endswith("interleaved")
        return (
            pa.table(frame.to_arrow(geometry_encoding=encoding, interleaved=interleaved)),
            {"person": "who"},
        )

    return take


def _polars(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    return pl.from_arrow(_table(records)), {"person": "who", "columns": ("x", "y")}


def _geodataframe(
    folder: Path, records: Sequence[Record], domain: Any
) -> tuple[Any, dict[str, Any]]:
    return _frame(records, domain), {"person": "who"}


def _geoseries(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    return _frame(records, domain).geometry, {"person": [record.who for record in records]}


def _array(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    return np.array([[r.x, r.y] for r in records]), {"person": [r.who for r in records]}


def _dictionary(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    code = domain.crs.to_epsg()
    return (
        {
            "type": "FeatureCollection",
            "features": _features(records),
            "crs": {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{code}"}},
        },
        {"person": "who"},
    )


class _Interface:
    """An object of a library of which only its `__geo_interface__` is known."""

    def __init__(self, features: list[dict[str, Any]]) -> None:
        self.__geo_interface__ = {"type": "FeatureCollection", "features": features}


def _interface(folder: Path, records: Sequence[Record], domain: Any) -> tuple[Any, dict[str, Any]]:
    return _Interface(_features(records)), {"person": "who"}


#: GeoJSON is in degrees, so that its doors are for the domain in degrees
DOORS = [
    Door("GeoJSON", _geojson, "json"),
    Door("GeoJSON in lines", _geojson_lines, "json"),
    Door("GeoPackage, text", _by_gdal("a.gpkg", "GPKG")),
    Door("GeoPackage, numbers", _by_gdal("a.gpkg", "GPKG"), "whole"),
    Door("Shapefile, text", _by_gdal("a.shp", "ESRI Shapefile"), "short"),
    Door("Shapefile, numbers", _by_gdal("a.shp", "ESRI Shapefile"), "small"),
    Door("FlatGeobuf, text", _by_gdal("a.fgb", "FlatGeobuf"), shuffles=True),
    Door("FlatGeobuf, numbers", _by_gdal("a.fgb", "FlatGeobuf"), "whole", shuffles=True),
    Door("CSV", _csv("a.csv"), bare=True),
    Door("CSV, compressed", _csv("a.csv.gz"), bare=True),
    Door("TSV", _csv("a.tsv", "\t"), bare=True),
    Door("CSV, whose names are numbers", _csv("a.csv"), "whole", bare=True),
    Door("CSV on a pipe", _csv_pipe, bare=True),
    Door("GeoParquet, text", _geoparquet),
    Door("GeoParquet, numbers", _geoparquet, "whole"),
    Door("Parquet of two columns", _parquet_xy, bare=True),
    Door("a folder of Parquet, text", _folder, bare=True),
    Door("a folder of Parquet, numbers", _folder, "whole", bare=True),
    Door("GeoDataFrame", _geodataframe, "python"),
    Door("GeoSeries and a list", _geoseries, "python"),
    Door("array and a list", _array, "python", bare=True),
    Door("dictionary of features", _dictionary, "json"),
    Door("__geo_interface__", _interface, "json"),
    Door("Arrow, two columns", _arrow("two columns"), bare=True),
    Door("Arrow, dictionary", _arrow("dictionary"), bare=True),
    Door("Arrow, chunks", _arrow("chunks"), "whole", bare=True),
    Door("Arrow, WKB", _arrow("wkb")),
    Door("Arrow, GeoArrow points", _arrow("geoarrow")),
    Door("Arrow, GeoArrow points, interleaved", _arrow("geoarrow interleaved")),
    Door("polars", _polars, bare=True),
]

NOON = datetime.datetime(2024, 1, 1, 12)
#: a date that does not fit into nanoseconds, and one that is told in them
LONG_AGO, EXACTLY = np.datetime64("1600-01-01"), np.datetime64("2024-01-01T00:00:00.000000001")
