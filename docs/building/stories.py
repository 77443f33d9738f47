"""From a notebook of examples/ to a page of the gallery: run it, keep what it shows."""

from __future__ import annotations

import re
import tempfile
import textwrap
from pathlib import Path
from typing import Any, Union

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

#: seconds that a notebook may take; they take a few
PATIENCE = 300
#: signs in a line of output
WIDTH = 84


def run(path: Path, folder: Path) -> Any:
    """The notebook with its outputs; files that it writes go to a folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=PATIENCE,
        kernel_name="python3",
        resources={"metadata": {"path": folder}},
    )
    return client.execute()


def tell(path: Path) -> dict[str, Union[str, bytes]]:
    """The page and the pictures of a notebook, by their names; the last one has the page's own."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = run(path, Path(folder))
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if output.output_type == "stream":
            output.text = wrap_lines(output.text)
    resources = {"unique_key": path.stem, "output_files_dir": path.stem}
    text, made = MarkdownExporter().from_notebook_node(notebook, resources)
    # tables of pandas bring a style that knows neither our fonts nor the dark
    text = re.sub(r"<style scoped>.*?</style>|<tr style=[^>]*>", _plain, text, flags=re.S)
    text = text.replace('<table border="1" class="dataframe">', "<table>")
    pictures = made["outputs"]
    last = [picture for name, picture in pictures.items() if name.endswith(".png")][-1]
    return {f"{path.stem}.md": text, f"{path.stem}.png": last, **pictures}


def wrap_lines(text: str) -> str:
    """Text whose lines fit the page.

    >>> wrap_lines("a word " * 20).count("\\n")
    1
    """
    return "\n".join(textwrap.fill(line, WIDTH) for line in text.splitlines())


def _plain(found: re.Match[str]) -> str:
    return "<tr>" if found[0].startswith("<tr") else ""
