"""Commands that ask a file what it says of itself, and whether it holds."""

from __future__ import annotations

from typing import Any, Dict, List

import click

from ..core.errors import BadInputError
from .files import (
    load_release,
    read_artefact,
)
from .options import json_option, release_argument
from .words import list_examples, say


@click.command(
    epilog=list_examples(
        "dpsort-geo inspect calls.release.json",
        "dpsort-geo inspect calls.public.parquet --json",
    )
)
@click.argument("file", type=click.Path(allow_dash=True))
@json_option
def inspect(file: str, as_json: bool) -> None:
    """Print the privacy statement of FILE: a release, or points written from one."""
    facts = _collect_facts(file)
    width = max(map(len, facts)) + 1
    text = "\n".join(f"{key + ':':<{width}}  {_shown(value)}" for key, value in facts.items())
    say(as_json, facts, text)


@click.command(
    epilog=list_examples(
        "dpsort-geo verify calls.release.json",
        "dpsort-geo verify calls.release.json --json",
    )
)
@release_argument
@json_option
def verify(release: str, as_json: bool) -> None:
    """Check everything that RELEASE can prove about itself; exit code 2 if it does not hold.

    This cannot show that the noise was drawn honestly.
    """
    checks = load_release(release).verify()
    say(as_json, {"verified": True, "checks": checks}, "\n".join(f"ok  {line}" for line in checks))


def _shown(value: Any) -> str:
    """Numbers with thousands, as people write them; axes in a line."""
    if isinstance(value, list):
        return "; ".join(map(_axis_words, value)) or "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _axis_words(axis: Dict[str, Any]) -> str:
    """An axis as it was declared."""
    if axis["kind"] == "category":
        return f"{axis['name']} ({', '.join(axis['values'])})"
    said: List[str] = [] if axis["start"] is None else [f"{axis['start']} until {axis['stop']}"]
    said.append(f"every {axis['every']}" + (f" of the {axis['cycle']}" if axis["cycle"] else ""))
    said += ["other for missing dates"] if axis["other"] else []
    return f"{axis['name']} ({', '.join(said)})"


def _collect_facts(file: str) -> Dict[str, Any]:
    from ..core.accuracy import accuracy_words
    from ..geo.statement import read_statement

    if file == "-" or file.endswith(".json"):
        try:
            release, domain = read_artefact(file)
        except BadInputError:
            if file == "-":
                raise
            return read_statement(file)
        return {
            **release.statement(),
            "accuracy": accuracy_words(release, domain.side),
            "domain": str(domain),
            "axes": [axis.to_dict() for axis in release.axes],
            "measurements": release.measured.answers,
            "ledger": "debited" if release.ledger else "not debited",
        }
    return read_statement(file)
