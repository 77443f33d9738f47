"""What is known at each place, with its limits: squares of the quadtree, as small as makes sense.

A square is cut into its four quarters when their intervals are narrow beside what it holds itself.
A quarter's own estimate has no say in that: of squares chosen because they seem to hold much, most
hold less than they seem to.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from ..core.curve import hilbert
from ..core.curve.blocks import Blocks, pixel_area
from ..core.curve.grid import Grid
from ..core.public.decode import Decoded
from ..core.public.intervals import Estimate, limits
from ..geo.domain import Domain
from .field import blur, cells_at
from .pack import pack, pack_amounts
from .sheet import Sheet

Array = np.ndarray
#: estimate, low and high
Answers = Tuple[Array, Array, Array]
#: by level, for all squares along the curve: room, and what is known
Asked = Dict[int, Tuple[Array, Estimate]]

CONFIDENCE = 0.9
#: squares are of these levels
_FINEST, _COARSEST = 8, 3
#: half of the quarters' intervals together are at most this share of their square's estimate
_GOOD = 0.5
#: pixels in which a page finds a square, and answers that it holds about slices
_PIXELS = 320
_MOST_ANSWERS = 80_000
#: the least solid that a picture is
PALEST = 0.4
#: over how many blocks that changes
_SOFT = 7.0


@dataclass(frozen=True, eq=False)
class Regions:
    """Squares of the quadtree by level and curve index; ``owner`` is the one of a fine pixel."""

    domain: Domain
    level: Array
    index: Array
    #: the square of each block of the finest level, by curve index; -1 where no point may lie
    owner: Array
    finest: int

    def blocks(self) -> Blocks:
        """The squares as zones to ask about."""
        size = self.level.size
        return Blocks(np.arange(size), self.level, self.index, np.ones(size))

    def km2(self) -> Array:
        """Area of each square in which points may lie."""
        grid, level = self.domain.grid, self.finest
        pixel = grid.side / 2**level
        middle = (np.arange(2**level) + 0.5) * pixel
        square = self.domain.square_metres(grid.x0 + middle, grid.y0 + middle)
        area = pixel_area(grid, level) * square * (pixel / 1000) ** 2
        row, column = _rows_and_columns(level)
        upto = np.concatenate([[0.0], np.cumsum(area[row, column])])
        first, last = (edge << 2 * (level - self.level) for edge in (self.index, self.index + 1))
        return np.asarray(upto[last] - upto[first])


def find_regions(decoded: Decoded, domain: Domain) -> Tuple[Regions, Answers]:
    """Squares that are as small as makes sense, and what is known about each."""
    asked = ask_levels(decoded, domain)
    return choose_regions(
        {level: (room, _limited(decoded, own)) for level, (room, own) in asked.items()}, domain
    )


def ask_levels(decoded: Decoded, domain: Domain) -> Asked:
    """What is known about the squares of every level, and how many cells may hold points."""
    finest = min(_FINEST, domain.grid.order)
    levels = range(min(_COARSEST, finest), finest + 1)
    return {level: _ask(decoded, domain.grid, level) for level in levels}


def choose_regions(
    answers: "Dict[int, Tuple[Array, Any]]", domain: Domain
) -> Tuple[Regions, Answers]:
    """Of the squares of all levels, those to tell about: with room, estimate, low and high."""
    coarsest, finest = min(answers), max(answers)
    chosen = np.full(4**finest, coarsest)
    shown = np.ones(4**coarsest, bool)
    for level in range(coarsest, finest):
        _, low, high = answers[level + 1][1]
        halves = ((high - low) / 2).reshape(-1, 4).sum(axis=1)
        shown = np.repeat(shown & (halves <= _GOOD * answers[level][1][0]), 4)
        chosen[np.repeat(shown, 4 ** (finest - level - 1))] = level + 1
    chosen[_room(domain.grid, finest) <= 0] = -1
    pixel = np.arange(4**finest)
    some = np.flatnonzero(chosen >= 0)
    key = chosen[some] * 4**finest + (pixel[some] >> 2 * (finest - chosen[some]))
    square, place = np.unique(key, return_inverse=True)
    owner = np.full(4**finest, -1)
    owner[some] = place.reshape(-1)
    level, index = square // 4**finest, square % 4**finest
    found = [np.zeros(level.size) for _ in range(3)]
    for each, (_, parts) in answers.items():
        own = level == each
        for all_of_it, part in zip(found, parts):
            all_of_it[own] = part[index[own]]
    return Regions(domain, level, index, owner, finest), (found[0], found[1], found[2])


def even_regions(domain: Domain, most: int) -> Regions:
    """Squares of one level, so many at most."""
    level = min(_FINEST, domain.grid.order)
    while level > 1 and np.count_nonzero(_room(domain.grid, level)) > most:
        level -= 1
    some = np.flatnonzero(_room(domain.grid, level) > 0)
    owner = np.full(4**level, -1)
    owner[some] = np.arange(some.size)
    return Regions(domain, np.full(some.size, level), some, owner, level)


def slice_answers(decoded: Decoded, blocks: Blocks, zones: int) -> List[Answers]:
    """For each joint choice of slices, what is known: a row a choice, none of an axis first.

    The number of a choice is that of a place in an array with one more than its size along each
    axis; 0 along an axis is all of it.
    """
    release = decoded.release
    sizes = [axis.size + 1 for axis in release.axes]
    every = np.zeros((3, int(np.prod(sizes)), zones))
    every[:, 0] = _limited(decoded, decoded.estimate_in(blocks, zones))
    numbers = np.arange(every.shape[1]).reshape(sizes)
    for size in range(1, len(sizes) + 1):
        for axes in combinations(range(len(sizes)), size):
            found = decoded.estimate_slices(blocks, zones, list(axes))
            where = tuple(slice(1, None) if axis in axes else 0 for axis in range(len(sizes)))
            every[:, numbers[where].reshape(-1)] = _limited(decoded, found).transpose(0, 2, 1)
    return [(row[0], row[1], row[2]) for row in every.transpose(1, 0, 2)]


def choices(sizes: Sequence[int]) -> int:
    """How many joint choices of slices there are."""
    return int(np.prod([size + 1 for size in sizes]))


def most_regions(sizes: Sequence[int]) -> int:
    """So many squares may have answers about every choice of slices."""
    return max(16, _MOST_ANSWERS // choices(sizes))


def _limited(decoded: Decoded, estimate: Estimate) -> Array:
    low, high = limits(decoded.release, estimate, CONFIDENCE)
    return np.stack([estimate.mass, low, np.maximum(high, low)])


def pack_regions(regions: Regions, answers: Sequence[Answers], sheet: Sheet) -> Dict[str, Any]:
    """Squares and answers for the page; an answer a choice of slices."""
    x, y, inside = sheet.pixels(_PIXELS)
    cell, known = cells_at(regions.domain, regions.finest, x, y)
    owner = np.where(inside & known, regions.owner[cell], -1)
    grid = regions.domain.grid
    return {
        "size": list(owner.shape[::-1]),
        "window": list(sheet.window),
        "owner": pack(owner + 1, "u16"),
        "km2": pack(regions.km2(), "f32"),
        "side": pack(grid.side / 2.0**regions.level * regions.domain.metres, "f32"),
        "level": pack(regions.level) if sheet.is_own else None,
        **pack_answers(answers),
    }


def pack_answers(answers: Sequence[Answers], exact: bool = False) -> Dict[str, Any]:
    """Estimates with their limits, one choice of slices after the other."""
    names, parts = ("estimate", "low", "high"), (np.stack(part) for part in zip(*answers))
    return {
        name: pack(part, "f32") if exact else pack_amounts(part) for name, part in zip(names, parts)
    }


def fade(regions: Regions, answers: Answers) -> Array:
    """How solid the picture is on the blocks of the finest level, 0 to 1: less where less is known.

    Row 0 is the south.
    """
    estimate, low, high = answers
    doubt = (high - low) / 2 / np.maximum(estimate, 1e-9)
    solid = np.append(np.clip(1.2 - 0.5 * doubt, PALEST, 1.0), 0.0)
    row, column = _rows_and_columns(regions.finest)
    picture = np.zeros((2**regions.finest, 2**regions.finest))
    picture[row, column] = solid[regions.owner]
    inside = (picture > 0).astype(np.float64)
    soft = blur(picture, _SOFT) / np.maximum(blur(inside, _SOFT), 1e-12)
    return np.asarray(soft * inside)


def _ask(decoded: Decoded, grid: Grid, level: int) -> Tuple[Array, Estimate]:
    room = _room(grid, level)
    some = np.flatnonzero(room > 0)
    blocks = Blocks(np.arange(some.size), np.full(some.size, level), some, np.ones(some.size))
    known = decoded.estimate_in(blocks, some.size)
    spread = {part.name: np.zeros(room.size) for part in fields(Estimate)}
    for name, values in spread.items():
        values[some] = getattr(known, name)
    return room, Estimate(**spread)


def _room(grid: Grid, level: int) -> Array:
    edge = np.arange(4**level + 1, dtype=np.int64) << 2 * (grid.order - level)
    return np.diff(grid.allowed_before(edge)).astype(np.float64)


def _rows_and_columns(level: int) -> Tuple[Array, Array]:
    column, row = hilbert.decode(np.arange(4**level, dtype=np.int64), level)
    return row, column
