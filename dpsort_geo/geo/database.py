"""PostgreSQL with PostGIS: connections, coordinate systems, and public points into a table.

Everything goes through ADBC, as Arrow. What the database answers when something goes wrong may hold
the password, or private values: one sentence of our own takes its place, and nothing remembers it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Optional

from pyproj import CRS

from ..core.errors import BadInputError
from ._optional import need
from .crs import read_crs
from .statement import STATEMENT

#: what an error means, by its SQLSTATE or the beginning of it
_MEANING = {
    "28": "the database does not accept the user or the password",
    "3D": "there is no database of that name",
    "3F": "there is no schema of that name",
    "42P01": "there is no such table, or it is in another schema",
    "42703": "there is no such column",
    "42601": "the SQL is not valid",
    "42501": "the user may not do this there",
    "42883": "there is no such function; is PostGIS installed in that database?",
    "42704": "there is no such type; is PostGIS installed in that database?",
    "25006": "the SQL would change the database; only reading is allowed",
    "57014": "the database stopped it after its time limit",
}


def is_url(text: Any) -> bool:
    """Whether a text is the address of a database.

    >>> is_url("postgresql://me@localhost/city"), is_url("city.gpkg")
    (True, False)
    """
    return isinstance(text, str) and text.lower().startswith(("postgresql://", "postgres://"))


def quote(name: str) -> str:
    """A name in SQL; a schema may stand before it.

    >>> quote('calls'), quote('city.calls'), quote('a"b')
    ('"calls"', '"city"."calls"', '"a""b"')
    """
    parts = name.split(".")
    if not all(parts) or len(parts) > 2 or "\0" in name:
        raise BadInputError("A table is named as 'table' or 'schema.table'.")
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


class PostGIS:
    """Points in a database: a table, or the rows of a query.

    Parameters
    ----------
    url : str
        ``postgresql://user:password@host:port/database``. The password may also be in the
        environment (PGPASSWORD) or in a file (~/.pgpass), as for every program of PostgreSQL.
    table : str, optional
        Name of a table or view, ``"calls"`` or ``"schema.calls"``.
    sql : str, optional
        A query instead: ``"select geom, kind, seen_at from calls where seen_at > '2026-01-01'"``.

    Examples
    --------
    >>> PostGIS("postgresql://me:secret@localhost/city", table="calls")
    <PostGIS: points in a database>
    """

    def __init__(self, url: str, *, table: Optional[str] = None, sql: Optional[str] = None) -> None:
        if not is_url(url):
            raise BadInputError("A database is given as postgresql://user:password@host/name.")
        if (table is None) == (sql is None):
            raise BadInputError("Say which points of the database: either table= or sql=.")
        self.url, self.table = url, table
        if sql is None:
            self.query = f"select * from {quote(str(table))}"
        else:
            self.query = sql.strip().rstrip(";").rstrip()

    def __repr__(self) -> str:
        return "<PostGIS: points in a database>"


def attempt(what: str, run: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of something that asks the database; one sentence if it fails."""
    import adbc_driver_manager as adbc

    try:
        return run(*arguments, **options)
    except adbc.Error as error:
        state = str(error.sqlstate or "")
    except (OSError, ValueError, RuntimeError):
        state = ""
    meaning = _MEANING.get(state) or _MEANING.get(state[:2])
    # raised here and not above: an exception remembers the one during which it was raised
    raise BadInputError(f"{what}{': ' + meaning if meaning else ''}.")


@contextmanager
def connection(url: str) -> Iterator[Any]:
    """A connection in one transaction, which is undone unless it is committed."""
    if not is_url(url):
        raise BadInputError("A database is given as postgresql://user:password@host/name.")
    need("adbc_driver_postgresql", "PostGIS")
    from adbc_driver_postgresql import dbapi

    link = attempt(
        "The database cannot be reached; check host, name, user and password", dbapi.connect, url
    )
    try:
        yield link
    finally:
        # a stream that was not read to its end cannot be closed in peace
        with suppress(Exception):
            link.close()


def reference_systems(cursor: Any) -> dict[int, tuple[str, int]]:
    """Authority and code of every coordinate system that the database knows, by its SRID."""
    attempt(
        "The coordinate systems of the database cannot be read",
        cursor.execute,
        "select srid, auth_name::text, auth_srid from spatial_ref_sys "
        "where auth_name is not null and auth_srid is not null",
    )
    srid, name, code = (column.to_pylist() for column in cursor.fetch_arrow_table())
    return dict(zip(srid, zip(name, code)))


def crs_of(known: dict[int, tuple[str, int]], srid: int) -> CRS:
    """The coordinate system of an SRID."""
    with suppress(BadInputError, KeyError):
        name, code = known[srid]
        return read_crs(f"{name}:{code}")
    raise BadInputError(
        "The points are in a coordinate system that has no public code in the database; "
        "transform them in sql=, for example with ST_Transform(geom, 4326)."
    )


def write_points(
    points: Any, crs: CRS, statement: dict[str, Any], url: str, table: str, overwrite: bool
) -> None:
    """Write an Arrow stream with a column ``geom`` into a new table, the statement as its comment.

    All or nothing: the table is there when everything is in it.
    """
    name, words = quote(table), json.dumps({STATEMENT: statement})
    failed = f"The points cannot be written to the table {table!r}"
    others = [quote_column(other) for other in points.schema.names if other != "geom"]
    with connection(url) as link, link.cursor() as cursor:
        _make_room(cursor, table, overwrite)
        srid = _srid(reference_systems(cursor), crs)
        part = "dpsort_geo_points"  # of this session alone, gone with it
        attempt(failed, cursor.adbc_ingest, part, points, mode="create", temporary=True)
        place = f"ST_SetSRID(ST_GeomFromWKB(geom), {srid})::geometry(Point, {srid}) as geom"
        wanted = ", ".join([*others, place])
        attempt(failed, cursor.execute, f"create table {name} as select {wanted} from {part}")
        attempt(failed, cursor.execute, f"comment on table {name} is {_text(words)}")
        attempt(failed, link.commit)


def quote_column(name: str) -> str:
    """A column's name in SQL, dots and all."""
    return '"' + name.replace('"', '""') + '"'


def _text(words: str) -> str:
    """A text in SQL, whatever the server takes backslashes for."""
    return " E'" + words.replace("\\", "\\\\").replace("'", "''") + "'"


def _make_room(cursor: Any, table: str, overwrite: bool) -> None:
    """Refuse a name that is taken; drop a table of ours if that is asked for."""
    name = _text(quote(table))
    attempt(
        "The database cannot be asked for the table",
        cursor.execute,
        f"select to_regclass({name})::oid is not null, "
        f"coalesce(obj_description(to_regclass({name}), 'pg_class'), '')",
    )
    (exists, comment) = cursor.fetchone()
    if not exists:
        return
    if not overwrite:
        raise BadInputError(
            f"The table {table!r} exists; give another name, or overwrite=True to replace it."
        )
    if f'"{STATEMENT}"' not in comment:
        raise BadInputError(
            f"The table {table!r} was not written by dpsort-geo, so that it is not replaced; "
            "give another name, or drop it first."
        )
    attempt(f"The table {table!r} cannot be replaced", cursor.execute, f"drop table {quote(table)}")


def _srid(known: dict[int, tuple[str, int]], crs: CRS) -> int:
    authority = crs.to_authority()
    found = None
    if authority is not None:
        code = ("EPSG", "4326") if authority == ("OGC", "CRS84") else authority
        found = next(
            (s for s, (name, number) in known.items() if (name, str(number)) == code), None
        )
    if found is None:
        raise BadInputError(
            "The database has no code for the CRS of this release; write a file instead."
        )
    return found
