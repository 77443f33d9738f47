"""Axes: what is declared, and the slice that each value falls into by itself."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.errors import BadInputError
from dpsort_geo.core.rules.axes import make_axes, read_axis
from dpsort_geo.core.rules.category_axis import CategoryAxis
from dpsort_geo.core.rules.time_axis import TimeAxis, moments

TYPES = CategoryAxis("type", ("theft", "arson", "other"))
STRICT = CategoryAxis("type", ("theft", "arson"))
YEAR = TimeAxis("when", "2026-01-01", "2027-01-01", every="1 month")


def test_values_outside_the_list_and_missing_ones_go_to_a_declared_other():
    given_ = ["arson", "murder", None, float("nan"), "theft", True]
    assert TYPES.slices(given_).tolist() == [1, 2, 2, 2, 0, 2]


@pytest.mark.parametrize("bad", ["murder", None, float("nan"), "Theft", " theft", True])
def test_an_undeclared_value_is_refused_without_naming_it(bad):
    with pytest.raises(BadInputError) as refused:
        STRICT.slices(["theft", bad])
    assert "murder" not in str(refused.value) and refused.value.__context__ is None


def test_whole_numbers_are_categories_by_their_text_however_they_are_stored():
    axis = CategoryAxis("magnitude", (5, 6, "7"))
    assert axis.values == ("5", "6", "7")
    for column in ([5, 7], np.array([5, 7], np.uint8), np.array([5.0, 7.0]), ["5", "7"]):
        assert axis.slices(column).tolist() == [0, 2]


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


@pytest.mark.parametrize("bad", [None, "", "soon", "2026-13-01", float("nan"), 20260301])
def test_a_missing_date_is_refused_unless_other_is_declared(bad):
    with pytest.raises(BadInputError) as refused:
        YEAR.slices(["2026-03-01", bad])
    assert refused.value.__context__ is None
    with_other = TimeAxis("when", "2026-01-01", "2027-01-01", other=True)
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
