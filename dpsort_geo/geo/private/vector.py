"""Points in layers that GDAL reads: GeoPackage, Shapefile, FlatGeobuf, KML, GeoJSON.

Only the geometry and the columns that are asked for are read, by GDAL's Arrow stream; GeoJSON with
persons or axes from its own text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Optional

import numpy as np
import pyogrio

from ...core.errors import BadInputError
from .._optional import have
from ..layers import pick_layer, split_layer
from . import coordinates, point_crs
from .beside import Beside
from .features import features_of_text, points_of_features
from .table import Layout, Reading, join_columns, named_layout, points_of, refuse_label

Array = np.ndarray
Batch = tuple[Array, Array, Any]

#: GDAL's names of formats whose columns have a type of their own, and of those that are read raw
_DECLARED = ("GPKG", "ESRI Shapefile", "FlatGeobuf")
_TIME = "time"
_RAW = ("GeoJSON", "GeoJSONSeq")
#: GDAL's names of types that neither a category nor a date has
_NO_LABELS = {
    "OFTBinary", "OFTTime", "OFTIntegerList", "OFTInteger64List", "OFTRealList", "OFTStringList",
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Layer:
    """A layer of a file: where its points are; whether its own text is read."""

    path: str
    name: str
    layout: Layout
    rows: Optional[int]
    raw: bool = False

    def __repr__(self) -> str:
        return "<Layer: private points>"


def find_layer(
    path: str,
    columns: Optional[tuple[str, str]],
    person: tuple[str, ...],
    labels: tuple[str, ...],
    how: Reading,
) -> Layer:
    """What there is to read in a file that GDAL knows, without reading its points."""
    bare, layer = split_layer(path, how.layer)
    layer = pick_layer(bare, layer, "Point")
    info = pyogrio.read_info(bare, layer=layer, force_feature_count=True)
    name_of_file, rows = os.path.basename(bare), int(info["features"])
    # where each record names its columns, no records name none
    nameless = rows == 0 and str(info["driver"]) in _RAW
    for name in (*(columns or ()), *person, *labels):
        if name not in info["fields"] and not nameless:
            raise BadInputError(f"There is no column {name!r} in {name_of_file}.")
    if columns is None:
        kind = str(info["geometry_type"])
        if kind.endswith("MultiPoint") or kind.startswith("MultiPoint"):
            raise BadInputError(coordinates.MULTIPOINT)
        if not kind.replace("2.5D ", "").startswith(("Point", "Unknown", "Geometry")):
            raise BadInputError(coordinates.NOT_POINTS)
        declared = point_crs.parse_crs(info["crs"])
        chosen = Layout(geometry="", crs=point_crs.settle_crs(declared, how.crs))
    else:
        chosen = named_layout((), columns, how)
    chosen = replace(chosen, person=person, labels=labels, gaps=how.gaps)
    if (person or labels) and str(info["driver"]) in _RAW:
        return Layer(bare, layer, chosen, rows, raw=True)
    if labels and str(info["driver"]) not in _DECLARED:
        raise BadInputError(
            f"{name_of_file} does not say what type its columns have; "
            "write it as GeoPackage, GeoParquet or GeoJSON."
        )
    for name in labels:
        _check_label(info, name)
    kinds = tuple(_person_type(info, name, name_of_file, len(person) > 1) for name in person)
    chosen = replace(chosen, person_type=kinds)
    return Layer(bare, layer, chosen, rows if rows >= 0 else None)


def _check_label(info: dict[str, Any], name: str) -> None:
    """Refuse what GDAL would write as text, though no axis takes it: true as 1, bytes as letters.

    What older versions of pyogrio do not tell, is text for them.
    """
    at = list(info["fields"]).index(name)
    told = info.get("ogr_types")
    if str(info["dtypes"][at]) == "bool" or (told is not None and told[at] in _NO_LABELS):
        refuse_label(name)


def _person_type(info: dict[str, Any], person: str, name: str, one_of_several: bool) -> str:
    """The declared type of a person column; only where a format declares one.

    Elsewhere GDAL guesses a type from the values of all rows, and what one person is called
    would change who the others are. Times are guessed everywhere: their zone is. Beside another
    column a date is read as text, row by row.
    """
    kind = str(info["dtypes"][list(info["fields"]).index(person)])
    if str(info["driver"]) not in _DECLARED:
        raise BadInputError(
            f"{name} does not say what type its columns have, so that persons in it cannot be "
            "told apart safely; write it as GeoPackage, GeoParquet or GeoJSON."
        )
    if kind == "object":
        return "text"
    if kind.startswith(("int", "uint")):
        return "whole number"
    if kind.startswith("float"):
        return kind
    if one_of_several and kind.startswith("datetime"):
        return _TIME
    raise BadInputError(
        f"The person column {person!r} must hold text or numbers; write dates and times as text."
    )


def read_geojson(layer: Layer, size: int) -> Iterator[Batch]:
    """The points of GeoJSON's own text."""
    with open(layer.path, encoding="utf-8-sig") as file:
        features = features_of_text(file.read())
    chosen, rows = layer.layout, 0
    while some := list(islice(features, size)):
        rows += len(some)
        yield points_of_features(some, chosen.person, chosen.xy, chosen.labels, chosen.gaps)
    if rows != layer.rows:
        raise ValueError("not the features that GDAL sees")


def read_layer(layer: Layer, size: int) -> Iterator[Batch]:
    """The points of a layer, by batches of about this many rows."""
    if layer.raw:
        yield from read_geojson(layer, size)
        return
    chosen = layer.layout
    fields = [*(chosen.xy or ()), *chosen.person]
    wanted: dict[str, Any] = {
        "layer": layer.name,
        "columns": fields,
        "read_geometry": chosen.geometry is not None,
    }
    if chosen.labels or _TIME in chosen.person_type:
        wanted = {"read_geometry": wanted["read_geometry"], **_as_text(layer, fields)}
    if not have("pyarrow"):
        yield _read_at_once(layer, wanted)
        return
    with pyogrio.open_arrow(layer.path, batch_size=size, use_pyarrow=True, **wanted) as (
        meta,
        reader,
    ):
        if chosen.geometry is not None:
            chosen = replace(chosen, geometry=meta["geometry_name"] or "wkb_geometry")
        for batch in reader:
            if batch.num_rows:
                yield points_of(batch, chosen)


def _as_text(layer: Layer, fields: list[str]) -> dict[str, Any]:
    """Columns of axes as text, row by row: GDAL guesses the zone of times from all of them."""
    chosen = layer.layout
    times = {name for name, kind in zip(chosen.person, chosen.person_type) if kind == _TIME}
    names = []
    for name in dict.fromkeys((*fields, *chosen.labels)):
        quoted = '"' + name.replace('"', '\\"') + '"'
        text = name in times or (name in chosen.labels and name not in fields)
        names.append(f"CAST({quoted} AS character(200)) AS {quoted}" if text else quoted)
    table = layer.name.replace('"', '\\"')
    return {"sql": f'SELECT {", ".join(names)} FROM "{table}"', "sql_dialect": "OGRSQL"}


def _read_at_once(layer: Layer, wanted: dict[str, Any]) -> Batch:
    """Without pyarrow there is no stream; the coordinates still come without shapely objects."""
    meta, _, geometry, values = pyogrio.raw.read(layer.path, **wanted)
    read = dict(zip(meta["fields"].tolist(), values))
    chosen = layer.layout
    who: Any = None
    named = [read[name] for name in chosen.person]
    for name, column in zip(chosen.person, named):
        if not chosen.gaps and any(value is None or value != value for value in column):
            raise BadInputError(f"Every point must have a value in the person column {name!r}.")
    if named:
        who = join_columns(named, chosen.gaps)
    if chosen.labels:
        who = Beside(who, tuple(read[name].tolist() for name in chosen.labels))
    if chosen.xy is not None:
        x, y = (read[name] for name in chosen.xy)
        return (*coordinates.finite(x, y, chosen.gaps), who)
    return (*coordinates.from_objects(geometry, gaps=chosen.gaps), who)
