"""What crosses from the publisher to the public: the artefact, its JSON, its checks.

A release holds public settings and noisy integers, nothing else. `Release.verify` recomputes
everything that the file can prove about itself; it cannot prove that the noise was honest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .atomic import PathLike, write_text
from .budget import NEIGHBOURS, PROTECTED, epsilon_text, exact_epsilon
from .curve.grid import Grid
from .errors import BadInput
from .packing import broken, number, optional_string, packed, string, truth, unpacked, whole
from .schedule import MOST_POINTS

Array = np.ndarray

FORMAT = "dpsort-geo release"
VERSION = 1
#: the largest file that a reader accepts
MOST_BYTES = 256 << 20
#: the measurements of each kind of release
KINDS: Mapping[str, tuple[str, ...]] = {
    "adaptive": ("level", "index", "rate", "value"),
    "sort": ("sums",),
    "hybrid": ("counts", "sums"),
}
#: what a release says, and nothing besides
FIELDS = (
    "format", "version", "statement", "kind", "private", "epsilon", "neighbours", "unit", "n",
    "settings", "ledger", "grid", "crs", "working_crs", "measurements",
)  # fmt: skip
_SOFTWARE = re.compile(r"dpsort-geo [\w.+-]{1,40}")
GRID_FIELDS = ("x0", "y0", "cell", "order", "mask")


@dataclass(frozen=True, eq=False)
class Release:
    """A private release; made by `publish`, read by anybody.

    Attributes
    ----------
    kind
        "adaptive", "sort" or "hybrid".
    epsilon
        Decimal text; the exact budget of the whole release.
    neighbours
        "replace" (n is public) or "add-remove" (n is noisy).
    unit
        What one epsilon protects: one "point" or one "person".
    n
        Number of points, or of persons; as noisy as ``neighbours`` says, so it may be negative.
    measurements
        The noisy integers, by name.
    settings
        Further public integers of the mechanism, by name.
    private
        False for a release drawn with a seed: for tests and research, never to be published.
    """

    kind: str
    grid: Grid
    epsilon: str
    neighbours: str
    unit: str
    n: int
    measurements: Mapping[str, Array] = field(repr=False)
    settings: Mapping[str, int] = field(default_factory=dict)
    private: bool = True
    crs: Optional[str] = None
    working_crs: Optional[str] = None
    ledger: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInput(f"The kind of a release must be one of {', '.join(KINDS)}.")
        if self.neighbours not in NEIGHBOURS or self.unit not in PROTECTED:
            raise BadInput("A release must name its neighbour relation and what it protects.")
        if set(self.measurements) != set(KINDS[self.kind]):
            raise BadInput(f"The release lacks the measurements of a {self.kind} release.")
        if abs(self.n) > MOST_POINTS:
            raise BadInput("A release can hold up to 2^37 points.")
        object.__setattr__(self, "epsilon", epsilon_text(self.epsilon))
        narrow = {name: _narrowed(values) for name, values in self.measurements.items()}
        object.__setattr__(self, "measurements", narrow)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        return self is other or self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.epsilon, self.n, self.grid))

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as a fraction."""
        return exact_epsilon(self.epsilon)

    @property
    def size(self) -> int:
        """How many points the public gets: n, or 0 when a noisy n is negative."""
        return max(self.n, 0)

    def statement(self) -> Dict[str, Any]:
        """The privacy statement that travels with every file made from this release."""
        from . import __version__

        return {
            "summary": _summary(self),
            "private": self.private,
            "epsilon": self.epsilon,
            "protects": self.unit,
            "neighbours": self.neighbours,
            "mechanism": self.kind,
            "n": self.n,
            "software": f"dpsort-geo {__version__}",
        }

    def verify(self) -> List[str]:
        """Check every invariant that the file can prove; the sentences say what was shown.

        Raises `NotVerified` with one sentence at the first thing that does not hold.
        """
        from .verify import verify_release

        return verify_release(self)

    def to_json(self) -> str:
        """The release as JSON text; integers stay integers, epsilon stays decimal text."""
        mask = None if self.grid.runs is None else packed(self.grid.runs.reshape(-1))
        document = {
            "format": FORMAT,
            "version": VERSION,
            "statement": self.statement(),
            "kind": self.kind,
            "private": self.private,
            "epsilon": self.epsilon,
            "neighbours": self.neighbours,
            "unit": self.unit,
            "n": self.n,
            "settings": dict(self.settings),
            "ledger": self.ledger,
            "grid": {
                "x0": self.grid.x0,
                "y0": self.grid.y0,
                "cell": self.grid.cell,
                "order": self.grid.order,
                "mask": mask,
            },
            "crs": self.crs,
            "working_crs": self.working_crs,
            "measurements": {name: packed(self.measurements[name]) for name in KINDS[self.kind]},
        }
        document["digest"] = _digest(document)
        return json.dumps(document, indent=1, allow_nan=False) + "\n"

    def save(self, path: PathLike) -> None:
        """Write the JSON to a file, all of it or nothing."""
        write_text(path, self.to_json())

    @classmethod
    def from_json(cls, text: str) -> "Release":
        """Read a release; whatever is wrong with the text is said in one sentence."""
        document = _parsed(text)
        try:
            grid, runs = document["grid"], None
            if grid["mask"] is not None:
                runs = unpacked(grid["mask"]).reshape(-1, 2)
            kind = string(document["kind"])
            if kind not in KINDS:
                raise BadInput("The release is of a kind that this version does not know.")
            release = cls(
                kind=kind,
                grid=Grid(
                    number(grid["x0"]), number(grid["y0"]), number(grid["cell"]),
                    whole(grid["order"]), runs,
                ),
                epsilon=string(document["epsilon"]),
                neighbours=string(document["neighbours"]),
                unit=string(document["unit"]),
                n=whole(document["n"]),
                measurements={
                    name: unpacked(document["measurements"][name]) for name in KINDS[kind]
                },
                settings={string(k): whole(v) for k, v in document["settings"].items()},
                private=truth(document["private"]),
                crs=optional_string(document["crs"]),
                working_crs=optional_string(document["working_crs"]),
                ledger=truth(document["ledger"]),
            )  # fmt: skip
            _check_nothing_else(document, release)
        except BadInput:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise broken() from None
        return release


def load(path: PathLike) -> Release:
    """Read the file that `Release.save` wrote; a file that is too large is not read at all."""
    try:
        if os.stat(path).st_size > MOST_BYTES:
            raise _too_large()
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("This file is not a dpsort-geo release.") from None
    except OSError as error:
        raise BadInput(f"{os.fspath(path)} cannot be read: {error.strerror}.") from None
    return Release.from_json(text)


def _too_large() -> BadInput:
    return BadInput("The release is larger than 256 MB, which no publisher makes; it was not read.")


def _narrowed(values: Array) -> Array:
    """As 64-bit integers wherever they fit, so that a number's form tells nothing more."""
    if values.dtype == object and all(-(1 << 63) <= value < 1 << 63 for value in values.tolist()):
        values = values.astype(np.int64)
    values = values.view()  # the array of the caller stays as it is
    values.setflags(write=False)
    return values


def _summary(release: Release) -> str:
    if not release.private:
        return "NOT PRIVATE: drawn with a seed, for tests and research. Do not publish."
    whom = (
        "one person, with all of that person's points," if release.unit == "person" else "one point"
    )
    change = {
        "replace": f"if {whom} had been somewhere else",
        "add-remove": f"if {whom} had not been there at all",
    }[release.neighbours]
    return (
        f"Differentially private with epsilon = {release.epsilon}: {change}, any result would have "
        f"been at most exp({release.epsilon}) times as likely or unlikely."
        + (
            ""
            if release.unit == "person"
            else " One point is protected, not all points of one person."
        )
    )


def _check_nothing_else(document: Dict[str, Any], release: Release) -> None:
    """A release says what its fields say, and carries nothing besides."""
    parts = (
        (document, FIELDS),
        (document["grid"], GRID_FIELDS),
        (document["measurements"], KINDS[release.kind]),
    )
    if any(set(part) != set(names) for part, names in parts):
        raise BadInput("The release has parts that no publisher writes; do not rely on it.")
    # the software that wrote it may be another version
    claimed = dict(document["statement"])
    by = claimed["software"]
    if claimed != {**release.statement(), "software": by} or not _SOFTWARE.fullmatch(by):
        raise BadInput("The release's statement is not what its fields say; do not rely on it.")


def _parsed(text: str) -> Dict[str, Any]:
    if len(text) > MOST_BYTES:
        raise _too_large()
    try:
        document = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise BadInput("The release is not valid JSON; it may have been cut short.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput("This file is not a dpsort-geo release.")
    if document.get("version") != VERSION:
        raise BadInput(
            f"This release has a version that this software does not know (it knows {VERSION}); "
            "update dpsort-geo."
        )
    claimed = document.pop("digest", None)
    if claimed is None:
        raise broken()
    try:
        digest = _digest(document)
    except RecursionError:
        raise broken() from None
    if claimed != digest:
        raise BadInput("The release was changed after it was made; ask for the file again.")
    return document


def _each_once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """A JSON object; of a name that comes twice only one value would be looked at."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def _digest(document: Dict[str, Any]) -> str:
    """Shows accidents and careless edits; whoever can recompute it could also make a new file."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
