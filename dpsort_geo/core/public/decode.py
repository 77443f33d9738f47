"""From a release to F, the monotone function that everything else is read from (step B1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import List, Mapping, Optional, Protocol, Sequence, Tuple, cast

import numpy as np

from ..curve import hilbert
from ..curve.blocks import Blocks, lay_out
from ..curve.grid import Grid
from ..errors import BadInputError
from ..release import Release
from .cumulative import Cumulative
from .intervals import Estimate

Array = np.ndarray

DECODERS = ("default", "paper")
NO_AXES = "This release has no categories and no times."
NO_PRIOR = (
    "Only adaptive releases, with or without axes, are read against a prior: a sort or a hybrid "
    "release has no counts of places to weigh it with."
)
#: a place on the curve is read to 2^-8 of a cell's side, within what a float can hold
_FINER = 8


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a release says. The mechanisms know more than F, and answer better where they do."""

    release: Release
    #: where mass may lie: the grid of the release, or a reader's boundary on it, see `within`
    grid: Grid
    cumulative: Cumulative

    @property
    def n(self) -> int:
        """Number of points that the release stands for."""
        return self.release.size

    @property
    def is_n_public(self) -> bool:
        """Whether n is the exact number of points."""
        return self.release.neighbours == "replace"

    def mass_in(self, blocks: Blocks, zones: int) -> Array:
        """Mass in each zone by F alone."""
        start, stop = blocks.places(self.grid)
        part = self.cumulative.upto(stop) - self.cumulative.upto(start)
        return np.bincount(blocks.zone, part * blocks.share, zones)

    def estimate_in(self, blocks: Blocks, zones: int) -> Estimate:
        """Mass in each zone, and what is unknown about it."""
        raise NotImplementedError

    def read_against(self, prior: Cumulative) -> Decoded:
        """The same, read against a public map, given as its F on the same grid."""
        raise BadInputError(NO_PRIOR)

    def estimate_slices(self, blocks: Blocks, zones: int, axes: Sequence[int]) -> Estimate:
        """The same for every joint slice of some axes, where the release has any: a row a zone."""
        raise BadInputError(NO_AXES)

    def labels(self, points: Optional[int] = None) -> List[Array]:
        """The slice of each axis for each published point, or for so many of them."""
        raise BadInputError(NO_AXES)

    def select(self, chosen: Mapping[int, Sequence[int]]) -> Decoded:
        """What the release says about the points in chosen slices, by the number of the axis."""
        raise BadInputError(NO_AXES)

    def locate(self, mass: Array, diffuse: bool) -> Tuple[Array, Array]:
        """Coordinates of the points before which F has these masses.

        A mask knows of its polygon only which cells have their centres in it. A cell at its edge
        may reach out of the polygon, so points there sit at the centre, which does not.
        """
        x, y = self._locate(mass, diffuse)
        if self.grid.runs is not None:
            column, row = self.grid.columns_and_rows(x, y)
            edge = np.flatnonzero(self.grid.at_edge(column, row))
            x[edge] = self.grid.x0 + (column[edge] + 0.5) * self.grid.cell
            y[edge] = self.grid.y0 + (row[edge] + 0.5) * self.grid.cell
        return x, y

    def _locate(self, mass: Array, diffuse: bool) -> Tuple[Array, Array]:
        if diffuse:
            return walk_curve(self.grid, self._spread.at(mass))
        cell = np.clip(np.floor(self.cumulative.at(mass)), 0, self.grid.n_cells - 1)
        return self.grid.centres(cell.astype(np.int64))

    @cached_property
    def _spread(self) -> Cumulative:
        return self.cumulative.diffuse(self.grid.n_cells)

    def raster(self, level: int) -> Array:
        """Mass in each of 2^level x 2^level pixels; row 0 is the south, column 0 the west."""
        edge = np.arange(4**level + 1, dtype=np.int64) << 2 * (self.grid.order - level)
        mass = np.diff(self._spread.before(self.grid.allowed_before(edge).astype(np.float64)))
        return lay_out(mass, level)


class Reader(Protocol):
    """What every mechanism has in ``public/X``."""

    def decode(self, release: Release, decoder: str, inside: Grid) -> Decoded: ...


def decode(release: Release, decoder: str = "default", inside: Optional[Grid] = None) -> Decoded:
    """Decode any release; "paper" gives the paper's own decoder of a sort release.

    ``inside`` is a public boundary that the reader knows, made by `within.inside_of`. A release
    that does not follow its own rule is refused.

    >>> from dpsort_geo.core.private.publish import count, measure
    >>> cells = count(Grid(0.0, 0.0, 1.0, 3), np.arange(8.0), np.arange(8.0))
    >>> decode(measure(cells, epsilon=1)).cumulative.total
    8.0
    """
    if decoder not in DECODERS:
        raise BadInputError("The decoder must be 'default' or 'paper'.")
    release.verify()  # whoever made the file: below, all numbers fit together
    mechanism = cast(Reader, import_module(f".{release.kind}", __package__))
    return mechanism.decode(release, decoder, release.grid if inside is None else inside)


def refuse_paper(decoder: str) -> None:
    """For the mechanisms that the paper did not decode."""
    if decoder == "paper":
        raise BadInputError("Only a sort release has the paper's decoder.")


def walk_curve(grid: Grid, place: Array) -> Tuple[Array, Array]:
    """Coordinates of places on the curve, which goes on inside the cells."""
    finer = max(0, min(_FINER, 26 - grid.order))
    cell = np.clip(np.floor(place), 0, grid.n_cells - 1)
    within = np.clip((place - cell) * 4.0**finer, 0, 4**finer - 1).astype(np.int64)
    index = (grid.expand(cell.astype(np.int64)) << 2 * finer) | within
    i, j = hilbert.decode(index, grid.order + finer)
    step = grid.cell / 2.0**finer
    return grid.x0 + (i + 0.5) * step, grid.y0 + (j + 0.5) * step
