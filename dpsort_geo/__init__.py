"""Publish sensitive point locations under differential privacy.

This page is the table of contents. The names of the geopandas face are loaded on first use,
so that ``import dpsort_geo`` needs numpy alone (QGIS carries a copy of that part).
"""

from __future__ import annotations

from typing import Any

from .errors import BadInput, NotVerified

__version__ = "0.1.0"

_LAZY = {
    "Domain": ".geo.domain",
    "publish": ".geo.publish",
    "count_cells": ".geo.publish",
    "plan": ".geo.publish",
    "read_release": ".geo.release",
    "PrivacyWarning": ".geo.publish",
    "Ledger": ".publisher.ledger",
    "BudgetSpent": ".publisher.ledger",
}

__all__ = [
    "BadInput",
    "BudgetSpent",
    "Domain",
    "Ledger",
    "NotVerified",
    "PrivacyWarning",
    "__version__",
    "count_cells",
    "plan",
    "publish",
    "read_release",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
