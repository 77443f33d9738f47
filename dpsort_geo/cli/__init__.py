"""The command ``dpsort-geo``: parse, call the same functions as Python does, print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, List, Optional, cast

import click

from .. import __version__
from ..core.errors import BadInputError, MissingPackageError, hide_secrets
from .progress import StoppedError
from .words import drop_control, fit, speak_shell

#: the commands, in the order of a day's work, and the module that each is written in
COMMANDS = {
    "check": "check", "plan": "publish", "publish": "publish", "points": "read", "density": "read",
    "count": "read", "hexes": "read", "quantiles": "read", "map": "pages", "site": "pages",
    "label": "label", "inspect": "inspect", "verify": "inspect", "series": "series",
    "ledger": "ledger", "compare": "compare", "demo": "demo", "completion": "completion",
}  # fmt: skip


class Commands(Mapping[str, click.Command]):
    """The commands by name, each loaded when it is asked for: the others cost no time.

    >>> Commands()["verify"].name
    'verify'
    """

    def __getitem__(self, name: str) -> click.Command:
        module = import_module(f".{COMMANDS[name]}", __name__)
        found: click.Command = getattr(module, "map_page" if name == "map" else name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


#: what each does, in a line of a terminal; more is in its own help
SUMMARIES = {
    "check": "Look at points before anything is spent; its output is private.",
    "plan": "How far off published points will be, before data is touched.",
    "publish": "Publish points under differential privacy.",
    "points": "Write the points of a release: GeoJSON, GeoParquet, GeoPackage.",
    "density": "Write the density of a release: GeoTIFF, or cells.",
    "count": "Estimate the number of points in each polygon, with intervals.",
    "hexes": "Estimate the number of points in each H3 hexagon.",
    "quantiles": "Where along the curve shares of all points have been passed.",
    "map": "Draw a release on one HTML page that needs no network.",
    "site": "Draw a release as a folder of tiles for any web server.",
    "label": "What a release protects, from whom, how strongly, on one page.",
    "inspect": "Print the privacy statement that a file carries.",
    "verify": "Check everything that a release can prove about itself.",
    "series": "Releases of one data set, month after month.",
    "ledger": "What has been spent on each data set, and its limit.",
    "compare": "Our mechanisms beside others, on public points.",
    "demo": "Publish invented residents, and draw everything.",
    "completion": "What a shell needs to complete dpsort-geo with the tab key.",
}


class DaysWork(click.Group):
    """Lists its commands in the order in which they are needed, without loading them."""

    def list_commands(self, ctx: click.Context) -> List[str]:
        """The names, as they stand above."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Their part of the help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


@click.group(
    cls=DaysWork,
    commands=cast("Any", Commands()),  # click would like to add to it, and is never asked to
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: dpsort-geo demo. Every command has examples in its own --help.",
)
@click.version_option(__version__, prog_name="dpsort-geo")
def cli() -> None:
    """Publish sensitive points under differential privacy, and read what was published."""


def main(args: Optional[List[str]] = None) -> Any:
    """Run the command; bad input ends with code 2 and one line that says what to do."""
    as_json = "--json" in (sys.argv[1:] if args is None else args)
    alone = args is None  # as a program, which nothing goes on after
    try:
        sys.exit(cli.main(args, prog_name="dpsort-geo", standalone_mode=False))
    except getattr(click.exceptions, "NoArgsIsHelpError", ()) as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "dpsort-geo"
        _stop(f"{error.format_message()} (see {where} --help)", 2, as_json, alone)
    except (BadInputError, MissingPackageError) as error:
        _stop(str(error), 2, as_json, alone)
    except StoppedError as error:
        _stop(str(error), 130, as_json, alone)
    except (click.Abort, KeyboardInterrupt):
        _stop("Stopped.", 130, as_json, alone)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _stop(f"{name}{error.strerror or 'the file cannot be read or written'}.", 1, as_json, alone)
    except MemoryError:
        _stop("There is not enough memory for this.", 1, as_json, alone)
    except Exception as error:  # its message could quote a private value
        kind = type(error).__name__
        sentence = f"Something unforeseen went wrong ({kind}); please report it with the command."
        _stop(sentence, 1, as_json, alone)


def _stop(sentence: str, code: int, as_json: bool, at_once: bool) -> None:
    """Say why and leave; ``at_once`` as it is, with no farewell to libraries.

    Python remembers an interrupt inside of one and ends by the signal instead of with the code,
    though it was caught; and one that still reads in a thread of its own can abort the program.
    """
    words = drop_control(hide_secrets(speak_shell(" ".join(sentence.split()))))
    line = json.dumps({"error": words, "code": code})
    if not as_json:
        line = fit(f"dpsort-geo: {words}", err=True)
    click.echo(line, err=True)
    if at_once:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
