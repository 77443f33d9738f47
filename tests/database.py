"""A real PostgreSQL with PostGIS in a temporary folder, for the tests that publish from one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "sesame-7373"
_VERSIONS = Path("/usr/lib/postgresql")


def binaries() -> Path:
    """Where Debian keeps the server's programs; skips the test if it does not."""
    pytest.importorskip("adbc_driver_postgresql")
    found = sorted(_VERSIONS.glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql, postgresql-postgis)")
    share = Path("/usr/share/postgresql", found[-1].parents[1].name, "extension/postgis.control")
    if not share.exists():
        pytest.skip("PostGIS is not installed (Debian: postgresql-postgis)")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and setpriv is not there")
    return found[-1].parent


@contextmanager
def serve() -> Iterator[str]:
    """The address of a server that ends with the block, and everything in it."""
    programs = binaries()
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        command, data = [], folder / "data"
        if os.geteuid() == 0:
            # the server refuses to run as root
            shutil.chown(folder, "postgres", "postgres")
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)

        def run(program: str, *arguments: str) -> None:
            words = [*command, str(programs / program), "-D", str(data), *arguments]
            nothing = subprocess.DEVNULL
            subprocess.run(words, check=True, cwd=folder, stdout=nothing, stderr=nothing)

        run("initdb", "-A", "scram-sha-256", "-U", "boss", f"--pwfile={secret}", "--no-sync")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        run("pg_ctl", "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            url = f"postgresql://boss:{PASSWORD}@127.0.0.1:{port}/postgres"
            execute(url, "create extension postgis")
            yield url
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")


def execute(url: str, *statements: str) -> None:
    """Run SQL."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(url, autocommit=True) as link, link.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def ask(url: str, query: str) -> list[tuple]:
    """The rows of a query."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(url) as link, link.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()
