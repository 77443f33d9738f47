"""How many lines of production Python each part has; writes the table of docs/architecture.md.

All lines, and in brackets those that are neither blank nor comments nor docstrings.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import Iterator, Tuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PARTS = {
    "`core`": "dpsort_geo/core",
    "`geo`": "dpsort_geo/geo",
    "`webmap`": "dpsort_geo/webmap",
    "`cli`": "dpsort_geo/cli",
    "`compare`": "dpsort_geo/compare",
    "plugin": "qgis_plugin",
}
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| [\d,]+ \([\d,]+\) \| \d+ \|", re.MULTILINE)
_SKIPPED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def files_of(folder: str) -> Iterator[Path]:
    """The Python files of a part, without what the plugin's zip carries of others."""
    return (path for path in (ROOT / folder).rglob("*.py") if "_vendor" not in path.parts)


def count(text: str) -> Tuple[int, int]:
    """All lines of a module, and those with code.

    >>> count('\"\"\"What it is.\"\"\"\\n\\nx = 1  # why\\n# more\\n')
    (4, 1)
    """
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SKIPPED:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                code -= set(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    return text.count("\n"), len(code)


def count_parts() -> dict[str, Tuple[int, int, int]]:
    """Lines, lines with code, and files of each part, and of all together."""
    found = {}
    for name, folder in PARTS.items():
        counts = [count(path.read_text("utf-8")) for path in files_of(folder)]
        found[name] = (*(sum(column) for column in zip(*counts)), len(counts))
    found["together"] = tuple(sum(column) for column in zip(*found.values()))
    return found  # type: ignore[return-value]


def rewrite(page: str) -> str:
    """The page with today's numbers; what was before, and why it grew, stays as it is."""
    found = count_parts()

    def row(match: re.Match[str]) -> str:
        lines, code, files = found[match[1]]
        return f"| {match[1]} | {match[2]} | {lines:,} ({code:,}) | {files} |"

    return _ROW.sub(row, page)


if __name__ == "__main__":
    PAGE.write_text(rewrite(PAGE.read_text("utf-8")), "utf-8")
    for name, (lines, code, files) in count_parts().items():
        print(f"{name:10} {lines:7,} lines ({code:,} of code) in {files} files")
