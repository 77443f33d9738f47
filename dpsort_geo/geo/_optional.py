"""Libraries that not everybody needs, asked for in one place and with one message."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import BadInput

_EXTRA = {
    "pyarrow": "parquet",
    "dask": "dask",
    "distributed": "dask",
    "rasterio": "raster",
    "matplotlib": "plot",
}


def need(module: str, purpose: str) -> Any:
    """Import an optional module, or say which extra of dpsort-geo brings it.

    >>> need("json", "This example").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        extra = _EXTRA.get(package, "all")
        raise BadInput(f"{purpose} needs {package}: pip install 'dpsort-geo[{extra}]'") from None


def have(module: str) -> bool:
    """Whether an optional module can be imported.

    >>> have("json"), have("no_such_module")
    (True, False)
    """
    try:
        import_module(module)
    except ImportError:
        return False
    return True
