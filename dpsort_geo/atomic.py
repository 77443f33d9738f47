"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Union

from .errors import BadInput

PathLike = Union[str, "os.PathLike[str]"]


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """A name to write to; on success it takes the place of ``path``, otherwise it vanishes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as part:
    ...         _ = part.write_text("done")
    ...     os.listdir(folder)
    ['a.txt']
    """
    target = Path(path)
    part = target.with_name(f".{target.stem}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield part
        os.replace(part, target)
    except OSError as error:
        reason = error.strerror or "the disk or the folder refused it"
        raise BadInput(f"{os.fspath(path)} cannot be written: {reason}.") from None
    finally:
        # on success it has been moved away; SQLite may have left a journal beside a failed one
        for left in target.parent.glob(f"{part.name}*") if target.parent.is_dir() else ():
            left.unlink(missing_ok=True)


def write_text(path: PathLike, text: str) -> None:
    """Write text as UTF-8, all of it or nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "a.txt"), "done")
    ...     Path(folder, "a.txt").read_text()
    'done'
    """
    with replacing(path) as part:
        part.write_bytes(text.encode("utf-8"))
