"""The SQLite file of a ledger: its tables, the chain of its rows, and files of earlier versions.

Rows are only ever added. Each carries a hash over itself and the hash of the row before it, so
that a row that was changed, taken out or put in by other means breaks the chain from there on.
Rows cut off at the end break no chain; SQLite's own counter of rows, or an earlier export, tells.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from ..errors import BadInputError
from .account import Entry

_APPLICATION = 0x64707367  # "dpsg": how we know one of our files
_VERSION = 3
#: bytes of a private file read at a time
_BLOCK = 1 << 20
#: before a source that is a table and no file
_TABLE = "database:"

_COLUMNS = (
    "id", "time", "dataset", "epsilon", "unit", "neighbours", "domain", "method", "window_start",
    "window_stop", "population", "release", "sources",
)  # fmt: skip
_LIMIT_COLUMNS = ("id", "time", "scope", "name", "epsilon")

_SCHEMA = """
CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    dataset TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('point', 'person', 'person-day')
        OR unit LIKE 'person-day of %' OR unit LIKE 'combination of %'),
    neighbours TEXT NOT NULL CHECK (neighbours IN ('replace', 'add-remove')),
    domain TEXT NOT NULL,
    method TEXT NOT NULL,
    window_start TEXT,
    window_stop TEXT,
    population TEXT,
    release TEXT,
    sources TEXT,
    hash TEXT NOT NULL,
    CHECK ((window_start IS NULL) = (window_stop IS NULL) AND window_start < window_stop)
) STRICT;
CREATE TABLE limit_change (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('dataset', 'population')),
    name TEXT NOT NULL,
    epsilon TEXT,
    hash TEXT NOT NULL
) STRICT;
CREATE TABLE secret (key TEXT NOT NULL) STRICT;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN
    SELECT RAISE(ABORT, 'a ledger entry is never deleted'); END;
CREATE TRIGGER entry_is_final BEFORE UPDATE ON entry BEGIN
    SELECT RAISE(ABORT, 'a ledger entry is never changed'); END;
CREATE TRIGGER limit_stays BEFORE DELETE ON limit_change BEGIN
    SELECT RAISE(ABORT, 'a change of a limit is never deleted'); END;
CREATE TRIGGER limit_is_final BEFORE UPDATE ON limit_change BEGIN
    SELECT RAISE(ABORT, 'a change of a limit is never changed'); END;
"""


def make_file(path: Path) -> None:
    """Make the file readable by its owner only: names of data sets are nobody else's business."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(str(path), os.O_RDWR | os.O_CREAT, 0o600))


def prepare(db: sqlite3.Connection) -> None:
    """Give a new file its tables, an old one the new ones; refuse what is not a ledger.

    Inside the transaction: a file is of the old version or of the new one, whatever happens.
    """
    mark = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if (mark, version) == (_APPLICATION, _VERSION):
        return
    if (mark, version) == (_APPLICATION, 1):
        _renew(db)
    elif (mark, version) == (_APPLICATION, 2):
        _widen(db)
    elif mark or version or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise sqlite3.DatabaseError("it is not a ledger of this version of dpsort-geo")
    else:
        _make_tables(db)
    db.execute(f"PRAGMA application_id = {_APPLICATION}")
    db.execute(f"PRAGMA user_version = {_VERSION}")


def _make_tables(db: sqlite3.Connection) -> None:
    for statement in _statements():
        db.execute(statement)
    db.execute("INSERT INTO secret VALUES (?)", (secrets.token_hex(32),))


def _renew(db: sqlite3.Connection) -> None:
    """From version 1: entries keep numbers, times and names; limits become the first changes."""
    entries = db.execute(
        "SELECT id, time, dataset, epsilon, unit, neighbours, domain, method FROM entry ORDER BY id"
    ).fetchall()
    limits = db.execute("SELECT dataset, epsilon FROM cap").fetchall()
    counted = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entry'").fetchone()
    db.execute("DROP TABLE entry")  # and with it its triggers
    db.execute("DROP TABLE cap")
    _make_tables(db)
    for row in entries:
        add_row(db, "entry", dict(zip(_COLUMNS, row)))
    if counted is not None:
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'entry'", counted)
    # names that differ by case are one from now on; the smallest of their limits comes last, and
    # holds
    for name, epsilon in sorted(limits, key=lambda row: -Fraction(row[1])):
        facts = {"time": "", "scope": "dataset", "name": name, "epsilon": epsilon}
        add_row(db, "limit_change", facts)


def _widen(db: sqlite3.Connection) -> None:
    """From version 2, which knew no combinations: the same rows with the same hashes."""
    rows = read_rows(db, "entry")
    counted = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entry'").fetchone()
    db.execute("DROP TABLE entry")  # and with it its triggers
    for statement in _statements():
        if " entry" in statement:
            db.execute(statement)
    names, marks = ", ".join([*_COLUMNS, "hash"]), ", ".join("?" * (len(_COLUMNS) + 1))
    copy = f"INSERT INTO entry ({names}) VALUES ({marks})"  # nosec B608
    db.executemany(copy, [tuple(row.values()) for row in rows])
    if counted is not None:
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'entry'", counted)


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


def add_row(db: sqlite3.Connection, table: str, facts: Dict[str, Any]) -> int:
    """Add a row at the end of a table's chain; its number."""
    # tables and columns are named by this module alone: nothing of a user's is in the text
    newest = f"SELECT id, hash FROM {table} ORDER BY id DESC LIMIT 1"  # nosec B608
    last = db.execute(newest).fetchone()
    before = "" if last is None else last[1]
    if "id" not in facts:
        counted = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        facts = {"id": 1 if counted is None else counted[0] + 1, **facts}
    names = ", ".join([*facts, "hash"])
    marks = ", ".join("?" * (len(facts) + 1))
    values = [*facts.values(), chain(before, facts)]
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)  # nosec B608
    return int(facts["id"])


def chain(before: str, facts: Dict[str, Any]) -> str:
    """The hash of a row that comes after a row with the hash ``before``; what is null says nothing.

    >>> chain("", {"id": 1, "release": None}) == chain("", {"id": 1})
    True
    """
    said = {name: value for name, value in facts.items() if value is not None}
    text = json.dumps([before, said], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_rows(db: sqlite3.Connection, table: str) -> List[Dict[str, Any]]:
    """All rows of a table in the order in which they were added."""
    names = _COLUMNS if table == "entry" else _LIMIT_COLUMNS
    every = f"SELECT {', '.join(names)}, hash FROM {table} ORDER BY id"  # nosec B608
    rows = db.execute(every).fetchall()
    return [dict(zip((*names, "hash"), row)) for row in rows]


def check_chain(db: sqlite3.Connection) -> Tuple[int, int, str]:
    """Number of entries and of changes of limits, and the last hash; refuse a broken chain."""
    found = []
    head = ""
    for table in ("entry", "limit_change"):
        rows = read_rows(db, table)
        before = ""
        for row in rows:
            facts = {name: value for name, value in row.items() if name != "hash"}
            if row["hash"] != chain(before, facts):
                raise _broken()
            before = row["hash"]
        counted = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        if (0 if counted is None else counted[0]) != (rows[-1]["id"] if rows else 0):
            raise _broken()
        found.append(len(rows))
        head = hashlib.sha256((head + before).encode()).hexdigest()
    return found[0], found[1], head


def _broken() -> BadInputError:
    return BadInputError(
        "The ledger was changed by something else than dpsort-geo: its entries no longer follow "
        "from each other. Take a copy from before, or find out what was spent, before you publish."
    )


def read_entries(db: sqlite3.Connection) -> List[Entry]:
    """All debits in the order in which they were made."""
    return [_entry(row) for row in read_rows(db, "entry")]


def _entry(row: Dict[str, Any]) -> Entry:
    start, stop = row["window_start"], row["window_stop"]
    return Entry(
        **{name: row[name] for name in ("id", "time", "dataset", "unit", "neighbours")},
        epsilon=Fraction(row["epsilon"]),
        domain=row["domain"],
        method=row["method"],
        window=None if start is None else (start, stop),
        population=row["population"] or "",
        release=row["release"] or "",
        sources=tuple((path, digest) for path, digest in json.loads(row["sources"] or "[]")),
    )


def key_of(db: sqlite3.Connection) -> bytes:
    """The key of the digests: without the ledger a digest tells nothing about a file."""
    return bytes.fromhex(str(db.execute("SELECT key FROM secret").fetchone()[0]))


def mark_files(source: Any, key: bytes) -> Tuple[Tuple[str, str], ...]:
    """Resolved path and keyed digest of each private file: of one, of all in a folder, of several.

    ``file|layername=name`` is a layer of its own. A path that is no file (any more) has no digest,
    nor has a table of a database, see `table_mark`.
    """
    if isinstance(source, (str, os.PathLike)):
        several: Sequence[Any] = [source]
    else:
        several = list(source)
    found = []
    for one in several:
        if str(one).startswith(_TABLE):
            found.append((str(one), ""))
            continue
        bare, bar, layer = os.fspath(one).partition("|layername=")
        top = os.path.realpath(bare)
        inside = [top]
        if os.path.isdir(top):
            inside = sorted(str(path) for path in Path(top).rglob("*") if path.is_file())
        found += [(path + bar + layer, _digest(path, layer, key)) for path in inside]
    return tuple(found)


def table_mark(host: str, port: str, database: str, schema: str, table: str) -> str:
    """The text by which a table of a database is known again, whoever reads it.

    >>> table_mark("", "", "city", "", "calls")
    'database:localhost 5432 city public calls'
    """
    parts = host.lower() or "localhost", port or "5432", database, schema or "public", table
    return _TABLE + " ".join(parts)


def _digest(path: str, layer: str, key: bytes) -> str:
    keyed = hashlib.blake2b(layer.encode(), key=key, digest_size=32)
    try:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                keyed.update(block)
    except OSError:
        return ""
    return keyed.hexdigest()


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
