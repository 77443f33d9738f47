"""The ledger: exact, atomic, durable, and silent about the points."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsort_geo.core.errors import BadInputError, BudgetSpentError
from dpsort_geo.core.private import ledger_file
from dpsort_geo.core.private.ledger import Ledger, composed, total_text
from dpsort_geo.core.private.ledger_file import default_path

PUBLIC = ("point", "replace", "0 0 10 10", "adaptive")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "folder" / "ledger.sqlite")


def test_ten_tenths_are_exactly_one(ledger):
    ledger.limit("calls", 1)
    for _ in range(10):
        ledger.debit("calls", 0.1, *PUBLIC)
    assert ledger.spent("calls") == 1
    assert ledger.left("calls") == 0


def test_the_refusal_says_what_is_left_and_writes_nothing(ledger):
    ledger.limit("calls", "1")
    ledger.debit("calls", "0.7", *PUBLIC)
    with pytest.raises(BudgetSpentError, match=r"0\.3 is left"):
        ledger.debit("calls", "0.31", *PUBLIC)
    assert ledger.spent("calls") == Fraction(7, 10)
    ledger.debit("calls", "0.3", *PUBLIC)


def test_data_sets_do_not_pay_for_each_other(ledger):
    ledger.limit("calls", 1)
    ledger.debit("homes", 5, *PUBLIC)
    ledger.debit("calls", 1, *PUBLIC)
    assert (ledger.spent("homes"), ledger.spent("calls")) == (5, 1)
    assert ledger.left("homes") is None


def test_one_spelling_of_a_name_is_one_data_set(ledger):
    ledger.debit("caf\u00e9 calls", 1, *PUBLIC)
    ledger.debit("  cafe\u0301  calls\n", 1, *PUBLIC)
    assert ledger.spent("caf\u00e9 calls") == 2


def test_a_limit_below_what_is_spent_leaves_nothing_and_can_be_taken_away(ledger):
    ledger.debit("calls", 2, *PUBLIC)
    ledger.limit("calls", 1)
    assert ledger.left("calls") == 0
    with pytest.raises(BudgetSpentError, match="nothing is left; raise the limit"):
        ledger.debit("calls", "0.001", *PUBLIC)
    ledger.limit("calls", None)
    ledger.debit("calls", "0.001", *PUBLIC)
    assert ledger.limits() == {}


def test_add_remove_releases_count_twice_beside_replacement_and_once_alone(ledger):
    ledger.limit("calls", 2)
    ledger.debit("calls", 1, "point", "add-remove", "", "sort")
    assert ledger.spent("calls") == 1
    with pytest.raises(BudgetSpentError, match="count twice"):
        ledger.debit("calls", "0.1", "point", "replace", "", "sort")
    ledger.debit("calls", 1, "point", "add-remove", "", "sort")
    assert ledger.left("calls") == 0


@pytest.mark.parametrize(
    "epsilon",
    [0, -1, "0", "nan", "inf", float("nan"), float("inf"), "", "one",
     True, None, "1e7", Fraction(1, 10**50), Fraction(1, 3), Fraction(0), b"1", 1j],
)  # fmt: skip
def test_an_epsilon_that_is_no_amount_is_refused(ledger, epsilon):
    with pytest.raises(BadInputError, match="Epsilon must be"):
        ledger.debit("calls", epsilon, *PUBLIC)
    assert ledger.entries() == []


@pytest.mark.parametrize(
    "field, value",
    [("dataset", ""), ("dataset", "a" * 201), ("dataset", 7), ("dataset", "a\x00b"),
     ("unit", "trip"), ("neighbours", "swap"), ("domain", "x" * 2001), ("method", None)],
)  # fmt: skip
def test_a_field_that_does_not_belong_is_refused(ledger, field, value):
    fields = dict(zip(("unit", "neighbours", "domain", "method"), PUBLIC), dataset="calls")
    fields[field] = value
    with pytest.raises(BadInputError):
        ledger.debit(epsilon=1, **fields)


@given(st.integers(1, 10**30).map(lambda atto: Fraction(atto, 10**18)))
def test_the_text_of_a_total_is_exact(epsilon):
    assert Fraction(total_text(epsilon)) == epsilon


def test_entries_cannot_be_changed_or_deleted(ledger):
    ledger.debit("calls", 1, *PUBLIC)
    db = sqlite3.connect(ledger.path)
    for statement in ("DELETE FROM entry", "UPDATE entry SET epsilon = '0'"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            db.execute(statement)
    db.close()


def test_an_entry_has_room_for_public_facts_only(ledger):
    assert list(inspect.signature(Ledger.debit).parameters) == [
        "self", "dataset", "epsilon", "unit", "neighbours", "domain", "method",
        "window", "source", "population", "release",
    ]  # fmt: skip
    ledger.debit("calls", "0.5", *PUBLIC)
    (entry,) = ledger.entries("calls")
    shown = (entry.epsilon, entry.unit, entry.neighbours, entry.domain, entry.method)
    assert shown == (Fraction(1, 2), *PUBLIC)


@pytest.mark.skipif(os.name != "posix", reason="file modes are a Unix matter")
@pytest.mark.parametrize("name", [":memory:", "file:books?mode=memory"])
def test_a_file_of_a_name_that_sqlite_takes_for_something_else_is_a_file(tmp_path, name):
    path = tmp_path / name
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        Ledger(Path(name)).debit("calls", 1)
        assert [entry.dataset for entry in Ledger(path).entries()] == ["calls"]
    finally:
        os.chdir(here)


def test_only_the_owner_can_read_the_file(ledger):
    ledger.limit("calls", 1)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


def test_a_file_that_is_not_a_ledger_is_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a ledger, and long enough to look like a file of some kind\n" * 50)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    for path in (text, other, tmp_path):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(BadInputError, match="cannot be used"):
            Ledger(path).debit("calls", 1, *PUBLIC)
        assert before == (path.read_bytes() if path.is_file() else b"")


def test_the_environment_names_the_default_ledger(monkeypatch, tmp_path):
    monkeypatch.setenv("DPSORT_GEO_LEDGER", str(tmp_path / "mine.sqlite"))
    assert default_path() == tmp_path / "mine.sqlite"
    monkeypatch.delenv("DPSORT_GEO_LEDGER")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "dpsort-geo" / "ledger.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert default_path() == Path.home() / ".local" / "share" / "dpsort-geo" / "ledger.sqlite"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "Application Support" in str(default_path())
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert default_path() == tmp_path / "local" / "dpsort-geo" / "ledger.sqlite"


def _spend(path, start, passed):
    start.wait()
    for _ in range(10):
        try:
            Ledger(path).debit("calls", "0.1", *PUBLIC)
        except BudgetSpentError:
            continue
        with passed.get_lock():
            passed.value += 1


def test_processes_at_once_cannot_pass_the_limit_together(tmp_path):
    context = multiprocessing.get_context("spawn")
    start, passed = context.Event(), context.Value("i", 0)
    path = tmp_path / "ledger.sqlite"
    Ledger(path).limit("calls", "1.5")
    crowd = [context.Process(target=_spend, args=(path, start, passed)) for _ in range(4)]
    for process in crowd:
        process.start()
    start.set()
    for process in crowd:
        process.join(60)
    assert passed.value == 15
    assert Ledger(path).spent("calls") == Fraction(3, 2)


SPENDER = """
import sys
from dpsort_geo.core.private.ledger import Ledger
ledger = Ledger(sys.argv[1])
while True:
    number = ledger.debit("calls", "0.001", "point", "replace", "", "sort")
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a Unix matter")
def test_a_debit_that_was_reported_survives_kill_9(tmp_path):
    path = tmp_path / "ledger.sqlite"
    for delay in (0.0, 0.01, 0.05):
        child = subprocess.Popen(
            [sys.executable, "-c", SPENDER, str(path)], stdout=subprocess.PIPE, text=True
        )
        child.stdout.readline()
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        reported = child.communicate()[0].split("\n")[:-1]
        entries = Ledger(path).entries("calls")
        assert not reported or entries[-1].id >= int(reported[-1])
        assert [entry.id for entry in entries] == list(range(1, len(entries) + 1))


def test_composition_of_nothing_is_nothing():
    assert composed([]) == 0


# windows, names, files, populations, the chain ----------------------------------------------------

MARCH, APRIL = ("2026-03-01", "2026-04-01"), ("2026-04-01", "2026-05-01")
OLD = Path(__file__).parents[1] / "golden" / "ledger_v1.sqlite"


def test_a_limit_holds_for_the_largest_instant_of_a_series(ledger):
    ledger.limit("calls", "0.5")
    for window in (MARCH, APRIL):
        ledger.debit("calls", "0.5", "point", "add-remove", "", "adaptive", window=window)
    assert ledger.spent("calls") == Fraction(1, 2)
    with pytest.raises(BudgetSpentError, match="nothing is left; raise the limit"):
        ledger.debit("calls", "0.1", "point", "add-remove", "", "sort", window=MARCH)
    with pytest.raises(BudgetSpentError):
        ledger.debit("calls", "0.1", "point", "add-remove", "", "sort")
    days = ("2026-03-31", "2026-04-02")
    with pytest.raises(BudgetSpentError):
        ledger.debit("calls", "0.1", "point", "add-remove", "", "sort", window=days)
    assert [entry.window for entry in ledger.entries()] == [MARCH, APRIL]


def test_a_limit_of_persons_holds_for_all_months_together(ledger):
    ledger.limit("calls", "0.9")
    ledger.debit("calls", "0.5", "person", "add-remove", "", "adaptive", window=MARCH)
    with pytest.raises(BudgetSpentError):
        ledger.debit("calls", "0.5", "person", "add-remove", "", "adaptive", window=APRIL)


@pytest.mark.parametrize(
    "window", [("2026-04-01", "2026-03-01"), ("2026-03-01", "2026-03-01"), "2026-03", ("a", "b"), 3,
               ("2026-03-01",), ("2026-03-01", None)],
)  # fmt: skip
def test_a_window_that_is_none_is_refused(ledger, window):
    with pytest.raises(BadInputError, match="A window is a start and a later stop"):
        ledger.debit("calls", 1, window=window)
    assert ledger.entries() == []


def test_case_plays_no_part_in_names(ledger):
    ledger.limit("CALLS", 1)
    ledger.debit("Calls", "0.5")
    ledger.debit("calls", "0.5")
    assert ledger.spent("cAlLs") == 1 and len(ledger.entries("CALLS")) == 2
    with pytest.raises(BudgetSpentError):
        ledger.debit("calls", "0.1")


def test_a_population_sums_over_data_sets_and_has_a_limit(ledger):
    ledger.limit("Residents", "1", population=True)
    ledger.debit("calls", "0.6", population="residents")
    ledger.debit("homes", "0.3", population="RESIDENTS")
    ledger.debit("trees", "5")
    assert ledger.spent("residents", population=True) == Fraction(9, 10)
    assert ledger.left("residents", population=True) == Fraction(1, 10)
    with pytest.raises(BudgetSpentError, match="the population 'residents'"):
        # the data set belongs to the population, whether this release says so or not
        ledger.debit("calls", "0.2")
    ledger.debit("calls", "0.1")
    assert ledger.limits(population=True) == {"Residents": 1} and ledger.limits() == {}


def test_changes_of_limits_stay_in_the_history(ledger):
    for epsilon in ("1", "2", None):
        ledger.limit("calls", epsilon)
    assert [row["epsilon"] for row in ledger.history()] == ["1", "2", None]
    assert ledger.limits() == {}


def test_a_link_and_a_copy_of_a_file_are_known_again(ledger, tmp_path):
    file = tmp_path / "calls.csv"
    file.write_text("x,y\n1,2\n")
    ledger.debit("Calls", "0.5", source=file)
    link, copy, other = (tmp_path / name for name in ("link.csv", "copy.csv", "other.csv"))
    link.symlink_to(file)
    copy.write_bytes(file.read_bytes())
    other.write_text("x,y\n3,4\n")
    for path in (file, link, copy, str(copy)):
        assert ledger.other_names(path) == ["Calls"]
        assert ledger.other_names(path, "calls") == []
        assert ledger.other_names(path, "homes") == ["Calls"]
    assert ledger.other_names(other) == []
    file.write_text("x,y\n5,6\n")  # a new version of the same file
    assert ledger.other_names(file) == ["Calls"]


def test_layers_of_one_file_are_different_data(ledger, tmp_path):
    file = tmp_path / "city.gpkg"
    file.write_bytes(b"not really one")
    ledger.debit("calls", "0.5", source=f"{file}|layername=calls")
    assert ledger.other_names(f"{file}|layername=homes") == []
    assert ledger.other_names(f"{file}|layername=calls") == ["calls"]


def test_the_digest_of_a_file_depends_on_the_ledger_and_is_not_exported(tmp_path):
    file = tmp_path / "calls.csv"
    file.write_text("x,y\n1,2\n")
    digests = []
    for name in ("a.sqlite", "b.sqlite"):
        book = Ledger(tmp_path / name)
        book.debit("calls", 1, source=file, release=tmp_path / "out.json")
        ((path, digest),) = book.entries()[0].sources
        assert path == str(file) and digest not in book.export()
        assert str(tmp_path / "out.json") in book.export()
        digests.append(digest)
    assert digests[0] != digests[1]


TAMPERED = [
    "UPDATE entry SET epsilon = '0.001' WHERE id = 1",
    "UPDATE entry SET window_start = '2020-01-01', window_stop = '2020-02-01' WHERE id = 2",
    "DELETE FROM entry WHERE id = 2",
    "DELETE FROM entry WHERE id = 3",
    "UPDATE limit_change SET epsilon = '100' WHERE id = 1",
    "DELETE FROM limit_change",
]


@pytest.mark.parametrize("statement", TAMPERED)
def test_an_entry_that_was_changed_or_taken_out_is_noticed(ledger, statement):
    ledger.limit("calls", 5)
    for _ in range(3):
        ledger.debit("calls", 1)
    assert "3 entries and 1 changes" in ledger.verify()[0]
    with sqlite3.connect(ledger.path) as db:
        for trigger in ("entry_stays", "entry_is_final", "limit_stays", "limit_is_final"):
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute(statement)
    db.close()
    with pytest.raises(BadInputError, match="changed by something else"):
        ledger.verify()
    with pytest.raises(BadInputError, match="changed by something else"):
        ledger.debit("calls", 1)


def test_changes_of_limits_cannot_be_deleted(ledger):
    ledger.limit("calls", 1)
    db = sqlite3.connect(ledger.path)
    for statement in ("DELETE FROM limit_change", "UPDATE limit_change SET epsilon = '9'"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            db.execute(statement)
    db.close()


def test_a_ledger_of_version_1_opens_and_nothing_is_lost(tmp_path):
    path = tmp_path / "ledger.sqlite"
    shutil.copy(OLD, path)
    with sqlite3.connect(OLD) as db:
        old = db.execute("SELECT * FROM entry ORDER BY id").fetchall()
        caps = db.execute("SELECT * FROM cap").fetchall()
    db.close()
    book = Ledger(path)
    kept = [
        (e.id, e.time, e.dataset, total_text(e.epsilon), e.unit, e.neighbours, e.domain, e.method)
        for e in book.entries()
    ]
    assert kept == old and len(old) == 3
    assert {(row["name"], row["epsilon"]) for row in book.history()} == set(caps)
    # names that differ by case are one now, and the smaller of their limits holds
    assert book.spent("calls") == Fraction("0.7") + 2 * Fraction("0.1")
    assert book.left("CALLS") == Fraction("1.5") - book.spent("calls")
    assert book.debit("calls", "0.1") == 4
    assert "4 entries" in book.verify()[0]


def test_a_ledger_of_version_2_keeps_its_rows_and_their_hashes(tmp_path):
    path = tmp_path / "ledger.sqlite"
    shutil.copy(OLD.with_name("ledger_v2.sqlite"), path)
    with sqlite3.connect(path) as db:
        old = [db.execute(f"SELECT * FROM {name}").fetchall() for name in ("entry", "limit_change")]
    db.close()
    book = Ledger(path)
    assert "3 entries and 2 changes" in book.verify()[0]
    with sqlite3.connect(path) as db:
        new = [db.execute(f"SELECT * FROM {name}").fetchall() for name in ("entry", "limit_change")]
        with pytest.raises(sqlite3.Error, match="never deleted"):
            db.execute("DELETE FROM entry")
    db.close()
    assert new == old
    assert book.debit("bikes", "0.1", "combination of rider and bike", "add-remove") == 4
    with pytest.raises(BudgetSpentError, match="beside a smaller unit, add-remove releases count"):
        book.debit("calls", "0.5", "combination of rider and bike", "add-remove")
    assert "4 entries" in book.verify()[0]


def test_a_migration_that_fails_leaves_the_old_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "ledger.sqlite"
    shutil.copy(OLD, path)

    def fail(*_):
        raise sqlite3.OperationalError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(ledger_file, "add_row", fail)
        with pytest.raises(BadInputError, match="disk full"):
            Ledger(path).entries()
    assert len(Ledger(path).entries()) == 3


def test_a_ledger_of_a_later_version_is_left_alone(ledger):
    ledger.debit("calls", 1)
    with sqlite3.connect(ledger.path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(BadInputError, match="not a ledger of this version"):
        ledger.entries()


def test_a_ledger_that_is_taken_over_counts_on_in_the_other_and_is_set_aside(ledger, tmp_path):
    old, source = Ledger(tmp_path / "profile" / "ledger.sqlite"), tmp_path / "calls.csv"
    source.write_text("x,y\n1,2\n")
    old.debit("Calls", "0.4", source=source)
    old.debit("trips", "0.1", "person", window=("2026-03-01", "2026-04-01"), population="riders")
    old.limit("calls", "1")
    old.limit("riders", "2", population=True)
    ledger.debit("calls", "0.3")
    ledger.limit("calls", "0.9")
    ledger.take_over(old.path)
    assert ledger.left("calls") == Fraction("0.2") and ledger.left("trips") is None
    assert ledger.left("riders", population=True) == Fraction("1.9")
    assert ledger.other_names(source, "others") == ["Calls"]
    assert [entry.window for entry in ledger.entries("trips")] == [("2026-03-01", "2026-04-01")]
    assert "3 entries" in ledger.verify()[0]
    assert [path.name for path in old.path.parent.iterdir()] == ["ledger.sqlite.taken-over"]


def test_a_take_over_that_stops_halfway_loses_nothing(ledger, tmp_path, monkeypatch):
    old = Ledger(tmp_path / "old.sqlite")
    old.debit("calls", "0.4")

    def fail(*_):
        raise OSError("pulled the plug")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="plug"):
            ledger.take_over(old.path)
    ledger.take_over(old.path)
    assert ledger.spent("calls") >= Fraction("0.4")  # twice rather than not at all
