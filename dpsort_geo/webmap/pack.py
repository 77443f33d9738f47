"""Arrays as short text inside a page: deflated, in base64; the browser unpacks them itself."""

from __future__ import annotations

import base64
import zlib
from typing import Any, Dict, List

import numpy as np

Array = np.ndarray
Packed = Dict[str, str]

#: of the logarithm: numbers are told to a fifteen-hundredth
_STEPS = 1500
#: the least number that is told from 0
_LEAST = -20.0


def pack(values: Any, kind: str = "u8") -> Packed:
    """Whole numbers of 8 or 16 bits ("u8", "u16"), or floats ("f32").

    The bytes of a wide number are kept apart: upper ones repeat, so they take little room.

    >>> sorted(pack(np.zeros(9), "u16"))
    ['t', 'z']
    """
    flat = np.asarray(values).reshape(-1)
    if kind == "f32":
        raw = flat.astype("<f4").tobytes()
    else:
        width = {"u8": 1, "u16": 2}[kind]
        whole = np.clip(np.rint(flat), 0, 256**width - 1).astype(f"<u{width}")
        raw = whole.view(np.uint8).reshape(-1, width).T.tobytes()
    return {"t": kind, "z": base64.b64encode(zlib.compress(raw, 9)).decode("ascii")}


def pack_amounts(values: Any) -> Packed:
    """Amounts of any size, to a fifteen-hundredth; NaN becomes 65535.

    >>> unpack(pack_amounts([0.0, 1.0])).tolist()
    [0.0, 30001.0]
    """
    amount = np.asarray(values, np.float64).reshape(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        coded = 1 + (np.log(amount) - _LEAST) * _STEPS
    coded = np.where(amount > 0, np.clip(coded, 1, 65534), 0)
    return {**pack(np.where(np.isnan(amount), 65535, coded), "u16"), "t": "amount"}


def unpack(packed: Packed) -> Array:
    """What was packed, as floats; amounts as their codes.

    >>> unpack(pack([1, 2, 300], "u16"))
    array([  1.,   2., 300.])
    """
    raw = zlib.decompress(base64.b64decode(packed["z"]))
    if packed["t"] == "f32":
        return np.frombuffer(raw, "<f4").astype(np.float64)
    width = 1 if packed["t"] == "u8" else 2
    planes = np.frombuffer(raw, np.uint8).reshape(width, -1).astype(np.float64)
    return np.asarray((planes.T * 256.0 ** np.arange(width)).sum(axis=1))


def pack_rings(rings: List[Array], window: "tuple[float, float, float, float]") -> Dict[str, Any]:
    """Rings or lines of places on a map sheet, to a 65,535th of the window."""
    left, top, right, bottom = window
    every = np.concatenate(rings) if rings else np.zeros((0, 2))
    u = (every[:, 0] - left) / (right - left) * 65535
    v = (every[:, 1] - top) / (bottom - top) * 65535
    return {
        "window": list(window),
        "sizes": pack([len(ring) for ring in rings], "u16"),
        "u": pack(u, "u16"),
        "v": pack(v, "u16"),
    }
