"""PNG pictures from arrays, with the standard library's zlib and numpy alone."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

Array = np.ndarray


def encode(picture: Array) -> bytes:
    """PNG file of an (height, width, 3 or 4) array of bytes; row 0 is the top.

    >>> encode(np.zeros((2, 2, 4), np.uint8))[:4]
    b'\\x89PNG'
    """
    picture = np.ascontiguousarray(picture, np.uint8)
    height, width, channels = picture.shape
    colour_type = {3: 2, 4: 6}[channels]
    # filter "up" stores the difference to the row above, which packs smooth maps far better
    rows = picture.reshape(height, width * channels)
    filtered = np.empty((height, width * channels + 1), np.uint8)
    filtered[:, 0] = 2
    filtered[0, 1:] = rows[0]
    filtered[1:, 1:] = rows[1:] - rows[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def data_uri(picture: Array) -> str:
    """The picture as an address that holds the whole file, for a page without a network."""
    return "data:image/png;base64," + base64.b64encode(encode(picture)).decode("ascii")


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
