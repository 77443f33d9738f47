"""Which columns of an Arrow table hold the points, and the points of a batch of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Optional, Union

import numpy as np
from pyproj import CRS

from ...core.errors import BadInputError
from ...core.private.persons import names_of, pair_names
from . import arrow, coordinates, point_crs
from .beside import Beside, arrow_values

Array = np.ndarray
#: one column that names persons, several that do so together, or none
Persons = Union[str, Sequence[str], None]

#: names of columns that hold geometries, in bytes or in text; the last four are those of queries
GEOMETRY_NAMES = (
    "geometry", "geom", "wkb_geometry", "the_geom", "wkb", "ewkb", "wkt", "ewkt", "wkt_geom",
    "geom_wkt", "geometry_wkt", "shape", "geog", "geography", "location", "point",
    "st_asbinary", "st_asewkb", "st_astext", "st_asewkt",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """What the caller says of an input that does not say it itself."""

    #: of coordinates that name none
    crs: Any = None
    layer: Optional[str] = None
    #: what stands before the decimals in text
    decimal: str = "."
    #: rows without a place are wanted too, as NaN: for a dry run
    gaps: bool = False


PLAINLY = Reading()


@dataclass(frozen=True, repr=False)
class Layout:
    """A geometry column or two columns of numbers, their CRS, and the person column."""

    geometry: Optional[str] = None
    xy: Optional[tuple[str, str]] = None
    crs: Optional[CRS] = None
    #: the columns that name a person, together
    person: tuple[str, ...] = ()
    #: what the file declares each of them to be; nothing where they are text as it stands
    person_type: tuple[str, ...] = ()
    #: columns of axes, read as they stand
    labels: tuple[str, ...] = ()
    #: what every geometry must say of its CRS; None where the table says it for all of them
    srid: Optional[int] = None
    gaps: bool = False

    def __repr__(self) -> str:
        return "<Layout: columns of a private table>"

    @property
    def names(self) -> list[str]:
        """The columns to read, each once."""
        places = (self.geometry,) if self.xy is None else self.xy
        wanted = (*places, *self.person, *self.labels)
        return list(dict.fromkeys(name for name in wanted if name is not None))

    def settled_by(self, batch: Any) -> Layout:
        """The same for the first batch of an Arrow table, or None if there is none."""
        if batch is None:
            return self
        column = arrow.storage(batch.column(self.geometry))
        return self.settled(column.drop_null()[:1].to_pylist())

    def settled(self, first: Any) -> Layout:
        """With the CRS that the geometries name themselves, where the table names none.

        ``first`` are geometries of the beginning: what they say, all others must say, too.
        """
        srid = coordinates.srid_of(first)
        declared = point_crs.parse_crs(f"EPSG:{srid}") if srid else None
        return replace(self, srid=srid, crs=point_crs.settle_crs(declared, self.crs))


def person_columns(person: Persons) -> tuple[str, ...]:
    """The names of person columns as they are given: none, one, or several.

    >>> person_columns("rider"), person_columns(["rider", "date"])
    (('rider',), ('rider', 'date'))
    """
    if person is None:
        return ()
    return (person,) if isinstance(person, str) else tuple(person)


def layout(
    schema: Any,
    columns: Optional[tuple[str, str]] = None,
    person: Persons = None,
    labels: tuple[str, ...] = (),
    how: Reading = PLAINLY,
    native: Optional[tuple[str, Any]] = None,
) -> Layout:
    """Find the points in an Arrow schema: as told, by metadata, or by name.

    ``native`` is the geometry column that a Parquet file declares by its type, and its CRS. A
    layout whose ``srid`` is 0 names no CRS for all of its geometries: see `Layout.settled`.

    >>> import pyarrow as pa
    >>> layout(pa.schema([("id", pa.int64()), ("x", pa.float64()), ("y", pa.float64())])).xy
    ('x', 'y')
    """
    refuse_layer(how)
    who = person_columns(person)
    for name in (*(columns or ()), *who, *labels):
        if schema.get_field_index(name) < 0:
            raise BadInputError(f"The input needs exactly one column named {name!r}.")
    for name in labels:
        check_label(schema.field(name).type, name)
    kind = tuple(_kind(schema.field(name).type) for name in who)
    found = _find(schema, columns, how, native)
    for name in found.names:
        if schema.names.count(name) > 1:
            raise BadInputError(f"The input needs exactly one column named {name!r}.")
    return replace(found, person=who, person_type=kind, labels=labels, gaps=how.gaps)


def check_label(declared: Any, name: str) -> None:
    """Refuse a column whose type no category and no date has, before all of it becomes 'other'.

    >>> import pyarrow as pa
    >>> check_label(pa.string(), "kind")
    """
    import pyarrow as pa

    kind = declared
    while isinstance(kind, (pa.BaseExtensionType, pa.DictionaryType)):
        if getattr(kind, "extension_name", "") in ("arrow.uuid", "arrow.json"):
            return
        kind = kind.value_type if isinstance(kind, pa.DictionaryType) else kind.storage_type
    is_bool8 = getattr(declared, "extension_name", "") == "arrow.bool8"
    of = pa.types
    if not is_bool8 and (
        arrow.is_text(kind) or of.is_integer(kind) or of.is_floating(kind) or of.is_decimal(kind)
        or of.is_date(kind) or of.is_timestamp(kind) or of.is_null(kind)
    ):  # fmt: skip
        return
    refuse_label(name)


def refuse_label(name: str) -> NoReturn:
    """Refuse a column of an axis for its type."""
    raise BadInputError(
        f"The column {name!r} is of a type that no axis takes: it takes text, whole numbers or "
        "dates. Write it as text first, true and false too."
    )


def _find(
    schema: Any, columns: Optional[tuple[str, str]], how: Reading, native: Any = None
) -> Layout:
    """Where the coordinates are, and in which CRS."""
    if columns is None:
        found = _geoparquet(schema) or native or _extension(schema)
        if found is not None:
            return Layout(geometry=found[0], crs=point_crs.settle_crs(found[1], how.crs))
        binary = _by_name(schema)
        if binary is not None:
            return Layout(geometry=binary, crs=point_crs.settle_crs(None, how.crs), srid=0)
    return named_layout(schema.names, columns, how)


def named_layout(names: Any, columns: Optional[tuple[str, str]], how: Reading) -> Layout:
    """Two columns of numbers, or one of geometries in text, by their names.

    What the names suggest as a CRS, the caller knows better.

    >>> named_layout(["lon", "lat"], None, PLAINLY).crs.to_epsg()
    4326
    >>> named_layout(["id", "WKT"], None, PLAINLY).geometry
    'WKT'
    """
    if columns is None and not point_crs.has_pair(names):
        written = [name for name in names if str(name).strip().lower() in GEOMETRY_NAMES]
        if len(written) == 1:
            crs = point_crs.settle_crs(None, how.crs)
            return Layout(geometry=written[0], crs=crs, srid=0, gaps=how.gaps)
    x, y = columns or point_crs.pair(names)
    crs = point_crs.settle_crs(point_crs.pair_crs(x, y), how.crs, guessed=True)
    return Layout(xy=(x, y), crs=crs, gaps=how.gaps)


def refuse_layer(how: Reading) -> None:
    """Refuse to look for a layer where there is none."""
    if how.layer is not None:
        raise BadInputError("A table has no layers: leave layer= out.")


def points_of(batch: Any, chosen: Layout) -> tuple[Array, Array, Any]:
    """Coordinates and persons of a record batch, and what is `Beside` them if it has axes."""
    who: Any = None
    if chosen.person:
        named = [_persons(batch.column(name), name, chosen.gaps) for name in chosen.person]
        who = join_columns(named, chosen.gaps)
    if chosen.labels:
        who = Beside(who, tuple(arrow_values(batch.column(name)) for name in chosen.labels))
    if chosen.xy is not None:
        x, y = (arrow.storage(batch.column(name)) for name in chosen.xy)
        return (*arrow.from_arrow_numbers(x, y, chosen.gaps), who)
    column = batch.column(chosen.geometry)
    return (*arrow.from_arrow(column, chosen.srid, chosen.gaps), who)


def join_columns(named: Sequence[Any], gaps: bool) -> Array:
    """One column of persons as it is, several as tuples."""
    if len(named) == 1:
        return names_of(named[0])
    if gaps:  # nobody, where a part of the name is missing
        rows = zip(*(names_of(column).tolist() for column in named))
        return names_of([None if None in row else row for row in rows])
    return pair_names(named)


def _persons(column: Any, name: str, gaps: bool) -> Array:
    if column.null_count:
        if not gaps:
            raise BadInputError(f"Every point must have a value in the person column {name!r}.")
        return names_of(arrow.storage(column).to_pylist())
    # a type that somebody made of another: who is who is a matter of what is stored
    column = arrow.storage(column)
    if hasattr(column, "dictionary"):
        return names_of(column.dictionary.to_pylist())[column.indices.to_numpy()]
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _kind(declared: Any) -> str:
    """The type of a person column; equal where equal names are equal as Python's values."""
    import pyarrow as pa

    if pa.types.is_dictionary(declared):
        return _kind(declared.value_type)
    if isinstance(declared, pa.BaseExtensionType):
        if declared.extension_name == "arrow.bool8":
            raise BadInputError(
                "Persons are told apart by text or by numbers; write them as one or the other."
            )
        return f"{declared.extension_name} of {_kind(declared.storage_type)}"
    if pa.types.is_integer(declared):
        return "whole number"
    name = str(declared)
    for plain in ("string", "binary"):
        if name in (plain, f"large_{plain}", f"{plain}_view"):
            return plain
    return name


def _geoparquet(schema: Any) -> Optional[tuple[str, Optional[CRS]]]:
    name = None
    try:
        geo = json.loads((schema.metadata or {}).get(b"geo", b"null"))
        if geo is None:
            return None
        column = geo["columns"][geo["primary_column"]]
        kinds = {kind.split(" ")[0] for kind in column.get("geometry_types", [])}
        name = geo["primary_column"]
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    if name is None:  # not raised above: the error would remember the text, with its bounds
        raise BadInputError("The GeoParquet metadata cannot be understood; write the file anew.")
    if kinds and "Point" not in kinds:
        multi = "MultiPoint" in kinds
        raise BadInputError(coordinates.MULTIPOINT if multi else coordinates.NOT_POINTS)
    # the standard: no crs member means longitude and latitude, null means unknown
    return name, point_crs.parse_crs(column.get("crs", "OGC:CRS84"))


def _extension(schema: Any) -> Optional[tuple[str, Optional[CRS]]]:
    for field in schema:
        metadata = field.metadata or {}
        name = getattr(field.type, "extension_name", None)
        if name is None:
            name = metadata.get(b"ARROW:extension:name", b"").decode()
        if name in ("geoarrow.wkb", "ogc.wkb", "geoarrow.point", "geoarrow.wkt"):
            # Arrow's own types, such as its uuid, do not tell what they are made of; GeoArrow's do
            told = getattr(field.type, "__arrow_ext_serialize__", None)
            extra = told() if told else metadata.get(b"ARROW:extension:metadata")
            return field.name, arrow.extension_crs(extra)
        if name == "geoarrow.multipoint":
            raise BadInputError(coordinates.MULTIPOINT)
        if name.startswith("geoarrow."):
            raise BadInputError(coordinates.NOT_POINTS)
    return None


def _by_name(schema: Any) -> Optional[str]:
    """A column of bytes that is named as geometries are."""
    for field in schema:
        kind = field.type
        # how a database's driver hands on a type that Arrow does not know
        named = getattr(kind, "type_name", "") in ("geometry", "geography")
        while hasattr(kind, "storage_type"):
            kind = kind.storage_type
        if (named or field.name.lower() in GEOMETRY_NAMES) and arrow.is_binary(kind):
            return str(field.name)
    return None


def native_geometry(file: Any) -> Optional[tuple[str, Any]]:
    """The column that has Parquet's own type for geometries, and its CRS.

    Without a CRS it is longitude and latitude, as the standard says.
    """
    for i in range(len(file.schema)):
        column = file.schema.column(i)
        told = json.loads(column.logical_type.to_json())
        if told.get("Type") in ("Geometry", "Geography"):
            return column.path, point_crs.parse_crs(_crs_text(told.get("crs") or "OGC:CRS84", file))
    return None


def _crs_text(crs: str, file: Any) -> Any:
    """The forms that the standard knows: PROJJSON or a name, ``srid:n``, ``projjson:key``."""
    kind, sign, rest = crs.partition(":")
    if sign and kind == "srid":
        return None if rest == "0" else f"EPSG:{rest}"
    if sign and kind == "projjson":
        return (file.metadata.metadata or {}).get(rest.encode(), b"").decode() or rest
    return crs
