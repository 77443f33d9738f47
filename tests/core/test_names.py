"""The table of contents: every public name is there, typed, and costs nothing until it is used."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

import dpsort_geo as dp
from dpsort_geo.cli import cli
from dpsort_geo.core.rules import METHODS

HELD = {"Domain", "Release", "Plan", "Ledger", "Cells"}
CALLED = {"publish", "plan", "count_cells", "read_release"}
RAISED = {"BadInputError", "NotVerifiedError", "BudgetSpentError", "MissingPackageError"}


def test_every_public_name_is_listed_and_there() -> None:
    assert HELD | CALLED | RAISED | {"PrivacyWarning"} <= set(dir(dp)) == set(dp.__all__)
    for name in dp.__all__:
        assert getattr(dp, name) is not None


def test_type_checkers_see_what_is_loaded_late() -> None:
    tree = ast.parse(inspect.getsource(dp))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: f".{node.module}"
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == dp._LAZY


def test_the_errors_of_before_are_the_same_classes() -> None:
    assert dp.BadInput is dp.BadInputError and issubclass(dp.BadInput, ValueError)
    assert dp.NotVerified is dp.NotVerifiedError and issubclass(dp.NotVerified, dp.BadInputError)
    assert dp.BudgetSpent is dp.BudgetSpentError and issubclass(dp.BudgetSpent, dp.BadInputError)
    assert issubclass(dp.MissingPackageError, ImportError)


#: options of the shell that a function of Python has under the same name
SAME = [
    ("publish", dp.publish), ("plan", dp.plan), ("check", dp.check),
    ("count", dp.Release.count_within), ("hexes", dp.Release.hexes),
]  # fmt: skip


@pytest.mark.parametrize("command, function", SAME, ids=lambda one: getattr(one, "__name__", one))
def test_the_shell_has_the_defaults_of_python(command: str, function: Callable[..., Any]) -> None:
    known = cli.get_command(click.Context(cli), command)
    assert known is not None
    python = {name: own.default for name, own in inspect.signature(function).parameters.items()}
    shared = {
        option.name: (option.default, python[option.name])
        for option in known.params
        if option.name in python and isinstance(option.default, (str, float))  # others have none
    }
    assert shared and all(shell == own for shell, own in shared.values()), shared


def test_the_shell_offers_every_mechanism() -> None:
    for command in ("publish", "plan", "check"):
        known = cli.get_command(click.Context(cli), command)
        assert known is not None
        (method,) = (option for option in known.params if option.name == "method")
        assert isinstance(method.type, click.Choice) and tuple(method.type.choices) == METHODS


def test_errors_and_plans_do_not_load_geopandas() -> None:
    code = (
        "import sys, dpsort_geo as dp; dir(dp); dp.BadInputError, dp.Plan, dp.Ledger, dp.Cells; "
        "print('geopandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
