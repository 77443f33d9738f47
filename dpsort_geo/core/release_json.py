"""The file of a release: JSON with its integers packed into text, and a digest.

Everything is read with care: a file may be broken, or made to do harm.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import zlib
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from .atomic import PathLike
from .errors import BadInputError
from .reference import checked_crs

Array = np.ndarray

FORMAT = "dpsort-geo release"
#: version 3 says more about whose points, when and where they are; version 2 has axes; all others
#: are of version 1, as they always were
VERSIONS = (1, 2, 3)
#: The largest file that a reader accepts. The largest that publishers make have a million sums
#: (`rules.sort.MOST_GROUPS`), each a number of up to 25 digits in a line of its own: 30 MB. Half a
#: million counts (`rules.adaptive.MOST_NODES`) are below 22 MB, and the mask of a wild coast with
#: all the runs that a reader accepts (MOST_VALUES) is about 16 MB.
MOST_BYTES = 64 << 20
#: How often these characters may come. A publisher writes ten objects, and a list only for numbers
#: beyond 64 bits; brackets, commas and quotes are in the text of a CRS too. Objects take a hundred
#: times the room of their text, so they are counted before any is made.
_MOST_OF = {"{": 64, "[": 4096, ",": 1 << 21, "\\": 1 << 15}
#: the longest array that a reader accepts
MOST_VALUES = 1 << 24
#: no publisher makes a longer number; as a float it is finite
MOST_BITS = 256


def broken() -> BadInputError:
    return BadInputError("This is not a complete dpsort-geo release; ask for the file again.")


def pack(values: Array) -> Any:
    """Integers as text: int64 bytes, like with like, compressed; what exceeds int64 as a list.

    >>> unpack(pack(np.array([3, 1, 2])))
    array([3, 1, 2])
    """
    if values.dtype == object:
        return [int(value) for value in values]
    columns = values.astype("<i8").view(np.uint8).reshape(-1, 8).T
    data = base64.b64encode(zlib.compress(columns.tobytes(), 6)).decode("ascii")
    return {"count": int(values.size), "int64": data}


def unpack(given: Any) -> Array:
    """The integers again; never more of them than the text says."""
    if isinstance(given, list):
        return np.array([whole(value) for value in given], object)
    if set(given) != {"count", "int64"}:
        raise broken()
    count = whole(given["count"])
    if not 0 <= count <= MOST_VALUES:
        raise BadInputError(
            "The release claims more values than any publisher makes; it was not read."
        )
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


def crs_text(value: Any) -> Optional[str]:
    return None if value is None else checked_crs(string(value))


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def read_text(path: PathLike) -> str:
    """The text of a release file; a file that is too large is not read at all."""
    try:
        if os.stat(path).st_size > MOST_BYTES:
            raise _too_large()
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInputError("This file is not a dpsort-geo release.") from None
    except OSError as error:
        raise BadInputError(f"{os.fspath(path)} cannot be read: {error.strerror}.") from None


def write(document: Dict[str, Any]) -> str:
    """The text of a release file, with the digest of its members at the end."""
    return json.dumps({**document, "digest": digest(document)}, indent=1, allow_nan=False) + "\n"


def _too_large() -> BadInputError:
    return BadInputError(
        "The release is larger than 64 MB, which no publisher makes; it was not read."
    )


def parse(text: str) -> Dict[str, Any]:
    """The members of a release file, its digest checked and taken off."""
    if len(text) > MOST_BYTES:
        raise _too_large()
    if any(text.count(sign) > most for sign, most in _MOST_OF.items()):
        raise BadInputError(
            "The release has more parts than any publisher writes; it was not read."
        )
    try:
        document = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise BadInputError("The release is not valid JSON; it may have been cut short.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInputError("This file is not a dpsort-geo release.")
    version = document.get("version")
    if isinstance(version, bool) or version not in VERSIONS:
        raise BadInputError(
            "This release has a version that this software does not know (it knows 1 to 3); "
            "update dpsort-geo."
        )
    claimed = document.pop("digest", None)
    if claimed is None:
        raise broken()
    try:
        found = digest(document)
    except RecursionError:
        raise broken() from None
    if claimed != found:
        raise BadInputError("The release was changed after it was made; ask for the file again.")
    return document


def _each_once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """A JSON object; of a name that comes twice only one value would be looked at."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def digest(document: Dict[str, Any]) -> str:
    """Shows accidents and careless edits; whoever can recompute it could also make a new file."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
