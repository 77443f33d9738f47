"""What plugins.qgis.org checks when a plugin is uploaded, done here first."""

from __future__ import annotations

import ast
import configparser
import hashlib
import importlib.util
import json
import re
import string
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.qgis import fresh_profile
from tests.qgis.fresh_profile import package

PLUGIN = fresh_profile.ROOT / "qgis_plugin" / "dpsort_qgis"
REQUIRED = (
    "name", "description", "version", "qgisMinimumVersion", "author", "about", "license",
)  # fmt: skip
#: blank until somebody uploads the plugin, and then checked by upload_check.py
ADDRESSES = ("email", "tracker", "repository", "homepage")
#: the modules of the library whose refusals the plugin shows
SPEAKING = (
    "release", "release_fields", "release_json", "reference", "planning", "accuracy",
    "rules/__init__", "rules/budget", "rules/sort", "rules/measured", "rules/group_size",
    "rules/axes", "rules/category_axis", "rules/time_axis",
    "rules/views", "curve/grid", "curve/mask", "curve/cover", "curve/declared", "frame/area",
    "frame/zones",
    "private/cells", "private/persons", "private/ledger", "private/ledger_names",
    "private/publish", "private/noisy_n", "private/adaptive", "private/sort", "private/slices",
    "public/points", "public/picture", "public/within", "public/views",
)  # fmt: skip
TEXT = (".py", ".txt", ".md", ".svg", ".json", ".html")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(folder)
    return folder


def names(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as zipped:
        return zipped.namelist()


def test_the_zip_is_small_sound_and_has_one_valid_top_folder(archive: Path) -> None:
    assert archive.stat().st_size < 25_000_000
    with zipfile.ZipFile(archive) as zipped:
        assert zipped.testzip() is None
    (top,) = {name.split("/")[0] for name in names(archive)}
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9-_]+", top)
    assert {f"{top}/__init__.py", f"{top}/metadata.txt", f"{top}/LICENSE"} <= set(names(archive))


def test_the_zip_has_no_binaries_caches_hidden_files_or_paths(archive: Path) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for name in zipped.namelist():
            assert ".." not in name and not name.startswith("/")
            assert not re.search(r"(^|/)(__pycache__|__MACOSX|\.)", name), name
            assert name.endswith((*TEXT, "/LICENSE")), name
            zipped.read(name).decode("utf-8")


def test_the_same_sources_give_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    again = package.build(tmp_path)
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (archive, again)}
    assert len(digests) == 1


def test_the_metadata_are_complete(unpacked: Path) -> None:
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unpacked / "dpsort_qgis" / "metadata.txt", encoding="utf-8")
    metadata = dict(parser["general"])
    for key in REQUIRED:
        assert metadata.get(key, "").strip(), key
    assert metadata["qgisMinimumVersion"] == "3.22"
    assert metadata["qgisMaximumVersion"] == "3.44"  # the last that was run; QGIS 4 was not
    assert metadata["hasProcessingProvider"] == "yes"
    assert "/" not in metadata["author"]
    assert (unpacked / "dpsort_qgis" / metadata["icon"]).is_file()
    assert set(ADDRESSES) <= set(metadata)


def test_the_version_is_that_of_the_library() -> None:
    import dpsort_geo

    assert package.version() == dpsort_geo.__version__


def test_the_vendored_library_needs_numpy_and_itself_only(unpacked: Path) -> None:
    allowed = {"numpy", *sys.stdlib_module_names}
    for path in (unpacked / "dpsort_qgis" / "_vendor").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, path
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert str(node.module).split(".")[0] in allowed, path


def test_the_plugin_needs_qgis_and_numpy_only() -> None:
    allowed = {"numpy", "qgis", "processing", "osgeo", *sys.stdlib_module_names}
    for path in PLUGIN.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert str(node.module).split(".")[0] in allowed, path
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, path


def test_only_one_module_of_the_plugin_counts_points_and_draws_noise() -> None:
    users = set()
    for path in PLUGIN.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or ".private." not in f".{node.module}.":
                continue
            # ledgers know nothing of points
            if not str(node.module).endswith((".ledger", ".ledger_names")):
                users.add(path.name)
    assert users == {"private_points.py"}


def tool(name: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    command = [sys.executable, "-m", name, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)


def test_bandit_finds_nothing(unpacked: Path) -> None:
    done = tool("bandit", "-r", "dpsort_qgis", "-f", "json", "-q", cwd=unpacked)
    found = [
        f"{issue['filename']}:{issue['line_number']} {issue['test_id']} {issue['issue_text']}"
        for issue in json.loads(done.stdout)["results"]
    ]
    assert not found, "\n".join(found)


def test_detect_secrets_finds_nothing(unpacked: Path) -> None:
    done = tool("detect_secrets", "scan", "--all-files", "dpsort_qgis", cwd=unpacked)
    assert json.loads(done.stdout)["results"] == {}


def test_flake8_with_the_qgis_rules_for_qt6_finds_nothing(unpacked: Path) -> None:
    if importlib.util.find_spec("flake8_qgis") is None:
        pytest.skip("flake8-qgis is not installed")
    options = ["--isolated", "--max-line-length=100", "--extend-ignore=E203,W503,QGS202"]
    done = tool("flake8", *options, "--exclude=_vendor", "dpsort_qgis", cwd=unpacked)
    assert not done.stdout, done.stdout
    assert done.returncode == 0, done.stderr


def english_texts() -> set[str]:
    """Every text that the code gives to tr()."""
    texts: set[str] = set()
    for path in PLUGIN.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tr":
                (argument,) = node.args
                assert isinstance(argument, ast.Constant), f"{path}:{node.lineno} is not a text"
                texts.add(str(argument.value))
    return texts


def library_sentences() -> set[str]:
    """Every sentence with which the library refuses something; {a}, {b} stand for what varies."""
    sentences = set()
    for name in SPEAKING:
        path = fresh_profile.ROOT / "dpsort_geo" / "core" / f"{name}.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "BadInputError":
                continue
            told = node.args[0]
            if isinstance(told, ast.Constant):
                sentences.add(str(told.value))
            if isinstance(told, ast.JoinedStr):
                letters = iter(string.ascii_lowercase)
                parts = [
                    str(part.value) if isinstance(part, ast.Constant) else f"{{{next(letters)}}}"
                    for part in told.values
                ]
                sentences.add("".join(parts))
    return sentences


def test_german_is_complete_and_keeps_every_placeholder() -> None:
    german = json.loads((PLUGIN / "i18n" / "de.json").read_text(encoding="utf-8"))
    assert len(library_sentences()) > 40
    assert set(german) == english_texts() | library_sentences()
    check_placeholders(german)


def test_english_has_other_words_for_the_librarys_sentences_alone() -> None:
    english = json.loads((PLUGIN / "i18n" / "en.json").read_text(encoding="utf-8"))
    assert set(english) <= library_sentences()
    check_placeholders(english)


def check_placeholders(catalogue: dict[str, str]) -> None:
    """Every text has a translation with the same placeholders."""
    for text, translation in catalogue.items():
        assert translation
        fields = [
            sorted(str(field) for _, field, _, _ in string.Formatter().parse(words) if field)
            for words in (text, translation)
        ]
        assert fields[0] == fields[1], text


def test_keyboard_letters_are_unique_within_each_menu() -> None:
    german = json.loads((PLUGIN / "i18n" / "de.json").read_text(encoding="utf-8"))
    menu = (
        "&Publish...", "P&lan...", "&Open a release...", "&Count in polygons...", "Le&dger...",
        "&Help",
    )  # fmt: skip
    for texts in (menu, [german[text] for text in menu]):
        letters = [text[text.index("&") + 1].lower() for text in texts]
        assert len(set(letters)) == len(letters)
