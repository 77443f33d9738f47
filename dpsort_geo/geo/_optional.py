"""Libraries that not everybody needs, asked for in one place and with one message."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.errors import MissingPackageError

_EXTRA = {
    "pyarrow": "parquet",
    "dask": "dask",
    "distributed": "dask",
    "rasterio": "raster",
    "matplotlib": "plot",
    "h3": "h3",
    "pmtiles": "tiles",
    "adbc_driver_postgresql": "postgis",
    "pyspark": "spark",
}


def need(module: str, purpose: str) -> Any:
    """Import an optional module, or say which extra of dpsort-geo brings it.

    >>> need("json", "This example").__name__
    'json'
    """
    if have(module):
        return import_module(module)
    package = module.partition(".")[0]
    extra = _EXTRA.get(package, "all")
    sentence = f"{purpose} needs {package}: pip install 'dpsort-geo[{extra}]'"
    raise MissingPackageError(sentence, name=package)


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
