"""The one exception that a user is meant to read."""

from __future__ import annotations


class BadInput(ValueError):
    """Input that cannot be used; the message says what was wrong, what was expected, what to do.

    The message never contains a private coordinate, count or identifier.
    """


class NotVerified(BadInput):
    """A release that does not follow the public rule of its own mechanism."""
