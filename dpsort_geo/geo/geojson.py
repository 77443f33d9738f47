"""GeoJSON text (RFC 7946), piece by piece, with the privacy statement before the features."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..core.errors import BadInputError
from .statement import STATEMENT

Array = np.ndarray


_FEATURE = b'{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":['
_NUMBER = b"-000.0000000"
_ROW = np.frombuffer(_FEATURE + _NUMBER + b"," + _NUMBER + b"]}},\n", np.uint8)
#: first byte of longitude and of latitude in a row
_LON, _LAT = len(_FEATURE), len(_FEATURE) + len(_NUMBER) + 1
#: rows formatted at a time: their bytes stay in the cache
CHUNK = 1 << 13
#: decimals of a degree: about a centimetre
_DECIMALS = 10**7

#: the four digits of every number below 10,000, as text
_DIGITS = (np.arange(10_000)[:, None] // [1000, 100, 10, 1] % 10 + ord("0")).astype(np.uint8)
#: which of them stay when zeros at the end are cut off
_KEPT = np.logical_or.accumulate(_DIGITS[:, ::-1] != ord("0"), axis=1)[:, ::-1]


def collection(features: Iterable[bytes], statement: dict[str, Any]) -> Iterator[bytes]:
    """The text of a whole file around the text of its features.

    >>> text = b"".join(collection([b""], {"epsilon": "1"}))
    >>> json.loads(text)["features"]
    []
    """
    words = json.dumps(statement, ensure_ascii=False)
    yield f'{{"type":"FeatureCollection","{STATEMENT}":{words},"features":[\n'.encode()
    yield from features
    yield b"\n]}\n"


def point_features(chunks: Iterable[tuple[Array, Array]]) -> Iterator[bytes]:
    """Points as features without properties; chunks of longitudes and latitudes, none empty.

    >>> b"".join(point_features([(np.array([1.0]), np.array([2.5]))]))[-21:]
    b'oordinates":[1,2.5]}}'
    """
    before = b""  # the last row has no comma, and only the end tells which one that is
    text, keep = _blank_rows(0)
    for lon, lat in chunks:
        # written so that what is not a number is refused, too
        if not (np.all(np.abs(lon) <= 360) and np.all(np.abs(lat) <= 90 + 1e-9)):
            raise BadInputError("GeoJSON takes longitudes and latitudes in degrees.")
        yield before
        if lon.size > len(text):
            text, keep = _blank_rows(lon.size)
        here = slice(lon.size)
        _format(lon, lat, text[here], keep[here])
        before = text[here][keep[here]].tobytes()
    yield before[:-2]


def row_lengths(lon: Array, lat: Array) -> Array:
    """Bytes of each feature, with the two characters between one and the next.

    >>> row_lengths(np.array([1.0, -73.95]), np.array([2.5, 40.7])).tolist()
    [86, 92]
    """
    text, keep = _blank_rows(lon.size)
    _format(lon, lat, text, keep)
    return keep.sum(axis=1)


def _blank_rows(rows: int) -> "tuple[Array, Array]":
    """The characters of so many features, and which of them are needed."""
    text = np.tile(_ROW, (rows, 1))
    return text, np.ones(text.shape, bool)


def _format(lon: Array, lat: Array, text: Array, keep: Array) -> None:
    """Write numbers into rows that may have held others."""
    _format_numbers(lon, text[:, _LON:], keep[:, _LON:])
    _format_numbers(lat, text[:, _LAT:], keep[:, _LAT:])


def _format_numbers(value: Array, text: Array, keep: Array) -> None:
    """Write numbers over the digits of ``_NUMBER``, and mark which characters are needed."""
    scaled = np.rint(value * _DECIMALS).astype(np.int64)
    size = np.abs(scaled).astype(np.uint32)
    whole = size // np.uint32(_DECIMALS)
    fraction = size - whole * np.uint32(_DECIMALS)
    high = fraction // np.uint32(10_000)
    low = fraction - high * np.uint32(10_000)
    text[:, 1:4] = _DIGITS[whole][:, 1:]
    text[:, 5:8] = _DIGITS[high][:, 1:]
    text[:, 8:12] = _DIGITS[low]
    keep[:, 0] = scaled < 0
    keep[:, 1] = whole >= 100
    keep[:, 2] = whole >= 10
    keep[:, 4] = fraction > 0
    keep[:, 5:8] = _KEPT[high][:, 1:] | (low > 0)[:, None]
    keep[:, 8:12] = _KEPT[low]
