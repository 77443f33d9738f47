"""Files that are there whole or not at all."""

from __future__ import annotations

import glob
import os
import secrets
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Union

from .errors import BadInputError, hide_secrets

PathLike = Union[str, "os.PathLike[str]"]


class TakenError(BadInputError):
    """The name to write to is that of a file that is there already."""


@contextmanager
def replacing(path: PathLike, overwrite: bool = True) -> Iterator[Path]:
    """A name to write to; on success it takes the place of ``path``, otherwise it vanishes.

    Without ``overwrite`` a file that is there stays, also one that has come meanwhile.

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
        if overwrite:
            os.replace(part, target)
        else:
            _move_beside(part, target)
    except FileExistsError:
        raise TakenError(f"{os.fspath(path)} is there already; give another name.") from None
    except OSError as error:
        number = error.errno
        reason = os.strerror(number) if number else "the disk or the folder refused it"
        raise BadInputError(f"{os.fspath(path)} cannot be written: {reason}.") from None
    finally:
        # on success it has been moved away; SQLite may have left a journal beside a failed one
        for left in (
            target.parent.glob(f"{glob.escape(part.name)}*") if target.parent.is_dir() else ()
        ):
            left.unlink(missing_ok=True)


def check_release_name(path: PathLike) -> None:
    """Refuse to call a release what it is not.

    >>> check_release_name("calls.release.json")
    """
    if not os.fspath(path).lower().endswith(".json"):
        raise BadInputError(
            f"{hide_secrets(os.fspath(path))} should end in .json: a release is JSON, and files "
            "are made from it afterwards."
        )


def check_target(path: PathLike, *inputs: PathLike) -> None:
    """Refuse a target that cannot be written, or is an input, before anything is spent on it.

    >>> check_target("nowhere/at/all.json")
    Traceback (most recent call last):
    ...
    dpsort_geo.core.errors.BadInputError: There is no folder nowhere/at to write to.
    """
    folder = Path(path).parent
    if not folder.is_dir():
        raise BadInputError(f"There is no folder {folder} to write to.")
    if any(os.path.exists(one) and Path(path).exists() and os.path.samefile(path, one)
           for one in inputs):  # fmt: skip
        raise BadInputError("The release would replace the private points; save it elsewhere.")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        raise BadInputError(f"The folder {folder} cannot be written to.") from None


def _move_beside(part: Path, target: Path) -> None:
    """Move a file to a name that nobody has; the system refuses to do it where somebody does."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a disk without links: the name is taken first, and then filled
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(part, target)


def write_text(path: PathLike, text: str, overwrite: bool = True) -> None:
    """Write text as UTF-8, all of it or nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "a.txt"), "done")
    ...     Path(folder, "a.txt").read_text()
    'done'
    """
    with replacing(path, overwrite) as part:
        part.write_bytes(text.encode("utf-8"))
