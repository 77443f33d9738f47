"""The rules that the layout carries, read from the imports."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "dpsort_geo"
#: the part that QGIS carries
CORE = ["budget", "curve", "errors", "grouping", "hybrid", "planning", "publisher", "reader",
        "packing", "release", "schedule", "verify"]  # fmt: skip
CORE_FILES = sorted(
    path
    for name in CORE
    for path in (
        (PACKAGE / name).rglob("*.py") if (PACKAGE / name).is_dir() else [PACKAGE / f"{name}.py"]
    )
)


def imports(path):
    """Absolute module names that a file imports; relative ones resolved."""
    inside = ["dpsort_geo", *path.relative_to(PACKAGE).with_suffix("").parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = inside[: -node.level] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_core_imports_the_standard_library_and_numpy_only(path):
    allowed = set(sys.stdlib_module_names) | {"numpy", "dpsort_geo"}
    assert {name.split(".")[0] for name in imports(path)} <= allowed


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_core_is_python_3_9_and_imports_itself_relatively(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    assert "from dpsort_geo" not in "\n".join(
        ast.get_source_segment(path.read_text(), node) or ""
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
    )
    assert not any(isinstance(node, ast.Match) for node in ast.walk(tree))


def users_of(part):
    return {
        path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for path in PACKAGE.rglob("*.py")
        if any(name.startswith(f"dpsort_geo.{part}") for name in imports(path))
    } - {part}


def test_the_reader_and_the_release_never_import_the_publisher():
    assert not {"reader", "release", "verify", "schedule", "curve", "hybrid"} & users_of(
        "publisher"
    )


def test_the_release_never_imports_the_reader():
    assert not {"release", "verify", "publisher", "schedule", "curve"} & users_of("reader")


def test_comparators_are_used_by_nothing_but_their_command():
    assert users_of("compare") <= {"cli"}


def test_only_the_publisher_knows_the_noise():
    assert users_of("publisher.noise") <= {"publisher"}


def test_importing_the_package_does_not_import_geopandas():
    code = "import dpsort_geo, sys; print('geopandas' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "False"
