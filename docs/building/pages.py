"""Pages of the site that are made when it is built: stories, tables, and what lies beside docs/.

mkdocs calls the functions whose names begin with ``on_``.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import stories  # noqa: E402
import tables  # noqa: E402

#: what people look for at the top of a repository
BESIDE = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md",
          "CHANGELOG.md": "changelog.md"}  # fmt: skip
TABLE = re.compile(r"<!-- table: (\w+) -->")


def on_files(files: Any, config: Any) -> Any:
    """Add the executed notebooks of examples/, and the pages of the top folder."""
    for name, page in BESIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / name)))
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        for name, content in stories.tell(notebook).items():
            files.append(File.generated(config, f"gallery/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in the tables, and follow pages to where they lie in the site."""
    here = os.path.dirname(page.file.src_uri)
    for name, target in BESIDE.items():
        link = os.path.relpath(target, here or ".")
        markdown = re.sub(rf"\]\((\.\./)*{re.escape(name)}", f"]({link}", markdown)
    if page.file.src_uri in BESIDE.values():
        markdown = markdown.replace("](docs/", "](")
    return TABLE.sub(lambda found: tables.TABLES[found[1]](), markdown)
