"""Publish sensitive point locations under differential privacy.

This page is the table of contents. The names of the geopandas face are loaded on first use, so
that ``import dpsort_geo`` imports no geopandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .core import __version__
from .core.errors import (
    AnotherNameError,
    BadInput,
    BadInputError,
    BudgetSpent,
    BudgetSpentError,
    MissingPackageError,
    NotVerified,
    NotVerifiedError,
    PrivacyWarning,
)

if TYPE_CHECKING:
    from .core.planning import Plan
    from .core.private.cells import Cells
    from .core.private.ledger import Ledger
    from .core.rules.time_axis import TimeAxis
    from .geo.database import PostGIS
    from .geo.domain import Domain
    from .geo.private.check import check
    from .geo.private.count import count_cells
    from .geo.private.plan import plan
    from .geo.private.publish import publish
    from .geo.release import Release, read_release
    from .geo.series import Series, read_series

# the same names again, for the moment when they are used
_LAZY = {
    "Cells": ".core.private.cells",
    "Domain": ".geo.domain",
    "Ledger": ".core.private.ledger",
    "Plan": ".core.planning",
    "PostGIS": ".geo.database",
    "Release": ".geo.release",
    "check": ".geo.private.check",
    "count_cells": ".geo.private.count",
    "plan": ".geo.private.plan",
    "publish": ".geo.private.publish",
    "read_release": ".geo.release",
    "Series": ".geo.series",
    "read_series": ".geo.series",
    "TimeAxis": ".core.rules.time_axis",
}

__all__ = [
    "AnotherNameError",
    "BadInput",
    "BadInputError",
    "BudgetSpent",
    "BudgetSpentError",
    "Cells",
    "Domain",
    "Ledger",
    "MissingPackageError",
    "NotVerified",
    "NotVerifiedError",
    "Plan",
    "PostGIS",
    "PrivacyWarning",
    "Release",
    "Series",
    "TimeAxis",
    "__version__",
    "check",
    "count_cells",
    "plan",
    "publish",
    "read_release",
    "read_series",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
