"""Mapbox vector tiles (version 2), encoded: points, and polygons with a few properties.

A tile is a protocol buffer. Numbers are varints, seven bits a byte; coordinates are differences
from the one before, the sign in the last bit. All of a zoom level is encoded together.
"""

from __future__ import annotations

import struct
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

Array = np.ndarray

#: units along the side of a tile
EXTENT = 4096
_MOVE, _LINE, _CLOSE = 1, 2, 7
_POINT, _POLYGON = 1, 3


def varints(values: Array) -> Tuple[bytes, Array]:
    """Whole numbers one after the other, and how many bytes each takes.

    >>> varints(np.array([1, 300]))[0]
    b'\\x01\\xac\\x02'
    """
    rest = np.asarray(values).astype(np.uint64)
    size = np.ones(rest.size, np.int64)
    for bits in range(7, 64, 7):
        more = rest >= np.uint64(1) << np.uint64(bits)
        if not more.any():
            break
        size += more
    first = np.cumsum(size) - size
    out = np.empty(int(size.sum()), np.uint8)
    for byte in range(int(size.max(initial=0))):
        own = size > byte
        low = (rest[own] >> np.uint64(7 * byte)) & np.uint64(127)
        out[first[own] + byte] = low | np.where(size[own] > byte + 1, 128, 0).astype(np.uint64)
    return out.tobytes(), size


def zigzag(values: Array) -> Array:
    """Signed numbers as unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3."""
    whole = np.asarray(values, np.int64)
    return (whole << 1) ^ (whole >> 63)


def point_tile(name: str, at: Array) -> bytes:
    """A tile whose points, in rows of x and y, are one feature without properties."""
    moves = np.diff(at, axis=0, prepend=np.zeros((1, 2), np.int64))
    commands = np.concatenate([[len(at) << 3 | _MOVE], zigzag(moves).reshape(-1)])
    return _tile(name, [_feature(b"", _POINT, varints(commands)[0])], [], [])


def encode_rings(corners: Array, sizes: Array) -> List[bytes]:
    """Geometries of polygons of one ring each, given by their corners one after the other.

    Outlines go clockwise on the screen, as the standard asks.
    """
    last = np.cumsum(sizes)
    first = last - sizes
    owner = np.repeat(np.arange(sizes.size), sizes)
    following = np.arange(owner.size) + 1
    following[last - 1] = first
    x, y = corners.T
    area = np.bincount(owner, x * y[following] - x[following] * y, sizes.size)
    place = np.arange(owner.size) - first[owner]
    turned = np.where(area[owner] < 0, sizes[owner] - 1 - place, place) + first[owner]
    corners = corners[turned]
    moves = np.diff(corners, axis=0, prepend=np.zeros((1, 2), np.int64))
    moves[first] = corners[first]
    # move, its two numbers, line, two numbers a corner, close
    start = first * 2 + 3 * np.arange(sizes.size)
    words = np.empty(2 * owner.size + 3 * sizes.size, np.int64)
    words[start] = 1 << 3 | _MOVE
    words[start + 3] = (sizes - 1) << 3 | _LINE
    words[start + 2 * sizes + 2] = 1 << 3 | _CLOSE
    at = start[owner] + 1 + 2 * place + (place > 0)
    words[at], words[at + 1] = zigzag(moves).T
    text, size = varints(words)
    stop = np.cumsum(size)[start + 2 * sizes + 2].tolist()
    return [text[a:b] for a, b in zip([0, *stop], stop)]


def polygon_tile(name: str, geometries: Sequence[bytes], columns: Dict[str, List[Any]]) -> bytes:
    """A tile of polygons that `encode_rings` made, with their properties."""
    values: Dict[Any, int] = {}
    tags = [
        [values.setdefault((type(own), own), len(values)) for own in column]
        for column in columns.values()
    ]
    features = [
        _feature(
            b"".join(_short(key) + _short(own) for key, own in enumerate(own_tags)),
            _POLYGON,
            geometry,
        )
        for geometry, own_tags in zip(geometries, zip(*tags))
    ]
    return _tile(name, features, list(columns), [value for _, value in values])


def _tile(name: str, features: List[bytes], keys: List[str], values: List[Any]) -> bytes:
    layer = [b"\x78\x02", _part(1, name.encode())]
    layer += [_part(2, feature) for feature in features]
    layer += [_part(3, key.encode()) for key in keys]
    layer += [_part(4, _value(value)) for value in values]
    layer.append(b"\x28" + _short(EXTENT))
    return _part(3, b"".join(layer))


def _feature(tags: bytes, kind: int, geometry: bytes) -> bytes:
    start = _part(2, tags) if tags else b""
    return start + bytes([0x18, kind]) + _part(4, geometry)


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"\x38" + bytes([value])
    if isinstance(value, str):
        return _part(1, value.encode())
    return b"\x19" + struct.pack("<d", float(value))


def _part(field: int, content: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _short(len(content)) + content


def _short(value: int) -> bytes:
    """One varint."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
