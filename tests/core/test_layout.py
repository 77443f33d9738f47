"""The rules that the layout carries, read from the imports, followed to their end."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Iterator

import pytest

from dpsort_geo.core.rules import MECHANISMS, METHODS, measured_by
from dpsort_geo.core.rules.measured import Measured

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dpsort_geo"
CORE_FILES = sorted((PACKAGE / "core").rglob("*.py"))
PLUGIN = ROOT / "qgis_plugin" / "dpsort_qgis"


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in PACKAGE.rglob("*.py")}


@cache
def imports(module: str, running: bool = False) -> frozenset[str]:
    """Absolute names that a module imports, wherever in its text; relative ones resolved.

    ``running`` leaves out what only a checker of types reads, and mechanisms found by their name.
    """
    path = MODULES[module]
    inside = module.split(".") + (["__init__"] if path.name == "__init__.py" else [])
    found: set[str] = set()
    tree = ast.parse(path.read_text("utf-8"))
    if running:
        tree.body = [node for node in tree.body if "TYPE_CHECKING" not in ast.dump(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = inside[: -node.level] if node.level else []
            name = ".".join(base + ([node.module] if node.module else []))
            found.add(name)
            found |= {f"{name}.{alias.name}" for alias in node.names}
        elif (
            not running
            and isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "import_module"
            and isinstance(node.args[0], ast.JoinedStr)
        ):  # a mechanism by its name, beside the module that asks for it
            found |= {".".join([*inside[:-1], name]) for name in MECHANISMS}
    return frozenset(found)


@cache
def reached(module: str) -> frozenset[str]:
    """All modules of the package that importing this one may bring in, transitively.

    Packages above a module are imported too, but their `__init__` files hold names for users and
    nothing that a module asks for.
    """
    seen: set[str] = set()
    todo = [module]
    while todo:
        for name in imports(todo.pop()):
            if name in MODULES and name not in seen and name != "dpsort_geo":
                seen.add(name)
                todo.append(name)
    return frozenset(seen)


def parts_of(module: str) -> list[str]:
    return module.split(".")


def modules_in(*folders: str) -> Iterator[str]:
    for module in sorted(MODULES):
        if any(module.startswith(f"dpsort_geo.{folder}") for folder in folders):
            yield module


def test_the_check_itself_sees_through_a_chain_of_imports() -> None:
    assert "dpsort_geo.core.private.noise" in reached("dpsort_geo.geo.private.publish")
    assert "dpsort_geo.core.public.tree" in reached("dpsort_geo.core.public.decode")
    assert "dpsort_geo.core.rules.hybrid" in reached("dpsort_geo.core.release")


#: publishes a window at a time, through the door that everybody takes
HANDS_ON = ("dpsort_geo.geo.series",)


@pytest.mark.parametrize(
    "module",
    [name for name in modules_in("core", "geo", "webmap")
     if "private" not in parts_of(name) and name not in HANDS_ON],
)  # fmt: skip
def test_what_reads_a_release_never_reaches_a_private_folder(module: str) -> None:
    assert not [name for name in reached(module) if "private" in parts_of(name)]


#: what a user gets back can be read: a release, and what to expect of one in zones
GIVE_BACK = (".geo.private.publish", ".geo.private.plan", ".geo.private.expected",
             ".geo.private.check")  # fmt: skip


@pytest.mark.parametrize(
    "module", [name for name in modules_in("core.private", "geo.private")
               if not name.endswith(GIVE_BACK)]
)  # fmt: skip
def test_what_sees_points_never_reaches_the_readers(module: str) -> None:
    assert not [name for name in reached(module) if "public" in parts_of(name)]


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_core_imports_nothing_of_its_own_late(path: Path) -> None:
    """A mechanism is imported by its name; two modules that need each other would be one."""
    tree = ast.parse(path.read_text("utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.Lambda)):
            late = [node for node in ast.walk(function) if isinstance(node, ast.ImportFrom)]
            assert not [node for node in late if node.level]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_module_needs_itself_late_imports_included(module: str) -> None:
    """Two modules that need each other when they run are one, or have a third between them."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        own = {name for name in imports(todo.pop(), running=True) if name in MODULES}
        todo += own - seen
        seen |= own
    assert module not in seen


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_three_files_and_its_name_in_the_registry(name: str) -> None:
    for folder in ("rules", "private", "public"):
        assert f"dpsort_geo.core.{folder}.{name}" in MODULES
    measured = measured_by(name)
    assert measured.KIND == name and measured.METHOD in METHODS
    declared = {field for field in Measured.__annotations__ if field.isupper()}
    assert all(hasattr(measured, field) for field in declared)


def test_nothing_else_asks_which_mechanism_it_is() -> None:
    """Neither by a comparison nor by a table of names: it asks what was measured."""
    rules = PACKAGE / "core" / "rules"
    knowing = {PACKAGE / "cli" / "options.py", PACKAGE / "cli" / "demo.py"}
    for path in [*PACKAGE.rglob("*.py"), *PLUGIN.rglob("*.py")]:
        if path in knowing or rules in path.parents or "_vendor" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            keys = node.keys if isinstance(node, ast.Dict) else []
            told = [side.value for side in [*sides, *keys] if isinstance(side, ast.Constant)]
            assert not {*MECHANISMS} & {one for one in told if isinstance(one, str)}, path


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_core_imports_the_standard_library_and_numpy_only(path: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy"}
    for name in imports(module_of(path)):
        assert name.startswith("dpsort_geo.core") or name.split(".")[0] in allowed


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_core_is_python_3_9_and_imports_itself_relatively(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Match)
        if isinstance(node, ast.ImportFrom) and not node.level:
            assert str(node.module).split(".")[0] != "dpsort_geo"


def users_of(part: str) -> set[str]:
    return {
        module
        for module in MODULES
        if any(name == f"dpsort_geo.{part}" or name.startswith(f"dpsort_geo.{part}.")
               for name in imports(module))
        and not module.startswith(f"dpsort_geo.{part}")
    }  # fmt: skip


def test_comparators_are_used_by_nothing_but_their_command() -> None:
    assert users_of("compare") <= {"dpsort_geo.cli.compare"}


def test_only_private_folders_of_the_core_know_the_noise() -> None:
    assert all(
        name.startswith("dpsort_geo.core.private") for name in users_of("core.private.noise")
    )


#: what others may call: to publish, to count, to look at points before, to plan without any
DOORS = (".publish", ".count", ".check", ".plan")


@pytest.mark.parametrize(
    "module", [name for name in modules_in("geo.private.") if not name.endswith(DOORS)]
)
def test_what_reads_points_is_used_in_private_folders_only(module: str) -> None:
    assert all("private" in parts_of(user) for user in users_of(module.split(".", 1)[1]))


def plugin_users(*names: str) -> set[str]:
    """Files of the plugin that use one of these functions or methods, as one calls them."""
    return {
        str(path.relative_to(PLUGIN))
        for path in PLUGIN.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and {getattr(node.func, "id", ""), getattr(node.func, "attr", "")} & {*names}
    }


def test_one_module_of_the_plugin_sees_private_points() -> None:
    """``inputs`` hands features on without a look, ``person_field`` gets a person's name alone."""
    assert plugin_users("person_of", "count_stream", "measure") == {"private_points.py"}
    areas = {"algorithms/making_parameters.py", "gui/area_widget.py"}
    zones_and_published = {
        "algorithms/count.py", "algorithms/reading_parameters.py", "point_layers.py",
        "declared_zones.py", "gui/zones_combo.py",
    }  # fmt: skip
    assert plugin_users("getFeatures", "features", "read_points") == {
        "private_points.py", "inputs.py", *areas, *zones_and_published,
    }  # fmt: skip


def test_importing_the_package_does_not_import_geopandas() -> None:
    code = "import dpsort_geo, sys; print('geopandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
