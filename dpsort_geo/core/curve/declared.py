"""Zones that a publisher declares beforehand: to which of them each cell belongs, if to any.

They are public, like a mask, and written like one: as stretches of the curve. A cell belongs to the
zone that holds its centre, to one at most, so that a record lies in one zone or in none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Sequence, Tuple

import numpy as np

from ..errors import BadInputError
from .blocks import Blocks
from .cover import Rings, blocks_of
from .grid import Grid

Array = np.ndarray

#: stretches of the curve that a file may hold
MOST_STRETCHES = 1 << 19
#: parts of zones that lie in several of them, at most, while they are told apart
_MOST_PARTS = 1 << 23
#: share of its cells that a zone may lose to those before it: outlines that do not quite meet
_SLIVER = 0.05


@dataclass(frozen=True, eq=False)
class DeclaredZones:
    """Stretches of cells of one zone, from ``edge`` to the next edge; -1 is no zone.

    >>> zones = DeclaredZones(np.array([2, 4, 9]), np.array([0, 1, -1]), 2)
    >>> zones.size, zones.holding(np.array([0, 2, 8, 15])).tolist()
    (2, [-1, 0, 1, -1])
    """

    edge: Array
    zone: Array
    #: of the grid
    order: int

    def __post_init__(self) -> None:
        edge, zone = (np.array(part, np.int64) for part in (self.edge, self.zone))
        if edge.ndim != 1 or edge.shape != zone.shape or not 1 <= edge.size <= MOST_STRETCHES:
            raise BadInputError("Declared zones are stretches of the curve, each of one zone.")
        inside = 0 <= edge[0] and edge[-1] < 4**self.order and zone[0] >= 0
        numbers = np.unique(zone[zone >= 0])
        if (
            not inside
            or np.any(np.diff(edge) <= 0)
            or np.any(np.diff(zone) == 0)
            or zone.min() < -1
            or not np.array_equal(numbers, np.arange(numbers.size))
        ):
            raise BadInputError(
                "The stretches of declared zones must be sorted, inside the grid, and numbered."
            )
        for name, part in (("edge", edge), ("zone", zone)):
            part.setflags(write=False)
            object.__setattr__(self, name, part)

    @property
    def size(self) -> int:
        """How many zones there are."""
        return int(self.zone.max()) + 1

    def holding(self, index: Array) -> Array:
        """The zone of each curve index, or -1."""
        found = np.searchsorted(self.edge, index, side="right") - 1
        return np.where(found >= 0, self.zone[found], -1)

    def runs(self) -> Tuple[Array, Array, Array]:
        """Start and stop of every stretch that belongs to a zone, and the zone."""
        stop = np.append(self.edge[1:], np.int64(4**self.order))
        some = self.zone >= 0
        return self.edge[some], stop[some], self.zone[some]

    def blocks(self) -> Blocks:
        """The same as quadtree blocks."""
        start, stop, zone = self.runs()
        parts: List[Tuple[Array, Array, Array]] = []
        for up in range(self.order + 1):
            span = np.int64(4) ** up
            for side in (0, 1) * 3:  # three of four at most are left over at each end
                edge = stop if side else start
                odd = (edge % (4 * span) != 0) | (up == self.order)
                odd &= stop - start >= span
                index = (edge[odd] - side * span) // span
                parts.append((zone[odd], np.full(index.size, self.order - up), index))
                if side:
                    stop = np.where(odd, stop - span, stop)
                else:
                    start = np.where(odd, start + span, start)
        zones, level, index = (np.concatenate(column) for column in zip(*parts))
        return Blocks(zones, level.astype(np.int64), index, np.ones(index.size))


def declare(rings: Sequence[Rings], grid: Grid) -> DeclaredZones:
    """Polygons as declared zones; those without an allowed cell are left out.

    >>> left = np.array([[0, 0], [1, 0], [1, 2], [0, 2]], float)
    >>> zones = declare([[left], [left + [1, 0]]], Grid(0.0, 0.0, 1.0, 1))
    >>> zones.holding(np.arange(4)).tolist()
    [0, 0, 1, 1]
    """
    if not any(len(zone) for zone in rings):
        raise BadInputError("None of the zones has a cell of the domain; check their CRS.")
    zone, level, index = blocks_of(rings, grid)
    span = np.int64(4) ** (grid.order - level)
    start, stop = index * span, (index + 1) * span
    edge = np.unique(np.concatenate([[0, 4**grid.order], start, stop]))
    first = np.searchsorted(edge, start)
    many = np.searchsorted(edge, stop) - first
    if many.sum() > _MOST_PARTS:
        raise _overlap_error()
    part = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    owner = np.full(edge.size - 1, len(rings), np.int64)
    np.minimum.at(owner, np.repeat(first, many) + part, np.repeat(zone, many))
    before = np.bincount(zone, span.astype(np.float64), len(rings))
    after = np.bincount(owner, np.diff(edge).astype(np.float64), len(rings) + 1)[:-1]
    if np.any(after < (1 - _SLIVER) * before):
        raise _overlap_error()
    room = np.bincount(owner, np.diff(grid.allowed_before(edge)), len(rings) + 1)
    room[-1] = 0
    if not room.any():
        raise BadInputError("None of the zones has a cell of the domain; check their CRS.")
    number = np.where(room > 0, np.cumsum(room > 0) - 1, -1)
    owner, edge = number[owner], edge[:-1]
    kept = np.diff(owner, prepend=-1) != 0
    if int(kept.sum()) > MOST_STRETCHES:
        raise BadInputError(
            "The outlines of the zones are too long for cells of this size: give a resolution."
        )
    return DeclaredZones(edge[kept], owner[kept], grid.order)


def _overlap_error() -> BadInputError:
    return BadInputError(
        "Zones that are declared must not overlap: a point counts in one of them, or in none."
    )
