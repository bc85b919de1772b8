"""TLS to Redis: the certificates to use, and the reasons of failure."""

import ssl
from urllib.parse import urlencode

from antiphon_shared.bus.address import TLS_BEGINNINGS
from antiphon_shared.process.errors import ConfigurationError

_CA, _CERT, _KEY = (f"ANTIPHON_REDIS_TLS_{name}" for name in ("CA", "CERT", "KEY"))


def with_certificates(url: str, ca: str, certificate: str, key: str) -> str:
    """Return the address with the given files as parameters, which the client library reads.

    Each argument is the path of a PEM file, or empty. `ca` replaces the system's authorities in verifying the server's
    certificate; `certificate` and `key` are the client's. Raises ConfigurationError if they cannot be loaded, or do
    not match each other.
    """
    if not (ca or certificate or key):
        return url
    if not url.startswith(TLS_BEGINNINGS):
        raise ConfigurationError(
            f"{_CA}, {_CERT}, {_KEY}: the address of Redis does not use TLS.",
            hint="Use rediss:// or rediss+sentinel:// in ANTIPHON_REDIS_URL.",
        )
    if bool(certificate) != bool(key):
        missing = _KEY if certificate else _CERT
        raise ConfigurationError(
            f"{missing}: missing.", hint="A client certificate also needs its private key."
        )
    _load(ca, certificate, key)
    files = {"ssl_ca_certs": ca, "ssl_certfile": certificate, "ssl_keyfile": key}
    parameters = urlencode({name: file for name, file in files.items() if file})
    return f"{url}{'&' if '?' in url else '?'}{parameters}"


def refusal(error: BaseException) -> ConfigurationError | None:
    """Return the certificate error that made a connection fail; None if a retry may help."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    match cause:
        case ssl.SSLCertVerificationError(verify_message=message):
            return ConfigurationError(
                f"the certificate of Redis is not trusted: {message.rstrip('.')}.",
                hint=f"Set {_CA} to its certificate authority. The certificate must be issued for the "
                "host in ANTIPHON_REDIS_URL.",
            )
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return ConfigurationError(
                "Redis does not speak TLS at this address.", hint="Use redis://, or the TLS port."
            )
        case ssl.SSLError(reason=str(reason)) if "ALERT" in reason:
            return ConfigurationError(
                f"Redis refuses the client certificate: {reason.lower().replace('_', ' ')}.",
                hint=f"Check {_CERT} and {_KEY}: Redis must trust their certificate authority.",
            )
    return None


def _load(ca: str, certificate: str, key: str) -> None:
    """Raise ConfigurationError for the first file that cannot be loaded."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if ca:
            context.load_verify_locations(cafile=ca)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{_CA}: {ca}: {_reason_of(error)}.", hint="Use a PEM file of certificates."
        ) from None
    try:
        if certificate:
            # Without a password here, OpenSSL would ask a terminal for it.
            context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{_CERT}, {_KEY}: {certificate}, {key}: {_reason_of(error)}.",
            hint="Use a certificate and its private key in PEM; the key must not have a password.",
        ) from None


def _reason_of(error: Exception) -> str:
    """Return the reason of an error, from `ssl.SSLError`'s own field if it is one."""
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    return str(reason).lower().replace("_", " ")
