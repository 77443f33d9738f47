"""Behind every door one record decides its own person, cell, category and bin, and nobody else's.

Change, add or remove one record, with odd names and far places: all others are understood as
before, or the whole input is refused, which is told to the publisher alone.
"""

from __future__ import annotations

import os
import string
import tempfile
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsort_geo.geo.private import features, points

from .doors import (
    CATEGORIES,
    DOORS,
    EXACTLY,
    LONG_AGO,
    NOON,
    PLAIN,
    ROUND,
    TIMES,
    Door,
    Record,
    sliced,
    understood,
)

#: for each door; the audit takes more
EXAMPLES = int(os.environ.get("DPSORT_GEO_DOORS", "25"))
_LIKE_OTHERS = [
    "bob", " bob", "Bob", "", "0", "00", "0.0", "1", "01", "1.0", "1e2", "100", "-0", "true",
    "True", "NaN", "null", "None", "2024-01-01", "2024/01/01", "2024-01-01T00:00:00",
    "2024-01-01T00:00:00Z", "12:00:00", "é", "e\u0301", "\u200b", "[1]", '{"a": 1}', "a,b",
    'a"b', "a;b",
]  # fmt: skip
_TEXT = st.one_of(
    st.sampled_from(_LIKE_OTHERS),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4),
)
_WHOLE = st.one_of(
    st.sampled_from([0, 1, -1, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]),
    st.integers(-(2**63), 2**63 - 1),
)
_NUMBERS = st.one_of(_WHOLE, st.floats(allow_nan=True, allow_infinity=False))
NAMES: dict[str, st.SearchStrategy[Any]] = {
    "text": _TEXT,
    # what a dBase column of 254 bytes and of nine digits holds
    "short": st.one_of(st.sampled_from(_LIKE_OTHERS), st.text(string.printable[:94], max_size=4)),
    "small": st.integers(-(10**8), 10**8),
    "whole": _WHOLE,
    "json": st.one_of(_TEXT, _NUMBERS.filter(lambda v: v == v), st.booleans(), st.just([1])),
    "python": st.one_of(
        _TEXT,
        _NUMBERS,
        st.booleans(),
        st.sampled_from([b"bob", NOON, LONG_AGO, EXACTLY]),
        st.datetimes(timezones=st.one_of(st.none(), st.timezones())),
    ),
}
_MISSING = st.sampled_from([None, float("nan"), pd.NaT, pd.NA])
_DATES = st.one_of(
    st.sampled_from([NOON, LONG_AGO, EXACTLY]),
    st.datetimes(timezones=st.one_of(st.none(), st.timezones())),
)
#: what each kind of axis takes, where a door holds values of any kind; with others all is refused
TAKEN: dict[tuple[str, str], st.SearchStrategy[Any]] = {
    ("json", "category"): st.one_of(_TEXT, _NUMBERS.filter(lambda v: v == v), st.none()),
    ("json", "bin"): st.one_of(_TEXT, st.none()),
    ("python", "category"): st.one_of(_TEXT, _NUMBERS, _MISSING, _NUMBERS.map(Decimal)),
    ("python", "bin"): st.one_of(_TEXT, _DATES, _MISSING),
}
AXES = {"category": CATEGORIES, "bin": TIMES}
_FAR = {
    PLAIN: st.sampled_from([-0.0, 16.0, -1.0, 1e9, -1e15, 1e300, 5e-324]),
    ROUND: st.sampled_from([-180.0, 180.0, -90.0, 89.999, 0.0, 540.0]),
}


@st.composite
def records(
    draw: st.DrawFn, door: Door, domain: Any, least: int, most: int, axis: str = ""
) -> list[Record]:
    """Records with names of this door; each has a place of its own, and some are far."""
    size = draw(st.integers(least, most))
    found = []
    west, south = domain.bounds[:2]
    for i in range(size):
        far = draw(st.integers(0, 9)) == 0
        x = draw(_FAR[domain]) if far else west + draw(st.integers(0, 63)) / 4
        # rows are told apart by y where a door shuffles them
        y = south + (draw(st.integers(0, 15)) + i / 16 if not door.shuffles else i + 1 / 16)
        found.append(Record(x, y, draw(TAKEN.get((door.names, axis), NAMES[door.names]))))
    return found


def others_unchanged(
    door: Door,
    domain: Any,
    kept: list[Record],
    one: Any,
    other: Any,
    read: Callable[..., Any] = understood,
) -> bool:
    """Whether the kept records are understood alike with one more record and with another."""
    with tempfile.TemporaryDirectory() as name:
        seen: list[Any] = []
        for last in (one, other):
            folder = Path(name, str(len(seen)))
            folder.mkdir()
            seen.append(read(door, folder, [*kept, *last], domain))
    if seen[0] is None or seen[1] is None:
        return True
    return all(seen[0][i] == seen[1][i] for i in range(len(kept)))


def domains(door: Door) -> list[Any]:
    in_degrees = door.names == "json" and "dictionary" not in door.name
    return [ROUND] if in_degrees else [PLAIN] if door.bare else [PLAIN, ROUND]


@pytest.mark.parametrize("door", DOORS, ids=repr)
@settings(max_examples=EXAMPLES)
@given(st.data())
def test_one_record_decides_nobody_elses_person_or_cell(door: Door, data: st.DataObject) -> None:
    domain = data.draw(st.sampled_from(domains(door)))
    drawn = data.draw(records(door, domain, 3, 7))
    kept, one, other = drawn[:-2], drawn[-2], drawn[-1]
    # the two stand at one place in turn: with a shuffling door their y must differ from the others'
    assert others_unchanged(door, domain, kept, [one], [other])
    # a folder has its last record in a file of its own, which must not be empty
    if "folder" not in door.name:
        assert others_unchanged(door, domain, kept, [one], [])
        assert others_unchanged(door, domain, kept, [one, other], [one])


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("door", DOORS, ids=repr)
@settings(max_examples=EXAMPLES)
@given(st.data())
def test_one_record_decides_nobody_elses_category_or_bin(
    door: Door, axis: str, data: st.DataObject
) -> None:
    domain, read = domains(door)[0], partial(sliced, axes=AXES[axis])
    drawn = data.draw(records(door, domain, 3, 7, axis))
    kept, one, other = drawn[:-2], drawn[-2], drawn[-1]
    assert others_unchanged(door, domain, kept, [one], [other], read)
    if "folder" not in door.name:
        assert others_unchanged(door, domain, kept, [one], [], read)
    # of any kind at all, so that the others may be refused because of it
    odd = Record(one.x, one.y, data.draw(NAMES[door.names]))
    assert others_unchanged(door, domain, kept, [one], [odd], read)


def test_a_date_in_nanoseconds_does_not_move_the_dates_of_others() -> None:
    door = next(door for door in DOORS if door.name == "array and a list")
    kept = [Record(1.0, 1.0, LONG_AGO), Record(2.0, 2.0, np.datetime64("2400-01-01"))]
    last = [Record(3.0, 3.0, EXACTLY)]
    assert others_unchanged(door, PLAIN, kept, last, [], partial(sliced, axes=TIMES))


def test_every_door_tells_categories_and_dates_apart(tmp_path: Path) -> None:
    """A door that refuses everything, or takes all for one, would pass the tests above."""
    for number, door in enumerate(DOORS):
        if door.names in ("whole", "small"):
            names: list[Any] = [1, 100, 0]
        else:
            names = ["bob", "2024-01-01", "1"]
        west, south = domains(door)[0].bounds[:2]
        given = [Record(west + 1.5 + i, south + 2.5 + i, who) for i, who in enumerate(names)]
        folder = tmp_path / str(number)
        folder.mkdir()
        found = sliced(door, folder, given, domains(door)[0], CATEGORIES)
        assert found is not None and len(set(found.values())) == 3, door
        dated = sliced(door, folder, given, domains(door)[0], TIMES)
        if "bob" in names:
            assert dated is not None and len(set(dated.values())) == 2, door
        else:  # numbers are refused, and other as the text that GDAL and CSV make of them
            assert dated is None or set(dated.values()) == {TIMES[0].size - 1}, door


def test_every_door_lets_ordinary_records_in(tmp_path: Path) -> None:
    """A door that refuses everything would pass the test above."""
    for door in DOORS:
        whole = door.names in ("whole", "small")
        for domain in domains(door):
            west, south = domain.bounds[:2]
            people = [7, 8, 7] if whole else ["ann", "bob", "ann"]
            given = [Record(west + 1.5 + i, south + 2.5 + i, who) for i, who in enumerate(people)]
            folder = tmp_path / f"{DOORS.index(door)}{domains(door).index(domain)}"
            folder.mkdir()
            found = understood(door, folder, given, domain)
            assert found is not None, door
            assert [first for _, first in found.values()] == [0, 1, 0], door
            assert len({cell for cell, _ in found.values()}) == 3, door


# mutants: what such software has done ------------------------------------------------------------


def _guessed(names: list[Any]) -> np.ndarray:
    """Names as a library reads them that gives a column one type for all of its rows."""
    for kind in (float, np.datetime64):
        try:
            return np.array([kind(name) for name in names])
        except (TypeError, ValueError):
            continue
    return np.array([str(name) for name in names])


def test_a_reader_that_guesses_types_from_all_rows_is_caught(monkeypatch: Any) -> None:
    monkeypatch.setattr(features, "join_columns", lambda columns, gaps: _guessed(columns[0]))
    door = next(door for door in DOORS if door.name == "GeoJSON")
    stamps = [Record(1 + i, 41 + i, name) for i, name in enumerate(["1", "01", "1.0"])]
    one, other = Record(9, 49, "2"), Record(9, 49, "bob")
    assert not others_unchanged(door, ROUND, stamps, [one], [other])


def test_a_reader_that_shifts_all_places_by_the_first_is_caught(monkeypatch: Any) -> None:
    def shifted(domain: Any, stream: Any, x: Any, y: Any) -> Any:
        return x - x.min(), y

    monkeypatch.setattr("tests.privacy.doors.projected", shifted)
    door = next(door for door in DOORS if door.name == "GeoDataFrame")
    kept = [Record(5.0, 5.0, "a"), Record(9.0, 9.0, "b")]
    assert not others_unchanged(door, PLAIN, kept, [Record(8, 8, "c")], [Record(1, 1, "c")])


def test_names_that_become_floats_together_are_caught(monkeypatch: Any) -> None:
    monkeypatch.setattr(points, "names_of", lambda names: np.array(list(names)))
    door = next(door for door in DOORS if door.name == "array and a list")
    kept = [Record(1.0, 1.0, 2**53), Record(2.0, 2.0, 2**53 + 1)]
    changed = not others_unchanged(door, PLAIN, kept, [Record(3, 3, 1)], [Record(3, 3, "x")])
    refused = others_unchanged(door, PLAIN, kept, [Record(3, 3, 1)], [Record(3, 3, 1.5)])
    assert changed or refused
