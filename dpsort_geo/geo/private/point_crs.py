"""Which columns hold points, and in which CRS they are: what they say, or what is said of them."""

from __future__ import annotations

import json
from typing import Any

from pyproj import CRS

from ...core.errors import BadInputError
from ..crs import read_crs

NO_CRS = (
    "The points have no CRS: say in which one they are, with points_crs='EPSG:4326' or the like, "
    "or, for a frame, with set_crs()."
)


#: pairs of column names that mean coordinates, in lower case, and whether they are degrees
PAIRS = {
    ("lon", "lat"): True,
    ("lng", "lat"): True,
    ("long", "lat"): True,
    ("longitude", "latitude"): True,
    ("x", "y"): False,
    ("easting", "northing"): False,
}


#: two names for longitude and latitude on WGS 84, once x comes first
_LON_LAT = {"OGC:CRS84", "EPSG:4326"}


def has_pair(names: Any) -> bool:
    """Whether two columns are named as coordinates.

    >>> has_pair(["X", "y"]), has_pair(["x", "lat"])
    (True, False)
    """
    return bool(_pairs(names))


def _pairs(names: Any) -> list[tuple[str, str]]:
    lower = {str(name).strip().lower(): name for name in reversed(list(names))}
    return [(lower[a], lower[b]) for a, b in PAIRS if a in lower and b in lower]


def pair(names: Any) -> tuple[str, str]:
    """The two columns of a table that hold coordinates, found by their names.

    >>> pair(["id", "Longitude", "Latitude"])
    ('Longitude', 'Latitude')
    """
    found = _pairs(names)
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadInputError(
            "No coordinates were found: expected point geometries or columns named lon and lat "
            "or x and y; name the columns with columns=(x, y)."
        )
    raise BadInputError(
        "More than one pair of columns could be the coordinates; "
        "say which with columns=(x, y), for example columns=('lon', 'lat')."
    )


def geojson_crs(document: Any) -> CRS:
    """CRS of parsed GeoJSON: longitude and latitude (RFC 7946), or what an old file names.

    >>> geojson_crs({"type": "Point", "coordinates": [1, 2]}).name
    'WGS 84 (CRS84)'
    """
    named = document.get("crs")
    if named is None:
        return CRS("OGC:CRS84")
    try:
        return read_crs(named["properties"]["name"])
    except (BadInputError, KeyError, TypeError):
        pass
    # without the name, and not raised above: it is text of a private file
    raise BadInputError("The GeoJSON names a CRS that is not known; write it in degrees.")


def pair_crs(x: str, y: str) -> CRS | None:
    """WGS 84 for columns that are named as degrees; unknown for any others.

    >>> pair_crs("lon", "lat").to_epsg(), pair_crs("x", "y")
    (4326, None)
    """
    degrees = PAIRS.get((x.strip().lower(), y.strip().lower()), False)
    return CRS.from_epsg(4326) if degrees else None


def parse_crs(value: Any) -> CRS | None:
    """A CRS from whatever a file holds: PROJJSON, text, or nothing.

    >>> parse_crs("EPSG:27700").to_epsg()
    27700
    """
    if value is None or value == "":
        return None
    if isinstance(value, dict):
        value = json.dumps(value)
    try:
        return read_crs(value)
    except BadInputError:
        pass
    # without quoting it, and not raised above: it is text of a private file
    raise BadInputError(
        "The points are in a CRS that cannot be used here; write the file again "
        "with a CRS that has a code, such as EPSG:4326."
    )


def settle_crs(declared: CRS | None, given: Any, guessed: bool = False) -> CRS | None:
    """The CRS of points: what they say themselves, or what the caller says of those that do not.

    ``guessed`` is one that only the names of columns suggest.

    >>> settle_crs(None, "EPSG:27700").to_epsg()
    27700
    """
    if given is None:
        return declared
    crs = read_crs(given)
    if declared is None or guessed or same_crs(declared, crs):
        return crs
    raise BadInputError(
        "The points say themselves in which CRS they are, and it is not that of points_crs=; "
        "leave points_crs= out, or write the file again with the right one."
    )


def same_crs(a: CRS | None, b: CRS | None) -> bool:
    """Whether coordinates in both, x first, mean the same.

    >>> same_crs(CRS("OGC:CRS84"), CRS("EPSG:4326")), same_crs(None, CRS("EPSG:4326"))
    (True, False)
    """
    if a is None or b is None:
        return a is b
    return a.equals(b, ignore_axis_order=True) or {_code(a), _code(b)} <= _LON_LAT


def _code(crs: CRS) -> str | None:
    authority = crs.to_authority()
    return ":".join(authority) if authority else None
