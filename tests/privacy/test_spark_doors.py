"""On Spark one record moves what its own person contributes, and nothing of anybody else.

A job of Spark takes a second, so that many inputs go through one: a column beside says which input
a row belongs to, and each step of the engine is called on the rows of one input at a time. Rows are
sent to the workers, placed there, shuffled by person, gathered and sent back, as in a publication.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Optional

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyspark")

import dpsort_geo as dp
from dpsort_geo.core.private.packed import Block, unpack
from dpsort_geo.geo.private import spark as engine
from dpsort_geo.geo.private.parts import Work
from dpsort_geo.geo.private.rows import Choice
from tests.spark import session

from .test_every_door import NAMES

pytestmark = pytest.mark.slow

DOMAIN = dp.Domain.from_bounds((0, 0, 16, 16), crs=3857, order=4)
#: inputs of one job
BATCH = 40
_FAR = [-0.0, 16.0, -1.0, 1e9, -1e15, 1e300, 5e-324]
PLACES = st.one_of(st.integers(0, 63).map(lambda i: i / 4), st.sampled_from(_FAR))

Records = list[tuple[float, float, Any]]
Step = Callable[[Iterator[Any]], Iterator[Any]]
Mutant = Optional[Callable[[Any], Any]]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with session() as made:
        yield made


def by_input(batches: Iterator[Any], step: Step, mutant: Mutant = None) -> Iterator[Any]:
    """Call a step of the engine on the rows of one input after the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    some = list(batches)
    if not some:  # a partition may be empty
        return
    rows = pa.Table.from_batches(some)
    for number in pc.unique(rows["input"]).to_pylist():
        mine = rows.filter(pc.equal(rows["input"], number)).drop_columns("input").combine_chunks()
        if mutant is not None:
            mine = mutant(mine)
        for found in step(iter(mine.to_batches())):
            column = pa.array([number] * found.num_rows, pa.int32())
            yield found.append_column("input", column)


def contributed(spark: Any, inputs: Sequence[Records], kind: str, mutant: Mutant = None) -> list:
    """Units of mass by cell for each input, or None where it is refused."""
    work = Work(DOMAIN, None, (), Choice(person="who"))
    rows = [(i, *record) for i, records in enumerate(inputs) for record in records]
    frame = spark.createDataFrame(rows, f"input int, x double, y double, who {kind}")
    _, chosen = engine._select(frame.drop("input"), work, None)
    place: Step = partial(engine._place, chosen=chosen, work=work, kind=kind)
    gather: Step = partial(engine._gather, work=work)
    found = (
        frame.repartition(2)
        .mapInArrow(
            lambda batches: by_input(batches, place, mutant),
            f"who {kind}, key bigint, note string, input int",
        )
        .repartition(3, "input", "who")
        .mapInArrow(lambda batches: by_input(batches, gather), f"{engine._BLOCKS}, input int")
        .collect()
    )
    tables: list[Any] = [np.zeros(DOMAIN.grid.n_cells, np.int64) for _ in inputs]
    refused = set()
    for row in found:
        if row["note"] is None:
            block = Block.restore(row["first"], row["size"], row["offset"], row["count"])
            np.add.at(tables[row["input"]], *unpack([block]))
        elif "refused" in json.loads(row["note"]):
            refused.add(row["input"])
    return [None if i in refused else table for i, table in enumerate(tables)]


def others_moved(
    spark: Any, cases: Sequence[tuple[Records, Any]], kind: str, mutant: Mutant = None
) -> list[int]:
    """Cases in which another last record moves somebody who is not of its two persons."""
    inputs: list[Records] = []
    for records, other in cases:
        before, after = records, [*records[:-1], other]
        touched = {records[-1][2], other[2]}
        rest = [record for record in records if record[2] not in touched]
        own = [[one for one in full if one[2] in touched] for full in (before, after)]
        inputs += [before, after, rest, *own]
    found = contributed(spark, inputs, kind, mutant)
    moved = []
    for i in range(len(cases)):
        before, after, rest, *own = found[5 * i : 5 * i + 5]
        if before is None or after is None:
            continue  # refused, which is told to the publisher alone
        if any(not np.array_equal(a - b, rest) for a, b in zip((before, after), own)):
            moved.append(i)
    return moved


@pytest.mark.parametrize(("kind", "names"), [("string", "text"), ("bigint", "whole")])
def test_changing_one_record_moves_its_own_person_only(spark: Any, kind: str, names: str) -> None:
    record = st.tuples(PLACES, PLACES, NAMES[names])
    case = st.tuples(st.lists(record, min_size=2, max_size=7), record)

    @settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(case, min_size=BATCH, max_size=BATCH))
    def check(cases: list[tuple[Records, Any]]) -> None:
        assert not others_moved(spark, cases, kind)

    check()


def test_ordinary_records_are_counted_and_persons_kept_apart(spark: Any) -> None:
    """An engine that refuses everything, or counts nothing, would pass the test above."""
    given = [(1.0, 1.0, "1"), (9.0, 9.0, "01"), (9.0, 9.0, "1")]
    (table,) = contributed(spark, [given], "string")
    assert sorted(table[table > 0] / table.sum()) == [0.25, 0.75]


# mutants: what such software has done ------------------------------------------------------------


def strip_names(rows: Any) -> Any:
    import pyarrow.compute as pc

    return rows.set_column(2, "who", pc.utf8_trim_whitespace(rows["who"]))


def shift_places(rows: Any) -> Any:
    import pyarrow.compute as pc

    return rows.set_column(0, "x", pc.subtract(rows["x"], pc.min(rows["x"])))


@pytest.mark.parametrize("mutant", [strip_names, shift_places])
def test_an_engine_in_which_one_record_moves_others_is_caught(spark: Any, mutant: Any) -> None:
    kept = [(5.0, 5.0, "bob"), (9.0, 9.0, "ann")]
    case = [*kept, (1.0, 1.0, " bob")], (8.0, 8.0, "eve")
    assert others_moved(spark, [case], "string", mutant) == [0]
    assert not others_moved(spark, [case], "string")
