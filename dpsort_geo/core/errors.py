"""What goes wrong, in sentences for the person who can act on them.

No message contains a private coordinate, count or identifier.
"""

from __future__ import annotations

import re

#: a password before the @ of an address, also of one that was taken for a path and has lost a
#: slash, and what is called a secret in a connection or a query
_SECRETS = (
    (re.compile(r"(:/+)[^\n]*@"), r"\1***@"),
    (
        re.compile(
            r"(?i)\b(\w*(?:password|passwd|pwd|token|secret|signature|credential|api_?key|key|sig))"
            r"\s*=\s*(?:'[^']*'|\"[^\"]*\"|[^\s&;,]+)"
        ),
        r"\1=***",
    ),
)


class BadInputError(ValueError):
    """Input that cannot be used; the message says what was wrong, what was expected, what to do.

    No password in a path or an address that it names is echoed.
    """

    def __init__(self, *words: object) -> None:
        super().__init__(*(hide_secrets(one) if isinstance(one, str) else one for one in words))


class NotVerifiedError(BadInputError):
    """A release that does not follow the public rule of its own mechanism."""


class BudgetSpentError(BadInputError):
    """The limit of the data set in the ledger does not leave room for this release."""


class AnotherNameError(BadInputError):
    """The ledger knows the private file, or a copy of it, under another name."""


class PrivacyWarning(UserWarning):
    """Something that a publisher should know before the release goes out."""


class MissingPackageError(ImportError):
    """A package that not everybody needs is not installed; the message has the line for pip."""


# the names of version 0.1, before errors ended in Error
BadInput = BadInputError
NotVerified = NotVerifiedError
BudgetSpent = BudgetSpentError


def hide_secrets(text: str) -> str:
    """Text without the passwords of addresses and connections in it, for whoever reads messages.

    >>> address = "postgresql://ann:pw@host/calls?sslpassword=x"  # pragma: allowlist secret
    >>> hide_secrets(f"There is no file {address}; check it.")
    'There is no file postgresql://***@host/calls?sslpassword=***; check it.'
    >>> hide_secrets("There is no folder https:/ann:pw@host.")
    'There is no folder https:/***@host.'
    """
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text
