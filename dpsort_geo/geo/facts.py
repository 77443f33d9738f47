"""What a release says about itself: its facts, its statement, its label and records."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from ..core import accuracy
from ..core.curve.grid import Grid
from ..core.errors import BadInputError
from ..core.label import Label, Spent, make_label
from ..core.public.decode import Decoded, decode
from ..core.public.edge import AT_EDGE, crowds_edge
from ..core.registry import registry_record
from ..core.release import Release as Artefact
from ..core.rules.axes import Axis
from ..core.rules.measured import Measured
from ..core.statement import counted_words, unit_words
from .boundary import Boundary
from .domain import Domain
from .prior import Prior

Array = np.ndarray
PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True, repr=False)
class Facts:
    """The facts of a release, and where on the ground it lies; the base of `Release`."""

    release: Artefact
    domain: Domain
    #: the public boundary that it is read with, see `within`
    boundary: Optional[Boundary] = None
    #: the public map that it is read against, see `against`
    prior: Optional[Prior] = None

    @property
    def n(self) -> int:
        """Number of points, or of persons; with "add-remove" it is noisy and may be negative."""
        return self.release.n

    @property
    def size(self) -> int:
        """How many points `points` gives: n, or 0 when a noisy n is negative."""
        return self.release.size

    @property
    def epsilon(self) -> str:
        """The privacy budget of the whole release, as exact decimal text."""
        return self.release.epsilon

    @property
    def neighbours(self) -> str:
        """What is hidden: "replace" hides where a point is, "add-remove" that it is there."""
        return self.release.neighbours

    @property
    def protects(self) -> str:
        """What epsilon protects: one "point", one "person" with all their points, or what several
        columns name together, such as one "combination of rider and date"."""
        return str(self.statement()["protects"])

    @property
    def unit(self) -> str:
        """What the file calls it: "point", or "person" for whatever may have several points."""
        return self.release.unit

    @property
    def mechanism(self) -> str:
        """How it was measured: "adaptive", "sort", "hybrid", or "views" for points with axes."""
        return self.release.kind

    @property
    def kind(self) -> str:
        """The same as `mechanism`, under the name that it has in the file."""
        return self.mechanism

    @property
    def private(self) -> bool:
        """False for a release drawn with a seed, which must never be published."""
        return self.release.private

    @property
    def ledger(self) -> bool:
        """Whether epsilon was debited from a ledger before any noise was drawn."""
        return self.release.ledger

    @property
    def grid(self) -> Grid:
        """The grid of the domain, in its working CRS."""
        return self.release.grid

    @property
    def crs(self) -> Optional[str]:
        """The CRS of `points`, as the file says it."""
        return self.release.crs

    @property
    def working_crs(self) -> Optional[str]:
        """The CRS of the grid, as the file says it."""
        return self.release.working_crs

    @property
    def measured(self) -> Measured:
        """The noisy integers: `SortSums`, `AdaptiveCounts`, `HybridCounts` or `ViewCounts`."""
        return self.release.measured

    @property
    def axes(self) -> Tuple[Axis, ...]:
        """What the release says beside where: its categories and its time."""
        return self.release.axes

    def statement(self) -> Dict[str, Any]:
        """The statement that travels with every file: what is protected, and how far off it is.

        ``expected_error`` is in metres, from public settings alone; None where there is nothing.
        """
        error = float(f"{self.expected_error:.3g}") if self.release.size else None
        return {**self.release.statement(), "expected_error": error}

    def verify(self) -> List[str]:
        """Check everything that the file can prove; the sentences say what was shown.

        Raises `NotVerifiedError` at the first thing that does not hold.
        """
        return self.release.verify()

    def notes(self) -> List[str]:
        """What looks wrong about it, in sentences; an empty list when nothing does."""
        try:
            return [AT_EDGE] if crowds_edge(self.decoded) else []
        except BadInputError as error:
            return [str(error)]

    def to_json(self) -> str:
        """The text that `save` writes."""
        return self.release.to_json()

    def save(self, path: PathLike, overwrite: bool = True) -> None:
        """Write the release itself: the public file from which all else can be made again."""
        self.release.save(path, overwrite)

    @cached_property
    def decoded(self) -> Decoded:
        """F and what it was made from."""
        return self._decode("default")

    def decoded_by(self, decoder: Optional[str] = None) -> Decoded:
        """F by another decoder, see `points`."""
        return self.decoded if decoder in (None, "default") else self._decode(str(decoder))

    def _decode(self, decoder: str) -> Decoded:
        inside = self.domain.grid if self.boundary is not None else None
        decoded = decode(self.release, decoder, inside)
        return decoded if self.prior is None else decoded.read_against(self.prior.on(self.domain))

    @property
    def expected_error(self) -> float:
        """How far off a point is on average, in metres, by `plan`'s law; NaN without any."""
        if not self.size:
            return math.nan
        return accuracy.expected_error(
            self.size, *accuracy.terms_of(self.release, self.domain.side)
        )

    def error_words(self) -> str:
        """The same in words."""
        return accuracy.accuracy_words(self.release, self.domain.side)

    def slice_words(self, named: bool = True) -> str:
        """Which slices of the release these are, with their axes; nothing where it is all of it."""
        return ""

    def label(
        self, ledger: Any = None, dataset: Optional[str] = None, title: Optional[str] = None
    ) -> Label:
        """One page for people who decide: what is protected, from whom, how strongly, what is not.

        ``.html`` and ``.text`` are the page. With a `Ledger` and the name of the data set in it the
        page also says what was spent on the data in total.
        """
        return make_label(self.release, self.error_words(), title, _spent(ledger, dataset))

    def registry_record(
        self, ledger: Any = None, dataset: Optional[str] = None, title: Optional[str] = None
    ) -> str:
        """The YAML record for the public registry of deployments, with blanks to fill in."""
        return registry_record(self.release, title or "", _spent(ledger, dataset))

    def dcat(self, title: Optional[str] = None) -> str:
        """The record for open-data portals: DCAT and GeoDCAT-AP as JSON-LD."""
        from .catalogue import catalogue_record

        return catalogue_record(self, title)

    def __repr__(self) -> str:
        known = self.statement()["expected_error"] is not None
        off = f", off by about {accuracy.length_words(self.expected_error)}" if known else ""
        book = "" if self.release.ledger else ", no ledger"
        return f"<Release: {str(self).splitlines()[0]}{off}{book}>"

    def __str__(self) -> str:
        core = self.release
        method, who = core.measured.METHOD, counted_words(core, core.size)
        # an exact n is public: whoever sees the release sees how many there are
        how = "about" if core.neighbours == "add-remove" else "exactly"
        if core.max_points is not None:
            who += f", up to {core.max_points} of {unit_words(core)},"
        by = " by " + " and ".join(axis.name for axis in core.axes) if core.axes else ""
        if core.zones is not None:
            by += f", with {core.zones.size} declared zones,"
        read = ", read within a boundary" if self.boundary is not None else ""
        read += ", read against a prior" if self.prior is not None else ""
        return (
            f"{method} release of {how} {core.size:,} {who}{by} at epsilon = {core.epsilon}{read}\n"
            f"{self.error_words()}\n{core.statement()['summary']}\n{self.domain}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        first, *others = str(self).splitlines()[:3]
        notes = "".join(f"<br>Note: {escape(note)}" for note in self.notes())
        more = "<br>".join(map(escape, others))
        return f"<b>{escape(first)}</b><br>{more}{notes}{self.domain._repr_html_()}"


def _spent(ledger: Any, dataset: Optional[str]) -> Optional[Spent]:
    """What a ledger says of a data set; both or none must be given."""
    if (ledger is None) != (dataset is None):
        raise BadInputError("The total spent needs both: the ledger, and the data set's name.")
    if ledger is None or dataset is None:
        return None
    releases = len(ledger.entries(dataset))
    if not releases:
        raise BadInputError(f"The ledger has no release of {dataset!r}.")
    return Spent(dataset, ledger.spent(dataset), releases)
