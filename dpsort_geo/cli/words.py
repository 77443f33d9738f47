"""How commands speak: for people, for machines, and in the shell's words for Python's arguments."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, Optional

import click

from ..core.errors import hide_secrets

#: longer lines are hard to read
_WIDEST = 100
_IN_SHELL = {
    "neighbours='add-remove'": "--neighbours add-remove",
    "columns=(x, y)": "--columns X Y",
    "crs='EPSG:4326'": "--crs EPSG:4326",
    "group_size": "--group-size",
    "method='sort'": "--method sort",
    "method='hybrid'": "--method hybrid",
    "dataset='name'": "--dataset NAME",
    "overwrite=True": "--overwrite",
    "table= or sql=": "--table or --sql",
    "in sql=": "in --sql",
    "person=['rider', 'date']": "--person rider,date",
    "person='rider', max_points=": "--person rider --max-points ",
    "person='rider'": "--person rider",
    "no person=": "no --person",
    "points_crs='EPSG:4326'": "--points-crs EPSG:4326",
    "points_crs=": "--points-crs",
    "decimal=','": "--decimal ,",
    "decimal=": "--decimal",
    "columns=": "--columns",
    "layer=": "--layer",
    "check()": "dpsort-geo check",
    ", or, for a frame, with set_crs()": "",
    "person=": "--person",
    "max_points": "--max-points",
    "outside='drop'": "--outside drop",
    "outside= is 'nearest' or 'drop'": "--outside is 'nearest' or 'drop'",
    "date='column'": "--date COLUMN",
    "another_name=True": "--another-name",
    "again=True": "--again",
    "publish with dataset=": "publish with --dataset ",
    "window=": "--window",
    "with most=": "with --most ",
    "time=TimeAxis(...)": "--time",
    "dates belong to time=": "dates belong to --time",
    "declare the axis with other=True": "end --time with :other",
    "range or every=": "range or EVERY in --time",
    "choose a longer every=": "choose a longer EVERY in --time",
    "A time axis has every='1 month', '1 week', '1 day', '1 hour' or so": "EVERY in --time is "
    "1month, 1week, 1day, 1hour or so",
    "A series has every='1 month', '1 week', '1 year' or so": "--every is '1 month', '1 week', "
    "'1 year' or so",
    "With time= its column is the date column: leave date= out": "With --time its column is the "
    "date column: leave --date out",
    "Count by axes on the release itself, not on a slice of it": "Give --by or --select: --by "
    "counts on the release itself, not on a slice of it",
    "or a slice from select()": "or a slice with --select",
    "declare the time axis without other": "leave :other out of --time",
    "date= names": "--date names",
    "label= and per= name columns of zones: give zones= too": "--label and --per name columns of "
    "zones: give --zones too",
    "give by= or time=, too": "give --by or --time, too",
    "zones= declares": "--zones declares",
    "zones= of publish": "publish --zones",
    "Leave zones= out": "Leave --zones out",
    "label= names": "--label names",
    "per= names": "--per names",
    "Zones must be a GeoDataFrame or a GeoSeries of polygons": "ZONES must be a file of polygons",
}


def list_examples(*lines: str) -> str:
    """The end of a command's help: examples that can be copied."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def say(as_json: bool, facts: Dict[str, Any], text: str, err: bool = False) -> None:
    """Print facts for machines or a text for people."""
    err = err and not as_json
    out = json.dumps(facts, allow_nan=False) if as_json else fit(drop_control(text), err)
    click.echo(out, err=err)


def fit(text: str, err: bool = False) -> str:
    """Sentences broken between words where a terminal would break them anywhere.

    Tables and pictures stay as they are, and so does all that goes to a file or a pipe.
    """
    if not (sys.stderr if err else sys.stdout).isatty():
        return text
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return "\n".join(_broken(line, width) for line in text.split("\n"))


def _broken(line: str, width: int) -> str:
    if line[:1].isspace() or "  " in line.strip() or "\t" in line:  # columns
        return line
    parts = textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(parts) if len(line) > width else line


def say_table(as_json: bool, counted: Any, per: Optional[str] = None) -> None:
    """Print counts in zones: whole numbers with thousands, nothing where nothing is known.

    Of the zones' own columns only that of ``per`` is known to count something: a whole number in
    another one may be a year, or a name.
    """
    table = counted.drop(columns=counted.geometry.name)
    shown = drop_fractions(table)
    if per is not None:
        shown[per] = ["" if x != x else f"{x:,.10g}" for x in table[per]]
    for name in ("estimate", "low", "high"):
        shown[name] = ["" if x != x else f"{x:,.0f}" for x in table[name]]
    if "reliable" in table:
        known = zip(table["reliable"], table["estimate"])
        shown["reliable"] = ["" if x != x else "yes" if yes else "no" for yes, x in known]
    if "covered" in table:
        shown["covered"] = [f"{100 * x:.3g} %" for x in table["covered"]]
    for name in {"rate", "low_rate", "high_rate"} & set(table.columns):
        shown[name] = ["" if x != x else f"{x:.4g}" for x in table[name]]
    rows = json.loads(table.to_json(orient="records"))
    say(as_json, {"zones": rows}, str(shown.to_string(index=False)))


def drop_fractions(table: Any) -> Any:
    """A copy of a table with 2026 instead of 2026.0, as files bring it where a row has none."""
    shown = table.copy()
    for name in table.select_dtypes("float").columns:
        if not (table[name] % 1 > 0).any():
            shown[name] = ["" if x != x else f"{x:.0f}" for x in table[name]]
    return shown


def say_written(as_json: bool, out: str, what: str) -> None:
    """Say what was written, and how large it is."""
    size = Path(out).stat().st_size
    words = f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 0.1):,.1f} kB"
    text = f"Wrote {hide_secrets(out)}: {what} ({words})."
    say(as_json, {"written": out, "what": what, "bytes": size}, text)


def count_words(count: int, what: str) -> str:
    """A number of things: one plural is one.

    >>> count_words(1, "point"), count_words(1200, "point")
    ('1 point', '1,200 points')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def drop_control(text: str) -> str:
    """Text without control characters: names in a file must not steer the terminal.

    Lines and columns stay: a tab moves the cursor no further than text does.

    >>> drop_control("a\\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


@contextmanager
def show_warnings() -> Iterator[None]:
    """Show warnings as single lines instead of Python's two with a file name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            click.echo(fit(f"Note: {speak_shell(str(warning.message))}", err=True), err=True)


def speak_shell(sentence: str) -> str:
    """A sentence of the library with the shell's words for arguments.

    >>> speak_shell("publish with neighbours='add-remove'.")
    'publish with --neighbours add-remove.'
    """
    for python in sorted(_IN_SHELL, key=len, reverse=True):  # points_crs= before crs=
        sentence = sentence.replace(python, _IN_SHELL[python])
    return sentence
