"""Rings of polygons: turned, cut into short edges, brought near a longitude, projected."""

from __future__ import annotations

from typing import Callable, List

import numpy as np

from .host import Array, Crs, Host, Polygons

#: edges are cut into pieces of this share of the whole before they are projected
EDGE_PIECES = 512
#: metres: nearer to the equator than this many degrees no map here bends an edge tighter than a
#: circle of this radius
_TIGHTEST, _TEMPERATE = 8e5, 75.0
#: an edge is cut into no more pieces than this, whatever a projection makes of it
_MOST_PIECES = 1 << 14


def rings_of(polygons: Polygons) -> List[Array]:
    """All rings; outer ones turn left and holes turn right.

    >>> square = np.array([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]], float)
    >>> rings_of([[square]])[0][1]
    array([1., 0.])
    """
    return [
        ring if _turns_left(ring) == (number == 0) else ring[::-1]
        for polygon in polygons
        for number, ring in enumerate(polygon)
    ]


def _turns_left(ring: Array) -> bool:
    x, y = (ring - ring[0]).T
    return bool(x[:-1] @ y[1:] > y[:-1] @ x[1:])


def box_ring(
    west: float, south: float, east: float, north: float, pieces: int = EDGE_PIECES
) -> Array:
    """The outline of a box, each side in so many pieces."""
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    return divide(np.array(corners), np.full(4, pieces))


def divide(ring: Array, pieces: Array) -> Array:
    """A ring whose edges are each cut into a number of equal pieces.

    >>> divide(np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 0.0]]), np.array([2, 1]))[:, 0]
    array([0., 2., 4., 0.])
    """
    edge = np.repeat(np.arange(pieces.size), pieces)
    part = (np.arange(edge.size) - (np.cumsum(pieces) - pieces)[edge]) / pieces[edge]
    corners = ring[edge] + part[:, None] * np.diff(ring, axis=0)[edge]
    return np.concatenate([corners, ring[-1:]])


def cut(polygons: Polygons, size: float) -> Polygons:
    """Polygons whose edges are short beside a size, so that a projection can bend them."""
    step = size / EDGE_PIECES
    return [cut_rings(polygon, np.full(len(polygon), step)) for polygon in polygons]


def cut_rings(rings: List[Array], step: Array) -> List[Array]:
    """Rings whose edges are each cut into equal pieces not longer than the ring's own step."""
    corners = np.concatenate(rings)
    many = np.array([len(ring) for ring in rings])
    first = np.cumsum(many) - many
    length = np.hypot(*np.diff(corners, axis=0).T)
    length[first[1:] - 1] = 0.0  # from one ring to the next there is no edge
    pieces = np.ceil(length / np.repeat(step, many)[:-1] - 1e-9)
    pieces = np.maximum(1, pieces).astype(np.int64)
    # each corner comes with the pieces that follow it
    parts = np.add.reduceat(np.append(pieces, 1), first)
    return np.split(divide(corners, pieces), np.cumsum(parts)[:-1])


def bend_closer(
    bent: List[Array], given: List[Array], project: Callable[[Array], Array], most: float
) -> List[Array]:
    """Rings in metres, their edges as near as ``most`` to what they stand for.

    ``given`` are the same corners before they were projected. An edge is a straight line there,
    and on the map a curve, of which the chord between two corners leaves the middle out.

    >>> arc = lambda at: 1e6 * np.column_stack([np.cos(at[:, 0]), np.sin(at[:, 0])])
    >>> given = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    >>> len(bend_closer([arc(given)], [given], arc, most=1e6)[0])
    3
    >>> fine = bend_closer([arc(given)], [given], arc, most=100.0)[0]
    >>> len(fine), bool(np.hypot(*(fine[1:] + fine[:-1]).T / 2).min() > 1e6 - 110)
    (71, True)
    """
    corners, places = np.concatenate(given), np.concatenate(bent)
    chord = np.diff(places, axis=0)
    last = np.cumsum([len(ring) for ring in given]) - 1
    length = np.hypot(*chord.T)
    length[last[:-1]] = 0.0  # from one ring to the next there is no edge
    polar = np.maximum(np.abs(corners[:-1, 1]), np.abs(corners[1:, 1])) > _TEMPERATE
    long = np.flatnonzero((length**2 > 8 * most * _TIGHTEST) | (polar & (length > most)))
    pieces = np.ones(length.size, np.int64)
    off = np.zeros(long.size)
    for share in (0.25, 0.5, 0.75):
        there = corners[long] + share * (corners[long + 1] - corners[long])
        x, y = (project(there) - places[long]).T
        off = np.maximum(off, np.abs(chord[long, 0] * y - chord[long, 1] * x) / length[long])
    pieces[long] = np.clip(np.ceil(np.sqrt(off / most)), 1, _MOST_PIECES)
    if not (pieces > 1).any():
        return bent
    begin = np.append(0, np.cumsum(pieces))[last[:-1] + 1]
    return np.split(project(divide(corners, pieces)), begin)


def extent(polygons: Polygons) -> "tuple[Array, Array]":
    """Lower left and upper right corner of the box around polygons."""
    outer = np.concatenate([polygon[0] for polygon in polygons])
    return outer.min(axis=0), outer.max(axis=0)


def extents(zones: List[List[Array]]) -> Array:
    """West, south, east and north of the rings of each zone; a zone without any has no numbers.

    >>> extents([[], [np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 3.0]])]])
    array([[nan, nan, nan, nan],
           [ 0.,  1.,  2.,  3.]])
    """
    found = np.full((len(zones), 4), np.nan)
    some = [number for number, zone in enumerate(zones) if zone]
    if some:
        corners = np.concatenate([ring for zone in zones for ring in zone])
        many = np.array([sum(len(ring) for ring in zones[number]) for number in some], np.int64)
        first = np.cumsum(many) - many
        found[some, :2] = np.minimum.reduceat(corners, first)
        found[some, 2:] = np.maximum.reduceat(corners, first)
    return found


def unwrapped(lon: Array, centre: float) -> Array:
    """Longitudes moved by whole turns to within 180 degrees of ``centre``."""
    off = lon - centre
    return np.where(np.abs(off) > 180, (off + 180) % 360 - 180, off) + centre


def project_ring(host: Host, ring: Array, crs: Crs, working: Crs, centre: float) -> Array:
    """A ring in degrees, projected as seen from a longitude in its middle."""
    # longitudes just inside the far meridian, so that rounding cannot throw them to the other side
    lon = centre + np.clip(unwrapped(ring[:, 0], centre) - centre, -180 + 1e-9, 180 - 1e-9)
    return np.column_stack(host.transform(lon, ring[:, 1].copy(), crs, working))
