"""Options that several commands share, and how they speak."""

from __future__ import annotations

import json
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

import click

from ..errors import BadInput

Command = Callable[..., Any]

#: a progress bar appears after this many seconds
_PATIENCE = 2.0

#: formats without room for the privacy statement
_NO_STATEMENT = (".csv", ".tif", ".tiff", ".html", ".htm")
_IN_SHELL = {
    "neighbours='add-remove'": "--neighbours add-remove",
    "columns=(x, y)": "--columns X Y",
    "crs='EPSG:4326'": "--crs EPSG:4326",
    "group_size": "--group-size",
    "method='sort'": "--method sort",
    "method='hybrid'": "--method hybrid",
    "dataset='name'": "--dataset NAME",
    "person=": "--person",
    "Zones must be a GeoDataFrame or a GeoSeries of polygons": "ZONES must be a file of polygons",
}


def examples(*lines: str) -> str:
    """The end of a command's help: examples that can be copied."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def domain_options(command: Command) -> Command:
    """Where points may lie: a box or a polygon, public knowledge."""
    for option in (
        click.option("--order", type=int, metavar="N", help="2^N cells a side  [default: by size]"),
        click.option(
            "--crs", metavar="CRS", help="CRS of --bounds, such as EPSG:4326; required with them."
        ),
        click.option(
            "--polygon", type=click.Path(), metavar="FILE", help="File of polygons: the domain."
        ),
        click.option(
            "--bounds", type=float, nargs=4, metavar="W S E N", help="Box: the domain, in --crs."
        ),
    ):
        command = option(command)
    return command


def epsilon_option(required: bool = True) -> Callable[[Command], Command]:
    """The privacy budget, exact decimal text."""
    return click.option(
        "-e",
        "--epsilon",
        required=required,
        metavar="EPS",
        help="Privacy budget, such as 1 or 0.5.",
    )


def mechanism_options(command: Command) -> Command:
    """How to measure."""
    method = click.Choice(["adaptive", "sort", "hybrid"])
    return click.option(
        "--method", type=method, default="adaptive", show_default=True, help="The mechanism."
    )(command)


def json_option(command: Command) -> Command:
    """Print for machines."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def release_argument(command: Command) -> Command:
    """The release to read; - is standard input."""
    return click.argument("release", type=click.Path(allow_dash=True))(command)


def domain_from(bounds: Any, polygon: Optional[str], crs: Optional[str], order: Any) -> Any:
    """The domain that the options describe."""
    from ..geo.domain import Domain

    if bool(bounds) == bool(polygon):
        raise BadInput("Say where points may lie: either --bounds W S E N --crs CRS or --polygon.")
    if bounds:
        return Domain.from_bounds(bounds, crs=crs, order=order)
    return Domain.from_polygon(read_frame(str(polygon)), crs=crs, order=order)


def read_frame(path: str) -> Any:
    """A file of public polygons as a GeoDataFrame."""
    import geopandas

    read = geopandas.read_parquet if path.endswith("parquet") else geopandas.read_file
    try:
        return read(path)
    except Exception as error:
        # these files are public, but a traceback of a reader library helps nobody
        reason = str(error).splitlines()[0] if str(error) else "it cannot be read"
        raise BadInput(f"{path} cannot be read as polygons: {reason}") from None


def read_release(path: str) -> Any:
    """The release in a file or, for -, on standard input."""
    from ..geo.release import from_text
    from ..geo.release import read_release as read

    return from_text(sys.stdin.read()) if path == "-" else read(path)


def say(as_json: bool, facts: Dict[str, Any], text: str, err: bool = False) -> None:
    """Print facts for machines or a text for people."""
    out = json.dumps(facts, allow_nan=False) if as_json else plain(text)
    click.echo(out, err=err and not as_json)


def keep_what_is_not_ours(out: str, *inputs: str, silent: Tuple[str, ...] = _NO_STATEMENT) -> None:
    """Refuse to replace an input, or a file that dpsort-geo did not write: the private original.

    ``silent`` are the endings of files that cannot say who wrote them, and are replaced.
    """
    from ..geo.write import read_statement
    from ..release import load

    if out == "-" or not Path(out).is_file():
        return
    if any(Path(given).exists() and Path(out).samefile(given) for given in inputs):
        raise BadInput(f"{out} is read and cannot be written to; give another name.")
    if Path(out).suffix.lower() in silent:
        return
    for read in (load, read_statement):
        try:
            read(out)
            return
        except BadInput:
            pass
    raise BadInput(
        f"{out} exists and was not written by dpsort-geo; give another name, or remove it first."
    )


def plain(text: str) -> str:
    """Text without control characters: names in a file must not steer the terminal.

    >>> plain("a\\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show warnings as single lines instead of Python's two with a file name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            click.echo(f"Note: {in_shell(str(warning.message))}", err=True)


def in_shell(sentence: str) -> str:
    """A sentence of the library with the shell's words for arguments.

    >>> in_shell("publish with neighbours='add-remove'.")
    'publish with --neighbours add-remove.'
    """
    for python, shell in _IN_SHELL.items():
        sentence = sentence.replace(python, shell)
    return sentence


class RowProgress:
    """Rows read and their rate, on a terminal, once it takes longer than two seconds."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.shown = 0.0

    def __call__(self, done: int, total: Optional[int]) -> None:
        spent = time.monotonic() - self.start
        if spent < _PATIENCE or spent - self.shown < 0.2 or not sys.stderr.isatty():
            return
        self.shown = spent
        part = f"{done:,} rows"
        if total:
            filled = int(28 * min(done / total, 1))
            part = f"[{'#' * filled}{'.' * (28 - filled)}] {done / total:4.0%}  {part}"
        click.echo(f"\r{part}, {done / spent:,.0f} rows/s ", nl=False, err=True)

    def close(self) -> None:
        """Leave the terminal's line as it was found."""
        if self.shown:
            click.echo("\r" + " " * 78 + "\r", nl=False, err=True)
