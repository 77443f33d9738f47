"""What several releases of one data set cost together: composition, exact, with windows of time.

The rule, proven in docs/proofs.md, "Windows". Let each record have one instant. A release with a
window reads only records of that window, so for a record at instant t it costs its epsilon if t
lies in the window and nothing if not. One record more or less therefore costs the sum over the
releases whose windows hold t, and the total is the largest such sum over all t. A release without
a window holds every instant. A person is in many windows: what protects persons is taken to hold
every instant, whatever its window. A person-day lies in one instant, like a point. Any other
combination of columns is taken to hold every instant, as a person is, and is less than a person.

Replacing is removing and adding, so beside a replacement release an add-remove release counts
twice. So does an add-remove release of persons beside one of points: a person with one point less
is a person replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from ..rules.windows import Window
from .ledger_names import name_key

#: what a debit may protect, the finest first; a person-day may say of which columns it is, and
#: what other columns name together is a "combination of" them
UNITS = ("point", "person-day", "person")
_DAY, _COMBINATION = "person-day of ", "combination of "


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
    #: which stretch of time the points come from; None for all
    window: Optional[Window] = None
    #: whose points these are, where several data sets hold the same people
    population: str = ""
    #: where the release file went, where that was known
    release: str = ""
    #: the private files: resolved path and keyed digest of each
    sources: Tuple[Tuple[str, str], ...] = ()


def reach(entry: Entry) -> Optional[Window]:
    """The instants at which a release costs something; None for all of them."""
    return entry.window if entry.unit == "point" or is_day(entry.unit) else None


def is_day(unit: str) -> bool:
    """Whether all points of such a unit have one instant, though it is more than a point."""
    return unit == "person-day" or unit.startswith(_DAY)


def name_unit(columns: str, dated: bool) -> str:
    """What several columns name together, in the words of the ledger.

    >>> name_unit("rider and date", True), name_unit("rider and bike", False)
    ('person-day of rider and date', 'combination of rider and bike')
    """
    return f"{_DAY if dated else _COMBINATION}{columns}"


def is_unit(unit: str) -> bool:
    """Whether this is something that a debit may protect."""
    return unit in UNITS or any(unit.startswith(kind) for kind in (_DAY, _COMBINATION))


def _size(unit: str) -> int:
    return {"point": 0, "person": 2}.get(unit, 1)


def _smallest(rows: Sequence[Entry]) -> str:
    """What a total over these releases protects.

    Combinations of different columns hold each other's points in any way, so that only a point is
    bounded in all of them.
    """
    units = sorted({row.unit for row in rows}, key=_size)
    between = {unit.partition(" of ")[2] for unit in units if _size(unit) == 1}
    return "point" if len(between) > 1 or not units else units[0]


def composed(entries: Iterable[Entry], among: Optional[Sequence[Entry]] = None) -> Fraction:
    """The loss of several releases of one data set together, exact.

    ``among`` are all releases that the total is to be compared or added up with: what counts twice
    is decided by all of them.

    Examples
    --------
    >>> def entry(eps, relation, window=None, unit="point"):
    ...     return Entry(1, "", "calls", Fraction(eps), unit, relation, "", "sort", window)
    >>> total_text(composed([entry("0.1", "replace"), entry("0.2", "replace")]))
    '0.3'
    >>> total_text(composed([entry("0.1", "replace"), entry("0.2", "add-remove")]))
    '0.5'
    >>> march, april = ("2026-03-01", "2026-04-01"), ("2026-04-01", "2026-05-01")
    >>> months = [entry("0.5", "add-remove", march), entry("0.5", "add-remove", april)]
    >>> total_text(composed(months)), total_text(composed([*months, entry("0.1", "add-remove")]))
    ('0.5', '0.6')
    """
    rows = list(entries)
    weigh = _weights(rows if among is None else among)
    held = [(reach(row), weigh(row)) for row in rows]
    always = sum((cost for window, cost in held if window is None), Fraction(0))
    timed = [(window, cost) for window, cost in held if window is not None]
    # The sum rises only where a window begins. Text in one spelling sorts as time does.
    sums = [
        sum((cost for (start, stop), cost in timed if start <= at < stop), Fraction(0))
        for at in {start for (start, _), _ in timed}
    ]
    return always + max(sums, default=Fraction(0))


def _weights(rows: Sequence[Entry]) -> Callable[[Entry], Fraction]:
    """How much each release counts beside these."""
    replaced = any(row.neighbours == "replace" for row in rows)
    finest = _size(_smallest(rows))

    def weigh(row: Entry) -> Fraction:
        twice = row.neighbours == "add-remove" and (replaced or _size(row.unit) > finest)
        return row.epsilon * (2 if twice else 1)

    return weigh


def composed_over(datasets: Sequence[Sequence[Entry]]) -> Fraction:
    """What one member of a population pays who is in each of several data sets: a sum."""
    among = [row for rows in datasets for row in rows]
    return sum((composed(rows, among) for rows in datasets), Fraction(0))


def composed_by_year(entries: Iterable[Entry]) -> Dict[str, Fraction]:
    """The total of the releases that were made in each year."""
    rows = list(entries)
    years = sorted({row.time[:4] for row in rows})
    return {year: composed([row for row in rows if row.time[:4] == year], rows) for year in years}


def explain(entries: Iterable[Entry]) -> List[str]:
    """What a total means, where that is not a plain sum; for the publisher."""
    rows = list(entries)
    found = []
    if any(reach(row) is not None for row in rows):
        found.append("The total is the largest sum over releases that share an instant.")
    if any(row.unit == "person" and row.window for row in rows):
        found.append("Releases that protect a person add up whatever their windows: a person is in "
                     "many.")  # fmt: skip
    if any(row.unit.startswith(_COMBINATION) and row.window for row in rows):
        found.append("So do releases that protect a combination without the date: it may be in "
                     "many.")  # fmt: skip
    if any(row.neighbours == "replace" and row.window for row in rows):
        found.append("Under replace the number of points in a window is public, and which window a "
                     "point lies in is not protected.")  # fmt: skip
    if len({row.neighbours for row in rows}) > 1:
        found.append("Beside replacement, add-remove releases count twice.")
    if len({row.unit for row in rows}) > 1:
        found.append(f"The total protects one {_smallest(rows)}, not more; releases with "
                     "add-remove that protect more count twice.")  # fmt: skip
    return found


def total_text(total: Fraction) -> str:
    """A sum of epsilons as exact decimal text.

    Examples
    --------
    >>> total_text(Fraction(3, 10)), total_text(Fraction(1200))
    ('0.3', '1200')
    """
    whole, part = divmod(total.numerator * (10**18 // total.denominator), 10**18)
    return f"{whole}.{part:018d}".rstrip("0").rstrip(".")


def entries_of(entries: List[Entry], name: str) -> List[Entry]:
    """The debits of one data set."""
    return [entry for entry in entries if name_key(entry.dataset) == name_key(name)]


def spent_on(entries: List[Entry], name: str, population: bool) -> Fraction:
    """What a data set, or all data sets of a population, have cost."""
    if not population:
        return composed(entries_of(entries, name))
    members = {name_key(entry.dataset): entry.dataset for entry in entries
               if entry.population and name_key(entry.population) == name_key(name)}  # fmt: skip
    return composed_over([entries_of(entries, dataset) for dataset in members.values()])
