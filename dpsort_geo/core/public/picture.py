"""The density on the ground: square cells of so many metres, and points per square kilometre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from ..curve.blocks import pixel_area
from ..errors import BadInputError
from ..frame.ground import Frame
from .decode import Decoded
from .density import MAX_LEVEL, SMOOTH_LEVEL, raster

Array = np.ndarray

#: colours of a density, light to dark, readable without colour and by the colour-blind
RAMP = (
    (254, 240, 200),
    (252, 196, 116),
    (243, 137, 86),
    (205, 77, 94),
    (130, 40, 106),
    (59, 15, 80),
)
#: a table of more cells than this is not a picture any more
MOST_CELLS = 4_000_000
#: of everything: what rounding leaves in a cell that is empty
_DUST = 1e-12
#: cells a side, at the least, where nobody says how large they should be
_DEFAULT_CELLS = 128


@dataclass(frozen=True)
class Picture:
    """Mass and allowed share of square cells in the working CRS; row 0 is the south."""

    mass: Array
    share: Array
    x0: float
    y0: float
    cell: float

    @property
    def edges(self) -> Tuple[Array, Array]:
        """West edges of the columns and south edges of the rows."""
        rows, columns = self.mass.shape
        return self.x0 + self.cell * np.arange(columns), self.y0 + self.cell * np.arange(rows)

    def per_km2(self, frame: Frame) -> Array:
        """Points per square kilometre of the allowed area; NaN in cells that have none of it."""
        west, south = self.edges
        square = frame.square_metres(west + self.cell / 2, south + self.cell / 2)
        area = self.share * square * (self.cell / 1000) ** 2
        nowhere = np.full_like(self.mass, np.nan)
        return np.divide(self.mass, area, out=nowhere, where=area > 0)


def default_cell(side: float) -> float:
    """Side of a cell, in metres, on a domain of so many metres: a round number.

    >>> default_cell(50_000.0), default_cell(700.0)
    (200.0, 5.0)
    """
    wanted = side / _DEFAULT_CELLS
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(max(digit for digit in (1, 2, 5) if digit * power <= wanted * (1 + 1e-9)) * power)


def picture(decoded: Decoded, frame: Frame, cell: Optional[float] = None) -> Picture:
    """The density on cells of ``cell`` metres, counted from the grid's lower left corner."""
    grid = frame.grid
    if cell is None:
        cell = default_cell(frame.side)
    if not (np.isfinite(cell) and cell > 0):
        raise BadInputError("The cell must be a positive number of metres.")
    size = cell / frame.metres
    count = int(np.ceil(grid.side / size - 1e-9))
    if count**2 > MOST_CELLS:
        raise BadInputError(
            f"Cells of {cell:g} m make more than {MOST_CELLS:,} of them; "
            f"give at least {frame.side / np.sqrt(MOST_CELLS):.3g} m."
        )
    level = int(np.clip(np.ceil(np.log2(max(count, 1))) + 1, 1, SMOOTH_LEVEL))
    level = min(max(level, min(int(np.ceil(np.log2(count))), MAX_LEVEL)), grid.order)
    pixel = grid.side / 2**level
    edge = np.minimum(np.arange(count + 1) * size, grid.side) / pixel
    mass = _resampled(raster(decoded, level), edge)
    mass[mass < _DUST * decoded.n] = 0.0
    share = _resampled(pixel_area(grid, level), edge) * (pixel / size) ** 2
    share[share < _DUST] = 0.0
    return Picture(mass, share, grid.x0, grid.y0, size)


def _resampled(pixels: Array, edge: Array) -> Array:
    """Sums over intervals between edges, given in pixels; a cut pixel is shared by area."""
    for _ in range(2):
        total = np.vstack([np.zeros((1, pixels.shape[1])), np.cumsum(pixels, axis=0)])
        low = np.minimum(edge.astype(np.int64), len(total) - 2)
        part = (edge - low)[:, None]
        pixels = np.diff(total[low] * (1 - part) + total[low + 1] * part, axis=0).T
    return np.maximum(pixels, 0.0)
