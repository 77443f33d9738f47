"""Several points a person, what several columns name, points left out, and windows: the claims.

Every release here is a mechanism's own; nothing is simulated. The bugs at the end are those that
such software has had.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.core.private import account, adaptive, draw, hybrid, persons, sort, views
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.publish import count_stream
from dpsort_geo.core.rules import budget
from dpsort_geo.core.rules.budget import exact_epsilon
from tests.core.private import test_account
from tests.persons import count_persons
from tests.privacy import view_claims
from tests.privacy.claims import _all_below
from tests.privacy.replay import MASKED, SMALL, Replay, datasets, table, wild
from tests.privacy.test_mutants import mutate

pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

EACH = {"unit": "person", "neighbours": "add-remove"}
MECHANISMS = {
    "adaptive": lambda cells, eps, **more: adaptive.publish(cells, eps, **more),
    "sort": lambda cells, eps, **more: sort.publish(cells, eps, group_size=1, **more),
    "width-depth": lambda cells, eps, **more: hybrid.publish(
        cells, eps, variant="width-depth", group_size=1, **more
    ),
    "depth-width": lambda cells, eps, **more: hybrid.publish(
        cells, eps, variant="depth-width", group_size=1, **more
    ),
}


def with_persons(sets, n_cells, most):
    """Pairs of data sets: one, and the same with up to ``most`` points of one more person."""
    number = {one: i for i, one in enumerate(sets)}
    pairs = [
        (i, number[tuple(sorted((*one, *more)))])
        for i, one in enumerate(sets)
        for size in range(1, most + 1)
        for more in datasets(n_cells, size)
        if tuple(sorted((*one, *more))) in number
    ]
    return np.array(pairs)


def person_loss(name, grid, most, epsilon, transcripts=6):
    """A person who comes or goes with any choice of up to ``most`` points: epsilon, attained."""
    sets = [one for size in range(1, most + 2) for one in datasets(grid.n_cells, size)]
    tables = [table(grid, one) for one in sets]

    def publish(cells, noise):
        return MECHANISMS[name](cells, epsilon, max_points=most, noise=noise, **EACH)

    pairs = with_persons(sets, grid.n_cells, most)
    return _all_below(publish, tables, pairs, epsilon, transcripts, seed=5)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["1", "0.7"])
@pytest.mark.parametrize("name", ["adaptive", "sort"])
def test_a_person_with_up_to_m_points_costs_at_most_epsilon(name, epsilon, most):
    person_loss(name, SMALL, most, epsilon)


@pytest.mark.parametrize("name", ["width-depth", "depth-width"])
def test_a_person_with_up_to_m_points_costs_at_most_epsilon_in_a_hybrid(name):
    person_loss(name, MASKED, 2, "300")


def test_a_person_with_up_to_m_records_costs_at_most_epsilon_in_views():
    axes, grid, most = view_claims.KINDS["category"], SMALL, 2
    cells = view_claims.joint_cells(grid, axes)
    sets = [one for size in range(1, most + 2) for one in datasets(cells, size)]
    tables = [view_claims.table(grid, axes, one) for one in sets]

    def publish(cells, noise):
        return views.publish(cells, "3", max_points=most, noise=noise, **EACH)

    _all_below(publish, tables, with_persons(sets, cells, most), "3", 4, seed=5)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_release_with_max_points_verifies_and_survives_its_json(name):
    cells = table(SMALL if name in ("adaptive", "sort") else MASKED, [0, 1, 1, 2])
    release = MECHANISMS[name](cells, "1", max_points=3, **EACH)
    again = type(release).from_json(release.to_json())
    assert again == release and again.max_points == 3 and again.version == 3
    assert any("1/3 of epsilon" in line for line in again.verify())
    assert release.exact_epsilon == Fraction(1, 3)


def test_max_points_needs_a_person_and_a_noisy_n():
    cells = table(SMALL, [0, 1])
    for bad in ({"neighbours": "replace", "unit": "person"}, {"neighbours": "add-remove"}):
        with pytest.raises(dp.BadInputError, match="max_points"):
            adaptive.publish(cells, 1, max_points=2, **bad)


# which points are taken ---------------------------------------------------------------------------


def every_choice(owners, most):
    """How often each choice of rows comes out, over every outcome of the draws."""
    seen: Counter = Counter()
    bounds = []

    def measure(bound):
        bounds.append(bound.tolist())
        return np.zeros(bound.size, np.int64)

    persons.take_points(owners, most, measure)
    flat = [range(b) for row in bounds for b in row]
    for outcome in itertools.product(*flat):
        rest = iter(outcome)
        draw = lambda bound, rest=rest: np.array([next(rest) for _ in bound], np.int64)  # noqa: E731
        seen[tuple(persons.take_points(owners, most, draw).tolist())] += 1
    return seen


OWNERS = ["a", "b", "a", "c", "a", "b", "a"]


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_every_choice_of_a_persons_points_is_as_likely(most):
    seen = every_choice(OWNERS, most)
    rows = {who: [i for i, one in enumerate(OWNERS) if one == who] for who in "abc"}
    choices = [list(itertools.combinations(r, min(most, len(r)))) for r in rows.values()]
    expected = {tuple(sorted(sum(one, ()))) for one in itertools.product(*choices)}
    assert set(seen) == expected and len(set(seen.values())) == 1


def test_points_are_taken_by_the_systems_entropy_and_not_by_row_order():
    """Chi-squared with 9 degrees of freedom: above 46 once in two million runs."""
    drawn = Counter(tuple(persons.take_points(["a"] * 5, 2).tolist()) for _ in range(2000))
    chi = sum((drawn[c] - 200) ** 2 / 200 for c in itertools.combinations(range(5), 2))
    assert chi < 46 and sum(drawn.values()) == 2000


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 4))
def test_nobody_has_more_points_than_m_and_nobody_fewer_than_they_can(owners, most):
    kept = persons.take_points(np.array(owners), most)
    counted = Counter(np.array(owners)[kept].tolist())
    assert counted == {who: min(most, many) for who, many in Counter(owners).items()}
    assert np.all(np.diff(kept) > 0)


def test_a_stream_counts_up_to_m_points_of_each_person_over_all_batches():
    x = np.array([0.5, 0.5, 1.5, 1.5])
    batches = [(x, x, ["a", "a", "a", "b"]), (x, x, ["a", "b", "a", "c"])]
    assert count_stream(SMALL, batches, True, "adaptive", 2).n == 5
    assert count_stream(SMALL, batches, True, "sort", 100).n == 8


# what several columns name ------------------------------------------------------------------------

TEXT = st.text(alphabet="ab ,|\x00'\"()", max_size=3)


@example([("a", "b a"), ("a b", "a")])
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=30))
def test_columns_together_are_one_name_where_all_of_them_are_equal_and_only_there(pairs):
    named = persons.pair_names([[a for a, _ in pairs], [b for _, b in pairs]])
    counted = count_persons(SMALL, *SMALL.centres(np.zeros(len(pairs), int)), named, 1)
    assert counted.n == len(set(pairs))


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("place", [0, 1])
def test_a_gap_in_one_of_the_columns_is_refused_and_joins_nobody(gap, place):
    columns = [["ann", "ann", "bob"], ["x", "y", "y"]]
    columns[place][1] = gap
    for made in (list, lambda values: pd.Series(values, dtype=object)):
        with pytest.raises(AssertionError, match="refused"):
            joined(columns, made)


def joined(columns, made):
    """AssertionError("refused") where the gap is refused; how many persons there are where not."""
    try:
        named = persons.pair_names([made(column) for column in columns])
        counted = count_persons(SMALL, *SMALL.centres(np.zeros(3, int)), named, 1)
    except dp.BadInputError as error:
        assert "Every point needs a person" in str(error)
        raise AssertionError("refused") from None
    return counted.n


def test_numbers_and_text_in_one_of_the_columns_are_refused():
    named = persons.pair_names([["ann", "bob"], [5, 6]])
    other = persons.pair_names([["ann", "bob"], ["5", "6"]])
    with pytest.raises(dp.BadInputError, match="Some persons are text"):
        count_persons(SMALL, *SMALL.centres(np.zeros(4, int)), persons.joined_names([named, other]))


DOMAIN = dp.Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857", order=4)


def trips(n=400, seed=1):
    rng = np.random.default_rng(seed)
    day = np.datetime64("2026-03-01") + rng.integers(0, 40, n)
    at = gpd.points_from_xy(rng.uniform(-200, 1200, n), rng.uniform(0, 1000, n))
    facts = {"rider": rng.integers(0, 40, n).astype(str), "date": day.astype(str)}
    return gpd.GeoDataFrame(facts, geometry=at, crs="EPSG:3857")


TRIPS = trips()


def write(frame, path):
    if path.suffix == ".csv":
        table = pd.DataFrame({"x": frame.geometry.x, "y": frame.geometry.y})
        table.join(frame[["rider", "date"]]).to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".gpkg":
        frame.assign(date=pd.to_datetime(frame["date"])).to_file(path)
    else:
        frame.to_file(path)
    return path


@pytest.mark.parametrize("end", [".csv", ".parquet", ".gpkg", ".geojson"])
def test_every_format_knows_what_columns_name_together_and_refuses_a_gap(end, tmp_path):
    path = write(TRIPS, tmp_path / f"trips{end}")
    options = {"person": ["rider", "date"], "window": ("2026-03-01", "2026-04-01"), "date": "date"}
    march = TRIPS[TRIPS["date"] < "2026-04-01"]
    days = march.groupby(["rider", "date"]).ngroups
    assert dp.publish(path, 1, DOMAIN, **options).n == days
    assert dp.publish(TRIPS, 1, DOMAIN, **options).n == days
    gap = TRIPS.copy()
    gap.loc[7, "rider"] = None
    with pytest.raises(dp.BadInputError, match="Every point"):
        dp.publish(write(gap, tmp_path / f"gap{end}"), 1, DOMAIN, person=["rider", "date"])
    with pytest.raises(dp.BadInputError, match="Every point"):
        dp.publish(gap, 1, DOMAIN, person=["rider", "date"])


def test_a_release_names_its_unit_exactly():
    release = dp.publish(TRIPS, 1, DOMAIN, person=["rider", "date"])
    assert release.protects == "combination of rider and date"
    assert "exactly" in repr(release) and "combinations of rider and date" in repr(release)
    said = release.statement()["summary"]
    assert "one combination of rider and date, with all of its points," in said
    assert "not all points of one rider" in said
    few = dp.publish(TRIPS, 1, DOMAIN, person="rider", max_points=2, neighbours="add-remove")
    assert few.protects == "person" and "points, up to 2 of one person, at epsilon" in repr(few)
    assert "Up to 2 points of each person are counted" in few.statement()["summary"]
    assert len(few.points()) == few.release.size


# points that are left out -------------------------------------------------------------------------


def test_a_point_outside_that_is_left_out_costs_nothing_and_one_inside_epsilon():
    """Every data set of up to two points in four cells and two places outside."""
    at = [(0.5, 0.5), (1.5, 0.5), (0.5, 1.5), (1.5, 1.5), (-3.0, 0.5), (9.0, 9.0)]
    fixed = [(0.5, 0.5)]  # no points at all are refused
    sets = [one for size in range(3) for one in datasets(len(at), size)]

    def counted(one):
        x, y = np.array([*fixed, *(at[place] for place in one)]).T
        inside = SMALL.contains(x, y)
        return count_cells(SMALL, x[inside], y[inside])

    number = {one: i for i, one in enumerate(sets)}
    pairs = np.array([(number[one], number[tuple(sorted((*one, place)))])
                      for one in sets if len(one) < 2 for place in range(len(at))])  # fmt: skip

    def publish(cells, noise):
        return adaptive.publish(cells, "1", neighbours="add-remove", noise=noise)

    _all_below(publish, [counted(one) for one in sets], pairs, "1", 6, seed=1)


def test_points_outside_are_left_out_when_asked_and_only_with_a_noisy_n():
    inside = DOMAIN.grid.contains(TRIPS.geometry.x.to_numpy(), TRIPS.geometry.y.to_numpy())
    assert 0 < inside.sum() < len(TRIPS)
    left = dp.publish(TRIPS, "900", DOMAIN, neighbours="add-remove", outside="drop")
    kept = dp.publish(TRIPS, "900", DOMAIN, neighbours="add-remove")
    assert (left.n, kept.n) == (inside.sum(), len(TRIPS))
    assert "left out" in left.statement()["summary"] and left.release.outside == "drop"
    with pytest.raises(dp.BadInputError, match="neighbours='add-remove'"):
        dp.publish(TRIPS, 1, DOMAIN, outside="drop")
    with pytest.raises(dp.BadInputError, match="'nearest' or 'drop'"):
        dp.publish(TRIPS, 1, DOMAIN, outside="clip")


def test_points_without_a_place_in_the_domains_crs_are_left_out_too():
    city = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326", order=5)
    rng = np.random.default_rng(1)
    near = np.c_[rng.uniform(-74.2, -73.8, 200), rng.uniform(40.6, 40.9, 200)]
    utm = gpd.GeoSeries(gpd.points_from_xy(*near.T), crs="EPSG:4326").to_crs("EPSG:32618")
    far = gpd.GeoSeries(gpd.points_from_xy([1e12, 5e11], [1e12, 5e11]), crs="EPSG:32618")
    points = pd.concat([utm, far])
    with pytest.raises(dp.BadInputError, match="no place"):
        dp.publish(points, "900", city, neighbours="add-remove")
    assert dp.publish(points, "900", city, neighbours="add-remove", outside="drop").n == 200


def test_a_polygon_clips_only_when_asked():
    half = dp.Domain.from_polygon(DOMAIN.outline().intersection(DOMAIN.outline().buffer(-300)),
                                  crs="EPSG:3857", order=4)  # fmt: skip
    x, y = TRIPS.geometry.x.to_numpy(), TRIPS.geometry.y.to_numpy()
    assert dp.publish(TRIPS, 1, half).n == len(TRIPS)
    left = dp.publish(TRIPS, "900", half, neighbours="add-remove", outside="drop")
    assert left.n == half.grid.contains(x, y).sum() < len(TRIPS)


# windows: real releases of a series, one transcript -----------------------------------------------

DAYS = [f"2026-03-{day:02d}" for day in range(1, 5)]


def series_loss(windows, epsilons, neighbours="add-remove", transcripts=6):
    """Largest loss of all releases of a series together, over every change of one record.

    A record is (cell, day) on four cells and three days; each day also has a record that stays.
    """
    places = [(cell, day) for cell in range(4) for day in range(3)]
    fixed = [(0, 0), (1, 1), (2, 2)]
    number = {one: i for i, one in enumerate(datasets(len(places), 1))}
    sets = [*number, ()]

    def tables(one):
        records = [*fixed, *(places[place] for place in one)]
        return [table(SMALL, [c for c, d in records if a <= d < b]) for a, b in windows]

    made = [tables(one) for one in sets]
    if neighbours == "add-remove":
        pairs = [(len(sets) - 1, i) for i in number.values()]
    else:
        pairs = list(itertools.combinations(number.values(), 2))
    worst = Fraction(0)
    for turn in range(transcripts):
        first = Replay(invent=wild(turn))
        told = run_series(made[0], epsilons, neighbours, first)
        truths = []
        for one in made:
            again = Replay(outputs=first.said)
            said = run_series(one, epsilons, neighbours, again)
            truths.append((again.truths, again.rates, said))
        for i, j in pairs:
            (a, rates, said), (b, others, too) = truths[i], truths[j]
            assert rates == others == first.rates, "the questions depend on the private points"
            assert said == too == told, "something besides the noisy answers depends on the points"
            worst = max(worst, sum(abs(x - y) * rate for x, y, rate in zip(a, b, rates)))
    return worst


def run_series(tables, epsilons, neighbours, noise):
    said = []
    for cells, epsilon in zip(tables, epsilons):
        noise.count = cells.n
        said.append(adaptive.publish(cells, epsilon, neighbours=neighbours, noise=noise).to_json())
    return said


def total_of(windows, epsilons, unit="point"):
    rows = [
        account.Entry(1, "", "calls", exact_epsilon(eps), unit, "add-remove", "", "adaptive",
                      (DAYS[a], DAYS[b]))
        for (a, b), eps in zip(windows, epsilons)
    ]  # fmt: skip
    return account.composed(rows)


@pytest.mark.parametrize(
    "windows, epsilons",
    [
        ([(0, 1), (1, 2), (2, 3)], ["1", "0.5", "0.7"]),
        ([(0, 2), (1, 3)], ["1", "0.5"]),
        ([(0, 3), (1, 2), (2, 3)], ["0.3", "1", "0.6"]),
    ],
)
def test_what_the_ledger_says_of_a_series_is_what_its_releases_lose_together(windows, epsilons):
    assert series_loss(windows, epsilons) == total_of(windows, epsilons)


def test_under_replace_nothing_bounds_what_a_record_tells_that_moves_to_another_month():
    with pytest.raises(AssertionError, match="besides the noisy answers"):
        series_loss([(0, 1), (1, 3)], ["1", "1"], "replace")


def test_rows_outside_of_the_window_are_not_read(tmp_path):
    march = ("2026-03-05", "2026-03-20")
    wanted = TRIPS[(TRIPS["date"] >= march[0]) & (TRIPS["date"] < march[1])]
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    options = {"window": march, "date": "date", "neighbours": "add-remove"}
    release = dp.publish(TRIPS, "900", DOMAIN, ledger=book, dataset="trips", **options)
    assert release.n == len(wanted) and release.release.window == march
    assert book.entries()[0].window == march
    at = np.c_[TRIPS.geometry.x, TRIPS.geometry.y]
    arrays = dp.publish(at, "900", DOMAIN, values={"date": TRIPS["date"]}, **options)
    assert arrays.n == len(wanted)
    gap = TRIPS.assign(date=[None, *TRIPS["date"][1:]])
    with pytest.raises(dp.BadInputError, match="is missing or cannot be read"):
        dp.publish(gap, 1, DOMAIN, **options)


def test_a_window_on_a_time_axis_is_by_its_column_and_within_its_range(tmp_path):
    axis = dp.TimeAxis("date", "2026-03-01", "2026-04-01", every="1 day")
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    known = {"time": axis, "neighbours": "add-remove", "ledger": book, "dataset": "trips"}
    inside = TRIPS[TRIPS["date"] < "2026-04-01"]
    dropped = dp.publish(TRIPS, "900", DOMAIN, outside="drop", **known)
    at = inside.geometry
    count = DOMAIN.grid.contains(at.x.to_numpy(), at.y.to_numpy()).sum()
    assert dropped.n == count and dropped.release.window == ("2026-03-01", "2026-04-01")
    week = dp.publish(TRIPS, "900", DOMAIN, window=("2026-03-02", "2026-03-09"), **known)
    assert week.n == ((TRIPS["date"] >= "2026-03-02") & (TRIPS["date"] < "2026-03-09")).sum()
    # without a window dates outside go to the nearest bin, so that the release holds all times
    assert dp.publish(TRIPS, "900", DOMAIN, **known).n == len(TRIPS)
    assert [entry.window for entry in book.entries()][2] is None
    for bad, told in (
        ({"window": ("2026-03-02", "2026-05-01")}, "beyond the time axis"),
        ({"window": ("2026-03-02", "2026-03-09"), "date": "rider"}, "leave date= out"),
    ):
        with pytest.raises(dp.BadInputError, match=told):
            dp.publish(TRIPS, 1, DOMAIN, **known, **bad)
    with pytest.raises(dp.BadInputError, match="date='column'"):
        dp.publish(TRIPS, 1, DOMAIN, window=("2026-03-02", "2026-03-09"))
    with pytest.raises(dp.BadInputError, match="give the window, too"):
        dp.publish(TRIPS, 1, DOMAIN, date="date")


def test_a_series_under_replace_says_that_the_window_is_not_protected():
    with pytest.warns(dp.PrivacyWarning, match="whether a point lies in it is not protected"):
        release = dp.publish(TRIPS, 1, DOMAIN, window=("2026-03-01", "2026-04-01"), date="date")
    assert "whether a point lies in that time is not protected" in release.statement()["summary"]


def test_a_persons_day_lies_in_one_window_and_a_person_in_all(tmp_path):
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    weeks = [("2026-03-01", "2026-03-08"), ("2026-03-08", "2026-03-15")]
    for name, person, total in (("days", ["rider", "date"], 1), ("riders", "rider", 2)):
        for window in weeks:
            dp.publish(TRIPS, 1, DOMAIN, person=person, window=window, date="date", ledger=book,
                       dataset=name, neighbours="add-remove")  # fmt: skip
        assert book.spent(name) == total
    assert {entry.unit for entry in book.entries()} == {"person-day of rider and date", "person"}


def test_the_ledger_never_calls_a_combination_a_person(tmp_path):
    """A rider's day is less than a rider: beside it, a release of riders costs a day twice."""
    book = dp.Ledger(tmp_path / "ledger.sqlite")
    more = {"ledger": book, "dataset": "trips", "neighbours": "add-remove"}
    dp.publish(TRIPS, 1, DOMAIN, person=["rider", "date"], **more)
    assert book.spent("trips") == 1
    dp.publish(TRIPS, 1, DOMAIN, person="rider", **more)
    assert [e.unit for e in book.entries()] == ["combination of rider and date", "person"]
    assert book.spent("trips") == 3
    assert "protects one combination of rider and date, not more" in " ".join(
        account.explain(book.entries())
    )


def test_no_column_at_all_names_nobody():
    with pytest.raises(dp.BadInputError, match="names no column"):
        dp.publish(TRIPS, 1, DOMAIN, person=[])


def test_all_rows_of_a_persons_day_have_one_instant_however_it_is_written():
    """Equal instants in two zones are two days on the clock: never one unit in two windows."""
    import datetime as dt

    east = dt.timezone(dt.timedelta(hours=2))
    when = [dt.datetime(2026, 4, 1, 0, 30, tzinfo=east),
            dt.datetime(2026, 3, 31, 22, 30, tzinfo=dt.timezone.utc)]  # fmt: skip
    assert when[0] == when[1]
    frame = gpd.GeoDataFrame(
        {"rider": ["a", "a"], "date": pd.Series(when, dtype=object)},
        geometry=gpd.points_from_xy([300, 400], [300, 600]), crs="EPSG:3857",
    )  # fmt: skip
    both = dp.publish(frame, 900, DOMAIN, person=["rider", "date"], date="date",
                      window=("2026-03-01", "2026-05-01"), neighbours="add-remove")  # fmt: skip
    assert both.n == 2


# bugs ---------------------------------------------------------------------------------------------

SHUFFLE = "there = here + below(owned[some] - i)"
MUTANTS = {
    "sampling by row order": (
        persons, [(SHUFFLE, "below(owned[some] - i); there = here")],
        lambda: test_every_choice_of_a_persons_points_is_as_likely(2),
    ),
    "sampling by row order, without a draw": (
        persons, [(SHUFFLE, "there = here")],
        test_points_are_taken_by_the_systems_entropy_and_not_by_row_order,
    ),
    "a shuffle that may take any row at every place": (
        persons, [(SHUFFLE, "there = start[some] + below(owned[some])")],
        lambda: test_every_choice_of_a_persons_points_is_as_likely(2),
    ),
    "m forgotten in the scale": (
        budget, [("return exact_epsilon(epsilon) / (max_points or 1)",
                  "return exact_epsilon(epsilon)")],
        lambda: test_a_person_with_up_to_m_points_costs_at_most_epsilon("adaptive", "1", 2),
    ),
    "m forgotten in the scale of sort": (
        draw, [("Terms(n, exact,", "Terms(n, exact * (max_points or 1),")],
        lambda: test_a_person_with_up_to_m_points_costs_at_most_epsilon("sort", "1", 2),
    ),
    "m forgotten in the noise of n": (
        draw, [("publish_n(cells, units, exact,",
                "publish_n(cells, units, exact * (max_points or 1),")],
        lambda: test_a_person_with_up_to_m_points_costs_at_most_epsilon("adaptive", "1", 3),
    ),
    "one point too many": (
        persons, [("row[rank < most]", "row[rank <= most]")],
        test_a_stream_counts_up_to_m_points_of_each_person_over_all_batches,
    ),
    "a gap in one of the columns joined to another person": (
        persons, [("        number_persons(part)  # refuses what is missing, or no name\n",
                   "        pass\n"),
                  ("zip(*(part.tolist() for part in parts))",
                   "zip(*([one if one == one and one is not None else 'ann' for one in "
                   "part.tolist()] for part in parts))")],
        lambda: _must_refuse([["ann", None, "bob"], ["x", "y", "y"]]),
    ),
    "columns joined by a space": (
        persons, [("np.fromiter(zip(*(part.tolist() for part in parts)), object, parts[0].size)",
                   "np.array([' '.join(map(str, one)) for one in zip(*parts)], object)")],
        test_columns_together_are_one_name_where_all_of_them_are_equal_and_only_there,
    ),
    "windows that overlap by a day taken as disjoint": (
        account, [("if start <= at < stop)", "if start <= at and at[:10] < stop[:8] + '01')")],
        lambda: _series([(0, 2), (1, 3)]),
    ),
    "the largest release instead of the largest sum": (
        account, [("        sum((cost for (start, stop), cost in timed",
                   "        max((cost for (start, stop), cost in timed"),
                  ("at < stop), Fraction(0))", "at < stop))")],
        lambda: _series([(0, 2), (1, 3)]),
    ),
    "persons' windows taken as disjoint": (
        account, [('return entry.window if entry.unit == "point" or is_day(entry.unit) else None',
                   "return entry.window")],
        test_account.test_windows_of_persons_add_up_and_the_ledger_says_so,
    ),
    "what several columns name taken for a person": (
        account, [('{"point": 0, "person": 2}.get(unit, 1)', '{"point": 0}.get(unit, 2)')],
        test_account.test_a_combination_is_less_than_a_person_and_bounds_no_other_combination,
    ),
    "the stop of a window taken as inside": (
        account, [("if start <= at < stop)", "if start <= at <= stop)")],
        lambda: test_what_the_ledger_says_of_a_series_is_what_its_releases_lose_together(
            [(0, 1), (1, 2), (2, 3)], ["1", "0.5", "0.7"]),
    ),
}  # fmt: skip


def _must_refuse(columns):
    try:
        joined(columns, list)
    except AssertionError:
        return
    raise AssertionError("a gap joined somebody")


def _series(windows):
    test_what_the_ledger_says_of_a_series_is_what_its_releases_lose_together(windows, ["1", "0.5"])


@pytest.mark.parametrize("name", MUTANTS)
def test_this_bug_is_caught(name, monkeypatch):
    module, edits, claim = MUTANTS[name]
    mutate(monkeypatch, module, *edits)
    with pytest.raises(AssertionError):
        claim()


@pytest.mark.parametrize("name", MUTANTS)
def test_without_the_bug_the_same_test_passes(name):
    MUTANTS[name][2]()
