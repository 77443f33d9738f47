"""A base map from the network, for those who ask for one."""

from __future__ import annotations

import re
from typing import Any, Dict

from ..core.errors import BadInputError

#: scheme, whether the server has several names, host; then what stands in an address as it is
_TILES = re.compile(
    r"(https?://)(\{s\}\.)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*(?::[0-9]{1,5})?)"
    r"/(?:[A-Za-z0-9._~%!$&()*+,;=:@/?-]|\{[szxyr]\})*"
)


def tile_layer(tiles: Any) -> Dict[str, Any]:
    """An address with {z}, {x}, {y}, or True for OpenStreetMap.

    >>> tile_layer(True)["attribution"]
    '© OpenStreetMap contributors'
    """
    if tiles is True:
        tiles = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"
    if not isinstance(tiles, str) or not all(part in tiles for part in ("{z}", "{x}", "{y}")):
        raise BadInputError("Tiles are an address with {z}, {x} and {y} in it, or True.")
    host = tile_host(tiles)
    credit = "© OpenStreetMap contributors" if host.endswith("openstreetmap.org") else ""
    return {"url": tiles, "attribution": credit}


def tile_host(address: str) -> str:
    """The host that a page with these tiles must be allowed to ask.

    >>> tile_host("https://{s}.tiles.example/{z}/{x}/{y}.png")
    'https://*.tiles.example'
    """
    found = _TILES.fullmatch(address)
    if found is None:
        raise BadInputError(
            "The address of the tiles must be like https://tiles.example/{z}/{x}/{y}.png: a host, "
            "then characters that need no quotes, and no braces but {s}, {z}, {x}, {y} and {r}."
        )
    return f"{found[1]}{'*.' if found[2] else ''}{found[3]}"
