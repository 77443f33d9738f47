"""The site is built strictly, its links lead somewhere, and no page asks for anything outside."""

from __future__ import annotations

import doctest
import http.server
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlparse

import bs4
import pytest

import dpsort_geo as dp
from dpsort_geo.cli import cli
from tests.docs.building import ROOT, load_script

pytestmark = pytest.mark.slow
#: old names, kept for old code
ALIASES = {"BadInput", "BudgetSpent", "NotVerified", "__version__"}
#: what a browser asks for by itself, and not when somebody follows it
ASKS = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert built.returncode == 0, built.stderr
    return folder


class Page:
    """What a page has to point at, what it points to, and what it asks for."""

    def __init__(self, text: str) -> None:
        soup: Any = bs4.BeautifulSoup(text, "html.parser")
        self.names = {
            tag[key] for key in ("id", "name") for tag in soup.find_all(attrs={key: True})
        }
        self.links = [tag["href"] for tag in soup.find_all("a", href=True)]
        self.asked = [
            tag[key]
            for name, key in ASKS.items()
            for tag in soup.find_all(name, attrs={key: True})
            if not {"canonical", "prev", "next"} & set(tag.get("rel") or ())
        ]


def read_pages(site: Path) -> dict[str, Page]:
    return {
        path.relative_to(site).as_posix(): Page(path.read_text("utf-8"))
        for path in site.rglob("*.html")
    }


def broken_links(site: Path) -> dict[str, list[str]]:
    """Links and pictures of each page that lead to no file, or to no anchor in it."""
    pages, broken = read_pages(site), defaultdict(list)
    for name, page in pages.items():
        for link in page.links + page.asked:
            if urlparse(link).scheme:
                continue
            # 404.html may be shown anywhere, so that its links begin at the top
            target, _, anchor = urljoin(f"/{name}", link).lstrip("/").partition("#")
            target = unquote(target.partition("?")[0]) or "index.html"
            there = (site / target).is_file()
            if not there or (anchor and unquote(anchor) not in pages[target].names):
                broken[name].append(link)
    return dict(broken)


def test_every_link_and_every_anchor_leads_somewhere(site: Path) -> None:
    assert len(read_pages(site)) > 25
    assert broken_links(site) == {}


def test_a_link_to_nowhere_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<a href="other.html#here">a</a><img src="no.png">')
    (tmp_path / "other.html").write_text('<p id="there"><a href="index.html">back</a>')
    assert broken_links(tmp_path) == {"index.html": ["other.html#here", "no.png"]}


def test_no_page_names_anything_outside_to_be_loaded(site: Path) -> None:
    for name, page in read_pages(site).items():
        outside = [link for link in page.asked if urlparse(link).scheme not in ("", "data")]
        assert not outside and not any(link.startswith("//") for link in page.asked), name
    for path in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", path.read_text("utf-8")), path


def test_the_reference_has_every_public_name_and_every_command(site: Path) -> None:
    pages = read_pages(site)
    names = pages["reference/python.html"].names
    assert {f"dpsort_geo.{name}" for name in set(dp.__all__) - ALIASES} <= names
    assert {f"dpsort-geo-{name}" for name in cli.commands} <= pages["reference/command.html"].names


def test_numbers_were_filled_in_and_no_marker_is_left(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert "<!-- table:" not in path.read_text("utf-8"), path
    text = (site / "how-to" / "epsilon.html").read_text("utf-8")
    city = dp.Domain.from_bounds((0, 0, 20_000, 20_000), crs="EPSG:32632")
    plan = dp.plan(n=10_000, epsilon=1, domain=city)
    assert f"{float(f'{plan.expected_error:.2g}'):.0f} m" in text and "±" in text


@pytest.mark.parametrize(
    "script",
    ["docs/building/stories.py", "docs/building/tables.py", "docs/building/docstrings.py"],
)
def test_examples_in_the_scripts_of_the_site_hold(script: str) -> None:
    tried = doctest.testmod(load_script(script))
    assert tried.attempted and not tried.failed


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Nothing: the test says what went wrong."""


@pytest.fixture(scope="module")
def address(site: Path):
    def handle(*args):
        return Quiet(*args, directory=str(site))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handle)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_ask_nobody_and_fit_the_screen(
    site: Path, address: str, browser, width, scheme
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, service_workers="block"
    )
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    for name in sorted(read_pages(site)):
        page.goto(address + name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    shown = page.evaluate("document.body.getAttribute('data-md-color-scheme')")
    context.close()
    assert asked and not said
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    assert shown == {"light": "default", "dark": "slate"}[scheme]


def test_the_five_minutes_work_as_they_are_written(tmp_path, monkeypatch, capsys) -> None:
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, "index.md", "exec"), names)
    assert "8,000 points, epsilon = 1" in capsys.readouterr().out
    lines = re.findall(r"^    dpsort-geo (.*)$", text, re.M)
    assert len(lines) == 3
    own = {**os.environ, "DPSORT_GEO_LEDGER": str(tmp_path / "ledger.sqlite"),
           "PYTHONPATH": str(ROOT)}  # fmt: skip
    for line in lines:
        command = f"{sys.executable} -m dpsort_geo {line}"
        done = subprocess.run(command, shell=True, env=own, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for page in ("calls.html", "night.html"):
        assert "Night calls" in (tmp_path / page).read_text("utf-8")
    assert dp.Ledger(tmp_path / "ledger.sqlite").spent("calls") == 1


def test_commands_and_options_of_the_how_to_pages_exist() -> None:
    found = 0
    for path in (ROOT / "docs" / "how-to").glob("*.md"):
        for line in re.findall(r"(?:^\s+|`)dpsort-geo ([^`\n]*)", path.read_text("utf-8"), re.M):
            part = cli
            for word in line.split():
                part = getattr(part, "commands", {}).get(word, part)
            known = {option for parameter in part.params for option in parameter.opts}
            assert part is not cli and set(re.findall(r"--[a-z-]+", line)) <= known, line
            found += 1
    assert found >= 8
