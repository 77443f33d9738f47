"""What to expect of a release before any data is touched: from n, epsilon and the domain alone.

Two things are planned. The group size of the sort mechanism, by the paper's model: error of the
noise, which falls with the group size, plus error of speaking for a whole group, which rises with
it. And the error of a map in metres, by a law fitted to real data.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence, Tuple, Type

from .accuracy import (
    EPSILON_RANGE,
    HIGH,
    LOW,
    epsilon_for,
    expected_error,
    length_words,
    share_of_all,
    two_digits,
    up_to_three_digits,
)
from .errors import BadInputError
from .rules import METHODS, check_mechanism, measured_by
from .rules.axes import Axis
from .rules.budget import exact_epsilon
from .rules.group_size import default_group_size
from .rules.measured import Measured


@dataclass(frozen=True)
class Plan:
    """What to expect of a release; `str` says it in words.

    `expected_error`, `low` and `high` are in the unit of `side`; `group_size` is what the sort
    mechanism would use.
    """

    n: int
    epsilon: float
    side: float
    method: str
    protects: str
    expected_error: float
    low: float
    high: float
    group_size: int
    units: str = "m"
    #: what axes cost: the map of all points is as good as with this part of epsilon
    share: float = 1.0
    #: side of a cell, and what it is when no resolution is stated; None where no grid was given
    cell: Optional[float] = None
    default_cell: Optional[float] = None
    #: the expected error when no resolution is stated
    default_error: Optional[float] = None
    #: "replace", or "add-remove" where the number of points is noisy too
    neighbours: str = "replace"
    #: what to protect, side by side (`choices.UnitChoice`), and what the other relation costs
    choices: Tuple[Any, ...] = ()
    relation: str = ""
    #: what a table of declared zones would cost, in words
    table: str = ""
    #: zones with the half widths to expect, where zones were given
    zones: Any = field(default=None, compare=False, repr=False)

    @property
    def mechanism(self) -> str:
        """The same as `method`, in the words of a release."""
        return self.method

    @property
    def _elsewhere(self) -> str:
        return "been elsewhere" if self.neighbours == "replace" else "not been there"

    @property
    def unit(self) -> str:
        """The same as `protects`, under its name in the file of a release."""
        return self.protects

    @property
    def _kind(self) -> Type[Measured]:
        return measured_by(self.method)

    def __str__(self) -> str:
        """Say it to a user of maps."""
        owner = "point" if self.protects == "point" else "person, with all of their points,"
        method = f"{self.method} mechanism{self._kind.group_words(self.group_size)}"
        price = (
            ""
            if self.share == 1
            else (
                f" The axes take their part of it: the map of all points is as good as at "
                f"{self.share:.2f} epsilon, without them."
            )
        )
        return (
            f"{self.n:,} {self.protects}{'' if self.n == 1 else 's'}, "
            f"epsilon = {self.epsilon:g}, {method}: on average a point has to "
            f"move about {self._length(self.expected_error)} to turn the published map into the "
            f"true one (expect {self._length(self.low, self.high)}; half of the points move "
            f"less). Had any one {owner} {self._elsewhere}, no published map would have been more "
            f"than {_times(self.epsilon)} times more or less likely.{price}{self.table}"
            f"{self._cells()}{self._choices()}"
        )

    def _repr_html_(self) -> str:
        """A small card for notebooks."""
        owner = "one point" if self.protects == "point" else "one person, with all their points"
        rows = [
            (f"{self.protects}s", f"{self.n:,}"),
            ("epsilon", f"{self.epsilon:g}, protects {owner}"),
            ("mechanism", self.method),
            ("expected error", self._length(self.expected_error)),
            ("range", self._length(self.low, self.high)),
        ]
        if self._kind.group_words(self.group_size):
            rows.append(("points a group", f"{self.group_size:,}"))
        if self.cell is not None and self._kind.COUNTS_PLACES:
            rows.append(("cells", self._length(self.cell)))
        cells = "".join(
            f'<tr><th style="text-align:left;padding:.1em 1em .1em 0">{name}</th>'
            f'<td style="text-align:left">{html.escape(value)}</td></tr>'
            for name, value in rows
        )
        return (
            '<div style="border:1px solid #8886;border-radius:6px;padding:.7em 1em;'
            f'max-width:44em"><table>{cells}</table>'
            f'<p style="margin:.6em 0 0;white-space:pre-line">{html.escape(str(self))}</p></div>'
        )

    def _choices(self) -> str:
        lines = [f" {self.relation}" if self.relation else ""]
        if self.choices:
            lines.append("What to protect, each with neighbours='add-remove':")
            lines += [f"- {choice}." for choice in self.choices]
        return "\n".join(lines)

    def _cells(self) -> str:
        if self.cell is None or self.default_cell is None or not self._kind.COUNTS_PLACES:
            return ""
        own, default = self._length(self.cell), self._length(self.default_cell)
        if self.cell == self.default_cell:
            return (
                f" Cells are {own} wide; with a resolution stated nothing is spent below it, and "
                "what is read at that size or coarser is nearer to the truth."
            )
        off = "" if self.default_error is None else self._length(self.default_error)
        instead = f" (a point is then off by about {off})" if off else ""
        return (
            f" Cells are {own} wide, {default} without a resolution{instead}; read nothing smaller."
        )

    def _length(self, *lengths: float) -> str:
        return length_words(*lengths, units=self.units)


def plan_side(
    n: int,
    side: float,
    epsilon: Optional[Any] = None,
    target_error: Optional[float] = None,
    method: str = "adaptive",
    protects: str = "point",
    units: str = "m",
    axes: Sequence[Axis] = (),
    zones: int = 0,
    cell: float = 0.0,
) -> Plan:
    """Plan a release for a square domain: its error for an epsilon, or the epsilon for an error.

    Parameters
    ----------
    n : int
        Number of points (of people, when each person counts once).
    side : float
        Side of the domain's square.
    epsilon : float or str, optional
        Privacy parameter; give this or `target_error`.
    target_error : float, optional
        Expected error to reach, in the unit of `side`.
    method : {"adaptive", "sort", "hybrid"}
        Mechanism.
    protects : {"point", "person"}
        What epsilon protects: one point, or one person with all their points.
    units : str
        Unit of `side` in words.
    axes : sequence of axes
        Categories and time, which share epsilon with the map of all points.
    zones : int
        How many zones are declared for a table of their own; with `epsilon` only.
    cell : float
        Side of a cell of the grid.

    Examples
    --------
    >>> print(plan_side(10_000, side=50_000, epsilon=1.0))  # doctest: +NORMALIZE_WHITESPACE
    10,000 points, epsilon = 1, adaptive mechanism: on average a point has to move about 260 m to
    turn the published map into the true one (expect 120 to 480 m; half of the points move less).
    Had any one point been elsewhere, no published map would have been more than 2.7 times more or
    less likely.
    >>> plan_side(50_000, side=50_000, target_error=250).epsilon
    0.205
    """
    if (epsilon is None) == (target_error is None):
        raise BadInputError("Give either epsilon or target_error: the other one follows from it.")
    check_mechanism(method, METHODS)
    if protects not in ("point", "person"):
        raise BadInputError(f"A plan protects a 'point' or a 'person', not {protects!r}.")
    if target_error is not None:
        least = share_of_all(axes, n, EPSILON_RANGE[0])
        found = epsilon_for(n, target_error, side, method, cell)
        epsilon = up_to_three_digits(found / least) if axes else found
    rate = float(exact_epsilon(epsilon))  # type: ignore[arg-type]
    share = share_of_all(axes, n, rate, zones)
    error = expected_error(n, rate * share, side, method, cell)
    size = default_group_size(n, rate)
    return Plan(
        n, rate, side, method, protects, error, LOW * error, HIGH * error, size, units, share
    )


def _times(epsilon: float) -> str:
    return two_digits(math.exp(epsilon)) if epsilon <= 20 else f"e^{epsilon:g}"
