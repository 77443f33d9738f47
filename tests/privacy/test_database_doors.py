"""Nobody's row of a database changes how another's is read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.private.persons import joined_names
from dpsort_geo.geo.database import PostGIS
from dpsort_geo.geo.private.postgis import database_batches
from tests.privacy.test_doors import partition

pytestmark = pytest.mark.slow

NAMES = ["'1'", "'01'", "'bob'", "' bob'", "''", "'2024-01-01'", "'true'", "'1.0'", "null", "'NaN'"]
NUMBERS = ["1", "0", "-1", "2147483648", "9007199254740993", "9007199254740992", "null"]
PLACES = [
    "ST_SetSRID(ST_MakePoint(1.5, 2.5), 4326)",
    "ST_SetSRID(ST_MakePoint(3, 4, 5), 4326)",
    "ST_SetSRID(ST_MakePointM(3, 4, 5), 4326)",
    "ST_SetSRID(ST_MakePoint(1.5, 2.5), 3857)",
    "ST_SetSRID(ST_MakePoint(1.5, 2.5), 4258)",
    "ST_MakePoint(1.5, 2.5)",
    "ST_SetSRID(ST_MakePoint(1e300, 2.5), 4326)",
    "ST_SetSRID('POINT EMPTY'::geometry, 4326)",
    "null",
]


def read(url: str, rows: list[tuple[str, str]], kind: str):
    """Place, CRS and person of every row; None where they are refused."""
    lines = ", ".join(f"({place}::geometry, {name}::{kind})" for place, name in rows)
    sql = f"select * from (values {lines}) as rows (geom, who)"
    try:
        stream = database_batches(PostGIS(url, sql=sql), person="who")
        parts = list(stream)
        who = partition(joined_names([np.asarray(part[2]) for part in parts]))
    except BadInputError:
        return None
    if who is None or stream.crs is None:
        return None
    x, y = (np.concatenate([part[k] for part in parts]).tolist() for k in (0, 1))
    return list(zip(x, y, who, [stream.crs.to_authority()] * len(x)))


@settings(deadline=None, max_examples=25)
@given(st.data(), st.sampled_from(["text", "bigint"]))
def test_one_row_does_not_change_who_the_others_are_or_where(database, data, kind):
    names = st.sampled_from(NAMES if kind == "text" else NUMBERS)
    row = st.tuples(st.sampled_from(PLACES), names)
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    before = read(database, [*rows, data.draw(row)], kind)
    after = read(database, [*rows, data.draw(row)], kind)
    alone = read(database, rows, kind)
    if before is not None and after is not None:
        assert before[:-1] == after[:-1]
    if before is not None and alone is not None:
        assert before[:-1] == alone


@given(
    st.lists(st.sampled_from([0, 3, 4, 5]), min_size=2, max_size=4).filter(lambda k: len({*k}) > 1)
)
@settings(deadline=None, max_examples=10)
def test_rows_of_different_systems_are_refused_whichever_comes_first(database, chosen):
    assert read(database, [(PLACES[k], "'a'") for k in chosen], "text") is None
