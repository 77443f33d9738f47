"""Frames of Spark that are nothing but the rows of Parquet files on disks, and where these lie.

Such rows need not go through Java. What a frame is, Spark's own plan says; only what is known here
to change no row is let through, and whatever is not known for certain is left to Spark.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from .formats import Piece
from .table import Layout

_SPARK = "org.apache.spark.sql."
_SOURCES = _SPARK + "execution.datasources."
#: what Spark calls a choice of columns, a column as it stands in a file, rows of files
_PROJECT = _SPARK + "catalyst.plans.logical.Project"
_COLUMN = _SPARK + "catalyst.expressions.AttributeReference"
_FILES = _SOURCES + "LogicalRelation"
#: a table format over Parquet, such as Delta, is another class: its files have rows it has not
_PARQUET = _SOURCES + "parquet.ParquetFileFormat"
_PLACES = (_SOURCES + "InMemoryFileIndex", _SOURCES + "CatalogFileIndex")
#: options that choose files, which Spark's own list of them then shows, or change no number
_OPTIONS = {
    "path", "paths", "basepath", "pathglobfilter", "recursivefilelookup", "modifiedbefore",
    "modifiedafter", "mergeschema", "datetimerebasemode", "int96rebasemode",
    "serialization.format", "compression",
}  # fmt: skip
#: settings with which Spark leaves out what it cannot read, or finds columns by their numbers
_SETTINGS = (
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
    "spark.sql.parquet.fieldId.read.enabled",
)


def row_groups(selected: Any, chosen: Layout) -> list[Piece]:
    """Where the rows lie, if they are all rows of Parquet files on disks; else nothing.

    Only columns of the files themselves count, of the type that Spark reads them as: then both see
    the same numbers.
    """
    with suppress(Exception):  # Spark Connect shows no plan; another version, perhaps another one
        files = _files(selected, chosen.names)
        kinds = [field.dataType.simpleString() for field in selected.schema.fields]
        if all(_kinds(path, chosen.names) == kinds for path in files):
            wholes = (Piece(path, "GeoParquet", chosen) for path in files)
            return [piece for whole in wholes for piece in whole.split()]
    return []


def _files(selected: Any, names: list[str]) -> list[str]:
    """The files that Spark would read, twice if twice; none where it would do more than that."""
    plan = selected._jdf.queryExecution().optimizedPlan()
    if _class(plan) == _PROJECT:
        if any(_class(column) != _COLUMN for column in _sequence(plan.projectList())):
            return []
        plan = plan.child()
    if _class(plan) != _FILES:
        return []
    relation, session = plan.relation(), selected.sparkSession
    options = {option.lower() for option in _sequence(relation.options().keySet().toSeq())}
    if (
        _class(relation.fileFormat()) != _PARQUET
        or _class(relation.location()) not in _PLACES
        or not options <= _OPTIONS
        or any(session.conf.get(name, "false").lower() != "false" for name in _SETTINGS)
        # what a folder is called goes before what stands in its files
        or {one.lower() for one in relation.partitionSchema().fieldNames()}
        & {one.lower() for one in names}
    ):
        return []
    return _listed(relation.location(), session)


def _listed(location: Any, session: Any) -> list[str]:
    """The files on disks, as long as they are as Spark has listed them."""
    nothing = getattr(getattr(session._jvm.scala.collection.immutable, "Nil$"), "MODULE$")
    found = []
    for folder in _sequence(location.listFiles(nothing, nothing)):
        for file in _sequence(folder.files()):
            place = file.getPath().toUri()
            if place.getScheme() != "file" or place.getAuthority():
                return []
            found.append(place.getPath())
            # of a file that has grown since, Spark reads a part
            if os.path.getsize(found[-1]) != file.getLen():
                return []
    return found


def _sequence(several: Any) -> list[Any]:
    return [several.apply(i) for i in range(several.size())]


def _class(thing: Any) -> str:
    return str(thing.getClass().getName())


def _kinds(path: str, names: list[str]) -> list[str]:
    """What Arrow calls the types of a file's columns."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    return [str(schema.field(name).type) for name in names]
