"""What `make quick` leaves out is named in conftest.py; each name there is that of something."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

import pytest

from tests.conftest import _SLOW, _SLOW_TESTS, HERE


@pytest.mark.parametrize("path", _SLOW)
def test_every_folder_and_file_that_is_left_out_is_there(path: str) -> None:
    assert (HERE / path).is_dir() if path.endswith("/") else (HERE / path).is_file()


@pytest.mark.parametrize("slow", _SLOW_TESTS)
def test_every_test_that_is_left_out_is_there(slow: str) -> None:
    path, pattern = slow.split("::")
    tree = ast.parse((HERE / path).read_text("utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert any(
        fnmatchcase(f"{name}[16 cells-add-remove]", pattern) or name == pattern for name in names
    )
