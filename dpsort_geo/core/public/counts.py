"""Counts in polygons and quantiles along the curve, from a release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Dict, List, Sequence, Tuple

import numpy as np

from ..curve.blocks import Blocks, join_blocks
from ..curve.cover import Rings, checked_ring, ring_edges
from ..curve.grid import Grid
from ..curve.overlap import overlap
from ..errors import BadInputError
from .decode import Decoded
from .intervals import limits
from .stretches import share_of_cells
from .within import holds_all

Array = np.ndarray

#: outlines are cut into pieces of an eighth of a cell at least: inside such a piece it does not
#: matter any more how the density leans
_FINER = 3
_FINEST = 28
#: a zone's outline has at least so many pieces
_PIECES = 64
#: a table of zones has at least so many, all of one size; so many are worked on together
_ALL_PIECES = 1 << 17
_MOST_PIECES = 1 << 18
#: this near to all cells are all cells
_NEAR = 1e-9
#: a zone that leaves out more than this share of the pieces along its outline is not the domain: of
#: the cells along the polygon of a mask an eighth is outside, of coarser pieces a fifth
_ALONG = 0.3
#: zones of a long table that are in memory together; of one by slices, so many rows
_MOST_ZONES = 1 << 12
_MOST_ROWS = 1 << 21
#: half of an interval is at most this share of a reliable estimate
RELIABLE = 0.2


def count_within(
    decoded: Decoded, zones: Sequence[Rings], confidence: float = 0.9
) -> Tuple[Array, Array, Array]:
    """Estimated number of points in each zone, with the limits of its interval.

    A zone is a list of rings in the coordinates of the grid; see `curve.cover`. How the limits come
    about is told in `intervals`. A zone without an allowed cell has no count: all three are NaN. A
    zone with all of them has n, exactly so where n is public.

    >>> from dpsort_geo.core.private.publish import count, measure
    >>> from dpsort_geo.core.public.decode import decode
    >>> cells = count(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> everything = [np.array([[0, 0], [8, 0], [8, 8], [0, 8]], float)]
    >>> estimate, low, high = count_within(decode(measure(cells, epsilon=1)), [everything])
    >>> float(estimate[0].round(6)), bool(low[0] <= 8 <= high[0])
    (8.0, True)
    """
    table = count_table(decoded, zones, confidence)
    return table.estimate, table.low, table.high


@dataclass(frozen=True, eq=False)
class Counts:
    """A row a zone."""

    estimate: Array
    low: Array
    high: Array
    #: share of all allowed cells that lies in the zone
    room: Array


def count_table(decoded: Decoded, zones: Sequence[Rings], confidence: float = 0.9) -> Counts:
    """The same as `count_within`, and how much of the domain each zone is."""
    check_confidence(confidence)
    asked, place = _different(zones)
    near = np.flatnonzero(_near(asked, decoded.grid))
    columns = np.full((4, len(asked)), np.nan)
    columns[-1] = 0.0
    for first in range(0, near.size, _MOST_ZONES):
        here = near[first : first + _MOST_ZONES]
        some = [asked[number] for number in here]
        columns[:, here] = _count(decoded, some, confidence, near.size > _MOST_ZONES)
    return Counts(*columns[:, place])


def count_slices(
    decoded: Decoded, zones: Sequence[Rings], axes: Sequence[int], confidence: float = 0.9
) -> Tuple[Array, Array, Array]:
    """The same as `count_within` for each joint slice of some axes: all those of a zone together.

    ``axes`` are numbers of the release's axes; the slices of the last one follow each other.
    """
    check_confidence(confidence)
    slices = int(np.prod([decoded.release.axes[axis].size for axis in axes]))
    asked, place = _different(zones)
    near = np.flatnonzero(_near(asked, decoded.grid))
    columns = np.full((3, len(asked), slices), np.nan)
    step = max(1, _MOST_ROWS // slices)
    for first in range(0, near.size, step):
        here = near[first : first + step]
        some = [asked[number] for number in here]
        blocks = zone_blocks(decoded, some)
        found = decoded.estimate_slices(blocks, len(some), axes)
        if near.size > step:
            found = replace(found, unclaimed=np.zeros_like(found.mass))
        known = _known(decoded, some, share_of_cells(decoded.grid, blocks, len(some)))
        limited = limits(decoded.release, found, confidence)
        for column, values in zip(columns, (found.mass, *limited)):
            column[here] = np.where(known[:, None], values, np.nan)
    estimate, low, high = columns[:, place].reshape(3, -1)
    return estimate, low, high


def room_in(decoded: Decoded, zones: Sequence[Rings]) -> Array:
    """The share of all allowed cells that lies in each zone."""
    parts = [np.zeros(0)]
    for first in range(0, len(zones), _MOST_ZONES):
        some = zones[first : first + _MOST_ZONES]
        parts.append(share_of_cells(decoded.grid, zone_blocks(decoded, some), len(some)))
    return np.concatenate(parts)


def covered_share(grid: Grid, zones: Sequence[Rings], room: Array) -> Array:
    """Which share of each zone's area is allowed; ``room`` is its share of all allowed cells.

    >>> half = np.array([[-2, 0], [2, 0], [2, 2], [-2, 2]], float)
    >>> covered_share(Grid(0.0, 0.0, 0.25, 4), [[half]], np.array([0.25]))
    array([0.5])
    """
    area, length = zone_areas(zones), zone_lengths(zones)
    inside = room * grid.n_cells * grid.cell**2
    share = np.divide(inside, area, out=np.zeros(area.size), where=area > 0)
    # the cells of a mask are counted whole or not at all: half of each along the outline may miss
    share[(inside > 0) & (inside + length * grid.cell / 2 >= area)] = 1.0
    return np.minimum(share, 1.0)


def check_confidence(confidence: float) -> None:
    """Refuse what is not a share of all intervals."""
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise BadInputError("The confidence of an interval must lie between 0 and 1, such as 0.9.")


def _count(
    decoded: Decoded, zones: Sequence[Rings], confidence: float, is_part: bool
) -> Tuple[Array, ...]:
    blocks = zone_blocks(decoded, zones)
    estimate = decoded.estimate_in(blocks, len(zones))
    if is_part:  # what others claim is not known here; zones of such a table are small
        estimate = replace(estimate, unclaimed=np.zeros(len(zones)))
    low, high = limits(decoded.release, estimate, confidence)
    room = share_of_cells(decoded.grid, blocks, len(zones))
    columns = [estimate.mass, low, high]
    if decoded.is_n_public:
        whole = _hold_all(zones, decoded.grid, blocks, room)
        columns = [np.where(whole, decoded.n, column) for column in columns]
    known = _known(decoded, zones, room)
    return (*(np.where(known, column, np.nan) for column in columns), room)


def _different(zones: Sequence[Rings]) -> Tuple[List[Rings], Array]:
    """Zones without those that are there already, and which of them each is.

    A table that has a row for each zone and month asks for the same zones again and again.
    """
    known: Dict[Tuple[bytes, ...], int] = {}
    asked: List[Rings] = []
    place = np.zeros(len(zones), np.int64)
    for number, rings in enumerate(zones):
        key = tuple(np.asarray(ring, np.float64).tobytes() for ring in rings)
        place[number] = known.setdefault(key, len(asked))
        if place[number] == len(asked):
            asked.append(rings)
    return asked, place


def _near(zones: Sequence[Rings], grid: Grid) -> Array:
    """Which zones may have something to do with the grid: others claim nothing there."""
    zone, tail, _ = ring_edges(zones)
    low, high = np.full((len(zones), 2), np.inf), np.full((len(zones), 2), -np.inf)
    np.minimum.at(low, zone, tail)
    np.maximum.at(high, zone, tail)
    corner = np.array([grid.x0, grid.y0])
    return np.all((high >= corner) & (low <= corner + grid.side), axis=1)


def _known(decoded: Decoded, zones: Sequence[Rings], room: Array) -> Array:
    """Which zones have a count: those with an allowed cell, or with nothing that could hold any."""
    known = room > 0
    for number in np.flatnonzero(~known).tolist():
        known[number] = _is_line(zones[number], decoded.grid)
    return known


def _hold_all(zones: Sequence[Rings], grid: Grid, blocks: Blocks, room: Array) -> Array:
    """Which zones hold the whole domain; the polygon of a mask does, though it cuts its cells."""
    whole = room > 1 - _NEAR
    if grid.runs is None:  # without a mask no polygon cuts cells: what is missing is left out
        return whole
    deepest = np.zeros(len(zones), np.int64)
    np.maximum.at(deepest, blocks.zone, blocks.level)
    piece = np.maximum(grid.cell, grid.side * 0.5**deepest)
    missing = (1 - room) * grid.n_cells * grid.cell**2
    near = (room > 0) & (missing <= _ALONG * zone_lengths(zones) * piece)
    for number in np.flatnonzero(near & ~whole).tolist():
        whole[number] = holds_all(grid, zones[number])
    return whole


def _is_line(rings: Rings, grid: Grid) -> bool:
    """Whether a zone in the grid has no area at all: nothing is in it, and that is known."""
    if not len(rings):
        return False
    corners = np.concatenate([checked_ring(ring) for ring in rings]) - [grid.x0, grid.y0]
    beyond = (corners.max(axis=0) < 0).any() or (corners.min(axis=0) > grid.side).any()
    (area,) = zone_areas([rings])
    return not beyond and bool(area < grid.cell**2 * 4.0 ** (1 - _FINEST))


def zone_areas(zones: Sequence[Rings]) -> Array:
    """Area of each zone, whose holes turn against its outlines.

    >>> square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], float)
    >>> zone_areas([[square, square[::-1] / 2], []]).tolist()
    [3.0, 0.0]
    """
    zone, tail, head = ring_edges(zones)
    # from a corner of its own: far from the origin the products would lose their digits
    first = np.zeros((len(zones), 2))
    first[zone[::-1]] = tail[::-1]
    (ax, ay), (bx, by) = (tail - first[zone]).T, (head - first[zone]).T
    return np.abs(np.bincount(zone, ax * by - bx * ay, len(zones))) / 2


def zone_lengths(zones: Sequence[Rings]) -> Array:
    """Length of each zone's outlines, those of holes too."""
    zone, tail, head = ring_edges(zones)
    return np.bincount(zone, np.hypot(*(head - tail).T), len(zones))


def quantiles(decoded: Decoded, shares: Sequence[float]) -> Tuple[Array, Array]:
    """Coordinates of the points that lie behind given shares of all points along the curve.

    >>> from dpsort_geo.core.private.publish import count, measure
    >>> from dpsort_geo.core.public.decode import decode
    >>> cells = count(Grid(0.0, 0.0, 1.0, 1), np.full(9, 1.5), np.full(9, 0.5))
    >>> x, y = quantiles(decode(measure(cells, epsilon=100)), [0.5])
    >>> x.tolist(), y.tolist()
    ([1.5], [0.5])
    """
    share = np.asarray(shares, np.float64)
    if share.ndim != 1 or not np.all((share >= 0) & (share <= 1)):
        raise BadInputError("Quantiles are given as numbers between 0 and 1, such as 0.5.")
    if not decoded.n:
        raise BadInputError("The release stands for no points at all, so it has no quantiles.")
    place = decoded.cumulative.at(share * decoded.cumulative.total)
    return decoded.grid.centres(np.clip(place.astype(np.int64), 0, decoded.grid.n_cells - 1))


def zone_blocks(decoded: Decoded, zones: Sequence[Rings]) -> Blocks:
    """Quadtree blocks of the zones.

    As finely as is cheap for all of them together, so that zones which share a border add up; but
    each at least so finely that its neighbours in the table do not matter for its answer: its
    outline has about as many pieces as there are leaves (or groups) for the mass that it holds.
    """
    grid = decoded.grid
    length = _ways(zones, grid) / grid.side
    together = _ALL_PIECES * length / max(float(length.sum()), 1e-300)
    order = _orders(grid, length, np.maximum(together, _PIECES))
    blocks = _cut_zones(grid, zones, length, order)
    share = decoded.mass_in(blocks, len(zones)) / max(decoded.n, 1)
    most = min(decoded.cumulative.place.size, _ALL_PIECES)
    finer = _orders(grid, length, _PIECES + most * share)
    again = finer > order
    if not again.any():
        return blocks
    more = _cut_zones(grid, zones, np.where(again, length, 0.0), finer)
    return join_blocks([blocks.take(~again[blocks.zone]), more])


def _orders(grid: Grid, length: Array, pieces: Array) -> Array:
    """The finest order at which an outline has not more than so many pieces."""
    order = np.full(length.size, min(grid.order + _FINER, _FINEST))
    while np.any(coarser := (order > 1) & (np.ldexp(length, order) > pieces)):
        order[coarser] -= 1
    return order


def _cut_zones(grid: Grid, zones: Sequence[Rings], length: Array, order: Array) -> Blocks:
    """Blocks of all zones with an outline in the grid, each at its own order."""
    found: List[Blocks] = []
    for depth in np.unique(order).tolist():
        finer = Grid(grid.x0, grid.y0, grid.side / 2.0**depth, depth)
        chosen = np.flatnonzero((order == depth) & (length > 0))
        for some in _together(chosen, np.ldexp(length[chosen], depth), depth):
            blocks = overlap([zones[number] for number in some], finer)
            found.append(replace(blocks, zone=some[blocks.zone]))
    return join_blocks(found)


def _ways(zones: Sequence[Rings], grid: Grid) -> Array:
    """How far each outline goes inside the grid: half of its ways along x and along y."""
    zone, tail, head = ring_edges(zones)
    low = np.array([grid.x0, grid.y0])
    way = np.abs(np.clip(head, low, low + grid.side) - np.clip(tail, low, low + grid.side))
    return np.bincount(zone, way.sum(axis=1), len(zones)) / 2


def _together(zones: Array, pieces: Array, order: int) -> List[Array]:
    """Parts of a table with not too many pieces, and so few zones that their keys fit 64 bits."""
    batch = np.cumsum(pieces) // _MOST_PIECES + (np.arange(zones.size) >> max(0, 61 - 2 * order))
    return np.split(zones, np.flatnonzero(np.diff(batch)) + 1) if zones.size else []
