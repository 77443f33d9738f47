"""Every claim about the algorithms, tried inside real QGIS on the installed zip."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CLAIMS = Path(__file__).parent / "inside" / "claims.py"
NAMES = [
    node.name
    for node in ast.walk(ast.parse(CLAIMS.read_text(encoding="utf-8")))
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


@pytest.mark.parametrize("name", NAMES)
def test_inside_qgis(name: str, claims: dict[str, str]) -> None:
    if name not in claims:
        pytest.fail(f"{name} did not pass inside QGIS:\n{claims['']}", pytrace=False)
