"""The table of contents: every public name is there, typed, and costs nothing until it is used."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import dpsort_geo as dp

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


def test_errors_and_plans_do_not_load_geopandas() -> None:
    code = (
        "import sys, dpsort_geo as dp; dir(dp); dp.BadInputError, dp.Plan, dp.Ledger, dp.Cells; "
        "print('geopandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
