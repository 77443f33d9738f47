"""Counting points by cell on the workers of Apache Spark.

Each partition of a frame becomes its own table of (cell, count), packed in blocks, a row a block;
Spark brings the blocks of one stretch of the curve together, where they are added up, and one
small table comes back. With persons the rows that Spark brings together first are (person, cell),
by person. Spark keeps the result of one attempt at a task, so that a partition that is counted
again after a failure still counts once.

A frame that is nothing but the rows of Parquet files on disks is not sent through Java, which takes
longer over a row than all of the counting: the workers read the files, row group by row group.

The workers see private points: they are inside the trust boundary, and so is the table.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Optional, Union

import numpy as np

from ...core.errors import BadInputError
from ...core.private.cells import Cells
from ...core.private.extent import Extent, Extents
from ...core.private.packed import Block, add_pairs, pack, unpack
from ...core.private.slices import SlicedCells
from .._optional import need
from . import parts, point_crs
from .formats import PIECE_ROWS, Piece
from .parts import Part, Placed, Refusal, Work, or_refusal
from .spark_files import row_groups
from .table import Layout, layout, points_of

Array = np.ndarray

#: stretches of the curve whose blocks are brought together
_STRETCHES = 256
#: rows that are worked on at a time: as many as are projected at a time
_ROWS = 1 << 20
#: a row is a block of the stretch ``part``, or a note: how far points reach, or why not
_BLOCKS = "part int, first bigint, size int, offset binary, count binary, note string"
_NAMES = {"string": "string", "tinyint": "bigint", "smallint": "bigint", "int": "bigint",
          "bigint": "bigint"}  # fmt: skip
_FAILED = "Spark could not count the points; what went wrong is in the log of its workers."


def count_points(
    frame: Any, work: Work, columns: Optional[tuple[str, str]]
) -> tuple[Union[Cells, SlicedCells], Optional[Extents]]:
    """Count the points of a Spark frame, by person and slice too if asked for."""
    need("pyspark", "Counting with Spark")
    need("pyarrow", "Counting with Spark")
    selected, chosen = _select(frame, work, columns)
    work = replace(work, crs=chosen.crs)
    if work.person:
        who = _name_type(frame, work.person)
        placed = _named_plainly(selected).mapInArrow(
            partial(_place, chosen=chosen, work=work, kind=who),
            f"who {who}, key bigint, note string",
        )
        counted = placed.repartition("who").mapInArrow(partial(_gather, work=work), _BLOCKS)
    else:
        found = row_groups(selected, chosen) if not work.wanted else []
        if found:
            session = frame.sparkSession
            enough = -(-sum(piece.rows or 0 for piece in found) // PIECE_ROWS)
            tasks = min(len(found), max(enough, session.sparkContext.defaultParallelism))
            numbers = session.range(0, len(found), 1, tasks)
            counted = numbers.mapInArrow(partial(_count_groups, found=found, work=work), _BLOCKS)
        else:
            asked = partial(_count, chosen=chosen, work=work)
            counted = _named_plainly(selected).mapInArrow(asked, _BLOCKS)
    rows = _ask(partial(_collect, counted.repartition("part").mapInArrow(_add, _BLOCKS)))
    return parts.finish(_finish(rows, work), work)


def _collect(frame: Any) -> Sequence[Any]:
    """Its rows; as Arrow where Spark can (from 4.0), which takes less than rows of Python."""
    return frame.toArrow().to_pylist() if hasattr(frame, "toArrow") else frame.collect()


def _ask(run: Any) -> Any:
    """What Spark answers; its own errors may quote private values."""
    try:
        return run()
    except Exception:
        pass
    # raised here and not above: an exception remembers the one during which it was raised
    raise BadInputError(_FAILED)


def _select(frame: Any, work: Work, columns: Optional[tuple[str, str]]) -> tuple[Any, Layout]:
    """The columns that are needed, and what they hold."""
    from pyspark.sql import functions

    plain, native = [], None
    for field in _named_once(frame):
        name = _quoted(field.name)
        column = functions.col(name)
        module, kind = type(field.dataType).__module__, type(field.dataType).__name__
        if kind in ("GeometryType", "GeographyType") and module.startswith("pyspark"):
            native = field.name, point_crs.parse_crs(_code(field.dataType))
            column = functions.st_asbinary(column).alias(field.name)
        elif kind in ("GeometryType", "GeographyType"):  # of Sedona, which has this function
            column = functions.expr(f"ST_AsEWKB({name})").alias("geometry")
        elif kind == "UserDefinedType":
            continue
        plain.append(column)
    known = _ask(lambda: frame.select(*plain))
    chosen = layout(
        _arrow_schema(known.schema), columns, work.choice.person, work.wanted, work.how, native
    )
    selected = known.select(*(functions.col(_quoted(name)) for name in chosen.names))
    if chosen.srid is not None:
        first = _ask(selected.select(_quoted(str(chosen.geometry))).first)
        if first is None:  # of no points, no CRS can be wrong
            return selected, replace(chosen, crs=chosen.crs or work.domain.crs)
        chosen = chosen.settled([one for one in first if one is not None])
    if chosen.crs is None and chosen.xy is None:
        raise BadInputError(point_crs.NO_CRS)
    return selected, chosen


def _named_once(frame: Any) -> list[Any]:
    """The columns that can be asked for by their names."""
    same = str if frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    names = [same(name) for name in frame.schema.names]
    return [field for field in frame.schema.fields if names.count(same(field.name)) == 1]


def _quoted(name: str) -> str:
    """A column's name as Spark reads one, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _named_plainly(selected: Any) -> Any:
    """The same columns, in the same order: with some names Spark cannot hand them to a worker."""
    return selected.toDF(*(f"c{i}" for i in range(len(selected.columns))))


def _arrow_schema(schema: Any) -> Any:
    """Names and types, as far as they tell geometries from numbers and text."""
    import pyarrow as pa

    told = {"binary": pa.binary(), "string": pa.string(), "boolean": pa.bool_()}
    fields = ((field.name, field.dataType.simpleString()) for field in schema.fields)
    return pa.schema([(name, told.get(kind, pa.float64())) for name, kind in fields])


def _code(kind: Any) -> Optional[str]:
    """The CRS that Spark declares for a column of geometries; mixed ones have none."""
    return f"EPSG:{kind.srid}" if kind.srid > 0 else None


def _name_type(frame: Any, person: Sequence[str]) -> str:
    kind = frame.schema[person[0]].dataType.simpleString()
    if len(person) > 1 or kind not in _NAMES:
        raise BadInputError(
            "With Spark persons are named by one column of text or of whole numbers; "
            "write them as one or the other."
        )
    return _NAMES[kind]


# what the workers do --------------------------------------------------------------------------


def _count(batches: Iterator[Any], chosen: Layout, work: Work) -> Iterator[Any]:
    found = or_refusal(parts.count_part)(_rows(batches, chosen), work)
    yield _told(found, work)


def _count_groups(batches: Iterator[Any], found: Sequence[Piece], work: Work) -> Iterator[Any]:
    mine = [number for batch in batches for number in batch.column("id").to_pylist()]
    rows = (row for number in mine for row in found[number])
    yield _told(or_refusal(parts.count_part)(rows, work), work)


def _place(batches: Iterator[Any], chosen: Layout, work: Work, kind: str) -> Iterator[Any]:
    import pyarrow as pa

    found = or_refusal(parts.place_part)(_rows(batches, chosen), work)
    who = pa.string() if kind == "string" else pa.int64()
    schema = pa.schema([("who", who), ("key", pa.int64()), ("note", pa.string())])
    if isinstance(found, Placed):
        notes = pa.nulls(found.key.size, pa.string())
        columns = [pa.array(found.name, who), pa.array(found.key), notes]
        yield pa.record_batch(columns, schema=schema)
    # a row without a person is a note
    yield pa.RecordBatch.from_pylist([{"note": _note(found)}], schema)


def _gather(batches: Iterator[Any], work: Work) -> Iterator[Any]:
    notes: list[str] = []
    yield _told(or_refusal(_gather_rows)(batches, work, notes), work)
    yield _noted(notes)


def _gather_rows(batches: Iterator[Any], work: Work, notes: list[str]) -> Part:
    import pyarrow.compute as pc

    placed = []
    for batch in batches:
        note = batch.column("note")
        notes.extend(note.drop_null().to_pylist())
        rows = batch.filter(pc.is_null(note))
        if rows.num_rows:
            name = rows.column("who").to_numpy(zero_copy_only=False)
            placed.append(Placed(rows.column("key").to_numpy(), parts.plain_names(name), None))
    return parts.gather_persons(placed, work)


def _add(batches: Iterator[Any]) -> Iterator[Any]:
    """Add up the blocks of each stretch; notes go on as they are."""
    import pyarrow as pa

    met: dict[int, list[Block]] = defaultdict(list)
    for batch in batches:
        for row in batch.to_pylist():
            if row["note"] is not None:
                yield _noted([row["note"]])
            else:
                block = Block.restore(row["first"], row["size"], row["offset"], row["count"])
                met[row["part"]].append(block)
    for part, blocks in met.items():
        rows = [_row(part, block) for block in pack(*add_pairs(*unpack(blocks)))]
        yield pa.RecordBatch.from_pylist(rows, _schema())


def _rows(batches: Iterable[Any], chosen: Layout) -> Iterator[Any]:
    """Coordinates and what stands beside them; Spark's own batches are small."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= _ROWS:
            yield points_of(_join(waiting, chosen), chosen)
            waiting = []
    if sum(part.num_rows for part in waiting):
        yield points_of(_join(waiting, chosen), chosen)


def _join(waiting: Sequence[Any], chosen: Layout) -> Any:
    """One batch of several, with the names that the columns had."""
    import pyarrow as pa

    columns = pa.concat_batches(waiting).columns
    return pa.RecordBatch.from_arrays(columns, names=chosen.names)


def _told(found: Union[Part, Refusal], work: Work) -> Any:
    """The rows of a table: its blocks, cut between the stretches, and a note."""
    import pyarrow as pa

    rows = []
    if isinstance(found, Part):
        slices = int(np.prod([axis.size for axis in work.axes], dtype=np.int64))
        width = -(-slices * 4**work.domain.grid.order // _STRETCHES)
        for block in found.blocks:
            key, count = unpack([block])
            stretch = key // width
            edge = np.flatnonzero(np.r_[True, stretch[1:] != stretch[:-1]])
            for a, b in zip(edge, np.append(edge[1:], key.size)):
                rows.append(_row(int(stretch[a]), Block(key[a:b], count[a:b])))
    rows.append({"note": _note(found), "part": -1})
    return pa.RecordBatch.from_pylist(rows, _schema())


def _row(part: int, block: Block) -> dict[str, Any]:
    return {
        "part": part,
        "first": block.first,
        "size": block.offset.size,
        "offset": block.offset.tobytes(),
        "count": block.count.tobytes(),
    }


def _noted(notes: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([{"note": note, "part": -1} for note in notes], _schema())


def _schema() -> Any:
    import pyarrow as pa

    kinds = [pa.int32(), pa.int64(), pa.int32(), pa.binary(), pa.binary(), pa.string()]
    return pa.schema(list(zip(("part", "first", "size", "offset", "count", "note"), kinds)))


def _note(found: Union[Part, Placed, Refusal]) -> str:
    """What a worker has to say beside its counts."""
    if isinstance(found, Refusal):
        return json.dumps({"refused": found.sentence})
    reach = found.extents
    if reach is None:
        return json.dumps({})
    ends = [reach.own] if reach.own is reach.there else [reach.own, reach.there]
    return json.dumps({"reach": [[end.x.tolist(), end.y.tolist()] for end in ends]})


# what comes back ------------------------------------------------------------------------------


def _finish(rows: Sequence[Any], work: Work) -> Union[Part, Refusal]:
    blocks, total = [], None
    for row in rows:
        if row["note"] is None:
            block = Block.restore(row["first"], row["size"], row["offset"], row["count"])
            blocks.append(block)
            continue
        note = json.loads(row["note"])
        if "refused" in note:
            return Refusal(note["refused"])
        if "reach" in note:
            ends = [Extent(np.array(x), np.array(y)) for x, y in note["reach"]]
            crs = work.domain.crs if work.crs is None else work.crs
            total = Extents(ends[0], ends[-1], crs) | total
    return Part(tuple(sorted(blocks, key=lambda block: block.first)), total)
