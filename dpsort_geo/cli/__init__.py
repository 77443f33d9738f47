"""The command ``dpsort-geo``: parse, call the same functions as Python does, print."""

from __future__ import annotations

import sys
from typing import Any, List, Optional

import click

from .. import __version__
from ..errors import BadInput
from .comparing import compare
from .demonstration import demo
from .options import in_shell, plain
from .publishing import ledger, plan, publish
from .reading import count, density, inspect, map_page, points, quantiles, verify

COMMANDS = (
    plan, publish, points, density, count, quantiles, map_page, inspect, verify, ledger, compare,
    demo,
)  # fmt: skip


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: dpsort-geo demo. Every command has examples in its own --help.",
)
@click.version_option(__version__, prog_name="dpsort-geo")
def cli() -> None:
    """Publish sensitive points under differential privacy, and read what was published."""


for command in COMMANDS:
    cli.add_command(command)


def main(args: Optional[List[str]] = None) -> Any:
    """Run the command; bad input ends with code 2 and one line that says what to do."""
    try:
        sys.exit(cli.main(args, prog_name="dpsort-geo", standalone_mode=False))
    except getattr(click.exceptions, "NoArgsIsHelpError", ()) as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "dpsort-geo"
        _stop(f"{error.format_message()} (see {where} --help)", 2)
    except BadInput as error:
        _stop(str(error), 2)
    except (click.Abort, KeyboardInterrupt):
        _stop("Stopped; what was debited from the ledger stays debited.", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _stop(f"{name}{error.strerror or 'the file cannot be read or written'}.", 1)
    except MemoryError:
        _stop("There is not enough memory for this.", 1)
    except Exception as error:  # its message could quote a private value
        kind = type(error).__name__
        _stop(f"Something unforeseen went wrong ({kind}); please report it with the command.", 1)


def _stop(sentence: str, code: int) -> None:
    click.echo("dpsort-geo: " + plain(in_shell(" ".join(sentence.split()))), err=True)
    sys.exit(code)
