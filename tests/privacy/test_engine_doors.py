"""On dask one record moves what its own person contributes, and nothing of anybody else."""

from __future__ import annotations

from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.core.errors import BadInputError
from dpsort_geo.geo.private import cluster
from dpsort_geo.geo.private.parts import Work
from dpsort_geo.geo.private.rows import Choice
from dpsort_geo.geo.private.table import PLAINLY

pytestmark = pytest.mark.slow

DOMAIN = dp.Domain.from_bounds((0, 0, 16, 16), crs=3857, order=4)
NAMES = st.sampled_from(
    ["bob", " bob", "Bob", "1", "01", "1.0", "2024-01-01", "true", "é", "e\u0301"]
)
PLACES = st.one_of(st.integers(0, 63).map(lambda i: i / 4), st.sampled_from([-1e9, 1e300, -0.0]))
RECORDS = st.tuples(PLACES, PLACES, NAMES)


def contributed(records: list[tuple[float, float, str]], partitions: int) -> Any:
    """Units of mass by cell, or None where the input is refused."""
    rows = pd.DataFrame(records, columns=["x", "y", "who"])
    frame = dd.from_pandas(rows, npartitions=partitions)
    work = Work(DOMAIN, None, (), Choice(person="who"), "adaptive", PLAINLY)
    try:
        with dask.config.set(scheduler="synchronous"):
            cells, _ = cluster.count_points(frame, work, None, ("x", "y"))
    except BadInputError:
        return None
    table = np.zeros(DOMAIN.grid.n_cells, np.int64)
    np.add.at(table, cells.index, cells.count)
    return table


@settings(max_examples=40)
@given(st.lists(RECORDS, min_size=2, max_size=7), RECORDS, st.integers(1, 3))
def test_changing_one_record_moves_its_own_person_only(records, other, partitions):
    last = records[-1]
    before, after = (
        contributed(records, partitions),
        contributed([*records[:-1], other], partitions),
    )
    if before is None or after is None:
        return
    # everybody but the two persons of the changed record, counted by themselves
    touched = {last[2], other[2]}
    rest = [record for record in records[:-1] if record[2] not in touched]
    alone = contributed(rest, 1) if rest else np.zeros_like(before)
    both = [record for record in records if record[2] in touched]
    new = [record for record in [*records[:-1], other] if record[2] in touched]
    assert np.array_equal(before - contributed(both, 1), alone)
    assert np.array_equal(after - contributed(new, 1), alone)


def test_ordinary_records_are_counted_and_persons_kept_apart():
    table = contributed([(1.0, 1.0, "1"), (9.0, 9.0, "01"), (9.0, 9.0, "1")], 3)
    assert sorted(table[table > 0] / table.sum()) == [0.25, 0.75]
