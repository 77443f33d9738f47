"""Points in delimited text: CSV of any usual delimiter, encoding and decimal sign.

Coordinates are two columns of numbers, or one of well-known text. Persons and the columns of axes
are the text that stands there, whatever other rows look like. With pyarrow the text is read by
block, without it by pandas, which everybody has.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Optional

import numpy as np

from ...core.errors import BadInputError
from .._optional import have
from . import coordinates
from .beside import Beside
from .table import Layout, Reading, join_columns, named_layout, points_of, refuse_layer

Array = np.ndarray
Batch = tuple[Array, Array, Any]

#: bytes of a block, and rows of a chunk where pandas reads
_BLOCK = 1 << 22
_ROWS = 1 << 18
#: bytes in which the header is looked for
_HEAD = 1 << 16
_DELIMITERS = ",;\t|"
#: what Python makes of bytes that are not of the encoding
_UNDECODED = re.compile("[\udc80-\udcff]")
_NOT_UTF8 = (
    "The text in one of the columns {0} is not UTF-8: save the file anew as UTF-8 "
    "('CSV UTF-8' in a spreadsheet)."
)
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Bytes:
    """The bytes of a file, or those given, and how many of them have been read."""

    def __init__(self, path: str, text: Optional[bytes]) -> None:
        raw = io.BytesIO(text) if text is not None else open(path, "rb")  # noqa: SIM115
        self._raw = raw
        self.size = len(text) if text is not None else os.path.getsize(path)
        zipped = text is None and path.lower().endswith(".gz")
        self.file: Any = gzip.GzipFile(fileobj=raw) if zipped else raw
        self._ends: list[int] = []
        self._parsed = 0

    def __enter__(self) -> Bytes:
        return self

    def __exit__(self, *_: Any) -> None:
        self._raw.close()

    # a file as Arrow wants it, which reads up to 32 blocks ahead and gives one batch for each

    closed = False

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def close(self) -> None:
        """Nothing: who opened it closes it."""

    def read(self, size: int = -1) -> bytes:
        """The next block."""
        block: bytes = self.file.read(size)
        self._ends.append(self._raw.tell())
        return block

    def parsed(self) -> None:
        """One block more has become rows."""
        self._parsed += 1

    @property
    def share(self) -> float:
        """How much has become rows, of all."""
        if self._ends:
            return self._ends[min(self._parsed, len(self._ends)) - 1] / max(self.size, 1)
        return 1.0 if self._raw.closed else self._raw.tell() / max(self.size, 1)


def find_columns(
    path: str,
    text: Optional[bytes],
    columns: Optional[tuple[str, str]],
    person: tuple[str, ...],
    labels: tuple[str, ...],
    how: Reading,
) -> tuple[Layout, str, str]:
    """Where the points are, from the header alone; the delimiter; the encoding."""
    if how.decimal not in (".", ","):
        raise BadInputError("decimal= is '.' or ','.")
    refuse_layer(how)
    with Bytes(path, text) as source:
        head = source.file.read(_HEAD)
    encoding = _find_encoding(head)
    lines = head.decode(encoding, errors="replace").splitlines()
    first = lines[0] if lines else ""
    delimiter = max(_DELIMITERS, key=first.count)
    names = next(csv.reader([first], delimiter=delimiter), [])
    for name in (*(columns or ()), *person, *labels):
        if names.count(name) != 1:
            raise BadInputError(f"The input needs exactly one column named {name!r}.")
    found = replace(named_layout(names, columns, how), person=person, labels=labels)
    if found.geometry is not None:
        found = found.settled(_first_geometry(path, text, found, delimiter, encoding))
    return found, delimiter, encoding


def _find_encoding(head: bytes) -> str:
    """What a byte order mark says, or the letters of the header.

    Not what rows say: one of them would decide how all others are read.
    """
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    if head[1:2] == b"\0":
        return "utf-16-le"
    if head[:1] == b"\0":
        return "utf-16-be"
    try:
        b"".join(head.splitlines()[:1]).decode()
    except UnicodeDecodeError:
        return "cp1252"  # of Windows, which spreadsheets write there
    return "utf-8"


def _first_geometry(
    path: str, text: Optional[bytes], found: Layout, delimiter: str, encoding: str
) -> list[str]:
    with Bytes(path, text) as source:
        lines = io.TextIOWrapper(source.file, encoding=encoding, errors="replace", newline="")
        row = next(csv.DictReader(lines, delimiter=delimiter), {})
        lines.detach()
    return [str(row.get(found.geometry) or "")]


def read_rows(
    source: Bytes, chosen: Layout, delimiter: str, encoding: str, decimal: str
) -> Iterator[Batch]:
    """The points of all rows, by batch."""
    by_arrow = have("pyarrow") and not chosen.gaps
    read = _read_with_arrow if by_arrow else _read_with_pandas
    return read(source, chosen, delimiter, encoding, decimal)


def _read_with_arrow(
    source: Bytes, chosen: Layout, delimiter: str, encoding: str, decimal: str
) -> Iterator[Batch]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = {name: pa.string() for name in chosen.names}  # as it is written
    types.update(dict.fromkeys(chosen.xy or (), pa.float64()))
    # Arrow takes a UTF-8 mark away by itself, and is faster when it need not decode
    plain = "utf8" if encoding.startswith("utf-8") else encoding
    options = {
        "read_options": arrow_csv.ReadOptions(
            block_size=_BLOCK, use_threads=False, encoding=plain
        ),
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            include_columns=chosen.names, column_types=types, null_values=[""],
            strings_can_be_null=True, decimal_point=decimal,
        ),
    }  # fmt: skip
    try:
        with arrow_csv.open_csv(source, **options) as reader:
            for batch in reader:
                source.parsed()
                if batch.num_rows:
                    yield points_of(batch, chosen)
        return
    except UnicodeDecodeError:
        sentence = _encoding_words(chosen)
    except pa.ArrowInvalid as error:
        if "conversion error to double" in str(error):
            sentence = coordinates.NOT_NUMBERS.format(*(chosen.xy or ()))
        elif "UTF8" in str(error):
            sentence = _encoding_words(chosen)
        else:
            raise
    # raised here and not above: an exception remembers the one during which it was raised
    raise BadInputError(sentence)


def _encoding_words(chosen: Layout) -> str:
    return _NOT_UTF8.format(", ".join(map(repr, chosen.names)))


def _read_with_pandas(
    source: Bytes, chosen: Layout, delimiter: str, encoding: str, decimal: str
) -> Iterator[Batch]:
    import pandas as pd

    for rows in pd.read_csv(
        source.file, sep=delimiter, encoding=encoding, usecols=chosen.names, dtype=object,
        keep_default_na=False, na_filter=False, index_col=False, chunksize=_ROWS,
        encoding_errors="surrogateescape",  # other columns may hold whatever they like
    ):  # fmt: skip
        yield _points_of_text(rows, chosen, decimal)


def _points_of_text(rows: Any, chosen: Layout, decimal: str) -> Batch:
    """Coordinates and persons of rows of text, as `points_of` has them of Arrow."""
    texts = {name: [value or None for value in rows[name].tolist()] for name in chosen.names}
    for column in texts.values():
        if _UNDECODED.search("".join(filter(None, column))):
            raise BadInputError(_encoding_words(chosen))
    who: Any = None
    for name in chosen.person:
        if None in texts[name] and not chosen.gaps:
            raise BadInputError(f"Every point must have a value in the person column {name!r}.")
    if chosen.person:
        who = join_columns([texts[name] for name in chosen.person], chosen.gaps)
    if chosen.labels:
        who = Beside(who, tuple(texts[name] for name in chosen.labels))
    if chosen.xy is None:
        return (
            *coordinates.from_objects(texts[str(chosen.geometry)], chosen.srid, chosen.gaps),
            who,
        )
    x, y = (_numbers(texts[name], decimal, chosen.gaps) for name in chosen.xy)
    if x is None or y is None:
        raise BadInputError(coordinates.NOT_NUMBERS.format(*chosen.xy))
    return (*coordinates.finite(x, y, chosen.gaps), who)


def _numbers(texts: list[Optional[str]], decimal: str, gaps: bool) -> Optional[Array]:
    """Numbers of texts, NaN for none; None if one is not a number, unless ``gaps`` are wanted."""
    if decimal == "." and None not in texts and "_" not in "".join(texts):  # type: ignore[arg-type]
        with contextlib.suppress(ValueError):
            return np.array(list(map(float, texts)))  # type: ignore[arg-type]
    found = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        if text is None:
            continue
        plain = text if decimal == "." else text.replace(".", "_").replace(decimal, ".")
        try:
            found[i] = float("_" if "_" in plain else plain)
        except ValueError:
            if not gaps:
                return None
    return found
