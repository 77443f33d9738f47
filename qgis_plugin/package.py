"""Build ``dpsort_qgis-<version>.zip``: the plugin and the numpy-only part of dpsort_geo.

The same sources give the same bytes: files in sorted order, one fixed date, fixed permissions.

    python qgis_plugin/package.py [--out FOLDER] [--upload]
"""

from __future__ import annotations

import argparse
import configparser
import sys
import zipfile
from pathlib import Path
from typing import Iterator, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import upload_check  # noqa: E402

PLUGIN = HERE / "dpsort_qgis"
LIBRARY = HERE.parent / "dpsort_geo" / "core"
VENDOR = "_vendor/dpsort_geo"
KINDS = (".py", ".txt", ".md", ".svg", ".json", ".html")
#: zip knows no time before 1980; a fixed one makes the archive reproducible
DATE = (1980, 1, 1, 0, 0, 0)


def version() -> str:
    """The version in the plugin's metadata.

    >>> version().count(".")
    2
    """
    metadata = configparser.ConfigParser()
    metadata.read(PLUGIN / "metadata.txt", encoding="utf-8")
    return metadata["general"]["version"]


def contents() -> Iterator[Tuple[str, bytes]]:
    """Name inside the plugin's folder and bytes of every file of the archive."""
    for path in sorted(PLUGIN.rglob("*")):
        name = path.relative_to(PLUGIN).as_posix()
        ours = not name.startswith("_vendor/") and "__pycache__" not in path.parts
        if ours and path.is_file() and (path.suffix in KINDS or path.name == "LICENSE"):
            yield name, path.read_bytes()
    yield "_vendor/__init__.py", b'"""Libraries that the plugin carries, unchanged."""\n'
    for path in sorted(LIBRARY.rglob("*.py")):
        yield f"{VENDOR}/{path.relative_to(LIBRARY).as_posix()}", path.read_bytes()


def build(folder: Path) -> Path:
    """Write the archive into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{PLUGIN.name}-{version()}.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in sorted(contents()):
            entry = zipfile.ZipInfo(f"{PLUGIN.name}/{name}", DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return target


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE.parent / "dist", help="folder of the zip")
    parser.add_argument(
        "--upload", action="store_true", help="refuse while addresses for an upload are blank"
    )
    given = parser.parse_args()
    if given.upload and upload_check.main():
        sys.exit(1)
    print(build(given.out))


if __name__ == "__main__":
    main()
