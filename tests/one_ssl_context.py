"""One SSL context for all HTTP clients of a process: reading the system's certificates takes most of a client's start.

Settings of the environment that name other certificates make another context.
"""

import os
import ssl
from functools import cache

import httpcore2

_made = httpcore2.default_ssl_context


def share_ssl_context() -> None:
    """Let clients that are opened from now on share their context."""
    httpcore2.default_ssl_context = _shared


def _shared(*, _trust_env: bool = True) -> ssl.SSLContext:
    places = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    return _context(_trust_env, *(places if _trust_env else (None, None)))


@cache
def _context(trust_env: bool, file: str | None, folder: str | None) -> ssl.SSLContext:
    return _made(_trust_env=trust_env)
