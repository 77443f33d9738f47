"""Points of a database, streamed: a table or a query of PostgreSQL with PostGIS.

The database sends record batches of the columns that are needed and of no others, in a transaction
that may only read. Geometries come as EWKB, each with its own SRID; all must have the same, or
nothing is read, so that no row decides where another one lies. The password is in the address and
nowhere else: not in a message, a repr, the ledger's names or what an error remembers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, Optional

from ...core.errors import BadInputError
from .._optional import need
from ..database import PostGIS, attempt, connection, crs_of, quote_column, reference_systems
from . import arrow, coordinates, point_crs
from .files import PointStream
from .formats import guard
from .table import (
    PLAINLY,
    Layout,
    Persons,
    Reading,
    check_label,
    layout,
    person_columns,
    points_of,
    refuse_layer,
)

_PLACES = ("geometry", "geography")
_UNREADABLE = "The points cannot be read from the database"
#: what is no word of the query itself: text, names in quotes, comments
_APART = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
#: reserved words of SQL: no column is called so without quotes
_LIMIT = re.compile(r"\b(limit|offset|fetch)\b", re.IGNORECASE)


def database_batches(
    source: PostGIS,
    columns: Optional[tuple[str, str]] = None,
    person: Persons = None,
    labels: tuple[str, ...] = (),
    how: Reading = PLAINLY,
) -> PointStream:
    """The points of a database as batches. They can be read once: the database is asked now."""
    need("adbc_driver_postgresql", "PostGIS")  # first: its extra brings pyarrow, too
    need("pyarrow", "PostGIS")
    refuse_layer(how)
    if not how.gaps:
        _refuse_limit(source.query)
    opened = _read(source, columns, person, labels, how)
    chosen, bare = next(opened)
    return PointStream(chosen.crs, None, [guard(opened, "The table")], bare, chosen)


def _refuse_limit(query: str) -> None:
    """Refuse to publish the first so many rows: one row less would let another one in.

    >>> _refuse_limit("select geom from calls where kind = 'speed limit'")
    """
    if _LIMIT.search(_APART.sub(" ", query)):
        raise BadInputError(
            "With a limit in sql= one row decides whether another is published: choose rows by "
            "their own values, for example where seen_at >= '2026-01-01'."
        )


def _read(
    source: PostGIS,
    columns: Optional[tuple[str, str]],
    person: Persons,
    labels: tuple[str, ...],
    how: Reading,
) -> Iterator[Any]:
    """First the layout, and whether its CRS may be missing, then the batches."""
    with connection(source.url) as link, link.cursor() as cursor:
        attempt("The database cannot be read", cursor.execute, "set transaction read only")
        schema = attempt("The query cannot be run", cursor.adbc_execute_schema, source.query)
        chosen = _choose(schema, columns, person, labels, how)
        known = {} if chosen.geometry is None else reference_systems(cursor)
        wanted = ", ".join(_column(schema.field(name), chosen) for name in chosen.names)
        query = f"select {wanted} from ({source.query}\n) as points"
        attempt("The query cannot be run", cursor.execute, query)
        batches = _receive(cursor.fetch_record_batch())
        first = next(batches, None)
        if first is not None and chosen.geometry is not None:
            chosen = _settle(chosen, first, known, how)
        # two columns of numbers carry no CRS: like an array, they are in the domain's
        yield chosen, chosen.xy is not None or first is None
        for batch in () if first is None else chain([first], batches):
            yield points_of(batch, chosen)


def _receive(reader: Any) -> Iterator[Any]:
    def following() -> Any:
        # no StopIteration leaves a generator
        return next(reader, None)

    while (batch := attempt(_UNREADABLE, following)) is not None:
        if batch.num_rows:
            yield batch


def _choose(
    schema: Any,
    columns: Optional[tuple[str, str]],
    person: Persons,
    labels: tuple[str, ...],
    how: Reading,
) -> Layout:
    """Which columns are read, by the types that the database declares."""
    import pyarrow as pa

    places = [field.name for field in schema if _type_name(field) in _PLACES]
    if columns is None and len(places) > 1:
        raise BadInputError(
            "There is more than one column of geometries; choose one in sql=, "
            "for example 'select geom, kind from calls'."
        )
    who = person_columns(person)
    if len(set(schema.names)) < len(schema.names):
        raise BadInputError("Two columns have the same name; give them different ones in sql=.")
    if columns is None and places:
        for name in (*who, *labels):
            if name not in schema.names:
                raise BadInputError(f"There is no column {name!r} in the points.")
        for name in labels:
            check_label(_plain_type(schema.field(name)), name)
        found = Layout(geometry=places[0], person=who, labels=labels, gaps=how.gaps)
    else:
        fields = [pa.field(field.name, _plain_type(field)) for field in schema]
        found = layout(pa.schema(fields), columns, person, labels, how)
    for name in who:
        _check_person(schema.field(name), alone=len(who) == 1)
    return found


def _type_name(field: Any) -> str:
    """What the database calls the type of a column that Arrow has no type for."""
    return (field.metadata or {}).get(b"ADBC:postgresql:typname", b"").decode()


def _plain_type(field: Any) -> Any:
    """The type in which a column comes: what Arrow has no type for is asked for as text."""
    import pyarrow as pa

    if _type_name(field) == "numeric":
        return pa.float64()
    return pa.string() if hasattr(field.type, "storage_type") else field.type


def _check_person(field: Any, alone: bool) -> None:
    import pyarrow as pa

    kind = field.type
    if pa.types.is_integer(kind) or pa.types.is_string(kind) or kind == pa.uuid():
        return
    if not alone and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return  # a person's day
    raise BadInputError(
        f"The person column {field.name!r} must hold text, whole numbers or uuids; "
        "write it as one of these in sql=, for example with ::text."
    )


def _column(field: Any, chosen: Layout) -> str:
    """A column as it is asked for: what Arrow has no type for as numbers or as text."""
    name = quote_column(field.name)
    if field.name == chosen.geometry or not hasattr(field.type, "storage_type"):
        return name
    return f"{name}::{'float8' if field.name in (chosen.xy or ()) else 'text'} as {name}"


def _settle(chosen: Layout, first: Any, known: dict[int, tuple[str, int]], how: Reading) -> Layout:
    """With the SRID of the first row, which all others must have, and its CRS."""
    column = arrow.storage(first.column(chosen.geometry))
    if column.null_count and not how.gaps:
        raise BadInputError(coordinates.EMPTY)
    srid = coordinates.srid_of(column.drop_null()[:1].to_pylist())
    declared = crs_of(known, srid) if srid else None
    return replace(chosen, srid=srid, crs=point_crs.settle_crs(declared, how.crs))
