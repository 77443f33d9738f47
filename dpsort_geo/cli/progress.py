"""What a command is doing, on a terminal, once it takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Optional, Type

import click

#: seconds before anything is shown, and between two looks
_PATIENCE = 2.0
_STEP = 0.2
_WIDTH = 28


#: of what was stopped before anything was debited
NOTHING = "nothing was written"


class StoppedError(Exception):
    """Somebody pressed Ctrl-C; the sentence says what is left behind."""


class Progress:
    """A word for what is being done, and how far it has come where that is known.

    It is called with rows done and rows in all (None when not known), and told each new phase. A
    thread draws the line, so that also what cannot be interrupted shows that it goes on.

    >>> with Progress("drawing"):
    ...     pass
    """

    def __init__(self, word: str = "reading") -> None:
        self.word = word
        self._start = self._began = time.monotonic()
        self._done: Optional[int] = None
        self._total: Optional[int] = None
        self._end = threading.Event()
        self._shown = False
        self._thread: Optional[threading.Thread] = None

    def __call__(self, done: int, total: Optional[int]) -> None:
        self._done, self._total = done, total

    def phase(self, word: str) -> None:
        """What is done from now on."""
        self.word, self._done, self._total, self._began = word, None, None, time.monotonic()

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:  # the terminal's line as it was found
            click.echo("\r" + " " * 78 + "\r", nl=False, err=True)

    def _run(self) -> None:
        while not self._end.wait(_STEP):
            if time.monotonic() - self._start >= _PATIENCE:
                self._shown = True
                click.echo(f"\r{self.line():<78}", nl=False, err=True)

    def line(self) -> str:
        """The line as it is now."""
        spent = max(time.monotonic() - self._began, 1e-9)
        if self._done is None:
            return f"{self.word} ... {spent:.0f} s"
        part = f"{self._done:,} rows, {self._done / spent:,.0f} rows/s"
        if not self._total:
            return f"{self.word} {part}"
        share = min(self._done / self._total, 1.0)
        bar = "#" * int(_WIDTH * share)
        return f"{self.word} [{bar:.<{_WIDTH}}] {share:4.0%}  {part}"
