"""The ledger: what was already spent on a data set, in one SQLite file.

Privacy argument. Releases of the same data compose: `account` says how. `debit` writes the loss
down, durably and in one transaction, *before* any noise is drawn, so that every release that
exists has its debit, whatever crashes in between. The other way round, a debit with no release, is
possible after a crash and safe. An entry holds what the publisher chose in public (name, epsilon,
unit, relation, bounds, method, window), the time, and where files lie; nothing in it comes from the
points but a digest of the private file under a key of this ledger, by which a copy is known again.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import sqlite3
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

from ..errors import BadInputError, BudgetSpentError
from ..rules.budget import EpsilonLike, check_neighbours, exact_epsilon
from ..rules.windows import check_window
from .account import Entry, composed, entries_of, explain, is_unit, spent_on, total_text
from .ledger_file import (
    add_row,
    check_chain,
    default_path,
    key_of,
    make_file,
    mark_files,
    prepare,
    read_entries,
    read_rows,
    table_mark,
)
from .ledger_names import check_line, check_name, name_key, path_text, same_name

__all__ = [
    "Entry",
    "Ledger",
    "composed",
    "default_path",
    "explain",
    "same_name",
    "table_mark",
    "total_text",
]

_LONGEST_DOMAIN = 2000
_SCOPES = ("dataset", "population")
_WAIT_SECONDS = 30.0  # how long one process waits for another's debit


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
    dpsort_geo.core.errors.BudgetSpentError: Epsilon 0.5 would bring 'calls' to 1.2, above its \
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
        *,
        window: Any = None,
        source: Any = None,
        population: Optional[str] = None,
        release: Any = None,
    ) -> int:
        """Write down a release that is about to be drawn, or refuse it; give the entry's number.

        The check and the entry are one exclusive transaction: of two processes that would together
        exceed the limit only one passes. When this returns, the entry is on the disk.

        ``window`` is the stretch of time that all points of the release lie in, ``source`` the
        path (or paths) of the private file, ``release`` where the release file goes.
        """
        name, eps = check_name(dataset), exact_epsilon(epsilon)
        check_neighbours(neighbours)
        unit = check_line("unit", unit, _LONGEST_DOMAIN)
        if not is_unit(unit):
            raise BadInputError(
                "The protected unit must be 'point', 'person', 'person-day' or a 'combination of' "
                "columns."
            )
        people = "" if population is None else check_name(population, "population")
        new = Entry(
            0, _now(), name, eps, unit, neighbours,
            check_line("domain", domain, _LONGEST_DOMAIN), check_line("method", method, 200),
            check_window(window), people, path_text(release),
            () if source is None else self._marks(source),
        )  # fmt: skip
        with self._transaction() as db:
            check_chain(db)
            before = read_entries(db)
            _check_limits(db, before, new)
            return add_row(db, "entry", _row(new))

    def limit(
        self, dataset: str, epsilon: Optional[EpsilonLike], *, population: bool = False
    ) -> None:
        """Set the most that may ever be spent on a data set; None takes the limit away.

        With ``population=True`` the name is that of a population. Earlier limits stay in the
        `history`.
        """
        scope = "population" if population else "dataset"
        name = check_name(dataset, scope)
        eps = None if epsilon is None else total_text(exact_epsilon(epsilon))
        with self._transaction() as db:
            check_chain(db)
            facts = {"time": _now(), "scope": scope, "name": name, "epsilon": eps}
            add_row(db, "limit_change", facts)

    def limits(self, *, population: bool = False) -> Dict[str, Fraction]:
        """The limits that are set, by data set (or by population)."""
        with self._transaction() as db:
            return _limits(db, "population" if population else "dataset")

    def history(self) -> List[Dict[str, Any]]:
        """Every change of a limit: time, scope, name, epsilon (None where it was taken away)."""
        with self._transaction() as db:
            rows = read_rows(db, "limit_change")
        return [{key: row[key] for key in ("time", "scope", "name", "epsilon")} for row in rows]

    def spent(self, dataset: str, *, population: bool = False) -> Fraction:
        """What all releases of a data set cost together (see `composed`), or of a population.

        A population pays for each data set that was ever debited with its name: their sum.
        """
        name = check_name(dataset)
        with self._transaction() as db:
            return spent_on(read_entries(db), name, population)

    def left(self, dataset: str, *, population: bool = False) -> Optional[Fraction]:
        """What the limit still allows, never below 0; None when there is no limit."""
        name = check_name(dataset)
        with self._transaction() as db:
            cap = _limit_of(db, "population" if population else "dataset", name)
            spent = spent_on(read_entries(db), name, population)
        return None if cap is None else max(cap - spent, Fraction(0))

    def entries(self, dataset: Optional[str] = None) -> List[Entry]:
        """All debits in the order they were made, of one data set or of all."""
        name = None if dataset is None else check_name(dataset)
        with self._transaction() as db:
            found = read_entries(db)
        return found if name is None else entries_of(found, name)

    def other_names(self, source: Any, dataset: Optional[str] = None) -> List[str]:
        """Names under which this file, a link to it or a copy of it was debited before.

        With ``dataset``, those that are other names than this one.
        """
        if not self.path.exists():  # asking makes no file
            return []
        marks = self._marks(source)
        paths = {path for path, _ in marks}
        digests = {digest for _, digest in marks if digest}
        found: Dict[str, str] = {}
        for entry in self.entries():
            if any(path in paths or digest in digests for path, digest in entry.sources):
                found.setdefault(name_key(entry.dataset), entry.dataset)
        return [name for key, name in found.items() if dataset is None or key != name_key(dataset)]

    def verify(self) -> List[str]:
        """Check that every row follows from the one before it; say what was shown."""
        with self._transaction() as db:
            entries, changes, head = check_chain(db)
        return [
            f"{entries} entries and {changes} changes of limits follow from each other, "
            "each by its hash.",
            f"All of them together have the hash {head}.",
        ]

    def export(self) -> str:
        """Everything that the ledger says, as JSON; digests of private files are left out."""
        with self._transaction() as db:
            _, _, head = check_chain(db)
            entries, changes = read_rows(db, "entry"), read_rows(db, "limit_change")
        for row in entries:
            row["sources"] = [path for path, _ in json.loads(row["sources"] or "[]")]
        document = {"ledger": "dpsort-geo", "head": head, "entries": entries, "limits": changes}
        return json.dumps(document, indent=1) + "\n"

    def take_over(self, other: Path) -> None:
        """Bring what another ledger holds into this one, and set that file aside.

        Entries are here before the other file gets another name: if the machine stops in between,
        they are counted twice rather than not at all. Of two limits the lower one holds.
        """
        old = Ledger(other)
        entries = old.entries()
        limits = {scope: old.limits(population=scope == "population") for scope in _SCOPES}
        with self._transaction() as db:
            check_chain(db)
            for entry in entries:
                # digests have the key of the other file; places are known again without one
                places = tuple((path, "") for path, _ in entry.sources)
                add_row(db, "entry", _row(replace(entry, sources=places)))
            for scope in _SCOPES:
                for name, epsilon in limits[scope].items():
                    cap = _limit_of(db, scope, name)
                    if cap is None or epsilon < cap:
                        facts = {"time": _now(), "scope": scope, "name": name}
                        add_row(db, "limit_change", {**facts, "epsilon": total_text(epsilon)})
        with contextlib.suppress(FileNotFoundError):  # another window of the user's was faster
            old.path.replace(old.path.with_name(old.path.name + ".taken-over"))

    def _marks(self, source: Any) -> Any:
        with self._transaction() as db:
            key = key_of(db)
        return mark_files(source, key)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            make_file(self.path)
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
                prepare(db)
                yield db
                db.execute("COMMIT")
            except sqlite3.Error as error:
                raise _unusable(self.path, error) from None
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")


def _check_limits(db: sqlite3.Connection, before: List[Entry], new: Entry) -> None:
    """Refuse a debit that exceeds the limit of its data set or of a population it belongs to."""
    own = [*entries_of(before, new.dataset), new]
    people = {name_key(entry.population): entry.population for entry in own if entry.population}
    for name, population in ((new.dataset, False), *((name, True) for name in people.values())):
        cap = _limit_of(db, "population" if population else "dataset", name)
        total = spent_on([*before, new], name, population)
        if cap is None or total <= cap:
            continue
        left = max(cap - spent_on(before, name, population), Fraction(0))
        rest = total_text(left) if left else "nothing"
        twice = composed(own) - composed(own[:-1]) > new.epsilon
        replaced = any(entry.neighbours == "replace" for entry in own)
        beside = "replacement" if replaced else "a smaller unit"
        whom = f"the population {name!r}" if population else repr(name)
        raise BudgetSpentError(
            f"Epsilon {total_text(new.epsilon)} would bring {whom} to {total_text(total)}, "
            f"above its limit of {total_text(cap)}: {rest} is left"
            + (f" (beside {beside}, add-remove releases count twice)" if twice else "")
            + ("; publish with that or less, or raise the limit." if left else "; raise the limit.")
        )


def _limits(db: sqlite3.Connection, scope: str) -> Dict[str, Fraction]:
    """The last change of each name holds; it is told under the spelling of that change."""
    last = {name_key(row["name"]): row for row in read_rows(db, "limit_change")
            if row["scope"] == scope}  # fmt: skip
    held = sorted((row["name"], row["epsilon"]) for row in last.values() if row["epsilon"])
    return {name: Fraction(epsilon) for name, epsilon in held}


def _limit_of(db: sqlite3.Connection, scope: str, name: str) -> Optional[Fraction]:
    held = {name_key(one): epsilon for one, epsilon in _limits(db, scope).items()}
    return held.get(name_key(name))


def _row(entry: Entry) -> Dict[str, Any]:
    start, stop = entry.window or (None, None)
    return {
        "time": entry.time, "dataset": entry.dataset, "epsilon": total_text(entry.epsilon),
        "unit": entry.unit, "neighbours": entry.neighbours, "domain": entry.domain,
        "method": entry.method, "window_start": start, "window_stop": stop,
        "population": entry.population or None, "release": entry.release or None,
        "sources": json.dumps(entry.sources) if entry.sources else None,
    }  # fmt: skip


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _unusable(path: Path, error: Exception) -> BadInputError:
    if "locked" in str(error):
        return BadInputError(
            f"The ledger {path} is in use by another process; wait until it is done and try again."
        )
    return BadInputError(
        f"The ledger {path} cannot be used ({error}), so nothing was published;"
        " name a writable ledger file, or go without a ledger."
    )
