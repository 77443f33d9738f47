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
    shown = {key: _shown(key, value) for key, value in facts.items() if value is not None}
    width = max(map(len, shown)) + 1
    say(as_json, facts, "\n".join(f"{key + ':':<{width}}  {own}" for key, own in shown.items()))


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


def _shown(key: str, value: Any) -> str:
    """Numbers with thousands and units, as people write them; axes in a line."""
    if key == "axes":
        return "; ".join(map(_axis_words, value)) or "none"
    if key == "ledger" and isinstance(value, bool):
        return _ledger_words(value)
    if key == "expected_error" and isinstance(value, (int, float)) and value > 0:
        from ..core.accuracy import length_words

        return f"about {length_words(value)}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _ledger_words(debited: bool) -> str:
    return "debited" if debited else "not debited"


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
            "ledger": _ledger_words(release.ledger),
        }
    return read_statement(file)
