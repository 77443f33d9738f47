"""Coordinate reference systems: reading them and naming them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pyproj
import pyproj.network

from ..core.errors import BadInputError
from ..core.reference import is_plain


def stay_offline() -> None:
    """Keep PROJ from the network in this thread, and in those that begin later.

    With PROJ_NETWORK=ON it would ask a server for the parts of a datum grid around the points,
    and keep them in a cache: both tell where the points are. Not put back afterwards, as another
    thread may be at work; who wants the network for other work turns it on again.
    """
    pyproj.network.set_network_enabled(False)


def read_crs(crs: Any) -> pyproj.CRS:
    if crs is None:
        raise BadInputError(
            "The CRS is missing: say in which one the coordinates are, for example crs='EPSG:4326'."
        )
    if isinstance(crs, dict):
        crs = json.dumps(crs)
    return _parsed_crs(crs)


@lru_cache(maxsize=64)
def _parsed_crs(crs: Any) -> pyproj.CRS:
    try:
        parsed = pyproj.CRS.from_user_input(crs)
    except (pyproj.exceptions.CRSError, RecursionError):
        raise BadInputError(
            f"{str(crs)[:60]!r} is not a CRS that PROJ knows; give a code such as 'EPSG:4326'."
        ) from None
    if parsed.is_compound:
        parsed = parsed.sub_crs_list[0]
    if parsed.is_vertical:
        raise BadInputError("A vertical CRS has no map; give coordinates in degrees or projected.")
    if parsed.is_geocentric:
        raise BadInputError(
            "A geocentric CRS has no map; give coordinates in degrees or projected."
        )
    return parsed.to_2d() if len(parsed.axis_info) == 3 else parsed


def crs_name(crs: pyproj.CRS) -> str:
    """Short name of a CRS for people: its code, or its name when it has none."""
    authority = crs.to_authority()
    return ":".join(authority) if authority else crs.name


def crs_text(crs: pyproj.CRS) -> str:
    """Text from which the same CRS can be read anywhere: its code, or what `reference` allows.

    >>> crs_text(pyproj.CRS(27700))
    'EPSG:27700'
    """
    for text in (":".join(crs.to_authority() or ()), crs.srs, crs.to_wkt()):
        if is_plain(text):
            return text
    raise BadInputError(
        "This CRS cannot be written into a release, because it brings a datum shift or a file of "
        "its own; give one that has a code, such as 'EPSG:4326'."
    )
