"""What a release file says, field by field: written only where it is so, and read strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from .curve.declared import DeclaredZones
from .curve.grid import Grid
from .errors import BadInputError
from .release_json import broken, number, pack, string, unpack, whole
from .rules import MECHANISMS, measured_by
from .rules.budget import (
    path_units,
)
from .rules.measured import Measured
from .rules.views import all_shares
from .statement import is_statement_of

if TYPE_CHECKING:
    from .release import Release


#: what a release says, and nothing besides
FIELDS = (
    "format", "version", "statement", "kind", "private", "epsilon", "neighbours", "unit", "n",
    "settings", "ledger", "grid", "crs", "working_crs", "measurements",
)  # fmt: skip


#: what a release of version 3 says besides, each only where it is so
SCOPE_FIELDS = ("person", "max_points", "window", "outside")


GRID_FIELDS = ("x0", "y0", "cell", "order", "mask")


def axes_fields(release: Release) -> Dict[str, Any]:
    """What a release with axes says besides."""
    if not release.axes:
        return {}
    budget = path_units(release.neighbours)
    many = 0 if release.zones is None else release.zones.size
    found = {
        "axes": [axis.to_dict() for axis in release.axes],
        "shares": all_shares(release.axes, release.n, release.exact_epsilon, budget, many),
    }
    if release.zones is not None:
        found["zones"] = {"edge": pack(release.zones.edge), "zone": pack(release.zones.zone)}
    return found


def scope_fields(release: Release) -> Dict[str, Any]:
    """What is said only where it is so."""
    found: Dict[str, Any] = {}
    if release.person:
        found["person"] = list(release.person)
    if release.max_points is not None:
        found["max_points"] = release.max_points
    if release.window is not None:
        found["window"] = list(release.window)
    if release.outside != "nearest":
        found["outside"] = release.outside
    return found


def read_grid(given: Dict[str, Any]) -> Grid:
    """The grid of a file."""
    runs = None if given["mask"] is None else unpack(given["mask"]).reshape(-1, 2)
    x0, y0, cell = (number(given[name]) for name in ("x0", "y0", "cell"))
    return Grid(x0, y0, cell, whole(given["order"]), runs)


def read_zones(document: Dict[str, Any]) -> Optional[DeclaredZones]:
    """The zones that a file declares, if it does."""
    if "zones" not in document:
        return None
    given = document["zones"]
    return DeclaredZones(
        unpack(given["edge"]), unpack(given["zone"]), whole(document["grid"]["order"])
    )


def read_scope(document: Dict[str, Any]) -> Dict[str, Any]:
    """What a file of version 3 says besides, each only where it is there."""
    found = {name: document[name] for name in SCOPE_FIELDS if name in document}
    for name in ("person", "window"):
        if name in found:
            if not isinstance(found[name], list):
                raise broken()
            found[name] = tuple(string(part) for part in found[name])
    if "max_points" in found:
        whole(found["max_points"])
    if "outside" in found:
        string(found["outside"])
    return found


def read_measured(document: Dict[str, Any]) -> Measured:
    """The noisy integers of a file."""
    kind = string(document["kind"])
    if kind not in MECHANISMS:
        raise BadInputError("The release is of a kind that this version does not know.")
    measured = measured_by(kind)
    arrays = {name: unpack(document["measurements"][name]) for name in measured.ARRAYS}
    settings = {string(name): whole(value) for name, value in document["settings"].items()}
    return measured.from_parts(arrays, settings)


def check_nothing_else(document: Dict[str, Any], release: Release) -> None:
    """A release says what its fields say, and carries nothing besides."""
    parts = (
        (document, (*FIELDS, *axes_fields(release), *scope_fields(release))),
        (document["grid"], GRID_FIELDS),
        (document["measurements"], release.measured.ARRAYS),
    )
    if any(set(part) != set(names) for part, names in parts):
        raise BadInputError("The release has parts that no publisher writes; do not rely on it.")
    if any(document[name] != value for name, value in scope_fields(release).items()):
        raise BadInputError(
            "The release writes in another way than publishers do; ask for it again."
        )
    if any(document[name] != value for name, value in axes_fields(release).items()):
        raise BadInputError("The release's shares are not those of its views; do not rely on it.")
    if document["version"] != release.version:
        raise BadInputError("The release's version is not that of its kind; do not rely on it.")
    if not is_statement_of(dict(document["statement"]), release):
        raise BadInputError(
            "The release's statement is not what its fields say; do not rely on it."
        )
