"""Points and persons of GeoJSON features, each from its own feature and nothing else.

GDAL gives a column one type for all of its rows: `true` and `1` are one person among numbers and
two as soon as somebody is called "bob", and ids that all look like dates lose their letters. So
whose point it is, is read here, from the text of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Optional

import numpy as np

from ...core.errors import BadInputError
from . import coordinates
from .beside import Beside
from .table import join_columns

Array = np.ndarray
_NOWHERE = (float("nan"), float("nan"))

#: what may stand between two values of JSON; a record separator where each line is a feature
_BETWEEN = re.compile(r"[ \t\r\n\x1e]*")


def points_of_features(
    features: Iterable[Any],
    person: tuple[str, ...] = (),
    columns: Optional[tuple[str, str]] = None,
    labels: tuple[str, ...] = (),
    gaps: bool = False,
) -> tuple[Array, Array, Any]:
    """Coordinates and persons of features, or geometries, of GeoJSON: one point each.

    >>> points_of_features([{"type": "Point", "coordinates": (1.0, 2.0)}])
    (array([1.]), array([2.]), None)
    """
    x, y, people = [], [], []
    beside: list[list[Any]] = [[] for _ in labels]
    understood = True
    try:
        for feature in features:
            geometry, properties = _parts(feature)
            place: Any = _NOWHERE
            if columns is not None:
                place = [_number(properties[c]) for c in columns]
            elif geometry is not None or not gaps:
                place = _place(geometry)
            x.append(float(place[0]))
            y.append(float(place[1]))
            people.append(tuple(properties.get(name) for name in person))
            for values, name in zip(beside, labels):
                values.append(properties.get(name))
    except BadInputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        understood = False
    if not understood:  # raised here: inside of the block it would remember what it was about
        raise BadInputError(coordinates.EMPTY)
    coords = coordinates.finite(np.array(x, float), np.array(y, float), gaps)
    if not person:
        return (*coords, Beside(None, tuple(beside)) if labels else None)
    for name, column in zip(person, zip(*people)):
        if not gaps and any(one is None for one in column):
            raise BadInputError(f"Every point must have a value in the person column {name!r}.")
    who = join_columns(list(zip(*people)) or [()] * len(person), gaps)
    return (*coords, Beside(who, tuple(beside)) if labels else who)


def _parts(feature: Any) -> tuple[Any, Mapping[str, Any]]:
    feature = getattr(feature, "__geo_interface__", feature)
    if isinstance(feature, Mapping) and feature.get("type") == "Feature":
        return feature.get("geometry"), feature.get("properties") or {}
    return feature, {}


def _place(geometry: Any) -> Any:
    geometry = getattr(geometry, "__geo_interface__", geometry)
    kind = geometry.get("type") if isinstance(geometry, Mapping) else None
    if kind == "Point":
        return geometry.get("coordinates")
    if geometry is None:
        raise BadInputError(coordinates.EMPTY)
    if kind in ("MultiPoint", "GeometryCollection"):
        raise BadInputError(coordinates.MULTIPOINT)
    raise BadInputError(coordinates.NOT_POINTS)


def _number(value: Any) -> float:
    if isinstance(value, (bool, str)):
        raise BadInputError("The coordinate columns must hold numbers.")
    return float(value)


def features_of_text(text: str) -> Iterator[Any]:
    """The features of a GeoJSON document, or of one document after the other, one at a time.

    >>> [f["id"] for f in features_of_text('{"features": [{"id": 1}, {"id": 2}], "name": "a"}')]
    [1, 2]
    >>> [f["id"] for f in features_of_text('{"id": 1}\\n{"id": 2}')]
    [1, 2]
    """
    read = json.JSONDecoder().raw_decode
    start = _skip_space(text, 0)
    at = _list_of_features(text, start, read)
    if at is None:
        at, end_of_all = start, ""
    else:
        end_of_all = "]"
    while text[at : at + 1] != end_of_all:
        value, at = read(text, at)
        yield value
        at = _skip_space(text, at)
        if end_of_all and text[at : at + 1] == ",":
            at = _skip_space(text, at + 1)


def _list_of_features(text: str, at: int, read: Callable[[str, int], Any]) -> Optional[int]:
    """Where the list of features begins; None if the document has none at its top."""
    at = _skip_space(text, _step_over(text, at, "{"))
    while text[at : at + 1] != "}":
        key, at = read(text, at)
        at = _skip_space(text, _step_over(text, _skip_space(text, at), ":"))
        if key == "features" and text[at : at + 1] == "[":
            return _skip_space(text, at + 1)
        _, at = read(text, at)
        at = _skip_space(text, at)
        if text[at : at + 1] == ",":
            at = _skip_space(text, at + 1)
    return None


def _step_over(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise ValueError("not a GeoJSON document")
    return at + 1


def _skip_space(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return at if found is None else found.end()
