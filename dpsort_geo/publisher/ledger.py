"""The ledger: what was already spent on a data set, in one SQLite file.

Privacy argument. Releases of the same data compose: the privacy losses add up. `debit` writes the
loss down, durably and in one transaction, *before* any noise is drawn, so that every release that
exists has its debit, whatever crashes in between. The other way round, a debit with no release, is
possible after a crash and safe. An entry holds what the publisher chose in public (name, epsilon,
unit, relation, bounds, method) and the time; nothing in it comes from the points.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
import sys
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Optional

from ..budget import PROTECTED, EpsilonLike, check_neighbours, exact_epsilon
from ..errors import BadInput

_APPLICATION = 0x64707367  # "dpsg": how we know one of our files
_VERSION = 1
_WAIT_SECONDS = 30.0  # how long one process waits for another's debit
_LONGEST_NAME = 200
_LONGEST_DOMAIN = 2000

_SCHEMA = """
CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    dataset TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('point', 'person')),
    neighbours TEXT NOT NULL CHECK (neighbours IN ('replace', 'add-remove')),
    domain TEXT NOT NULL,
    method TEXT NOT NULL
) STRICT;
CREATE TABLE cap (dataset TEXT PRIMARY KEY, epsilon TEXT NOT NULL) STRICT;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN
    SELECT RAISE(ABORT, 'a ledger entry is never deleted'); END;
CREATE TRIGGER entry_is_final BEFORE UPDATE ON entry BEGIN
    SELECT RAISE(ABORT, 'a ledger entry is never changed'); END;
"""


class BudgetSpent(BadInput):
    """The limit of the data set does not leave room for this release."""


@dataclass(frozen=True)
class Entry:
    """One debit."""

    id: int
    time: str
    dataset: str
    epsilon: Fraction
    unit: str
    neighbours: str
    domain: str
    method: str


@dataclass(frozen=True)
class Ledger:
    """The ledger in the file `path`, which is made when it is missing.

    Examples
    --------
    >>> import tempfile
    >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite")
    >>> ledger.limit("calls", "1")
    >>> ledger.debit("calls", "0.7", "point", "replace", "0 0 10 10", "adaptive")
    1
    >>> total_text(ledger.left("calls"))
    '0.3'
    >>> ledger.debit("calls", "0.5", "point", "replace", "0 0 10 10", "adaptive")
    Traceback (most recent call last):
    ...
    dpsort_geo.publisher.ledger.BudgetSpent: Epsilon 0.5 would bring 'calls' to 1.2, above its \
limit of 1: 0.3 is left; publish with that or less, or raise the limit.
    """

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    def debit(
        self,
        dataset: str,
        epsilon: EpsilonLike,
        unit: str = "point",
        neighbours: str = "replace",
        domain: str = "",
        method: str = "adaptive",
    ) -> int:
        """Write down a release that is about to be drawn, or refuse it; give the entry's number.

        The check and the entry are one exclusive transaction: of two processes that would together
        exceed the limit only one passes. When this returns, the entry is on the disk.
        """
        name, eps = _name(dataset), exact_epsilon(epsilon)
        check_neighbours(neighbours)
        if unit not in PROTECTED:
            raise BadInput("The protected unit must be 'point' or 'person'.")
        domain, method = _line("domain", domain, _LONGEST_DOMAIN), _line("method", method, 200)
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        new = Entry(0, now, name, eps, unit, neighbours, domain, method)
        with self._transaction() as db:
            before = _entries(db, name)
            cap = _cap(db, name)
            if cap is not None and composed([*before, new]) > cap:
                raise _refusal(new, before, cap)
            row = (now, name, total_text(eps), unit, neighbours, domain, method)
            cursor = db.execute(
                "INSERT INTO entry (time, dataset, epsilon, unit, neighbours, domain, method)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            return int(cursor.lastrowid or 0)

    def limit(self, dataset: str, epsilon: Optional[EpsilonLike]) -> None:
        """Set the most that may ever be spent on a data set; None takes the limit away."""
        name = _name(dataset)
        eps = None if epsilon is None else exact_epsilon(epsilon)
        with self._transaction() as db:
            db.execute("DELETE FROM cap WHERE dataset = ?", (name,))
            if eps is not None:
                db.execute("INSERT INTO cap VALUES (?, ?)", (name, total_text(eps)))

    def limits(self) -> Dict[str, Fraction]:
        """The limits that are set, by data set."""
        with self._transaction() as db:
            rows = db.execute("SELECT dataset, epsilon FROM cap ORDER BY dataset").fetchall()
        return {name: Fraction(eps) for name, eps in rows}

    def spent(self, dataset: str) -> Fraction:
        """What all releases of a data set cost together (see `composed`)."""
        return composed(self.entries(dataset))

    def left(self, dataset: str) -> Optional[Fraction]:
        """What the limit still allows, never below 0; None when there is no limit."""
        name = _name(dataset)
        with self._transaction() as db:
            cap, spent = _cap(db, name), composed(_entries(db, name))
        return None if cap is None else max(cap - spent, Fraction(0))

    def entries(self, dataset: Optional[str] = None) -> List[Entry]:
        """All debits in the order they were made, of one data set or of all."""
        with self._transaction() as db:
            return _entries(db, None if dataset is None else _name(dataset))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            _make_file(self.path)
            # Autocommit mode: the transaction below is the only one, and it is ours to begin.
            # An absolute path: SQLite takes names like ":memory:" for something else than a file.
            db = sqlite3.connect(
                str(self.path.absolute()), timeout=_WAIT_SECONDS, isolation_level=None
            )
        except (OSError, sqlite3.Error) as error:
            raise _unusable(self.path, error) from None
        with contextlib.closing(db):
            try:
                # EXTRA is FULL and a sync of the folder: a power cut cannot bring money back.
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("PRAGMA fullfsync = ON")
                db.execute("BEGIN IMMEDIATE")
                _prepare(db)
                yield db
                db.execute("COMMIT")
            except sqlite3.Error as error:
                raise _unusable(self.path, error) from None
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")


def composed(entries: Iterable[Entry]) -> Fraction:
    """The loss of several releases of one data set together: sequential composition, exact.

    The losses add up. Replacing a point is removing one and adding one, so beside a replacement
    release an add-remove release counts twice; among themselves add-remove releases count once.

    Examples
    --------
    >>> def entry(eps, relation):
    ...     return Entry(1, "", "calls", Fraction(eps), "point", relation, "", "sort")
    >>> total_text(composed([entry("0.1", "replace"), entry("0.2", "replace")]))
    '0.3'
    >>> total_text(composed([entry("0.1", "replace"), entry("0.2", "add-remove")]))
    '0.5'
    """
    totals = {"replace": Fraction(0), "add-remove": Fraction(0)}
    for entry in entries:
        totals[entry.neighbours] += entry.epsilon
    if totals["replace"] == 0:
        return totals["add-remove"]
    return totals["replace"] + 2 * totals["add-remove"]


def default_path() -> Path:
    """The user's own ledger: `DPSORT_GEO_LEDGER` when set, else where programs keep their data.

    Examples
    --------
    >>> default_path().suffix
    '.sqlite'
    """
    chosen = os.environ.get("DPSORT_GEO_LEDGER")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = str(Path.home() / "Library" / "Application Support")
    else:
        folder = os.environ.get("XDG_DATA_HOME", "")
        if not os.path.isabs(folder):  # the XDG rule: a relative path counts as unset
            folder = str(Path.home() / ".local" / "share")
    return Path(folder) / "dpsort-geo" / "ledger.sqlite"


def total_text(total: Fraction) -> str:
    """A sum of epsilons as exact decimal text.

    Examples
    --------
    >>> total_text(Fraction(3, 10)), total_text(Fraction(1200))
    ('0.3', '1200')
    """
    whole, part = divmod(total.numerator * (10**18 // total.denominator), 10**18)
    return f"{whole}.{part:018d}".rstrip("0").rstrip(".")


def _refusal(new: Entry, before: List[Entry], cap: Fraction) -> BudgetSpent:
    total = composed([*before, new])
    left = max(cap - composed(before), Fraction(0))
    twice = len({entry.neighbours for entry in [*before, new]}) > 1
    return BudgetSpent(
        f"Epsilon {total_text(new.epsilon)} would bring {new.dataset!r} to"
        f" {total_text(total)}, above its limit of {total_text(cap)}:"
        f" {total_text(left)} is left"
        + (" (beside replacement, add-remove releases count twice)" if twice else "")
        + "; publish with that or less, or raise the limit."
    )


def _unusable(path: Path, error: Exception) -> BadInput:
    if "locked" in str(error):
        return BadInput(
            f"The ledger {path} is in use by another process; wait until it is done and try again."
        )
    return BadInput(
        f"The ledger {path} cannot be used ({error}), so nothing was published;"
        " name a writable ledger file, or go without a ledger."
    )


def _make_file(path: Path) -> None:
    """Make the file readable by its owner only: names of data sets are nobody else's business."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(str(path), os.O_RDWR | os.O_CREAT, 0o600))


def _prepare(db: sqlite3.Connection) -> None:
    """Give a new file its tables; refuse a file that is not a ledger. Inside the transaction."""
    mark = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if (mark, version) == (_APPLICATION, _VERSION):
        return
    if mark or version or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise sqlite3.DatabaseError("it is not a ledger of this version of dpsort-geo")
    for statement in _statements():
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {_APPLICATION}")
    db.execute(f"PRAGMA user_version = {_VERSION}")


def _statements() -> Iterator[str]:
    """The schema cut into statements (`executescript` would commit the open transaction)."""
    # STRICT needs SQLite 3.37; older ones keep the CHECKs.
    schema = _SCHEMA if sqlite3.sqlite_version_info >= (3, 37) else _SCHEMA.replace(" STRICT", "")
    text = ""
    for line in schema.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text
            text = ""


def _entries(db: sqlite3.Connection, name: Optional[str]) -> List[Entry]:
    query = (
        "SELECT id, time, dataset, epsilon, unit, neighbours, domain, method FROM entry"
        " WHERE dataset = coalesce(?, dataset) ORDER BY id"
    )
    rows = db.execute(query, (name,)).fetchall()
    return [Entry(i, t, d, Fraction(eps), *rest) for i, t, d, eps, *rest in rows]


def _cap(db: sqlite3.Connection, name: str) -> Optional[Fraction]:
    row = db.execute("SELECT epsilon FROM cap WHERE dataset = ?", (name,)).fetchone()
    return None if row is None else Fraction(row[0])


def _name(dataset: str) -> str:
    name = _line("dataset", dataset, _LONGEST_NAME)
    if not name:
        raise BadInput("The ledger needs a name for the data set, such as 'calls-2024'.")
    return name


def _line(what: str, text: str, longest: int) -> str:
    """Public text on one line, in one spelling: 'calls ' and 'calls' are the same data set."""
    if not isinstance(text, str):
        raise BadInput(f"The ledger's {what} must be text.")
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if len(text) > longest or not text.isprintable():
        raise BadInput(f"The ledger's {what} must be printable and at most {longest} characters.")
    return text
