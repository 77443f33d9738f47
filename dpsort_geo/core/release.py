"""What crosses from the publisher to the public: public settings and noisy integers, nothing else.

`Release.verify` recomputes everything that the file can prove about itself: that the mechanism
could have made it, at the epsilon that it states. It cannot show that the noise was drawn honestly,
nor that the points were real; for that one must trust the publisher.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import release_json
from .atomic import PathLike, write_text
from .curve.declared import DeclaredZones
from .curve.grid import Grid
from .errors import BadInputError
from .release_fields import (
    axes_fields,
    check_nothing_else,
    read_grid,
    read_measured,
    read_scope,
    read_zones,
    scope_fields,
)
from .release_json import broken, crs_text, pack, string, truth, whole
from .rules.axes import Axis, check_axes, read_axis
from .rules.budget import (
    MOST_POINTS,
    NEIGHBOURS,
    PROTECTED,
    check_max_points,
    epsilon_text,
    point_epsilon,
)
from .rules.measured import Measured, refuse
from .rules.scope import check_outside, check_person
from .rules.views import check_zone_cells
from .rules.windows import Window, check_window
from .statement import full_statement, make_statement, unit_words

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Release:
    """A private release; made by `publish`, read by anybody.

    Attributes
    ----------
    epsilon
        Decimal text; the exact budget of the whole release.
    neighbours
        "replace" (n is public) or "add-remove" (n is noisy).
    unit
        What one epsilon protects: one "point" or one "person".
    n
        Number of points, or of persons; as noisy as ``neighbours`` says, so it may be negative.
    measured
        The noisy integers: `SortSums`, `AdaptiveCounts`, `HybridCounts` or `ViewCounts`.
    private
        False for a release drawn with a seed: for tests and research, never to be published.
    axes
        The public axes of a release of points with a category or a date.
    person
        The columns that name a person together, where there are several.
    max_points
        Up to how many points of a person are counted, each as a point; None: a person counts once.
    window
        Start and stop of the time that all points lie in; None where that is not said.
    outside
        "nearest": points outside of the domain were moved to it; "drop": they were left out.
    zones
        Public zones that were declared for a table of counts by all axes; None where there is none.
    """

    grid: Grid
    epsilon: str
    neighbours: str
    unit: str
    n: int
    measured: Measured = field(repr=False)
    private: bool = True
    crs: Optional[str] = None
    working_crs: Optional[str] = None
    ledger: bool = False
    axes: Tuple[Axis, ...] = ()
    person: Tuple[str, ...] = ()
    max_points: Optional[int] = None
    window: Optional[Window] = None
    outside: str = "nearest"
    zones: Optional[DeclaredZones] = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.neighbours not in NEIGHBOURS or self.unit not in PROTECTED:
            raise BadInputError("A release must name its neighbour relation and what it protects.")
        if abs(self.n) > MOST_POINTS:
            raise BadInputError("A release can hold up to 2^37 points.")
        if self.measured.HAS_AXES != bool(self.axes):
            raise BadInputError("A release has axes if, and only if, it was measured in views.")
        object.__setattr__(self, "axes", check_axes(self.axes))
        if self.zones is not None:
            if not self.axes or self.zones.order != self.grid.order:
                raise BadInputError("Zones are declared with axes, on the cells of the release.")
            check_zone_cells(self.zones.size, self.axes)
        object.__setattr__(self, "person", check_person(self.person, self.unit))
        check_max_points(self.max_points, self.unit, self.neighbours)
        object.__setattr__(self, "window", check_window(self.window))
        check_outside(self.outside, self.neighbours)
        object.__setattr__(self, "epsilon", epsilon_text(self.epsilon))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        return self is other or self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.epsilon, self.n, self.grid))

    @property
    def kind(self) -> str:
        """The mechanism: "adaptive", "sort", "hybrid", or "views" for points with axes."""
        return self.measured.KIND

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon of each thing that is counted, as a fraction.

        It is that of the release; where a person has up to m points, one m-th of it a point.
        """
        return point_epsilon(self.epsilon, self.max_points)

    @property
    def version(self) -> int:
        """The version of its file: the oldest that can say all of it."""
        return 3 if scope_fields(self) or self.zones is not None else 2 if self.axes else 1

    @property
    def size(self) -> int:
        """How many points the public gets: n, or 0 when a noisy n is negative."""
        return max(self.n, 0)

    def statement(self) -> Dict[str, Any]:
        """The privacy statement that travels with every file made from this release."""
        return full_statement(self)

    def verify(self) -> List[str]:
        """Check every invariant that the file can prove; the sentences say what was shown.

        Raises `NotVerifiedError` with one sentence at the first thing that does not hold.
        """
        if self.neighbours == "replace" and self.n < 1:
            refuse("n is public under 'replace', so it must be at least 1")
        if self.grid.n_cells < 2:
            refuse("a domain of one cell is never published")
        return [
            f"The grid has {self.grid.n_cells} allowed cells; its mask is sorted and disjoint.",
            f"Epsilon is exactly {self.epsilon} and protects {unit_words(self)}.",
            *self._shown_scope(),
            *self.measured.check(self),
        ]

    def to_json(self) -> str:
        """The release as JSON text; integers stay integers, epsilon stays decimal text."""
        grid = self.grid
        return release_json.write(
            {
                "format": release_json.FORMAT,
                "version": self.version,
                "statement": make_statement(self),
                "kind": self.kind,
                "private": self.private,
                "epsilon": self.epsilon,
                "neighbours": self.neighbours,
                "unit": self.unit,
                "n": self.n,
                "settings": self.measured.settings(),
                "ledger": self.ledger,
                **axes_fields(self),
                **scope_fields(self),
                "grid": {
                    "x0": grid.x0,
                    "y0": grid.y0,
                    "cell": grid.cell,
                    "order": grid.order,
                    "mask": None if grid.runs is None else pack(grid.runs.reshape(-1)),
                },
                "crs": self.crs,
                "working_crs": self.working_crs,
                "measurements": {
                    name: pack(values) for name, values in self.measured.arrays().items()
                },
            }
        )

    def _shown_scope(self) -> List[str]:
        if self.max_points is None:
            return []
        each = self.exact_epsilon
        return [
            f"Each of up to {self.max_points} points of a person has {each} of epsilon, so that "
            f"all of them together have {each * self.max_points}."
        ]

    def save(self, path: PathLike, overwrite: bool = True) -> None:
        """Write the JSON to a file, all of it or nothing."""
        write_text(path, self.to_json(), overwrite)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release; whatever is wrong with the text is said in one sentence."""
        document = release_json.parse(text)
        try:
            release = cls(
                grid=read_grid(document["grid"]),
                epsilon=string(document["epsilon"]),
                neighbours=string(document["neighbours"]),
                unit=string(document["unit"]),
                n=whole(document["n"]),
                measured=read_measured(document),
                private=truth(document["private"]),
                crs=crs_text(document["crs"]),
                working_crs=crs_text(document["working_crs"]),
                ledger=truth(document["ledger"]),
                axes=tuple(read_axis(axis) for axis in document.get("axes", ())),
                zones=read_zones(document),
                **read_scope(document),
            )
            check_nothing_else(document, release)
        except BadInputError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise broken() from None
        return release


def load(path: PathLike) -> Release:
    """Read the file that `Release.save` wrote."""
    return Release.from_json(release_json.read_text(path))
