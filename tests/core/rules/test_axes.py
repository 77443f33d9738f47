"""Axes: what is declared, and the slice that each value falls into by itself."""

from __future__ import annotations

import datetime
import re
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.rules.axes import TAKEN_NAMES, check_axes, make_axes, read_axis
from dpsort_geo.core.rules.category_axis import CategoryAxis, is_missing
from dpsort_geo.core.rules.time_axis import TimeAxis, moments

TYPES = CategoryAxis("type", ("theft", "arson", "other"))
STRICT = CategoryAxis("type", ("theft", "arson"))
YEAR = TimeAxis("when", "2026-01-01", "2027-01-01", every="1 month")


def test_values_outside_the_list_and_missing_ones_go_to_a_declared_other():
    given_ = ["arson", "murder", None, float("nan"), "theft", 5.5]
    assert TYPES.slices(given_).tolist() == [1, 2, 2, 2, 0, 2]


MISSING = [
    None, float("nan"), np.float32("nan"), Decimal("nan"), pd.NaT, pd.NA, np.datetime64("NaT"),
]  # fmt: skip


@pytest.mark.parametrize("nothing", MISSING, ids=repr)
def test_whatever_a_library_has_for_no_value_is_missing(nothing):
    dated = TimeAxis("when", "2026-01-01", "2027-01-01", other=True)
    for axis, known in ((TYPES, "arson"), (dated, datetime.date(2026, 2, 3))):
        assert is_missing(nothing) and axis.takes(nothing) and not is_missing(known)
        assert axis.slices([known, nothing]).tolist() == [1, axis.size - 1]
    for strict, word in ((STRICT, "public list"), (YEAR, "missing or cannot be read")):
        with pytest.raises(BadInputError, match=word):
            strict.slices([nothing])


#: what is neither text nor a number nor a date
OF_NO_KIND = [
    True, np.True_, b"theft", datetime.time(1, 2), datetime.timedelta(1), 1j, uuid.UUID(int=7),
    np.timedelta64(5, "D"), ("theft",), pd.Period("2026-03"), pd.Interval(0, 1),
]  # fmt: skip
DATES = [
    datetime.date(2026, 2, 3),
    datetime.datetime(2026, 2, 3),
    np.datetime64("2026-02-03", "ns"),
]
NUMBERS = [2026, 2026.0, Decimal(2026), 20260301, 1770000000, np.int8(5), float("inf")]


@pytest.mark.parametrize("odd", OF_NO_KIND + DATES, ids=repr)
@pytest.mark.parametrize("axis", [TYPES, STRICT], ids=["other", "strict"])
def test_what_is_no_category_is_refused_in_one_sentence_whatever_is_declared(axis, odd):
    assert not axis.takes(odd)
    with pytest.raises(BadInputError, match="takes text, whole numbers or dates") as refused:
        axis.slices(["theft", odd, odd])
    said = str(refused.value)
    assert refused.value.__context__ is None and said.count(". ") == 0
    assert str(odd) not in said and not re.search("[0-9]", said)


@pytest.mark.parametrize("odd", OF_NO_KIND + NUMBERS, ids=repr)
@pytest.mark.parametrize("other", [True, False])
def test_what_is_no_date_is_refused_in_one_sentence_whatever_is_declared(other, odd):
    axis = TimeAxis("when", "2026-01-01", "2027-01-01", other=other)
    assert not axis.takes(odd)
    with pytest.raises(BadInputError, match="no dates, such as numbers") as refused:
        axis.slices(["2026-03-05", odd, None])
    assert refused.value.__context__ is None and str(refused.value).count(". ") == 0


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_arrays_of_dates_and_durations_are_no_whole_numbers(unit):
    """numpy lists those in nanoseconds as whole numbers."""
    for kind in ("M8", "m8"):
        with pytest.raises(BadInputError, match="takes text"):
            TYPES.slices(np.array([5, 6]).astype(f"{kind}[{unit}]"))
    with pytest.raises(BadInputError, match="no dates"):
        TimeAxis("when", "2026-01-01", "2027-01-01", other=True).slices(
            np.array([5, 6]).astype(f"m8[{unit}]")
        )


@pytest.mark.parametrize("bad", ["murder", None, float("nan"), "Theft", " theft", 5.5])
def test_an_undeclared_value_is_refused_without_naming_it(bad):
    with pytest.raises(BadInputError) as refused:
        STRICT.slices(["theft", bad])
    assert "murder" not in str(refused.value) and refused.value.__context__ is None


def test_whole_numbers_are_categories_by_their_text_however_they_are_stored():
    axis = CategoryAxis("magnitude", (5, 6, "7"))
    assert axis.values == ("5", "6", "7")
    for column in (
        [5, 7], np.array([5, 7], np.uint8), np.array([5.0, 7.0]), ["5", "7"],
        [Decimal(5), Decimal("7.00")], [np.float16(5), np.longdouble(7)],
    ):  # fmt: skip
        assert axis.slices(column).tolist() == [0, 2]


def test_a_whole_number_as_pandas_writes_it_beside_gaps_is_that_number_unless_declared_itself():
    axis = CategoryAxis("magnitude", ("5", "-6", "7", "7.0", "other"))
    given_ = ["5.0", "-6.00", "7", "7.0", "5.5", "5.", "1e1", "5.0 ", "٥.0", "8.0"]
    assert axis.slices(given_).tolist() == [0, 1, 2, 3, 4, 4, 4, 4, 4, 4]
    assert axis.slices(["7.00"]).tolist() == [2]


def test_a_number_beyond_all_text_is_just_not_declared():
    for huge in (10**5000, Decimal("1e999999"), 1e308, float("inf")):
        assert TYPES.slices([huge, "theft"]).tolist() == [2, 0]


@pytest.mark.parametrize(
    "every, start, stop, size, first, last",
    [
        ("1 month", "2026-01-01", "2027-01-01", 12, "2026-01", "2026-12"),
        ("3 months", "2026-01-01", "2027-01-01", 4, "2026-01", "2026-10"),
        ("1 year", "2019-01-01", "2026-06-01", 8, "2019", "2026"),
        ("1 week", "2026-01-01", "2026-02-01", 5, "2026-01-01", "2026-01-29"),
        ("day", "2026-02-27", "2026-03-02", 3, "2026-02-27", "2026-03-01"),
        ("1 hour", "2026-03-01", "2026-03-02", 24, "2026-03-01T00:00", "2026-03-01T23:00"),
    ],
)
def test_bins_follow_the_calendar(every, start, stop, size, first, last):
    axis = TimeAxis("when", start, stop, every=every)
    assert (axis.size, axis.labels[0], axis.labels[-1]) == (size, first, last)
    assert axis.slices(axis.starts).tolist() == list(range(size))


def test_dates_outside_fall_into_the_nearest_bin():
    given_ = ["1066-10-14", "2025-12-31T23:59:59", "2027-01-01", "2999-01-01"]
    assert YEAR.slices(given_).tolist() == [0, 0, 11, 11]


def test_the_hour_of_the_week_begins_on_monday():
    axis = TimeAxis("when", every="1 hour", cycle="week")
    assert axis.size == 168 and axis.labels[:2] == ("Mon 00:00", "Mon 01:00")
    when = ["2026-03-02T00:30", "2026-03-08T23:59", "1960-02-29T05:00"]  # a Monday, Sunday, Monday
    assert axis.slices(when).tolist() == [0, 167, 5]


@pytest.mark.parametrize("bad", [None, "", "soon", "2026-13-01", float("nan")])
def test_a_missing_date_is_refused_unless_other_is_declared(bad):
    with pytest.raises(BadInputError) as refused:
        YEAR.slices(["2026-03-01", bad])
    assert refused.value.__context__ is None
    with_other = TimeAxis("when", "2026-01-01", "2027-01-01", other=True)
    assert with_other.takes(bad)
    assert with_other.slices(["2026-03-01", bad]).tolist() == [2, 12]


@given(st.datetimes(datetime.datetime(2020, 1, 1), datetime.datetime(2030, 1, 1)))
def test_a_date_means_the_same_however_it_is_written(at):
    at = at.replace(microsecond=0)
    zone = datetime.timezone(datetime.timedelta(hours=7))
    ways = [at, at.isoformat(), at.isoformat(" ") + "+0700", at.replace(tzinfo=zone), str(at) + "Z"]
    alone = [moments([way])[0] for way in ways] + [moments(np.array([at], "M8[us]"))[0]]
    assert set(alone) == {np.datetime64(at, "s")} == set(moments(ways))


@given(st.lists(st.sampled_from(["2026-03-01", None, "x", "2026-07-01T10:00"]), min_size=1))
def test_the_bin_of_a_row_does_not_depend_on_other_rows(values):
    axis = TimeAxis("when", "2026-01-01", "2027-01-01", other=True)
    assert axis.slices(values).tolist() == [axis.slices([value])[0] for value in values]


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: CategoryAxis("type", ("a",)), "2 to"),
        (lambda: CategoryAxis("type", ("a", "a")), "different"),
        (lambda: CategoryAxis("", ("a", "b")), "name"),
        (lambda: TimeAxis("when", "2026-01-01", "2025-01-01"), "after"),
        (lambda: TimeAxis("when", "2026-01-02", "2027-01-01"), "first of a month"),
        (lambda: TimeAxis("when", "1900-01-01", "2027-01-01", every="1 minute"), "up to"),
        (lambda: TimeAxis("when", "2026-01-01", "2027-01-01", every="fortnight"), "every"),
        (lambda: TimeAxis("when"), "start and stop"),
        (lambda: TimeAxis("when", every="5 hours", cycle="week"), "whole number"),
        (lambda: make_axes({"type": "theft"}), "list"),
        (lambda: make_axes({c: ["a", "b"] for c in "pqrs"}), "third"),
        (lambda: make_axes({"p": ["a", "b"], "q": ["a", "b"]}, YEAR), "third"),
        (lambda: make_axes({"when": ["a", "b"]}, YEAR), "of its own"),
    ],
)
def test_what_is_no_axis_gets_one_sentence(make, word):
    with pytest.raises(BadInputError, match=word):
        make()


@pytest.mark.parametrize("name", sorted(TAKEN_NAMES))
def test_a_name_of_the_answers_is_refused_for_a_new_axis_and_read_from_an_old_release(name):
    for declared in (
        {"by": {name: ["a", "b"]}},
        {"time": TimeAxis(name, "2026-01-01", "2027-01-01")},
    ):
        with pytest.raises(BadInputError, match="rename the column"):
            make_axes(**declared)
    old = CategoryAxis(name, ("a", "b"))
    assert check_axes([read_axis(old.to_dict())]) == (old,)


@pytest.mark.parametrize(
    "axis", [TYPES, YEAR, TimeAxis("when", every="1 hour", cycle="week", other=True)]
)
def test_an_axis_survives_its_file(axis):
    assert read_axis(axis.to_dict()) == axis


def test_slices_are_chosen_by_label_by_the_beginning_of_labels_and_by_date():
    days = TimeAxis("when", "2026-01-01", "2027-01-01", every="1 day")
    assert len(days.choose("2026-02")) == 28 and days.choose("2026-01-02") == [1]
    assert YEAR.choose("2026-03-17") == [2] and YEAR.choose(["2026-01", "2026-12"]) == [0, 11]
    assert TYPES.choose("arson") == [1] and TYPES.choose(["other", "theft"]) == [0, 2]
    for axis, wrong in ((YEAR, "2027"), (TYPES, "murder")):
        with pytest.raises(BadInputError):
            axis.choose(wrong)


def test_a_date_is_read_by_itself_whatever_equal_instant_came_before_it():
    east = datetime.timezone(datetime.timedelta(hours=2))
    late = datetime.datetime(2026, 3, 31, 22, 30, tzinfo=datetime.timezone.utc)
    early = datetime.datetime(2026, 4, 1, 0, 30, tzinfo=east)
    assert late == early
    axis = TimeAxis("when", "2026-03-01", "2026-05-01", every="1 month")
    assert axis.slices([late, early]).tolist() == [0, 1]
    assert axis.slices([early, late]).tolist() == [1, 0]
