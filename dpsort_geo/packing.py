"""What a release is made of, as JSON holds it: integers packed into text, and plain values.

Everything is read with care: a file may be broken, or made to do harm.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any, Optional

import numpy as np

from .errors import BadInput

Array = np.ndarray

#: the longest array that a reader accepts
MOST_VALUES = 1 << 24
#: no publisher makes a longer number; as a float it is finite
MOST_BITS = 256


def broken() -> BadInput:
    return BadInput("This is not a complete dpsort-geo release; ask for the file again.")


def packed(values: Array) -> Any:
    """Integers as text: int64 bytes, like with like, compressed; what exceeds int64 as a list.

    >>> unpacked(packed(np.array([3, 1, 2])))
    array([3, 1, 2])
    """
    if values.dtype == object:
        return [int(value) for value in values]
    columns = values.astype("<i8").view(np.uint8).reshape(-1, 8).T
    data = base64.b64encode(zlib.compress(columns.tobytes(), 6)).decode("ascii")
    return {"count": int(values.size), "int64": data}


def unpacked(given: Any) -> Array:
    """The integers again; never more of them than the text says."""
    if isinstance(given, list):
        return np.array([whole(value) for value in given], object)
    if set(given) != {"count", "int64"}:
        raise broken()
    count = whole(given["count"])
    if not 0 <= count <= MOST_VALUES:
        raise BadInput("The release claims more values than any publisher makes; it was not read.")
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(base64.b64decode(given["int64"], validate=True), 8 * count + 1)
    except (zlib.error, binascii.Error):
        raise broken() from None
    if len(raw) != 8 * count or not inflate.eof or inflate.unused_data:
        raise broken()
    columns = np.frombuffer(raw, np.uint8).reshape(8, -1)
    return np.ascontiguousarray(columns.T).view("<i8").reshape(-1).astype(np.int64)


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >> MOST_BITS:
        raise TypeError
    return value


def number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)


def string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half of a character has no place in a file
    return value


def optional_string(value: Any) -> Optional[str]:
    return None if value is None else string(value)


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value
