"""Refuse an upload while the project does not say where it lives.

    python qgis_plugin/upload_check.py

Addresses of people and pages that do not exist stay out of the project. Whoever uploads it fills
them in first; CONTRIBUTING.md says where.
"""

from __future__ import annotations

import configparser
import re
import sys
from pathlib import Path
from typing import Iterator, List

ROOT = Path(__file__).resolve().parents[1]
METADATA = "qgis_plugin/dpsort_qgis/metadata.txt"
PAGES = ("homepage", "tracker", "repository")
URLS = ("homepage", "source", "issues")
CITED = ("repository-code", "date-released")
#: names that are kept free for examples, so that nobody can be reached there
_NOWHERE = re.compile(
    r"(^|[@./])(example\.(com|net|org)|localhost|[\w.-]+\.(example|invalid|test))\b"
)


def is_page(text: str) -> bool:
    """Whether this can be the address of a page.

    >>> is_page("https://maps.city.gov/dpsort"), is_page(""), is_page("https://example.org/x")
    (True, False, False)
    """
    return bool(re.match(r"https://[\w-]+(\.[\w-]+)+", text)) and not _NOWHERE.search(text)


def is_mail(text: str) -> bool:
    """Whether this can be the address of a person.

    >>> is_mail("maps@city.gov"), is_mail(""), is_mail("dpsort@example.org")
    (True, False, False)
    """
    return bool(re.fullmatch(r"[^@\s]+@[\w-]+(\.[\w-]+)+", text)) and not _NOWHERE.search(text)


def find_blanks(root: Path = ROOT) -> List[str]:
    """What has to be filled in, a line for each place."""
    return [*_in_metadata(root), *_in_pyproject(root), *_in_citation(root)]


def _in_metadata(root: Path) -> Iterator[str]:
    parser = configparser.ConfigParser()
    parser.read(root / METADATA, encoding="utf-8")
    general = parser["general"]
    for key in PAGES:
        if not is_page(general.get(key, "").strip()):
            yield f"{METADATA}: {key} must be the address of a page, https://..."
    if not is_mail(general.get("email", "").strip()):
        yield f"{METADATA}: email must be an address that somebody reads"


def _in_pyproject(root: Path) -> Iterator[str]:
    # Python 3.10 reads no TOML; these are lines such as  homepage = "https://..."
    text = (root / "pyproject.toml").read_text("utf-8")
    found = re.search(r"(?ms)^\[project\.urls\]$(.*?)(?=^\[|\Z)", text)
    lines = re.findall(r'(?m)^"?(\w+)"?\s*=\s*"([^"]*)"', found[1] if found else "")
    urls = {key.lower(): value for key, value in lines}
    for key in URLS:
        if not is_page(urls.get(key, "")):
            yield f'pyproject.toml: [project.urls] needs {key} = "https://..."'


def _in_citation(root: Path) -> Iterator[str]:
    text = (root / "CITATION.cff").read_text("utf-8")
    said = dict(re.findall(r"(?m)^([\w-]+):[ \t]*\"?([^\"\n]*)", text))
    if not is_page(said.get(CITED[0], "")):
        yield f"CITATION.cff: {CITED[0]} must be the address of the repository"
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", said.get(CITED[1], "").strip()):
        yield f"CITATION.cff: {CITED[1]} must be a date such as 2026-01-31"


def main() -> int:
    """Command line: 0 when all is filled in, 1 when something is blank."""
    blanks = find_blanks()
    if blanks:
        head = "Not ready for an upload; fill in first (CONTRIBUTING.md says more):"
        print("\n  ".join([head, *blanks]), file=sys.stderr)
        return 1
    print("Everything that an upload needs is filled in.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
