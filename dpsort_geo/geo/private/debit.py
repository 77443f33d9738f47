"""Which data set a release is debited to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import (
    Any,
    List,
    Optional,
    Tuple,
)
from urllib.parse import urlsplit

from ...core.errors import AnotherNameError, BadInputError
from ...core.private.ledger import Ledger
from ...core.private.ledger_file import default_path, table_mark
from ..database import PostGIS, is_url
from .files import expand


def open_ledger(
    ledger: Any,
    dataset: Optional[str],
    points: Any,
    source: Optional[List[str]],
    another_name: bool,
) -> Tuple[Optional[Ledger], str]:
    """The ledger to debit, if any, and the name of the data set in it."""
    if ledger is None or ledger is False:
        return None, ""
    if dataset is None and isinstance(points, PostGIS):
        dataset = points.table
    if dataset is None:
        if is_url(points) or not isinstance(points, (str, os.PathLike)):
            raise BadInputError(
                "The ledger needs to know which data set this is: give dataset='name'."
            )
        dataset = Path(points).name.split(".")[0]
        if not dataset or set(dataset) & set("*?["):
            raise BadInputError("Many files need a name in the ledger: give dataset='name'.")
    if ledger is True:
        ledger = default_path()
    book = ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))
    if source is not None and not another_name:
        _refuse_another_name(book.other_names(source, dataset), dataset)
    return book, dataset


def source_of(points: Any, layer: Optional[str]) -> Optional[List[str]]:
    """The private files, or the table, that points are read from, by which they are known again."""
    if isinstance(points, PostGIS) and points.table is not None:
        url = urlsplit(points.url)
        schema, _, table = points.table.rpartition(".")
        port = "" if url.port is None else str(url.port)
        return [table_mark(url.hostname or "", port, url.path.strip("/"), schema, table)]
    if not isinstance(points, (str, os.PathLike)) or is_url(points):
        return None
    found = expand(points)
    return found if layer is None else [f"{path}|layername={layer}" for path in found]


def _refuse_another_name(names: List[str], dataset: str) -> None:
    """Refuse points that the ledger knows under another name: their losses would not add up."""
    if names:
        raise AnotherNameError(
            f"The ledger knows these points, or a copy of them, as {names[0]!r}: publish with "
            f"dataset={names[0]!r}, so that the losses add up, or with another_name=True if "
            f"{dataset!r} is other data."
        )
