"""Every claim about the algorithms, tried inside real QGIS on the installed zip."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

NAMES = [
    node.name
    for path in sorted((Path(__file__).parent / "inside").glob("claims_*.py"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


@pytest.mark.parametrize("name", NAMES)
def test_inside_qgis(name: str, claims: dict[str, str]) -> None:
    if name not in claims:
        pytest.fail(f"{name} did not pass inside QGIS:\n{claims['']}", pytrace=False)


def test_every_claim_has_a_name_of_its_own() -> None:
    """Outcomes are kept by name; where no claim is found, nothing would be tried."""
    assert len(NAMES) == len(set(NAMES)) > 100
