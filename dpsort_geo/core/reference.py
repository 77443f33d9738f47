"""Texts that name a coordinate reference system, told apart before PROJ sees them.

PROJ reads far more than names. A text may say which file holds a datum's grid, and PROJ opens it:
a file, a pipe that never ends or, with its network on, any address. A release comes from anybody,
so in it stand only codes of an authority, the equal-area projections that we make ourselves, and
well-known text made of known words; publishers write nothing else.
"""

from __future__ import annotations

import re

from .errors import BadInputError

#: longer than the well-known text of any CRS
_MOST_TEXT = 20_000
_CODE = re.compile(r"(EPSG|ESRI|IAU_[0-9]{4}|IGNF|NKG|NRCAN|OGC|PROJ):[A-Za-z0-9_.]{1,40}")

_NUMBER = r"-?[0-9]{1,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?"
_WORD = r"[A-Za-z][A-Za-z0-9_-]{0,30}"
#: what each part of an equal-area projection may be: numbers, and names without a path
_PARTS = {
    **dict.fromkeys(("lat_0", "lon_0", "lat_ts", "x_0", "y_0", "a", "b", "rf", "R"), _NUMBER),
    **dict.fromkeys(("datum", "ellps", "units"), _WORD),
    "proj": "laea|cea",
    "pm": f"{_WORD}|{_NUMBER}",
    "towgs84": f"{_NUMBER}(,{_NUMBER}){{2,6}}",
    "type": "crs",
}
_FLAGS = ("no_defs",)

_SYSTEMS = (
    "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS", "PROJCRS", "PROJECTEDCRS", "ENGCRS",
    "ENGINEERINGCRS", "GEOGCS", "PROJCS", "LOCAL_CS",
)  # fmt: skip
#: every word that a plain CRS needs: no BOUNDCRS, PARAMETERFILE, EXTENSION, MODEL, VELOCITYGRID
_KEYWORDS = frozenset((
    *_SYSTEMS,
    "BASEGEOGCRS", "BASEGEODCRS", "DATUM", "GEODETICDATUM", "TRF", "ENSEMBLE", "MEMBER",
    "ENSEMBLEACCURACY", "EDATUM", "ENGINEERINGDATUM", "LOCAL_DATUM", "DYNAMIC", "FRAMEEPOCH",
    "ANCHOR", "ANCHOREPOCH", "ELLIPSOID", "SPHEROID", "PRIMEM", "PRIMEMERIDIAN", "CONVERSION",
    "METHOD", "PROJECTION", "PARAMETER", "CS", "AXIS", "ORDER", "MERIDIAN", "AXISMINVALUE",
    "AXISMAXVALUE", "RANGEMEANING", "UNIT", "ANGLEUNIT", "LENGTHUNIT", "SCALEUNIT", "USAGE",
    "SCOPE", "AREA", "BBOX", "ID", "AUTHORITY", "CITATION", "REMARK",
))  # fmt: skip
# PROJ takes printed quotes for quotes too
_QUOTED = re.compile(r'"(?:[^"“”]|"")*"')
_BARE = re.compile(r"[A-Za-z0-9_\s\[\]().,:+-]*")
_OPENED = re.compile(r"([A-Za-z0-9_]*)\s*[\[(]")
#: PROJ's own methods carry PROJ's own text
_PROJ_METHOD = re.compile(r'(METHOD|PROJECTION)\s*[\[(]\s*"\s*(PROJ\b|[^"]*[=+@])', re.IGNORECASE)


def is_plain(text: str) -> bool:
    """Whether a text names a CRS and can do nothing else.

    >>> is_plain("EPSG:27700"), is_plain("+proj=laea +lat_0=52 +lon_0=10 +datum=WGS84 +units=m")
    (True, True)
    >>> is_plain("+proj=laea +lat_0=52 +nadgrids=/etc/passwd"), is_plain("/etc/passwd")
    (False, False)
    """
    if len(text) > _MOST_TEXT:
        return False
    if text.startswith("+"):
        return _is_equal_area(text)
    return bool(_CODE.fullmatch(text)) or _is_plain_wkt(text)


def checked_crs(text: str) -> str:
    """The text of a CRS in a release, or one sentence."""
    if not is_plain(text):
        raise BadInputError(
            "The release describes its CRS in a way that no publisher writes, with which a reader "
            "could be made to open files; it was not read."
        )
    return text


def _is_equal_area(text: str) -> bool:
    names = []
    for part in text.split(" "):
        name, equals, value = part[1:].partition("=")
        known = re.fullmatch(_PARTS.get(name, "(?!)"), value) if equals else name in _FLAGS
        if not part.startswith("+") or not known:
            return False
        names.append(name)
    return names[0] == "proj" and len(set(names)) == len(names)


def _is_plain_wkt(text: str) -> bool:
    bare = _QUOTED.sub("", text)
    if not _BARE.fullmatch(bare) or _PROJ_METHOD.search(text):
        return False
    words = [word.upper() for word in _OPENED.findall(bare)]
    return bool(words) and words[0] in _SYSTEMS and _KEYWORDS.issuperset(words)
