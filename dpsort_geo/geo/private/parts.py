"""What a worker does with its part of the points, whatever engine gives it to it.

Every record becomes one number, its joint slice times 4^order plus its curve index. Points are
counted by that number where they are read, and tables are added up. Persons must come together
first: what passes between the workers is then the number and the person of every record, and who
contributes what is settled where all records of a person are.

A worker that fails writes what it worked on into its log, and that is points, or the error, which
may quote one. So no task fails: the sentence comes back as a result, and it is for the client to
raise.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Optional, Union

import numpy as np

from ...core.errors import BadInputError
from ...core.private.cells import Cells, word
from ...core.private.extent import Extents
from ...core.private.packed import Block, Packed, add_pairs, add_up, pack, pack_sorted
from ...core.private.persons import joined_names, names_of
from ...core.private.publish import contribute
from ...core.private.slices import SlicedCells, SlicedTally, joint_slices
from ...core.rules.axes import Axis
from ..domain import Domain
from .files import PointStream
from .rows import Choice, Rows, wanted_columns
from .table import PLAINLY, Reading

Array = np.ndarray
Batches = Iterable[tuple[Array, Array, Any]]

#: records that are gathered before they are added to a table: as many as Spark's usual partition of
#: 128 MB has, at sixteen bytes a point, so that a part is sorted once and nothing is merged
_GATHERED = 1 << 23
#: parts of a name that is a tuple, such as a person's day
_PLAIN = {str, int, datetime.date, datetime.datetime}

_UNLIKE = (
    "On a cluster persons are told apart by text or by whole numbers, the same for all points "
    "and none of them missing; write them as one or the other."
)
_FAILED = (
    "A worker could not count its part of the points; check that it can read them, "
    "has enough memory and the same version of dpsort-geo."
)


@dataclass(frozen=True, repr=False)
class Work:
    """What is counted: public settings, the same for every worker."""

    domain: Domain
    crs: Any
    axes: tuple[Axis, ...] = ()
    choice: Choice = Choice()
    method: str = "adaptive"
    how: Reading = PLAINLY

    def __repr__(self) -> str:
        return "<Work: public settings of a count>"

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of the axes."""
        return tuple(axis.column for axis in self.axes)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to read beside coordinates and persons."""
        return wanted_columns(self.labels, self.choice)

    @property
    def person(self) -> tuple[str, ...]:
        """The columns that say whose point it is."""
        who = self.choice.person
        return who if isinstance(who, tuple) else () if who is None else (who,)


@dataclass(frozen=True, repr=False)
class Part:
    """Counts of some records, and how far their points reach."""

    blocks: tuple[Block, ...]
    extents: Optional[Extents]
    #: what the persons are called by, which must be the same everywhere
    kinds: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return "<Part: private counts>"


@dataclass(frozen=True, repr=False)
class Placed:
    """Number and person of some records, and how far their points reach."""

    key: Array
    name: Array
    extents: Optional[Extents]
    kinds: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return "<Placed: private records>"


@dataclass(frozen=True)
class Refusal:
    """Why a part cannot be counted, without anything that is in it."""

    sentence: str


def or_refusal(task: Callable[..., Any]) -> Callable[..., Any]:
    """The same task, which never fails."""

    @wraps(task)
    def run(*arguments: Any) -> Any:
        try:
            return task(*arguments)
        except BadInputError as refused:
            return Refusal(str(refused))
        except Exception:
            return Refusal(_FAILED)

    return run


def count_part(batches: Batches, work: Work) -> Part:
    """Count records of which each protects itself."""
    table: list[Block] = []
    waiting: list[Array] = []
    rows = _rows(batches, work)
    for key, _ in _keys(rows, work):
        waiting.append(key)
        if sum(part.size for part in waiting) >= _GATHERED:
            table, waiting = _add_keys(table, waiting), []
    return Part(tuple(_add_keys(table, waiting)), rows.extents)


def place_part(batches: Batches, work: Work) -> Placed:
    """Number and person of every record, for the shuffle."""
    keys: list[Array] = [np.zeros(0, np.int64)]
    names: list[Array] = []
    rows = _rows(batches, work)
    for key, who in _keys(rows, work):
        keys.append(key.astype(np.int64))
        names.append(plain_names(who))
    name = joined_names(names) if names else np.zeros(0, np.int64)
    return Placed(np.concatenate(keys), name, rows.extents, kinds_of(name))


def kinds_of(name: Array) -> frozenset[str]:
    """What persons are called by: one word where all are alike."""
    if name.dtype.kind != "O":
        return frozenset(["number"] if name.size else [])
    kinds = (map(type, one if type(one) is tuple else (one,)) for one in name)
    return frozenset(", ".join(kind.__name__ for kind in several) for several in kinds)


def plain_names(who: Any) -> Array:
    """Persons as 64-bit whole numbers, text, or tuples of these: the same to all workers."""
    named = names_of(who)
    if named.dtype.kind in "iu" and (not named.size or named.max() <= np.iinfo(np.int64).max):
        return named.astype(np.int64)
    if named.dtype.kind in "OU":
        values = named.tolist()
        if all(type(one) is str for one in values):
            return named.astype(object)
        if all(type(one) is int and abs(one) < 1 << 63 for one in values):
            return named.astype(np.int64)
        if all(type(one) is tuple and {*map(type, one)} <= _PLAIN for one in values):
            return named
    raise BadInputError(_UNLIKE)


def bucket(name: Array, buckets: int) -> Array:
    """Where a person's records meet: the same place on every worker."""
    from pandas.util import hash_array

    if name.dtype.kind == "O":
        # Python's own hash of a text is another one in every process
        name = np.fromiter((one if type(one) is str else repr(one) for one in name), object)
    return np.asarray(hash_array(name) % np.uint64(buckets)).astype(np.int64)


def gather_persons(placed: Sequence[Placed], work: Work) -> Part:
    """What persons contribute, all of whose records are here."""
    key = np.concatenate([np.zeros(0, np.int64), *(part.key for part in placed)])
    extents, kinds = _join(placed), _check_one_kind(placed)
    filled = [part.name for part in placed if part.name.size]
    if not key.size:
        return Part((), extents, kinds)
    found = contribute(key, joined_names(filled), work.method, work.choice.max_points)
    return Part(tuple(pack(*add_pairs(*found))), extents, kinds)


def add_parts(parts: Sequence[Part]) -> Part:
    """All counts of several parts."""
    tables = [list(part.blocks) for part in parts if part.blocks]
    blocks = tuple(add_up(tables)) if len(tables) > 1 else tuple(tables[0]) if tables else ()
    return Part(blocks, _join(parts), _check_one_kind(parts))


def finish(
    found: Union[Part, Refusal], work: Work
) -> tuple[Union[Cells, SlicedCells], Optional[Extents]]:
    """The table of all parts, here; what was wrong is raised."""
    if isinstance(found, Refusal):
        raise BadInputError(found.sentence)
    packed, grid = Packed(found.blocks), work.domain.grid
    if not work.axes:
        return Cells.of(grid, packed), found.extents
    return SlicedCells(grid, work.axes, *packed.pairs()), found.extents


def _rows(batches: Batches, work: Work) -> Rows:
    crs = work.domain.crs if work.crs is None else work.crs
    stream = PointStream(crs, None, [batches])
    return Rows(stream, work.domain, work.choice, work.labels)


def _keys(rows: Rows, work: Work) -> Iterator[tuple[Array, Any]]:
    """The number of every record, and whose it is."""
    grid = work.domain.grid
    tally = SlicedTally(grid, work.axes) if work.axes else None
    for x, y, who, values in rows:
        if tally is None:
            yield grid.curve_index(x, y, out=np.empty(x.size, word(grid))), who
        else:
            yield tally.keys(x, y, joint_slices(work.axes, values)), who


def _add_keys(table: list[Block], waiting: Sequence[Array]) -> list[Block]:
    if not waiting:
        return table
    key = np.concatenate(waiting)
    key.sort()
    latest = list(pack_sorted(key))
    return list(add_up([table, latest])) if table else latest


def _join(several: Sequence[Union[Part, Placed]]) -> Optional[Extents]:
    total: Optional[Extents] = None
    for part in several:
        total = total if part.extents is None else part.extents | total
    return total


def _check_one_kind(several: Sequence[Union[Part, Placed]]) -> frozenset[str]:
    """Refuse persons that are numbers here and text there: one may have two names."""
    kinds = frozenset().union(*(part.kinds for part in several))
    if len(kinds) > 1:
        raise BadInputError(_UNLIKE)
    return kinds
